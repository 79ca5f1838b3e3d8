use std::collections::BTreeSet;

use api::groups::GroupView;
use leptos::prelude::*;
use protocol::ids::{GroupName, UserName, VirtualClusterName};
use serde::{Deserialize, Serialize};
use server_fn::codec::GetUrl;

use crate::failed::Failed;
use crate::forms::GroupForm;
use crate::json::Answer;
use crate::server_fns::reads::Reads;

/// A group as administrators see it in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Group {
    pub(crate) name: GroupName,
    pub(crate) description: String,
    /// Whether its members are administrators.
    pub(crate) admin: bool,
    /// How many there are.
    pub(crate) members: usize,
    /// Those that its members may use.
    pub(crate) virtual_clusters: Vec<VirtualClusterName>,
}

impl From<GroupView> for Group {
    fn from(group: GroupView) -> Self {
        let users: BTreeSet<UserName> = group.members.into_iter().map(|one| one.user).collect();
        Self {
            name: group.name,
            description: group.description,
            admin: group.admin,
            members: users.len(),
            virtual_clusters: group.virtual_clusters,
        }
    }
}

/// All groups.
#[server(prefix = "/fn", endpoint = "groups/list", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn list_groups() -> Result<Vec<Group>, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    let groups = backend.groups.list(&actor).await.map_err(failed)?;
    Ok(groups.into_iter().map(Group::from).collect())
}

/// Writes a group down, or changes what is said of one.
#[server(prefix = "/fn", endpoint = "groups/save", output = Answer)]
pub(crate) async fn save_group(group: GroupForm) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    let (name, change) = crate::settings::group(&group).map_err(failed)?;
    let known = backend.groups.list(&actor).await.map_err(failed)?;
    let saved = if known.iter().any(|known| known.name == name) {
        backend.groups.change(&actor, &name, change).await
    } else {
        backend.groups.create(&actor, &name, change).await
    };
    saved.map(|_granted| ()).map_err(failed)
}

/// Forgets a group.
#[server(prefix = "/fn", endpoint = "groups/remove", output = Answer)]
pub(crate) async fn remove_group(name: GroupName) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.groups.remove(&actor, &name).await.map_err(failed)
}

/// Puts a user into groups: those of the text, as far as they are written here. The text was filled with those
/// that he was in before: what somebody else has changed since stays.
#[server(prefix = "/fn", endpoint = "groups/set", output = Answer)]
pub(crate) async fn set_groups(
    user: UserName,
    #[server(default)] before: String,
    #[server(default)] groups: String,
) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    let (into, out_of) = crate::settings::changed_groups(&before, &groups).map_err(failed)?;
    backend.groups.alter(&actor, &user, into, out_of).await.map_err(failed)
}
