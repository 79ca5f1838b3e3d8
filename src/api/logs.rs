//! Logs of tasks: followed while they run, kept when the container is gone.

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use protocol::ids::{JobKey, RoleName};
use serde::{Deserialize, Serialize};

use crate::{Actor, Result};

/// Reading logs. Only the owner and administrators may.
#[async_trait]
pub trait Logs: Send + Sync {
    /// The end of a task's log: at most `tail_bytes` bytes, cut at a line's beginning.
    async fn tail(&self, actor: &Actor, task: &TaskRef, tail_bytes: u64) -> Result<LogText>;
    /// The log from `offset` on, and all that comes after it until the task has ended. A
    /// log that was lost with its container ends there.
    async fn follow(
        &self,
        actor: &Actor,
        task: &TaskRef,
        offset: u64,
    ) -> Result<BoxStream<'static, Result<Bytes>>>;
}

/// One task of one attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRef {
    /// The job.
    pub job: JobKey,
    /// The attempt; `None`: the latest.
    pub attempt: Option<u32>,
    /// The role.
    pub role: RoleName,
    /// The index in the role.
    pub index: u32,
}

/// A piece of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogText {
    /// The text; bytes that are not UTF-8 are replaced.
    pub text: String,
    /// Where in the log it begins; 0: at its beginning.
    pub offset: u64,
    /// Where it ends: `follow` goes on from here, and so many bytes later from so much more. Of a
    /// short log these are bytes from its beginning; of a long one only the end is read, and they
    /// count from some moment.
    pub end: u64,
    /// Whether nothing will be added any more.
    pub complete: bool,
}
