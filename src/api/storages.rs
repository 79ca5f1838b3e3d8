//! Storages that administrators have set up beside the users' own files.

use async_trait::async_trait;
use protocol::ids::{GroupName, StorageName, UserName};
use protocol::storages::{StorageSettings, StorageSource};
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::error::Result;

/// What people do with storages.
#[async_trait]
pub trait Storages: Send + Sync {
    /// Those that the actor's jobs may have, by name (administrators: all).
    async fn list(&self, actor: &Actor) -> Result<Vec<StorageView>>;
    /// Sets one up, or changes the one of that name (administrators). Where the settings have no
    /// password, the one stays that was given before for the same account of the same server.
    async fn save(&self, actor: &Actor, settings: StorageSettings) -> Result<()>;
    /// Forgets one (administrators); what is in it stays where it is. Tasks that have it keep it.
    async fn remove(&self, actor: &Actor, name: &StorageName) -> Result<()>;
}

/// A storage as those see it who may use it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageView {
    /// Name.
    pub name: StorageName,
    /// What kind it is, in the words of OpenPAI.
    pub kind: String,
    /// Where it is; `None`: a folder of the nodes, whose place administrators alone are told.
    pub source: Option<StorageSource>,
    /// Where tasks have it, unless their job says otherwise.
    pub mount: String,
    /// Whether nobody changes anything in it.
    pub read_only: bool,
    /// Whether jobs have it that ask for storages without naming any.
    pub default: bool,
    /// Whether each user has only the folder in it that is called like him.
    pub own_folders: bool,
    /// Who may use it, for administrators; no user and no group: everybody.
    pub users: Vec<UserName>,
    /// Groups whose members may, for administrators.
    pub groups: Vec<GroupName>,
    /// Whether a password is kept for it.
    pub has_password: bool,
}

/// A storage that a job's tasks have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MountView {
    /// The storage.
    pub name: StorageName,
    /// Where they have it.
    pub target: String,
    /// Whether they change nothing in it.
    pub read_only: bool,
    /// The variable that tells them where.
    pub variable: String,
}
