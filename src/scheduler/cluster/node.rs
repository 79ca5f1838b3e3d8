//! A node: what never changes while it stands, and what is free on it.

use std::collections::BTreeMap;

use protocol::cluster::NodeCondition;
use protocol::resources::Capacity;

use crate::cluster::gpus::{self, Bits, positions};
use crate::cluster::names::Names;
use crate::model::{Demand, Node, WHOLE_GPU};
use crate::queue::request::Ask;

/// Amounts of a node or a task: thousandths of a core, MiB, GiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, PartialOrd, Ord)]
pub(crate) struct Amounts {
    pub(crate) cpus: i64,
    pub(crate) memory: i64,
    pub(crate) disk: i64,
}

impl Amounts {
    pub(crate) fn of(demand: &Demand) -> Self {
        let amount = |value: u64| i64::try_from(value).unwrap_or(i64::MAX / 4).min(i64::MAX / 4);
        Self {
            cpus: amount(demand.cpu_milli),
            memory: amount(demand.memory_mb),
            disk: amount(demand.disk_gb),
        }
    }

    /// All that a node has. A disk whose size nobody knows is not bounded.
    pub(crate) fn of_node(capacity: &Capacity) -> Self {
        let amount = |value: u64| i64::try_from(value).unwrap_or(i64::MAX / 4).min(i64::MAX / 4);
        Self {
            cpus: i64::from(capacity.cpus) * 1000,
            memory: amount(capacity.memory_mb),
            disk: match capacity.disk_gb {
                0 => i64::MAX / 2,
                known => amount(known),
            },
        }
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

    /// The smaller of each.
    pub(crate) fn min(self, other: Self) -> Self {
        Self {
            cpus: self.cpus.min(other.cpus),
            memory: self.memory.min(other.memory),
            disk: self.disk.min(other.disk),
        }
    }

    /// So many parts out of `whole`.
    pub(crate) fn part(self, parts: u32, whole: u32) -> Self {
        let of = |amount: i64| match amount {
            unbounded if unbounded >= i64::MAX / 4 => unbounded,
            amount => amount * i64::from(parts) / i64::from(whole.max(1)),
        };
        Self { cpus: of(self.cpus), memory: of(self.memory), disk: of(self.disk) }
    }

    pub(crate) fn covers(self, other: Self) -> bool {
        self.cpus >= other.cpus && self.memory >= other.memory && self.disk >= other.disk
    }

    /// How many times `each` is in it.
    pub(crate) fn times(self, each: Self) -> i64 {
        let of = |free: i64, each: i64| if each > 0 { free.max(0) / each } else { i64::MAX };
        of(self.cpus, each.cpus).min(of(self.memory, each.memory)).min(of(self.disk, each.disk))
    }
}

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
    pub(crate) pinned: Option<usize>,
    /// Its pool ([`crate::share::cells`]).
    pub(crate) pool: usize,
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
            pool: 0,
        }
    }

    /// Whether tasks may go there, be there room or not.
    pub(crate) fn admits(&self, ask: &Ask) -> bool {
        (self.shares_gpus || !ask.shares())
            && ask.labels.iter().all(|(key, value)| self.labels.get(key) == Some(value))
    }

    /// The types it has GPUs of.
    pub(crate) fn type_mask(&self) -> Bits {
        self.types.iter().fold(0, |mask, (number, _)| mask | 1 << number)
    }

    pub(crate) fn of_type(&self, gpu_type: u8) -> Bits {
        self.types.iter().find(|(number, _)| *number == gpu_type).map_or(0, |(_, bits)| *bits)
    }
}

/// The node's GPUs, those that are linked side by side: the positions of all bit masks.
fn in_order(node: &Node) -> Vec<&protocol::resources::Gpu> {
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

/// A node as it stands.
#[derive(Debug, Clone)]
pub(crate) struct Fixed {
    pub(crate) node: Node,
    pub(crate) kind: usize,
    /// Its ports.
    pub(crate) ports: usize,
    /// The GPU's index by position.
    indices: Vec<u32>,
}

impl Fixed {
    pub(crate) fn new(node: &Node, kind: usize, ports: usize) -> Self {
        let indices = in_order(node).into_iter().map(|gpu| gpu.index).collect();
        Self { node: node.clone(), kind, ports, indices }
    }

    /// The positions of GPUs by their indices.
    pub(crate) fn gpu_bits(&self, indices: &[u32]) -> Bits {
        let position = |index: &u32| self.indices.iter().position(|known| known == index);
        indices.iter().filter_map(position).fold(0, |bits, position| bits | 1 << position)
    }

    /// The indices of GPUs by their positions, ascending.
    pub(crate) fn gpu_indices(&self, bits: Bits) -> Vec<u32> {
        let mut indices: Vec<_> = positions(bits).map(|place| self.indices[place]).collect();
        indices.sort_unstable();
        indices
    }
}

/// GPUs of a node that belong to one account for the time being ([`crate::share::cells`]).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Block {
    pub(crate) account: usize,
    /// Whose cell it is: its pool's level.
    pub(crate) level: usize,
    pub(crate) bits: Bits,
    /// What the account's guaranteed tasks have of it.
    pub(crate) used: Amounts,
    /// Thousandths of GPUs that they have.
    pub(crate) milli: i64,
    /// Guaranteed tasks, and reservations.
    pub(crate) pins: u32,
}

/// What is free on a node. Nodes in the same state are the same to every request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct NodeState {
    pub(crate) kind: usize,
    pub(crate) free: Amounts,
    /// Kept for reservations.
    pub(crate) held: Amounts,
    pub(crate) free_gpus: Bits,
    pub(crate) held_gpus: Bits,
    /// Partly used GPUs, and the thousandths left of each.
    pub(crate) shared: Vec<(u8, u32)>,
    /// Thousandths of GPUs that are kept for reservations beside `held_gpus`.
    pub(crate) held_parts: Vec<(u8, u32)>,
    pub(crate) blocks: Vec<Block>,
}

impl NodeState {
    pub(crate) fn new(kind: usize, of: &Kind) -> Self {
        Self {
            kind,
            free: of.total,
            held: Amounts::default(),
            free_gpus: of.healthy,
            held_gpus: 0,
            shared: Vec::new(),
            held_parts: Vec::new(),
            blocks: Vec::new(),
        }
    }

    /// Takes thousandths of the GPUs in `bits`.
    pub(crate) fn take_gpus(&mut self, bits: Bits, milli: u32) {
        if milli >= WHOLE_GPU {
            self.free_gpus &= !bits;
            return;
        }
        for position in positions(bits) {
            let position = u8::try_from(position).unwrap_or(u8::MAX);
            match self.shared.iter_mut().find(|(other, _)| *other == position) {
                Some((_, left)) => *left = left.saturating_sub(milli),
                None => {
                    self.free_gpus &= !(1 << position);
                    self.shared.push((position, WHOLE_GPU - milli));
                    self.shared.sort_unstable();
                }
            }
        }
    }

    /// Gives them back; only `healthy` ones can be free again.
    pub(crate) fn give_gpus(&mut self, bits: Bits, milli: u32, healthy: Bits) {
        if milli >= WHOLE_GPU {
            self.free_gpus |= bits & healthy;
            return;
        }
        for position in positions(bits) {
            let Some(at) = self.shared.iter().position(|(p, _)| usize::from(*p) == position) else {
                continue;
            };
            self.shared[at].1 += milli;
            if self.shared[at].1 >= WHOLE_GPU {
                self.shared.remove(at);
                self.free_gpus |= (1 << position) & healthy;
            }
        }
    }

    /// Keeps thousandths of a GPU (`sign` 1) or lets them go (`sign` -1).
    pub(crate) fn hold_part(&mut self, position: u8, milli: u32, sign: i64) {
        let at = match self.held_parts.binary_search_by_key(&position, |(other, _)| *other) {
            Ok(at) => at,
            Err(at) => {
                self.held_parts.insert(at, (position, 0));
                at
            }
        };
        let held = &mut self.held_parts[at].1;
        *held = if sign > 0 { *held + milli } else { held.saturating_sub(milli) };
        if *held == 0 {
            self.held_parts.remove(at);
        }
    }

    /// Thousandths of a GPU that are kept beside `held_gpus`.
    pub(crate) fn held_part(&self, position: u8) -> u32 {
        let held = self.held_parts.iter().find(|(other, _)| *other == position);
        held.map_or(0, |(_, milli)| *milli)
    }

    /// GPUs of which nothing is kept.
    pub(crate) fn not_held(&self) -> Bits {
        self.held_parts.iter().fold(!self.held_gpus, |bits, (position, _)| bits & !(1 << position))
    }

    /// Thousandths of one GPU that are free.
    pub(crate) fn left_of(&self, position: usize) -> u32 {
        if self.free_gpus >> position & 1 == 1 {
            return WHOLE_GPU;
        }
        let part = self.shared.iter().find(|(other, _)| usize::from(*other) == position);
        part.map_or(0, |(_, left)| *left)
    }

    /// Thousandths of GPUs that are free.
    pub(crate) fn gpu_milli(&self) -> i64 {
        let shared: u32 = self.shared.iter().map(|(_, left)| left).sum();
        i64::from(self.free_gpus.count_ones() * WHOLE_GPU + shared)
    }

    /// GPUs that belong to nobody's block.
    pub(crate) fn unbound(&self, healthy: Bits) -> Bits {
        self.blocks.iter().fold(healthy, |bits, block| bits & !block.bits)
    }
}
