//! CPUs, memory and disk in whole numbers.

use protocol::resources::Capacity;

use crate::model::Demand;

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
