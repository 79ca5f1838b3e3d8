//! States of jobs, attempts and tasks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a job, an attempt or a task stands. One vocabulary for all three.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum State {
    /// In the queue, nothing placed. Next: `Preparing`, `Stopped`, `Failed`.
    Waiting,
    /// Placed; images are pulled and containers created. Next: `Running`, `Stopping`, `Failed`,
    /// `Waiting` (the platform failed and the job is placed again), `Unknown`.
    Preparing,
    /// At least one container runs. Next: `Succeeded`, `Failed`, `Stopping`, `Waiting` (another
    /// attempt), `Unknown`.
    Running,
    /// Somebody asked to stop it and containers are still ending. Next: `Stopped`.
    Stopping,
    /// Final: it did what it should.
    Succeeded,
    /// Final: it failed.
    Failed,
    /// Final: it was stopped (a person stopped the job, or the job's end stopped the task).
    Stopped,
    /// Its node is out of contact. Next: whatever is found when the node is back, or `Waiting` when
    /// the first copy is surely dead.
    Unknown,
}

impl State {
    /// All states in the order of a life.
    pub const ALL: [State; 8] = [
        State::Waiting,
        State::Preparing,
        State::Running,
        State::Stopping,
        State::Succeeded,
        State::Failed,
        State::Stopped,
        State::Unknown,
    ];

    /// Whether nothing follows.
    #[must_use]
    pub fn is_final(self) -> bool {
        match self {
            State::Succeeded | State::Failed | State::Stopped => true,
            State::Waiting
            | State::Preparing
            | State::Running
            | State::Stopping
            | State::Unknown => false,
        }
    }

    /// The word on the wire (`RUNNING`).
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            State::Waiting => "WAITING",
            State::Preparing => "PREPARING",
            State::Running => "RUNNING",
            State::Stopping => "STOPPING",
            State::Succeeded => "SUCCEEDED",
            State::Failed => "FAILED",
            State::Stopped => "STOPPED",
            State::Unknown => "UNKNOWN",
        }
    }

    /// Reads [`State::as_str`] back.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }
}
