//! What tasks serve at their ports.

use async_trait::async_trait;
use protocol::ids::{JobKey, PortLabel, RoleName};
use serde::{Deserialize, Serialize};

use crate::{Actor, Result};

/// The ports of tasks, for their owners and administrators.
#[async_trait]
pub trait Proxy: Send + Sync {
    /// Where a port of a task is reached now.
    ///
    /// # Errors
    /// `ForbiddenUserError`; `NoJobError`; `NoTaskError` when there is no such task or port;
    /// `UnavailableError` while the task does not run.
    async fn upstream(&self, actor: &Actor, port: &TaskPort) -> Result<Upstream>;

    /// Writes down that somebody who may is being let in at a port, and where he is.
    ///
    /// # Errors
    /// As [`Proxy::upstream`].
    async fn enter(&self, actor: &Actor, port: &TaskPort, address: &str) -> Result<()>;
}

/// A port of a task.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TaskPort {
    /// The job.
    pub job: JobKey,
    /// The task's role.
    pub role: RoleName,
    /// The task's place in the role, from 0.
    pub index: u32,
    /// The label, for the first port that has it, or the number of any of the task's ports.
    pub port: PortLabel,
}

/// Where to connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    /// The node's address.
    pub address: String,
    /// The port's number.
    pub port: u16,
}
