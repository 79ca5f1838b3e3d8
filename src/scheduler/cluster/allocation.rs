//! What a task has of a node, and by what right.

use crate::numbers::amounts::Amounts;
use crate::numbers::gpus::Bits;
use crate::numbers::indices::{AccountIndex, NodeIndex};
use crate::share::Usage;

/// By what right, and whose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Right {
    /// It counts on this account's cells.
    Of(AccountIndex),
    Borrowed,
}

/// A piece of a node that is bound for a cell, or may be: its GPUs, and the level of the cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) bits: Bits,
    pub(crate) level: usize,
}

/// What one task has.
#[derive(Debug, Clone)]
pub(crate) struct TaskAllocation {
    /// `None`: the node is not there any more.
    pub(crate) node: Option<NodeIndex>,
    pub(crate) amounts: Amounts,
    pub(crate) gpus: Bits,
    /// Thousandths of each GPU.
    pub(crate) milli: u32,
    pub(crate) gpu_type: u8,
    pub(crate) ports: Vec<u16>,
    /// Position of the role among the job's wanted roles.
    pub(crate) role: usize,
    pub(crate) right: Right,
    /// The block it is in.
    pub(crate) block: Option<Piece>,
}

impl TaskAllocation {
    /// The same as one that borrows.
    pub(crate) fn lent(&self) -> Self {
        Self { right: Right::Borrowed, block: None, ..self.clone() }
    }

    /// What of its account's share it uses.
    pub(crate) fn usage(&self) -> Usage {
        let gpus = (self.gpu_type, self.gpu_milli());
        Usage { cpus: self.amounts.cpus, memory: self.amounts.memory, gpus }
    }

    /// Thousandths of GPUs that it has.
    pub(crate) fn gpu_milli(&self) -> i64 {
        i64::from(self.gpus.count_ones()) * i64::from(self.milli)
    }
}
