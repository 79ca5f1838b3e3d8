//! Terminals in tasks' containers.

use std::fmt;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use protocol::ids::{JobKey, RoleName};
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::error::Result;

/// How long a shell waits for its terminal to come back, in seconds.
pub const RETURN_SECONDS: u64 = 30;

/// Bytes of output that are sent before the reader has said that it has the earlier ones.
pub const WINDOW_BYTES: u64 = 256 * 1024;

/// Shells in tasks, for the job's owner and administrators. Each entry and each end is in the
/// audit log.
#[async_trait]
pub trait Terminals: Send + Sync {
    /// Opens a shell, or comes back to one.
    ///
    /// # Errors
    /// `ForbiddenUserError`; `NoJobError`; `NoTaskError`; `UnavailableError` when the task does not
    /// run or cannot be entered; `TooManyRequestsError` when too many shells are open.
    async fn open(&self, actor: &Actor, request: TerminalRequest) -> Result<Terminal>;
}

/// Which shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalRequest {
    /// The job.
    pub job: JobKey,
    /// The task's role.
    pub role: RoleName,
    /// The task's place in the role, from 0.
    pub index: u32,
    /// What the reader has.
    pub size: TerminalSize,
    /// The shell to come back to, and how many bytes of its output the reader has. If it is gone,
    /// another one is opened.
    pub back_to: Option<(TerminalId, u64)>,
    /// Where the reader is, for the audit log.
    pub address: Option<String>,
}

/// Columns and rows, each at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalSize {
    /// Characters in a line.
    pub columns: u16,
    /// Lines.
    pub rows: u16,
}

/// Names an open shell; whoever has it must still be its owner to come back to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TerminalId(pub String);

impl fmt::Display for TerminalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A shell that somebody reads. Dropping it leaves the shell waiting for [`RETURN_SECONDS`].
pub struct Terminal {
    /// What it is called, to come back to it.
    pub id: TerminalId,
    /// Whether it was open before.
    pub resumed: bool,
    /// How many bytes of output came before the first one here.
    pub offset: u64,
    /// What it writes. The last item says how it ended.
    pub output: BoxStream<'static, TerminalEvent>,
    /// What can be done to it.
    pub controls: Box<dyn TerminalControls>,
}

impl fmt::Debug for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terminal").field("id", &self.id).finish_non_exhaustive()
    }
}

/// What a reader does to a shell.
#[async_trait]
pub trait TerminalControls: Send + Sync {
    /// Types. Waits while the shell takes nothing. `false`: it has ended.
    async fn write(&self, bytes: Bytes) -> bool;
    /// Says that the reader's size has changed.
    async fn resize(&self, size: TerminalSize);
    /// Says how many bytes of output the reader has, from the shell's beginning.
    async fn received(&self, bytes: u64);
    /// Ends the shell at once.
    async fn close(&self);
}

/// What comes out of a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalEvent {
    /// What it wrote.
    Output(Bytes),
    /// It is over, for this reader at least.
    Ended(TerminalEnd),
}

/// Why a terminal has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "reason", content = "code")]
pub enum TerminalEnd {
    /// The shell did, with this exit code where it is known.
    Exited(Option<u32>),
    /// The reader asked for it.
    Closed,
    /// Nobody came back in time.
    Left,
    /// Nothing was typed for too long.
    Idle,
    /// Another reader came to the same shell.
    TakenOver,
    /// The connection to the task broke.
    Lost,
    /// The user may no longer enter.
    Revoked,
    /// The server stops.
    Stopping,
}

impl TerminalEnd {
    /// As it is told.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Exited(_) => "exited",
            Self::Closed => "closed",
            Self::Left => "left",
            Self::Idle => "idle",
            Self::TakenOver => "taken_over",
            Self::Lost => "lost",
            Self::Revoked => "revoked",
            Self::Stopping => "stopping",
        }
    }

    /// Reads it as it is told, with the exit code where one is told; `None`: nobody says so.
    #[must_use]
    pub fn read(word: &str, code: Option<u32>) -> Option<Self> {
        let all = [
            Self::Exited(code),
            Self::Closed,
            Self::Left,
            Self::Idle,
            Self::TakenOver,
            Self::Lost,
            Self::Revoked,
            Self::Stopping,
        ];
        all.into_iter().find(|end| end.word() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_read_as_it_is_told() {
        for end in [
            TerminalEnd::Exited(Some(7)),
            TerminalEnd::Exited(None),
            TerminalEnd::Closed,
            TerminalEnd::Left,
            TerminalEnd::Idle,
            TerminalEnd::TakenOver,
            TerminalEnd::Lost,
            TerminalEnd::Revoked,
            TerminalEnd::Stopping,
        ] {
            let told = serde_json::to_value(end).unwrap();
            let code = told["code"].as_u64().and_then(|code| u32::try_from(code).ok());
            assert_eq!(TerminalEnd::read(told["reason"].as_str().unwrap(), code), Some(end));
        }
        assert_eq!(TerminalEnd::read("taken over", None), None);
    }
}
