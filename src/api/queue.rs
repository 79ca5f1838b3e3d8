//! The queue at run time: who goes when, why, and what a change of it would do.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use async_trait::async_trait;
use protocol::amount::Amount;
use protocol::ids::{GpuType, JobKey, UserName, VirtualClusterName};
pub use protocol::jobs::Hold;
use protocol::spec::{Priority, TimeLimit};
use protocol::tagged;
use protocol::time::Timestamp;
use protocol::wait::{Expected, Scarce, WaitReason, Waiting};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::actor::Actor;
use crate::cluster::{FreeGpus, GroupUse, UserUse};
use crate::error::Result;

/// What people do with waiting jobs. Owners change their own jobs and only at their own cost;
/// administrators change all.
#[async_trait]
pub trait Queue: Send + Sync {
    /// Changes a waiting job's turn.
    async fn change(&self, actor: &Actor, key: &JobKey, change: QueueChange) -> Result<()>;
    /// What `change` would do. It is refused where `change` would be; nothing is changed.
    async fn effect(&self, actor: &Actor, key: &JobKey, change: QueueChange) -> Result<Effect>;
    /// All that can be said of why a job waits; `None`: it does not.
    async fn explain(&self, actor: &Actor, key: &JobKey) -> Result<Option<Explanation>>;
}

/// A change of a waiting job's turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "change", rename_all = "snake_case", deny_unknown_fields)]
pub enum QueueChange {
    /// It does not start until it is released. What an administrator holds, only an administrator
    /// releases.
    Hold,
    /// It may start again.
    Release,
    /// Its priority. An owner may go no higher than the file did, or than an administrator did
    /// after that.
    Priority {
        /// The new one.
        priority: Priority,
    },
    /// Its place among the jobs of the same virtual cluster and priority. An owner's jobs change
    /// places with each other; an administrator's word moves a job past those of others.
    Move {
        /// Where to.
        place: QueuePlace,
    },
}

/// A place among others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueuePlace {
    /// Before all others.
    First,
    /// Before the one that is just ahead.
    Earlier,
    /// Behind the one that is just after.
    Later,
    /// Behind all others.
    Last,
}

/// What a change would do at once.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Effect {
    /// Jobs that would start.
    pub start: Affected,
    /// Jobs that would start without the change, and wait with it.
    pub wait: Affected,
    /// Jobs that would have to give way.
    pub preempted: Affected,
    /// Jobs that run guaranteed and would run on borrowed resources.
    pub loses_guarantee: Affected,
    /// Jobs that run on a node that is to be empty; they go on until they end.
    pub displaced: Affected,
    /// Jobs that run on a node that is to be empty at once; they start anew elsewhere.
    pub moved: Affected,
    /// Jobs that could never start any more.
    pub impossible: Affected,
    /// What would be guaranteed beyond what there is.
    pub overpromised: Vec<crate::cluster::Promise>,
}

impl Effect {
    /// Whether nobody would notice.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// Some jobs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Affected {
    /// How many, by virtual cluster.
    pub counts: BTreeMap<VirtualClusterName, u64>,
    /// The first of them by name, not all when they are many.
    pub jobs: Vec<JobKey>,
}

impl Affected {
    /// How many in all.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.values().sum()
    }
}

/// All that can be said of a waiting job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// The constraint that binds.
    pub reason: WaitReason,
    /// Place in the queue of its virtual cluster, from 1.
    pub position: u32,
    /// When it will start at the earliest, where that can be said.
    pub expected_start: Option<Timestamp>,
    /// In whose queue.
    #[serde(default)]
    pub virtual_cluster: VirtualClusterName,
    /// The GPUs that it asks for, and what is free of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
    /// The scarcest resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scarce: Option<Scarce>,
    /// The first of those that hold what it waits for, the one expected to end first at the head.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<JobKey>,
    /// All of those by owner, who holds most at the head: two hundred owners at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held_by: Vec<HeldBy>,
    /// How many owners more there are.
    #[serde(default)]
    pub further_owners: u64,
    /// The first of the jobs that go before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ahead: Vec<JobKey>,
    /// What its owner has and has had of the virtual cluster's GPUs, where that says who goes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_use: Option<UserUse>,
    /// What his group has and has had, where groups share the virtual cluster: that counts first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_use: Option<GroupUse>,
    /// As how many GPUs one counts in that, of those types of which it is not one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub weights: BTreeMap<GpuType, Amount>,
    /// When it may start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expected>,
    /// With what change it would start at once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Alternative>,
}

impl Explanation {
    /// When nothing more is known than why, and where.
    #[must_use]
    pub fn only(waiting: Waiting, virtual_cluster: VirtualClusterName) -> Self {
        let Waiting { reason, position, expected_start } = waiting;
        Self {
            reason,
            position,
            expected_start,
            virtual_cluster,
            needs: Vec::new(),
            scarce: None,
            holders: Vec::new(),
            held_by: Vec::new(),
            further_owners: 0,
            ahead: Vec::new(),
            owner_use: None,
            group_use: None,
            weights: BTreeMap::new(),
            expected: None,
            alternatives: Vec::new(),
        }
    }

    /// Why, its place and its start alone.
    #[must_use]
    pub fn waiting(&self) -> Waiting {
        let Self { reason, position, expected_start, .. } = self;
        Waiting { reason: reason.clone(), position: *position, expected_start: *expected_start }
    }

    /// Its place in the queue; who is held or pauses has none.
    #[must_use]
    pub fn place(&self) -> Option<u32> {
        self.reason.has_place().then_some(self.position)
    }
}

/// GPUs of a type that will do for tasks of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Need {
    /// The type.
    pub gpu_type: GpuType,
    /// Tasks that ask for them.
    pub tasks: u32,
    /// What each of these asks for.
    pub each: Amount,
    /// What is free of the type in the job's virtual cluster.
    pub free: FreeGpus,
}

/// What one user's jobs hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeldBy {
    /// Whose.
    pub user: UserName,
    /// How many jobs.
    pub jobs: u32,
    /// Their GPUs.
    pub gpus: Amount,
}

/// A change of a job with which it would start at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Alternative {
    /// What is different.
    #[serde(flatten)]
    pub instead: Instead,
    /// On what is lent: it gives way when others want it back.
    pub borrowed: bool,
    /// On what is kept for this job: it ends before that one is expected to start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<JobKey>,
}

/// What stands beside what is different.
#[derive(Deserialize)]
struct Beside {
    borrowed: bool,
    #[serde(default)]
    before: Option<JobKey>,
}

impl<'de> Deserialize<'de> for Alternative {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let (instead, Beside { borrowed, before }) = tagged::mixed(deserializer)?;
        Ok(Self { instead, borrowed, before })
    }
}

protocol::tagged! {
    "instead" "Instead"
    /// What may be different. As text, which addresses have: `split:2x4`, `type:V100`, `vc:nlp`,
    /// `limit:2h`.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
    pub enum Instead {
        /// The role that asks for GPUs has so many tasks, of so many GPUs each: as many in all.
        Split {
            /// Tasks.
            tasks: u32,
            /// GPUs of each.
            gpus: u32,
        },
        /// Another type of GPUs.
        GpuType {
            /// Which.
            gpu_type: GpuType,
        },
        /// Another virtual cluster.
        VirtualCluster {
            /// Which.
            virtual_cluster: VirtualClusterName,
        },
        /// It runs no longer than this.
        TimeLimit {
            /// How long.
            time_limit: TimeLimit,
        },
    }
}

impl fmt::Display for Instead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Split { tasks, gpus } => write!(f, "split:{tasks}x{gpus}"),
            Self::GpuType { gpu_type } => write!(f, "type:{gpu_type}"),
            Self::VirtualCluster { virtual_cluster } => write!(f, "vc:{virtual_cluster}"),
            Self::TimeLimit { time_limit } => write!(f, "limit:{time_limit}"),
        }
    }
}

impl FromStr for Instead {
    type Err = NoInstead;

    fn from_str(text: &str) -> std::result::Result<Self, NoInstead> {
        let read = || match text.split_once(':')? {
            ("split", sizes) => {
                let (tasks, gpus) = sizes.split_once('x')?;
                Some(Self::Split { tasks: tasks.parse().ok()?, gpus: gpus.parse().ok()? })
            }
            ("type", name) => Some(Self::GpuType { gpu_type: name.parse().ok()? }),
            ("vc", name) => Some(Self::VirtualCluster { virtual_cluster: name.parse().ok()? }),
            ("limit", limit) => Some(Self::TimeLimit { time_limit: limit.parse().ok()? }),
            _ => None,
        };
        read().ok_or(NoInstead)
    }
}

/// A text that is no [`Instead`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("allowed are split:TASKSxGPUS, type:GPUTYPE, vc:NAME and limit:TIME")]
pub struct NoInstead;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_different_is_written_and_read() {
        for text in ["split:2x4", "type:V100", "vc:nlp", "limit:2h", "limit:1d 12h"] {
            assert_eq!(text.parse::<Instead>().unwrap().to_string(), text);
        }
        for text in ["", "split:2", "split:x", "type:", "vc:a b", "node:a", "limit:soon"] {
            assert_eq!(text.parse::<Instead>(), Err(NoInstead), "{text}");
        }
    }
}
