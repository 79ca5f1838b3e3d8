//! What each user has running where a virtual cluster limits that.

use std::collections::HashMap;

use protocol::ids::{UserName, VirtualClusterName};

use crate::cluster::allocation::TaskAllocation;
use crate::cluster::placed::PlacedJob;
use crate::model::VirtualCluster;
use crate::model::limits::RunLimits;
use crate::numbers::request::{Class, ClassRole};

/// What runs, or would: thousandths of GPUs, and jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Running {
    pub(crate) milli: i64,
    pub(crate) jobs: i64,
}

impl Running {
    pub(crate) fn of_tenant(placed: &PlacedJob) -> Self {
        Self { milli: placed.allocations.iter().map(TaskAllocation::gpu_milli).sum(), jobs: 1 }
    }

    pub(crate) fn of_class(class: &Class) -> Self {
        let milli =
            |role: &ClassRole| i64::from(role.count).saturating_mul(role.request.gpu_milli());
        Self { milli: class.roles.iter().map(milli).fold(0, i64::saturating_add), jobs: 1 }
    }

    pub(crate) fn plus(self, sign: i64, other: Self) -> Self {
        let milli = self.milli.saturating_add(other.milli.saturating_mul(sign));
        Self { milli, jobs: self.jobs + sign * other.jobs }
    }
}

/// What each user and each limited group has running, in the virtual clusters that limit that: also what is
/// about to leave its place, or to come to it. Who has nothing is not there.
#[derive(Debug, Clone, Default)]
pub(crate) struct Limits(pub(crate) HashMap<VirtualClusterName, OfCluster>);

#[derive(Debug, Clone)]
pub(crate) struct OfCluster {
    pub(crate) limits: RunLimits,
    pub(crate) running: HashMap<UserName, Running>,
    /// In the order of the limited groups: what their members have together.
    pub(crate) of_groups: Vec<Running>,
}

impl Limits {
    /// Of virtual clusters in which nothing runs.
    pub(crate) fn new(clusters: &[VirtualCluster]) -> Self {
        let limited = clusters.iter().filter(|cluster| !cluster.limits.is_empty());
        let of = |cluster: &VirtualCluster| {
            let (limits, running) = (cluster.limits.clone(), HashMap::new());
            let of_groups = vec![Running::default(); limits.groups.len()];
            (cluster.name.clone(), OfCluster { limits, running, of_groups })
        };
        Self(limited.map(of).collect())
    }

    /// A job comes to hold what it has (`sign` 1), or leaves it (`sign` -1).
    pub(crate) fn count(&mut self, placed: &PlacedJob, sign: i64) {
        let Some(of) = self.0.get_mut(&placed.name) else { return };
        let (user, one) = (&placed.user, Running::of_tenant(placed));
        for (group, sum) in of.limits.groups.iter().zip(&mut of.of_groups) {
            if group.members.contains(user) {
                *sum = sum.plus(sign, one);
            }
        }
        let running = of.running.entry(user.clone()).or_default();
        *running = running.plus(sign, one);
        if *running == Running::default() {
            of.running.remove(&placed.user);
        }
    }
}
