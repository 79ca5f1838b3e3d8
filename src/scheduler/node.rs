//! A node during a pass: what is free on it and what is held for the reservation.

use std::collections::BTreeMap;

use protocol::cluster::NodeCondition;
use protocol::resources::{Capacity, Resources};

use crate::gpus::{self, Bits, positions};
use crate::model::Node;
use crate::state::{Names, View};

/// Amounts of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub(crate) struct Amounts {
    pub(crate) cpus: i64,
    pub(crate) memory: i64,
    pub(crate) disk: i64,
}

impl Amounts {
    pub(crate) fn of(resources: &Resources) -> Self {
        let amount = |value: u64| i64::try_from(value).unwrap_or(i64::MAX / 4).min(i64::MAX / 4);
        Self {
            cpus: resources.cpus.into(),
            memory: amount(resources.memory_mb),
            disk: amount(resources.disk_gb),
        }
    }

    /// All that a node has. A disk whose size nobody knows is not bounded.
    pub(crate) fn of_node(capacity: &Capacity) -> Self {
        let &Capacity { cpus, memory_mb, disk_gb, gpus: _ } = capacity;
        let all = Self::of(&Resources { cpus, memory_mb, gpus: 0, disk_gb });
        if disk_gb == 0 { Self { disk: i64::MAX / 2, ..all } } else { all }
    }

    /// `self + times × other`.
    pub(crate) fn plus(self, times: i64, other: Self) -> Self {
        Self {
            cpus: self.cpus.saturating_add(times.saturating_mul(other.cpus)),
            memory: self.memory.saturating_add(times.saturating_mul(other.memory)),
            disk: self.disk.saturating_add(times.saturating_mul(other.disk)),
        }
    }

    pub(crate) fn at_least_zero(self) -> Self {
        Self { cpus: self.cpus.max(0), memory: self.memory.max(0), disk: self.disk.max(0) }
    }
}

/// A node during a pass.
#[derive(Debug)]
pub(crate) struct NodeState<'a> {
    pub(crate) node: &'a Node,
    /// Only such nodes are given anything.
    pub(crate) ready: bool,
    pub(crate) free: Amounts,
    pub(crate) held: Amounts,
    pub(crate) free_gpus: Bits,
    pub(crate) held_gpus: Bits,
    pub(crate) healthy: Bits,
    /// Positions of the GPUs of each type.
    pub(crate) types: Vec<(u8, Bits)>,
    pub(crate) pool: usize,
}

impl<'a> NodeState<'a> {
    pub(crate) fn new(node: &'a Node, pool: usize, names: &Names) -> Self {
        let mut types: BTreeMap<u8, Bits> = BTreeMap::new();
        let mut healthy = 0;
        for (position, gpu) in node.capacity.gpus.iter().take(gpus::MOST).enumerate() {
            if let Some(number) = names.type_number(&gpu.gpu_type) {
                *types.entry(number).or_default() |= 1 << position;
            }
            healthy |= Bits::from(gpu.healthy) << position;
        }
        Self {
            node,
            ready: node.condition == NodeCondition::Ready,
            free: Amounts::of_node(&node.capacity),
            held: Amounts::default(),
            free_gpus: healthy,
            held_gpus: 0,
            healthy,
            types: types.into_iter().collect(),
            pool,
        }
    }

    pub(crate) fn available(&self, view: View) -> Amounts {
        if view.sees_holds() { self.free.plus(-1, self.held) } else { self.free }
    }

    pub(crate) fn available_gpus(&self, view: View) -> Bits {
        if view.sees_holds() { self.free_gpus & !self.held_gpus } else { self.free_gpus }
    }

    /// Adds the node to the counts of free GPUs, or takes it out of them.
    pub(crate) fn count_free(&self, counts: &mut [Vec<u32>], add: bool) {
        for (number, bits) in self.types.iter().filter(|_| self.ready) {
            let free = (bits & self.free_gpus).count_ones() as usize;
            let nodes = &mut counts[usize::from(*number)][free];
            *nodes = if add { *nodes + 1 } else { *nodes - 1 };
        }
    }

    pub(crate) fn shape(&self) -> Shape {
        let ports = (self.node.ports.first, self.node.ports.last);
        let all = Amounts::of_node(&self.node.capacity);
        (self.ready, all, self.healthy, self.types.clone(), ports)
    }

    /// The positions of GPUs by their indices.
    pub(crate) fn gpu_bits(&self, indices: &[u32]) -> Bits {
        let position = |index: &u32| {
            self.node.capacity.gpus.iter().take(gpus::MOST).position(|gpu| gpu.index == *index)
        };
        indices.iter().filter_map(position).fold(0, |bits, position| bits | 1 << position)
    }

    /// The indices of GPUs by their positions, ascending.
    pub(crate) fn gpu_indices(&self, bits: Bits) -> Vec<u32> {
        let gpus = &self.node.capacity.gpus;
        let mut indices: Vec<_> = positions(bits).map(|position| gpus[position].index).collect();
        indices.sort_unstable();
        indices
    }
}

/// What nodes of one shape have in common.
pub(crate) type Shape = (bool, Amounts, Bits, Vec<(u8, Bits)>, (u16, u16));
