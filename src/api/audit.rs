//! Who entered what, and when: written once, never changed, and forgotten when it is older than the
//! installation keeps it.

use async_trait::async_trait;
use protocol::ids::UserName;
use protocol::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::error::Result;

/// The audit log, for administrators.
#[async_trait]
pub trait Audit: Send + Sync {
    /// The newest entries of those before `before`, newest first.
    async fn list(
        &self,
        actor: &Actor,
        before: Option<i64>,
        limit: u64,
    ) -> Result<Vec<AuditEntry>> {
        self.find(actor, "", before, limit).await
    }
    /// The same of those that say all of some words, in any case: who, what, to what, more of it, from
    /// where. So many of the newest are looked through, as is known not to take long.
    async fn find(
        &self,
        actor: &Actor,
        words: &str,
        before: Option<i64>,
        limit: u64,
    ) -> Result<Vec<AuditEntry>>;
    /// Writes down what a door saw that no operation knows: who came and went, what was refused.
    /// Of what comes in bursts only the beginning is written, and how much more there was.
    async fn note(&self, note: AuditNote) -> Result<()>;
}

/// What a door writes down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditNote {
    /// Who, or who he said he was.
    pub actor: UserName,
    /// What.
    pub action: AuditAction,
    /// To what.
    pub object: String,
    /// Where the request came from.
    pub address: Option<String>,
}

/// Something that somebody did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// A job that runs got another time limit.
    #[serde(rename = "job.time_limit")]
    JobTimeLimit,
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
    /// A node was tried: a pull, a job, a look for its GPUs.
    #[serde(rename = "node.tried")]
    NodeTried,
    /// A container in quarantine was stopped.
    #[serde(rename = "container.stopped")]
    ContainerStopped,
    /// A container in quarantine was removed.
    #[serde(rename = "container.removed")]
    ContainerRemoved,
    /// A virtual cluster was added, or its settings were changed.
    #[serde(rename = "virtual_cluster.saved")]
    VirtualClusterSaved,
    /// A virtual cluster was removed.
    #[serde(rename = "virtual_cluster.removed")]
    VirtualClusterRemoved,
    /// A storage was set up, or its settings were changed.
    #[serde(rename = "storage.saved")]
    StorageSaved,
    /// A storage was forgotten.
    #[serde(rename = "storage.removed")]
    StorageRemoved,
    /// A job file was shared, or another one put in its place.
    #[serde(rename = "template.saved")]
    TemplateSaved,
    /// A shared job file was taken back.
    #[serde(rename = "template.removed")]
    TemplateRemoved,
    /// The saving of a container as an image was asked for.
    #[serde(rename = "image.saved")]
    ImageSaved,
    /// The removal of a saved image was asked for.
    #[serde(rename = "image.removed")]
    ImageRemoved,
    /// A user was added.
    #[serde(rename = "user.added")]
    UserAdded,
    /// A user was removed.
    #[serde(rename = "user.removed")]
    UserRemoved,
    /// A user was made an administrator.
    #[serde(rename = "user.promoted")]
    UserPromoted,
    /// An administrator was made an ordinary user.
    #[serde(rename = "user.demoted")]
    UserDemoted,
    /// Somebody changed his own password.
    #[serde(rename = "password.changed")]
    PasswordChanged,
    /// An administrator set somebody's password.
    #[serde(rename = "password.reset")]
    PasswordReset,
    /// All sessions and tokens of a user were ended.
    #[serde(rename = "access.ended")]
    AccessEnded,
    /// A token was made.
    #[serde(rename = "token.made")]
    TokenMade,
    /// A token was revoked.
    #[serde(rename = "token.revoked")]
    TokenRevoked,
    /// A public key was added.
    #[serde(rename = "public_key.added")]
    PublicKeyAdded,
    /// A public key was removed.
    #[serde(rename = "public_key.removed")]
    PublicKeyRemoved,
    /// Somebody signed in.
    #[serde(rename = "session.began")]
    SignedIn,
    /// Somebody signed out.
    #[serde(rename = "session.ended")]
    SignedOut,
    /// Signing in failed.
    #[serde(rename = "session.failed")]
    SignInFailed,
    /// An administrator read the key of somebody's job.
    #[serde(rename = "key.read")]
    KeyRead,
    /// An administrator read the log of somebody's job.
    #[serde(rename = "log.read")]
    LogRead,
    /// An administrator read somebody's files.
    #[serde(rename = "files.read")]
    FilesRead,
    /// An administrator changed somebody's files.
    #[serde(rename = "files.changed")]
    FilesChanged,
    /// Somebody else's job was stopped.
    #[serde(rename = "job.stopped")]
    JobStopped,
    /// A job was deleted that had ended.
    #[serde(rename = "job.deleted")]
    JobDeleted,
    /// Something was refused to somebody.
    #[serde(rename = "request.refused")]
    Refused,
    /// A user was put into groups.
    #[serde(rename = "user.groups")]
    UserGroups,
    /// An account was made for somebody who signed in by a provider.
    #[serde(rename = "user.provided")]
    UserProvided,
    /// A group was written down, or what is said of it was changed.
    #[serde(rename = "group.saved")]
    GroupSaved,
    /// A group was forgotten.
    #[serde(rename = "group.removed")]
    GroupRemoved,
    /// A user was given virtual clusters, or they were taken away.
    #[serde(rename = "user.virtual_clusters")]
    UserVirtualClusters,
}

impl AuditAction {
    /// All of them.
    pub const ALL: [Self; 51] = [
        Self::TerminalOpened,
        Self::TerminalResumed,
        Self::TerminalEnded,
        Self::PageOpened,
        Self::FileRead,
        Self::FileWritten,
        Self::JobHeld,
        Self::JobReleased,
        Self::JobPriority,
        Self::JobTimeLimit,
        Self::JobMoved,
        Self::NodeDrained,
        Self::NodeSaved,
        Self::NodeRemoved,
        Self::NodeTried,
        Self::ContainerStopped,
        Self::ContainerRemoved,
        Self::VirtualClusterSaved,
        Self::VirtualClusterRemoved,
        Self::StorageSaved,
        Self::StorageRemoved,
        Self::TemplateSaved,
        Self::TemplateRemoved,
        Self::ImageSaved,
        Self::ImageRemoved,
        Self::UserAdded,
        Self::UserRemoved,
        Self::UserPromoted,
        Self::UserDemoted,
        Self::PasswordChanged,
        Self::PasswordReset,
        Self::AccessEnded,
        Self::TokenMade,
        Self::TokenRevoked,
        Self::PublicKeyAdded,
        Self::PublicKeyRemoved,
        Self::SignedIn,
        Self::SignedOut,
        Self::SignInFailed,
        Self::KeyRead,
        Self::LogRead,
        Self::FilesRead,
        Self::FilesChanged,
        Self::JobStopped,
        Self::JobDeleted,
        Self::Refused,
        Self::UserGroups,
        Self::UserProvided,
        Self::GroupSaved,
        Self::GroupRemoved,
        Self::UserVirtualClusters,
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
            Self::JobTimeLimit => "job.time_limit",
            Self::JobMoved => "job.moved",
            Self::NodeDrained => "node.drained",
            Self::NodeSaved => "node.saved",
            Self::NodeRemoved => "node.removed",
            Self::NodeTried => "node.tried",
            Self::ContainerStopped => "container.stopped",
            Self::ContainerRemoved => "container.removed",
            Self::VirtualClusterSaved => "virtual_cluster.saved",
            Self::VirtualClusterRemoved => "virtual_cluster.removed",
            Self::StorageSaved => "storage.saved",
            Self::StorageRemoved => "storage.removed",
            Self::TemplateSaved => "template.saved",
            Self::TemplateRemoved => "template.removed",
            Self::ImageSaved => "image.saved",
            Self::ImageRemoved => "image.removed",
            Self::UserAdded => "user.added",
            Self::UserRemoved => "user.removed",
            Self::UserPromoted => "user.promoted",
            Self::UserDemoted => "user.demoted",
            Self::PasswordChanged => "password.changed",
            Self::PasswordReset => "password.reset",
            Self::AccessEnded => "access.ended",
            Self::TokenMade => "token.made",
            Self::TokenRevoked => "token.revoked",
            Self::PublicKeyAdded => "public_key.added",
            Self::PublicKeyRemoved => "public_key.removed",
            Self::SignedIn => "session.began",
            Self::SignedOut => "session.ended",
            Self::SignInFailed => "session.failed",
            Self::KeyRead => "key.read",
            Self::LogRead => "log.read",
            Self::FilesRead => "files.read",
            Self::FilesChanged => "files.changed",
            Self::JobStopped => "job.stopped",
            Self::JobDeleted => "job.deleted",
            Self::Refused => "request.refused",
            Self::UserGroups => "user.groups",
            Self::UserProvided => "user.provided",
            Self::GroupSaved => "group.saved",
            Self::GroupRemoved => "group.removed",
            Self::UserVirtualClusters => "user.virtual_clusters",
        }
    }

    /// Reads the stable word.
    #[must_use]
    pub fn read(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == word)
    }
}
