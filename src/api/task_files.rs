//! Files inside tasks' containers.

use std::fmt;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use protocol::ids::{JobKey, RoleName};

use crate::actor::Actor;
use crate::error::Result;

/// Single files in and out of running tasks, for the job's owner and administrators. Each is in the
/// audit log.
#[async_trait]
pub trait TaskFiles: Send + Sync {
    /// Reads a file.
    ///
    /// # Errors
    /// `ForbiddenUserError`; `NoJobError`; `NoTaskError`; `NoFileError`; `UnavailableError` when the
    /// task does not run or cannot be entered.
    async fn read(&self, actor: &Actor, file: &TaskFile) -> Result<Content>;

    /// Writes a file, in place of the one that there may be; gives its bytes.
    ///
    /// # Errors
    /// As [`TaskFiles::read`]; what was written by then stays.
    async fn write(
        &self,
        actor: &Actor,
        file: &TaskFile,
        bytes: BoxStream<'static, Result<Bytes>>,
    ) -> Result<u64>;
}

/// A file in a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskFile {
    /// The job.
    pub job: JobKey,
    /// The task's role.
    pub role: RoleName,
    /// The task's place in the role, from 0.
    pub index: u32,
    /// The path; without a slash in front, from where shells begin.
    pub path: String,
    /// Where the user is, for the audit log.
    pub address: String,
}

/// What is in a file.
pub struct Content {
    /// Bytes; 0 where the container cannot tell before they are read.
    pub size: u64,
    /// The bytes; an error in the middle breaks off.
    pub bytes: BoxStream<'static, Result<Bytes>>,
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Content").field("size", &self.size).finish_non_exhaustive()
    }
}
