//! Groups of users.

use async_trait::async_trait;
use protocol::ids::{GroupName, StorageName, UserName, VirtualClusterName};
use protocol::person::Source;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::actor::Actor;
use crate::error::Result;

/// What people do with groups. They come from sign-in providers, or administrators write them here.
#[async_trait]
pub trait Groups: Send + Sync {
    /// All groups by name (administrators; others see their own, with themselves as members).
    async fn list(&self, actor: &Actor) -> Result<Vec<GroupView>>;
    /// Puts a user into these groups and no others, as far as they are written here
    /// (administrators). What a provider says of him stays.
    async fn set(&self, actor: &Actor, user: &UserName, groups: Vec<GroupName>) -> Result<()>;
    /// Puts a user into some groups and takes him out of others, as far as they are written here
    /// (administrators). In all other groups he is as before, whoever changes that at the same time.
    async fn alter(
        &self,
        actor: &Actor,
        user: &UserName,
        into: Vec<GroupName>,
        out_of: Vec<GroupName>,
    ) -> Result<()>;
    /// Writes down a group that is not written down yet (administrators).
    async fn create(&self, actor: &Actor, name: &GroupName, said: GroupChange) -> Result<Granted>;
    /// Changes what is said of a group (administrators).
    async fn change(&self, actor: &Actor, name: &GroupName, said: GroupChange) -> Result<Granted>;
    /// Forgets a group: nobody is in it any more as far as that was written here, and no virtual
    /// cluster or storage names it (administrators). Who is in it by a provider stays so, without
    /// rights.
    async fn remove(&self, actor: &Actor, name: &GroupName) -> Result<()>;
}

/// What is said of a group; what is `None` stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GroupChange {
    /// What it is, for people.
    pub description: Option<String>,
    /// What it is called elsewhere, for people.
    pub external_name: Option<String>,
    /// Whether its members are administrators.
    pub admin: Option<bool>,
    /// The virtual clusters that are to name it.
    pub virtual_clusters: Option<Vec<VirtualClusterName>>,
    /// The storages that are to name it.
    pub storages: Option<Vec<StorageName>>,
    /// What programs keep with it.
    pub extension: Option<Map<String, Value>>,
}

/// What somebody may use though it was not among what he was to be given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Granted {
    /// Virtual clusters that are everybody's, or that a group of his may use.
    pub beside: Vec<VirtualClusterName>,
}

/// A group as the pages show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupView {
    /// Name.
    pub name: GroupName,
    /// Who is in it, by name.
    pub members: Vec<Member>,
    /// Whether its members are administrators, whoever says that they are members.
    pub admin: bool,
    /// Virtual clusters that its members may use: those that name it, and those that are everybody's.
    pub virtual_clusters: Vec<VirtualClusterName>,
    /// Storages that its members may have: those that name it, and those that are everybody's.
    pub storages: Vec<StorageName>,
    /// What it is, for people.
    pub description: String,
    /// What it is called elsewhere, for people.
    pub external_name: String,
    /// What programs keep with it.
    pub extension: Map<String, Value>,
}

/// Somebody in a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Who.
    pub user: UserName,
    /// Who says so.
    pub source: Source,
}

/// A group that somebody is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Membership {
    /// The group.
    pub group: GroupName,
    /// Who says so.
    pub source: Source,
    /// Whether it gives rights at this moment: what a provider said too long ago does not.
    pub counts: bool,
}
