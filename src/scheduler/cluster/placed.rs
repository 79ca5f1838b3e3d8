//! Who holds something of the cluster.

use protocol::ids::{UserName, VirtualClusterName};
use protocol::spec::Priority;
use protocol::time::Timestamp;

use crate::cluster::allocation::TaskAllocation;
use crate::model::remaining::Remaining;
use crate::model::{GaveWay, QosClass, Turn, WHOLE_GPU};
use crate::numbers::gpus::Bits;
use crate::numbers::indices::ClusterIndex;

/// What is given up when jobs are sent away: the highest of their classes, then the work that they lose.
pub(crate) type Cost = (Priority, i64);

/// A job that holds something.
#[derive(Debug, Clone)]
pub(crate) struct PlacedJob {
    pub(crate) cluster: Option<ClusterIndex>,
    pub(crate) name: VirtualClusterName,
    /// Its owner.
    pub(crate) user: UserName,
    pub(crate) allocations: Vec<TaskAllocation>,
    pub(crate) qos_class: QosClass,
    /// Its place in the queue when it waited.
    pub(crate) turn: Turn,
    pub(crate) remaining: Remaining,
    /// How often it gave way before.
    pub(crate) gave_way: GaveWay,
    pub(crate) stopping: bool,
}

/// What is known of a job to those who wait for what it has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stay {
    pub(crate) remaining: Remaining,
    /// The types of the GPUs that it has.
    pub(crate) types: Bits,
}

impl PlacedJob {
    /// How long it is there still, and with what.
    pub(crate) fn stay(&self) -> Stay {
        let with_gpus = self.allocations.iter().filter(|allocation| allocation.gpus != 0);
        let types = with_gpus.fold(0, |types, allocation| types | 1 << allocation.gpu_type);
        Stay { remaining: self.remaining, types }
    }

    /// Whether it never counts on a guarantee.
    pub(crate) fn is_opportunistic(&self) -> bool {
        self.turn.priority.0.0 < 0
    }

    /// Thousandths of GPUs that it has; those of one where it has none.
    pub(crate) fn gpu_milli(&self) -> i64 {
        match self.allocations.iter().map(TaskAllocation::gpu_milli).sum() {
            0 => i64::from(WHOLE_GPU),
            milli => milli,
        }
    }

    /// What sending it away costs: the lowest class goes first, and of a class who loses least. What is
    /// lost counts once more for each time that it gave way already.
    pub(crate) fn cost(&self, now: Timestamp) -> Cost {
        match self.stopping {
            true => (Priority::OPPORTUNISTIC, 0),
            false => {
                let times = i64::from(self.gave_way.times).saturating_add(1);
                (self.turn.priority.0.class(), self.lost_ms(now).saturating_mul(times))
            }
        }
    }

    /// What is lost when it is stopped now.
    pub(crate) fn lost_ms(&self, now: Timestamp) -> i64 {
        let milli = self.gpu_milli();
        let ran = now.since(self.remaining.started_at);
        if self.stopping { 0 } else { milli.saturating_mul(ran) / i64::from(WHOLE_GPU) }
    }
}
