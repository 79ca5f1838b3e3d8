//! Who entered what, and when: written once, never changed.

use async_trait::async_trait;
use protocol::ids::UserName;
use protocol::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Actor, Result};

/// The audit log, for administrators.
#[async_trait]
pub trait Audit: Send + Sync {
    /// The newest entries of those before `before`, newest first.
    async fn list(&self, actor: &Actor, before: Option<i64>, limit: u64)
    -> Result<Vec<AuditEntry>>;
}

/// Something that somebody did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// Ascending in the order of writing.
    pub id: i64,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: UserName,
    /// What.
    pub action: AuditAction,
    /// To what: `user~job/role-index`.
    pub object: String,
    /// What else there is to say.
    pub detail: String,
    /// Where the request came from.
    pub address: Option<String>,
}

/// What is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum AuditAction {
    /// A shell was opened.
    #[serde(rename = "terminal.opened")]
    TerminalOpened,
    /// Somebody came back to a shell.
    #[serde(rename = "terminal.resumed")]
    TerminalResumed,
    /// A shell ended.
    #[serde(rename = "terminal.ended")]
    TerminalEnded,
    /// A browser was let in at a task's port.
    #[serde(rename = "page.opened")]
    PageOpened,
    /// A file in a container was read.
    #[serde(rename = "file.read")]
    FileRead,
    /// A file in a container was written.
    #[serde(rename = "file.written")]
    FileWritten,
    /// A waiting job was held.
    #[serde(rename = "job.held")]
    JobHeld,
    /// A held job was released.
    #[serde(rename = "job.released")]
    JobReleased,
    /// A waiting job got another priority.
    #[serde(rename = "job.priority")]
    JobPriority,
    /// A job was moved in the queue.
    #[serde(rename = "job.moved")]
    JobMoved,
    /// A node was drained, emptied, or let take tasks again.
    #[serde(rename = "node.drained")]
    NodeDrained,
    /// A node was added, or its settings were changed.
    #[serde(rename = "node.saved")]
    NodeSaved,
    /// A node was removed.
    #[serde(rename = "node.removed")]
    NodeRemoved,
    /// A virtual cluster was added, or its settings were changed.
    #[serde(rename = "virtual_cluster.saved")]
    VirtualClusterSaved,
    /// A virtual cluster was removed.
    #[serde(rename = "virtual_cluster.removed")]
    VirtualClusterRemoved,
    /// The saving of a container as an image was asked for.
    #[serde(rename = "image.saved")]
    ImageSaved,
    /// The removal of a saved image was asked for.
    #[serde(rename = "image.removed")]
    ImageRemoved,
}

impl AuditAction {
    /// All of them.
    pub const ALL: [Self; 17] = [
        Self::TerminalOpened,
        Self::TerminalResumed,
        Self::TerminalEnded,
        Self::PageOpened,
        Self::FileRead,
        Self::FileWritten,
        Self::JobHeld,
        Self::JobReleased,
        Self::JobPriority,
        Self::JobMoved,
        Self::NodeDrained,
        Self::NodeSaved,
        Self::NodeRemoved,
        Self::VirtualClusterSaved,
        Self::VirtualClusterRemoved,
        Self::ImageSaved,
        Self::ImageRemoved,
    ];

    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TerminalOpened => "terminal.opened",
            Self::TerminalResumed => "terminal.resumed",
            Self::TerminalEnded => "terminal.ended",
            Self::PageOpened => "page.opened",
            Self::FileRead => "file.read",
            Self::FileWritten => "file.written",
            Self::JobHeld => "job.held",
            Self::JobReleased => "job.released",
            Self::JobPriority => "job.priority",
            Self::JobMoved => "job.moved",
            Self::NodeDrained => "node.drained",
            Self::NodeSaved => "node.saved",
            Self::NodeRemoved => "node.removed",
            Self::VirtualClusterSaved => "virtual_cluster.saved",
            Self::VirtualClusterRemoved => "virtual_cluster.removed",
            Self::ImageSaved => "image.saved",
            Self::ImageRemoved => "image.removed",
        }
    }

    /// Reads the stable word.
    #[must_use]
    pub fn read(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == word)
    }
}
