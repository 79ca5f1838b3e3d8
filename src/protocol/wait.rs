//! Why a job waits, as data: the pages say it in the reader's language.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::amount::Amount;
use crate::ids::{GpuType, GroupName, StorageName, UserName, VirtualClusterName};
use crate::resources::PortRange;
use crate::spec::{NodeSelector, TopologyLevel};
use crate::time::Timestamp;

/// What one task asks for that nodes may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResourceKind {
    /// CPU cores.
    Cpu,
    /// Memory, MiB.
    Memory,
    /// Disk, GiB.
    Disk,
    /// GPUs.
    Gpu,
    /// Ports of the node.
    Port,
}

/// What a virtual cluster limits of what somebody has running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Limited {
    /// GPUs.
    Gpus,
    /// Jobs.
    Jobs,
}

crate::tagged! {
    "code" "WaitReason"
    /// The constraint that binds a waiting job.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
    pub enum WaitReason {
        /// Not looked at yet: the next pass of the scheduler will say.
        Queued,
        /// The virtual cluster's share is in use.
        QuotaVc {
            /// The virtual cluster.
            virtual_cluster: VirtualClusterName,
            /// Of what.
            resource: ResourceKind,
            /// Of which GPU type, for GPUs of one type.
            gpu_type: Option<GpuType>,
            /// What the job asks for in all.
            needs: Amount,
            /// What is left of the share.
            free: Amount,
            /// The share.
            share: Amount,
        },
        /// Enough GPUs are free in the cluster, but not on one node.
        Fragmented {
            /// Of which types, where it asks for some.
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            gpu_types: Vec<GpuType>,
            /// GPUs that one task needs.
            needs: u32,
            /// Free GPUs on the nodes together.
            free: u32,
            /// Free GPUs on the best node.
            best_node: u32,
        },
        /// No node has a GPU of this type.
        TypeAbsent {
            /// The type asked for.
            wanted: Vec<GpuType>,
            /// The types there are.
            existing: Vec<GpuType>,
        },
        /// No node is one of those that the job asks for by name or label.
        NodesAbsent {
            /// What it asks for.
            wanted: NodeSelector,
        },
        /// Each node that could take it was found not to have a storage that it asks for.
        StorageAbsent {
            /// The storage.
            storage: StorageName,
        },
        /// It asks for ports by number that no node gives to tasks.
        PortsOutside {
            /// The first of them.
            first: u32,
            /// The last of them.
            last: u32,
            /// What a node gives.
            allowed: PortRange,
        },
        /// It asks for part of a GPU, and no node that could take it shares its GPUs.
        GpusNotShared {
            /// The types asked for; empty: any.
            wanted: Vec<GpuType>,
        },
        /// It would fit, but would delay jobs ahead of it.
        Behind {
            /// How many jobs of higher or equal priority are ahead.
            ahead: u32,
        },
        /// Only a part of the tasks fits now; all start together or none.
        Gang {
            /// Tasks of the job.
            tasks: u32,
            /// Tasks that could be placed now.
            fit: u32,
        },
        /// One resource is short on every node.
        Short {
            /// Which.
            resource: ResourceKind,
            /// Of which GPU types, for GPUs, where it asks for some.
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            gpu_types: Vec<GpuType>,
            /// What one task needs.
            needs: Amount,
            /// What the best node has free; for a part of a GPU, what its best GPU has.
            best_node: Amount,
        },
        /// Nodes that could take it are out of contact, draining or unhealthy.
        NodeDown {
            /// How many.
            nodes: u32,
        },
        /// It can never start: no node is large enough, or the share is too small.
        Impossible {
            /// Of what.
            resource: ResourceKind,
            /// What one task (or, for a share, the job) needs.
            needs: Amount,
            /// The most there is.
            largest: Amount,
            /// Whose limit it is, when a share and not a node.
            virtual_cluster: Option<VirtualClusterName>,
        },
        /// On the nodes that it may use its virtual cluster's share never holds all its tasks, whatever
        /// runs, and what is lent is not for it.
        ShareElsewhere {
            /// The virtual cluster.
            virtual_cluster: VirtualClusterName,
            /// Tasks of the job.
            tasks: u32,
            /// Tasks that the share holds on those nodes.
            fit: u32,
        },
        /// Its tasks have to be in one place of a level of topology, and none has room for all of them now.
        LevelFull {
            /// The level.
            level: TopologyLevel,
            /// Tasks of the job.
            tasks: u32,
            /// Tasks for which the place with most room has it now.
            fit: u32,
        },
        /// It can never start: its tasks have to be in one place of a level of topology, and none is
        /// large enough.
        LevelTooSmall {
            /// The level.
            level: TopologyLevel,
            /// Tasks of the job.
            tasks: u32,
            /// Tasks that the largest place holds.
            fit: u32,
        },
        /// Somebody holds it.
        Hold {
            /// Who.
            by: Option<UserName>,
            /// Whether as an administrator: then only an administrator releases it.
            administrator: bool,
        },
        /// The last attempt failed through the platform; the next begins then.
        Backoff {
            /// When.
            until: Timestamp,
        },
        /// It could borrow what is idle, but gave way again and again, or is likely to again before it ends:
        /// until then it only starts on its virtual cluster's own share.
        GaveWay {
            /// How often.
            times: u32,
            /// Until when.
            until: Timestamp,
        },
        /// It starts as soon as jobs that run on borrowed resources, or are of a lower class of its
        /// virtual cluster, have given way to it.
        Preempting {
            /// How many.
            jobs: u32,
        },
        /// Its owner, or a group of his, has running what the virtual cluster lets one have at once.
        UserLimit {
            /// The virtual cluster.
            virtual_cluster: VirtualClusterName,
            /// Which group it is; `None`: its owner himself.
            group: Option<GroupName>,
            /// Of what.
            limited: Limited,
            /// What the job would add.
            needs: Amount,
            /// What runs.
            running: Amount,
            /// The most that may.
            most: u32,
        },
        /// There is no node yet.
        NoNodes,
    }
}

/// Everything the queue can say of a waiting job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Waiting {
    /// The constraint that binds.
    pub reason: WaitReason,
    /// Place in the queue of its virtual cluster, from 1.
    pub position: u32,
    /// When it will start at the earliest, where that can be said.
    pub expected_start: Option<Timestamp>,
}

impl WaitReason {
    /// Whether who waits for it has a place in the queue.
    #[must_use]
    pub fn has_place(&self) -> bool {
        !matches!(
            self,
            WaitReason::Hold { .. } | WaitReason::Backoff { .. } | WaitReason::UserLimit { .. }
        )
    }

    /// Whether the job starts in its turn without anybody changing anything.
    #[must_use]
    pub fn passes(&self) -> bool {
        match self {
            WaitReason::Hold { .. }
            | WaitReason::TypeAbsent { .. }
            | WaitReason::NodesAbsent { .. }
            | WaitReason::StorageAbsent { .. }
            | WaitReason::PortsOutside { .. }
            | WaitReason::GpusNotShared { .. }
            | WaitReason::Impossible { .. }
            | WaitReason::ShareElsewhere { .. }
            | WaitReason::LevelTooSmall { .. }
            | WaitReason::NodeDown { .. }
            | WaitReason::NoNodes => false,
            WaitReason::Queued
            | WaitReason::QuotaVc { .. }
            | WaitReason::Fragmented { .. }
            | WaitReason::Behind { .. }
            | WaitReason::Gang { .. }
            | WaitReason::Short { .. }
            | WaitReason::LevelFull { .. }
            | WaitReason::Backoff { .. }
            | WaitReason::GaveWay { .. }
            | WaitReason::UserLimit { .. }
            | WaitReason::Preempting { .. } => true,
        }
    }
}

impl Waiting {
    /// Its place in the queue; who is held, pauses or is at his limit has none.
    #[must_use]
    pub fn place(&self) -> Option<u32> {
        self.reason.has_place().then_some(self.position)
    }
}

/// A resource that is short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Scarce {
    /// Which.
    pub resource: ResourceKind,
    /// What one task needs.
    pub needs: Amount,
    /// What all nodes that could take it have free.
    pub free: Amount,
    /// What the best of them has free; for a part of a GPU, what its best GPU has.
    pub best_node: Amount,
}

/// A start, as a range, and on what it rests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Expected {
    /// Not before.
    pub earliest: Timestamp,
    /// If nothing ends later than its limit; `None` where one of those it waits for has no limit, or somebody of a
    /// higher priority waits before it.
    pub latest: Option<Timestamp>,
    /// The weakest ground it rests on.
    pub ground: Ground,
}

/// What an expected start rests on.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Ground {
    /// Time limits: it cannot be later.
    Limits,
    /// How long like jobs have run.
    PastRuns,
    /// Only how long those it waits for have run so far.
    Elapsed,
    /// How long jobs like it have waited: half of them started inside the range.
    PastWaits {
        /// What makes them like it.
        like: Likeness,
        /// How many there were.
        runs: u32,
    },
}

/// What makes past jobs like one that waits, the closest first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Likeness {
    /// They were its owner's, in its virtual cluster, and named as it is but for a number.
    Name,
    /// They were its owner's, in its virtual cluster.
    Owner,
    /// They asked for as many GPUs in its virtual cluster.
    Size,
    /// They were in its virtual cluster.
    VirtualCluster,
    /// They were in this cluster.
    Everything,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_short_is_read_with_its_types_and_without() {
        for (types, gpu_types) in [("", vec![]), (r#""gpu_types":["A100"],"#, vec!["A100"])] {
            let text =
                format!(r#"{{"code":"short","resource":"gpu",{types}"needs":8,"best_node":3}}"#);
            let short = WaitReason::Short {
                resource: ResourceKind::Gpu,
                gpu_types: gpu_types.into_iter().map(|of| of.parse().unwrap()).collect(),
                needs: 8.into(),
                best_node: 3.into(),
            };
            assert_eq!(serde_json::from_str::<WaitReason>(&text).unwrap(), short);
            assert_eq!(serde_json::to_string(&short).unwrap(), text);
        }
    }
}
