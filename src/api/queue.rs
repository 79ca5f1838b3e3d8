//! The queue at run time: who goes when, why, and what a change of it would do.

use std::collections::BTreeMap;

use async_trait::async_trait;
use protocol::ids::{JobKey, UserName, VirtualClusterName};
use protocol::spec::Priority;
use protocol::time::Timestamp;
use protocol::wait::{Expected, Scarce, Waiting};
use serde::{Deserialize, Serialize};

use crate::{Actor, Result};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

/// Somebody holds a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// Who.
    pub by: UserName,
    /// Since when.
    pub at: Timestamp,
    /// Whether as an administrator: then its owner cannot release it.
    pub administrator: bool,
}

/// What a change would do at once.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// Why, its place, and when it starts at the earliest.
    #[serde(flatten)]
    pub waiting: Waiting,
    /// The scarcest resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scarce: Option<Scarce>,
    /// The first of those that hold what it waits for, the one expected to end first at the head.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<JobKey>,
    /// When it may start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expected>,
}
