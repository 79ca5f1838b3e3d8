//! Containers that are not touched: those of this cluster that its database did not give, and those of
//! other clusters on the same engines.

use async_trait::async_trait;
use protocol::ids::NodeName;
use protocol::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::error::Result;

/// What administrators do with them. Nothing happens to one unless one of them says so.
#[async_trait]
pub trait Quarantine: Send + Sync {
    /// All of them by node and name, or those of one node. Nobody else is told of any.
    ///
    /// # Errors
    /// `ForbiddenUserError`.
    async fn list(&self, actor: &Actor, node: Option<&NodeName>) -> Result<Vec<Quarantined>>;

    /// Stops one of this cluster; returns when it has ended. It stays to be looked into.
    ///
    /// # Errors
    /// `ForbiddenUserError`; `NoTaskError` when none of this cluster is in quarantine under that name;
    /// `UnavailableError` when its node does not answer.
    async fn stop(&self, actor: &Actor, node: &NodeName, container: &str) -> Result<()>;

    /// Removes one of this cluster that does not run, with its log.
    ///
    /// # Errors
    /// As [`Quarantine::stop`]; `ConflictNodeError` while it runs.
    async fn remove(&self, actor: &Actor, node: &NodeName, container: &str) -> Result<()>;
}

/// A container that is not touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Quarantined {
    /// Where it is.
    pub node: NodeName,
    /// Its name there.
    pub container: String,
    /// Another cluster's, which is none of ours; `None`: it says that it is of this one.
    pub cluster: Option<String>,
    /// What it does.
    pub doing: Doing,
    /// In which life of this cluster's database it was given, as it says.
    pub epoch: String,
    /// Whose job it is of, as it says.
    pub user: String,
    /// That job's name, as it says.
    pub job: String,
    /// `role-index`, as it says.
    pub task: String,
    /// GPUs of its node that nobody else gets while it runs.
    pub gpus: Vec<u32>,
    /// CPU cores, likewise.
    pub cpus: u32,
    /// Memory in MiB, likewise.
    pub memory_mb: u64,
}

/// What a container in quarantine does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum Doing {
    /// It never ran.
    Created,
    /// It runs.
    Running {
        /// Since when, where that is known.
        since: Option<Timestamp>,
    },
    /// It has ended.
    Ended,
}

impl Doing {
    /// Whether it runs.
    #[must_use]
    pub fn is_running(self) -> bool {
        matches!(self, Self::Running { .. })
    }
}
