//! Nodes that look alike when nothing runs on them.

use std::collections::BTreeMap;

use protocol::cluster::NodeCondition;

use crate::model::Node;
use crate::numbers::amounts::Amounts;
use crate::numbers::gpus::{self, Bits};
use crate::numbers::indices::{AccountIndex, PoolIndex};
use crate::numbers::names::Names;
use crate::numbers::request::TaskRequest;

/// What nodes that look alike when nothing runs on them have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Kind {
    /// Only such nodes are given anything.
    pub(crate) ready: bool,
    pub(crate) total: Amounts,
    /// How many GPUs there are, healthy or not.
    pub(crate) size: u32,
    pub(crate) healthy: Bits,
    /// Positions of the GPUs of each type.
    pub(crate) types: Vec<(u8, Bits)>,
    pub(crate) labels: BTreeMap<String, String>,
    /// Whether it takes tasks that ask for part of a GPU.
    pub(crate) shares_gpus: bool,
    /// Whether it is the last choice.
    pub(crate) doubtful: bool,
    /// Whether what it has is known.
    pub(crate) known: bool,
    pub(crate) ports: (u16, u16),
    /// The account whose share lies there.
    pub(crate) pinned: Option<AccountIndex>,
    /// Its pool (`share/cells.rs`).
    pub(crate) pool: PoolIndex,
}

impl Kind {
    pub(crate) fn new(node: &Node, names: &Names) -> Self {
        let mut types: BTreeMap<u8, Bits> = BTreeMap::new();
        let mut healthy = 0;
        for (position, gpu) in in_order(node).into_iter().enumerate() {
            if let Some(number) = names.type_number(&gpu.gpu_type) {
                *types.entry(number).or_default() |= 1 << position;
            }
            healthy |= Bits::from(gpu.healthy) << position;
        }
        Self {
            ready: node.condition == NodeCondition::Ready,
            total: Amounts::of_node(&node.capacity),
            size: u32::try_from(node.capacity.gpus.len().min(gpus::MOST)).unwrap_or(0),
            healthy,
            types: types.into_iter().collect(),
            labels: node.labels.clone(),
            shares_gpus: node.shares_gpus,
            doubtful: node.doubtful,
            known: node.known,
            ports: (node.ports.first, node.ports.last),
            pinned: names.pins.get(&node.name).copied().filter(|_| !node.capacity.gpus.is_empty()),
            pool: PoolIndex::from(0_usize),
        }
    }

    /// Whether tasks may go there, be there room or not.
    pub(crate) fn admits(&self, request: &TaskRequest) -> bool {
        (self.shares_gpus || !request.shares())
            && request.labels.iter().all(|(key, value)| self.labels.get(key) == Some(value))
    }

    /// The types it has GPUs of.
    pub(crate) fn type_mask(&self) -> Bits {
        self.types.iter().fold(0, |mask, (number, _)| mask | 1 << number)
    }

    /// So many of its GPUs and what goes with them, as a node of its own.
    pub(crate) fn piece(&self, size: u32) -> Self {
        let types = self.types.iter().map(|(number, bits)| (*number, gpus::lowest(*bits, size)));
        let total = if self.size == 0 { self.total } else { self.total.part(size, self.size) };
        Self { total, size, types: types.collect(), ..self.clone() }
    }

    pub(crate) fn of_type(&self, gpu_type: u8) -> Bits {
        self.types.iter().find(|(number, _)| *number == gpu_type).map_or(0, |(_, bits)| *bits)
    }
}

/// The node's GPUs, those that are linked side by side: the positions of all bit masks.
pub(crate) fn in_order(node: &Node) -> Vec<&protocol::resources::Gpu> {
    let mut gpus: Vec<_> = node.capacity.gpus.iter().collect();
    if !node.links.is_empty() {
        let group = |index: u32| {
            node.links.iter().position(|link| link.contains(&index)).unwrap_or(usize::MAX)
        };
        gpus.sort_by_key(|gpu| group(gpu.index));
    }
    gpus.truncate(gpus::MOST);
    gpus
}
