//! What tasks serve at their ports.

use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use futures::io::{AsyncRead, AsyncWrite};
use protocol::ids::{JobKey, PortLabel, RoleName};
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::error::Result;

/// The ports of tasks, for their owners and administrators.
#[async_trait]
pub trait Proxy: Send + Sync {
    /// How a port of a task is reached now.
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

/// What is at a port of a task.
#[derive(Debug, Clone)]
pub struct Upstream {
    /// The address that the task knows itself by.
    pub address: String,
    /// The port's number.
    pub port: u16,
    /// How it is reached.
    pub way: Arc<dyn Way>,
}

/// The way to a port of a task: to its own programs and nobody else's.
#[async_trait]
pub trait Way: std::fmt::Debug + Send + Sync {
    /// Connects.
    async fn connect(&self) -> std::result::Result<Pin<Box<dyn TaskStream>>, NoWay>;
}

/// A connection to a program of a task.
pub trait TaskStream: AsyncRead + AsyncWrite + Send {}

impl<T: AsyncRead + AsyncWrite + Send> TaskStream for T {}

/// Why there is no connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoWay {
    /// No program of the task listens at the port.
    NotListening,
    /// The task cannot be entered.
    Unreachable,
}
