//! Images that users save from their tasks' containers.

use async_trait::async_trait;
use protocol::ids::{JobKey, NodeName, RoleName, UserName};
use protocol::image::ImageState;
use protocol::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::error::Result;

/// Saved images, for the job's owner and administrators. Saving and removing are in the audit log.
#[async_trait]
pub trait Images: Send + Sync {
    /// What an image of a task's container would take.
    ///
    /// # Errors
    /// `ForbiddenUserError`; `NoJobError`; `NoTaskError`; `UnavailableError` when the container is
    /// gone or its node does not answer.
    async fn size(&self, actor: &Actor, task: &TaskOfJob) -> Result<ImageSize>;

    /// Begins to save a task's container; how far it is, [`Images::list`] tells.
    ///
    /// # Errors
    /// As [`Images::size`]; `InvalidParametersError` for a name that is not allowed;
    /// `ConflictImageError` for one that is taken.
    async fn save(&self, actor: &Actor, request: &SaveImage) -> Result<SavedImageView>;

    /// The actor's images, newest first; everybody's, for administrators.
    async fn list(&self, actor: &Actor) -> Result<Vec<SavedImageView>>;

    /// Removes an image from all nodes.
    ///
    /// # Errors
    /// `NoImageError`; `ForbiddenUserError`; `ConflictImageError` while a job needs it.
    async fn remove(&self, actor: &Actor, id: i64) -> Result<()>;
}

/// A task of a job's current attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskOfJob {
    /// The job.
    pub job: JobKey,
    /// The task's role.
    pub role: RoleName,
    /// The task's place in the role, from 0.
    pub index: u32,
}

/// What is to be saved, and how it is to be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaveImage {
    /// Whose container.
    pub task: TaskOfJob,
    /// The name; the job's owner is put before it.
    pub name: String,
    /// The tag; empty: `latest`.
    pub tag: String,
    /// Where it is pushed to in place of staying on its node; empty: nowhere.
    pub registry: String,
    /// A file of the storage with the registry's address, user and password, a line each; empty: the
    /// registry asks for none.
    pub auth_file: String,
    /// Where the user is, for the audit log.
    pub address: Option<String>,
}

/// What an image takes, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImageSize {
    /// What the container has written: what is new on the node.
    pub own: u64,
    /// All of it, with the image that it was made from.
    pub whole: u64,
}

/// A saved image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SavedImageView {
    /// What it is removed by.
    pub id: i64,
    /// Whose it is.
    pub owner: UserName,
    /// What a job's `image` names it by.
    pub image: String,
    /// How far it is.
    pub state: ImageState,
    /// What is being done, while something is.
    pub progress: Option<String>,
    /// Why it failed.
    pub problem: Option<String>,
    /// The node on which it was made.
    pub node: NodeName,
    /// What it takes, once it is made.
    pub bytes: Option<u64>,
    /// Where it was pushed to.
    pub registry: Option<String>,
    /// The job that it came from.
    pub job: JobKey,
    /// The task: `<role>-<index>`.
    pub task: String,
    /// Who saved it.
    pub made_by: UserName,
    /// When.
    pub created_at: Timestamp,
}
