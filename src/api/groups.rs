//! Groups of users.

use async_trait::async_trait;
use protocol::ids::{GroupName, StorageName, UserName, VirtualClusterName};
use protocol::person::Source;
use serde::{Deserialize, Serialize};

use crate::{Actor, Result};

/// What people do with groups. They come from sign-in providers, or administrators write them here.
#[async_trait]
pub trait Groups: Send + Sync {
    /// All groups by name (administrators; others see their own, with themselves as members).
    async fn list(&self, actor: &Actor) -> Result<Vec<GroupView>>;
    /// Puts a user into these groups and no others, as far as they are written here
    /// (administrators). What a provider says of him stays.
    async fn set(&self, actor: &Actor, user: &UserName, groups: Vec<GroupName>) -> Result<()>;
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
    /// Virtual clusters that name it.
    pub virtual_clusters: Vec<VirtualClusterName>,
    /// Storages that name it.
    pub storages: Vec<StorageName>,
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
