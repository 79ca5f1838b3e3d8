//! The one canonical, validated form that every dialect becomes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::amount::Amount;
pub use crate::deadline::{Deadline, NoDeadline};
use crate::exit::Cause;
pub use crate::grace::{Grace, GraceSignal, NoSignal};
use crate::ids::{GpuType, JobName, PortLabel, RoleName, VirtualClusterName};
pub use crate::limit::{NoLimit, TimeLimit};
pub use crate::node_selector::NodeSelector;
use crate::resources::Resources;
pub use crate::topology::{NoLevel, Topology, TopologyLevel};

/// A whole job, validated: no field contradicts another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobSpec {
    /// The name.
    pub name: JobName,
    /// Which document's rules the file was written for.
    pub dialect: Dialect,
    /// Free text.
    pub description: Option<String>,
    /// Where it runs; `default` when the file names none.
    pub virtual_cluster: VirtualClusterName,
    /// Place in the queue inside the virtual cluster.
    pub priority: Priority,
    /// GPU types that will do for every task; empty: any.
    pub gpu_types: Vec<GpuType>,
    /// Which nodes will do for every task.
    #[serde(default)]
    pub nodes: NodeSelector,
    /// How many more attempts follow a failure that is the user's.
    pub retries: RetryLimit,
    /// How long each attempt may run, from the start of its first container; `None`: without end.
    #[serde(default)]
    pub time_limit: Option<TimeLimit>,
    /// What its tasks are told before they give way, their time is over or their node is emptied.
    #[serde(default)]
    pub grace: Option<Grace>,
    /// By when it is to have ended; nothing happens to it then.
    #[serde(default)]
    pub deadline: Option<Deadline>,
    /// `killAllOnCompletedTaskNumber` when given and above 0: the job ends when so many tasks of
    /// any role have completed.
    pub kill_all_on_completed: Option<u32>,
    /// `authFile`, with variables of the documents still in it.
    pub auth_file: Option<String>,
    /// `dataDir`.
    pub data_dir: Option<String>,
    /// `outputDir`; `None`: `$PAI_DEFAULT_FS_URI/Output/$jobName`.
    pub output_dir: Option<String>,
    /// `codeDir`.
    pub code_dir: Option<String>,
    /// The task roles in the file's order; at least one, names unique.
    pub roles: Vec<TaskRole>,
    /// `jobEnvs`: added to every task's environment, taken literally.
    pub env: BTreeMap<String, String>,
    /// `jobEnvs.isDebug`: the container of a failed task is kept.
    pub debug: bool,
    /// Names of the file's secrets. Their values are never part of a spec: `<% $secrets.name %>`
    /// stays in the texts until a container is made.
    pub secrets: Vec<String>,
    /// `extras`, kept for whoever put it there.
    pub extras: serde_json::Map<String, serde_json::Value>,
}

impl JobSpec {
    /// A job that says nothing but its name and its roles: all else is what it is where a file is silent.
    #[must_use]
    pub fn plain(name: JobName, dialect: Dialect, roles: Vec<TaskRole>) -> Self {
        Self {
            name,
            dialect,
            description: None,
            virtual_cluster: VirtualClusterName::default(),
            priority: Priority::default(),
            gpu_types: Vec::new(),
            nodes: NodeSelector::default(),
            retries: RetryLimit::Times(0),
            time_limit: None,
            grace: None,
            deadline: None,
            kill_all_on_completed: None,
            auth_file: None,
            data_dir: None,
            output_dir: None,
            code_dir: None,
            roles,
            env: BTreeMap::new(),
            debug: false,
            secrets: Vec::new(),
            extras: serde_json::Map::new(),
        }
    }

    /// After so many milliseconds an attempt is told that its time is over: its tasks have what is left of
    /// the limit then as their grace.
    #[must_use]
    pub fn told_after(&self) -> Option<i64> {
        let limit = self.time_limit?.millis();
        Some(limit - self.grace.map_or(0, Grace::millis).min(limit))
    }

    /// What its tasks are given before they are stopped for that.
    #[must_use]
    pub fn grace_before(&self, cause: &Cause) -> Option<Grace> {
        self.grace.filter(|_| cause.leaves_time())
    }

    /// Tasks of all roles together.
    #[must_use]
    pub fn task_count(&self) -> u32 {
        self.roles.iter().map(|role| role.count).sum()
    }

    /// GPUs of all tasks together.
    #[must_use]
    pub fn gpu_count(&self) -> Amount {
        self.roles.iter().map(|role| role.resources.gpus.times(role.count.into())).sum()
    }
}

/// The document whose rules a file follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// The earliest PAI (seed 004): only its keys; the command starts inside the code directory.
    Earliest,
    /// OpenPAI 0.4 and later and QIZHI (seeds 000, 001).
    Pai,
    /// SCM (seed 002): any of `shmMB`, `storageGB`, `min…TaskCount`, `jobEnvs`, `extras`, `tmp`.
    Scm,
    /// The job protocol, version 2 (seed 003).
    V2,
}

/// A kind of task and how many of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskRole {
    /// Unique in the job.
    pub name: RoleName,
    /// Number of tasks, at least 1.
    pub count: u32,
    /// What each task gets.
    pub resources: Resources,
    /// GPU types that will do for this role; empty: the job's.
    pub gpu_types: Vec<GpuType>,
    /// Size of `/dev/shm` in MiB.
    pub shm_mb: u64,
    /// The image.
    pub image: String,
    /// How the image's registry is entered, where the file says so itself.
    pub registry: Option<Box<RegistryAuth>>,
    /// Ports by label, without the `http` and `ssh` that every task has.
    pub ports: Vec<PortRequest>,
    /// The whole command, a shell text, references rendered except secrets.
    pub command: String,
    /// When the role's tasks end the job.
    pub completion: Completion,
    /// Further starts of one failed task inside an attempt (`taskRetryCount`).
    pub task_retries: RetryLimit,
    /// InfiniBand devices are wanted.
    pub infiniband: bool,
}

/// Registry credentials of a version 2 prerequisite; the password may be a `<% $secrets.x %>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistryAuth {
    /// The registry; empty: Docker Hub.
    pub registry: String,
    /// User name.
    pub user: String,
    /// Password or a reference to a secret.
    pub password: String,
}

/// A group of ports of each task of a role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortRequest {
    /// Unique in the role.
    pub label: PortLabel,
    /// First port; 0: any free ones.
    pub begin_at: u16,
    /// How many, at least 1.
    pub count: u32,
}

/// When tasks of a role end the whole job. `None` disables a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// So many failed tasks fail the job.
    pub min_failed: Option<u32>,
    /// So many succeeded tasks make the job succeed.
    pub min_succeeded: Option<u32>,
}

/// How often something is tried again after a failure that is the user's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetryLimit {
    /// So many times.
    Times(u32),
    /// After every failure (`-1`).
    EveryFailure,
    /// Even after success (`-2`).
    Always,
}

/// Place in the queue inside a virtual cluster: higher goes first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Priority(pub i32);

impl Default for Priority {
    /// `test`.
    fn default() -> Self {
        Self::TEST
    }
}

impl Priority {
    /// `oppo`: may be preempted by any guaranteed work.
    pub const OPPORTUNISTIC: Self = Self(-1);
    /// `test`, the default.
    pub const TEST: Self = Self(10);
    /// `prod`.
    pub const PRODUCTION: Self = Self(100);
    /// `crit`.
    pub const CRITICAL: Self = Self(120);

    /// The classes by their words, highest first.
    pub const CLASSES: [(&str, Self); 4] = [
        ("crit", Self::CRITICAL),
        ("prod", Self::PRODUCTION),
        ("test", Self::TEST),
        ("oppo", Self::OPPORTUNISTIC),
    ];

    /// The priority of a class.
    #[must_use]
    pub fn of_class(word: &str) -> Option<Self> {
        let class = Self::CLASSES.into_iter().find(|(class, _)| *class == word);
        class.map(|(_, priority)| priority)
    }

    /// The class that it is of, between two of which it may lie.
    #[must_use]
    pub fn class(self) -> Self {
        let reached = [Self::CRITICAL, Self::PRODUCTION].into_iter().find(|class| self >= *class);
        reached.unwrap_or(if self.0 < 0 { Self::OPPORTUNISTIC } else { Self::TEST })
    }

    /// The lowest and the highest of the class that it is of.
    #[must_use]
    pub fn within_class(self) -> (Self, Self) {
        let mut highest = Self(i32::MAX);
        for lowest in [Self::CRITICAL, Self::PRODUCTION, Self(0)] {
            if self >= lowest {
                return (lowest, highest);
            }
            highest = Self(lowest.0 - 1);
        }
        (Self(i32::MIN), highest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_reaches_from_one_to_the_next() {
        let mut above = None;
        for (word, class) in Priority::CLASSES {
            let (lowest, highest) = class.within_class();
            assert!([lowest, class, highest].into_iter().all(|one| one.class() == class), "{word}");
            assert_eq!(highest.0.checked_add(1), above, "{word}");
            above = Some(lowest.0);
        }
        assert_eq!(above, Some(i32::MIN));
    }
}
