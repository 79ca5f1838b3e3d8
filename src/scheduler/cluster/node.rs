//! A node: what never changes while it stands, and what is free on it.

use crate::model::{Node, WHOLE_GPU};
use crate::numbers::amounts::Amounts;
use crate::numbers::gpus::{Bits, positions};
use crate::numbers::indices::{AccountIndex, KindIndex, PortsIndex};
use crate::numbers::kind::{Kind, in_order};

/// A node as it stands.
#[derive(Debug, Clone)]
pub(crate) struct Fixed {
    pub(crate) node: Node,
    pub(crate) kind: KindIndex,
    /// Its ports.
    pub(crate) ports: PortsIndex,
    /// The GPU's index by position.
    indices: Vec<u32>,
}

impl Fixed {
    pub(crate) fn new(node: &Node, kind: KindIndex, ports: PortsIndex) -> Self {
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
    pub(crate) account: AccountIndex,
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
    pub(crate) kind: KindIndex,
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
    pub(crate) fn new(kind: KindIndex, of: &Kind) -> Self {
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
