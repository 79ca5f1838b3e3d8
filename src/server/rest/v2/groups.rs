//! Groups in the words of OpenPAI.

pub(super) mod changes;

use api::ErrorCode;
use api::groups::{GroupView, Member};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use protocol::ids::{GroupName, InvalidName, StorageName, UserName};
use protocol::person::Source;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::auth::Signed;
use crate::failure::Failure;
use crate::rest::body::Fields;
use crate::rest::message::message;
use crate::rest::person::Person;
use crate::state::AppState;

/// A group as version 2 shows it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GroupWire {
    groupname: String,
    description: String,
    external_name: String,
    extension: Extension,
}

/// What programs keep with a group, and among it what its members may do.
#[derive(Debug, Serialize, JsonSchema)]
struct Extension {
    acls: Acls,
    #[serde(flatten)]
    others: Map<String, Value>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Acls {
    admin: bool,
    virtual_clusters: Vec<String>,
    storage_configs: Vec<StorageName>,
}

impl From<GroupView> for GroupWire {
    fn from(group: GroupView) -> Self {
        let virtual_clusters = group.virtual_clusters.into_iter().map(Into::into).collect();
        let acls = Acls { admin: group.admin, virtual_clusters, storage_configs: group.storages };
        Self {
            groupname: group.name.into(),
            description: group.description,
            external_name: group.external_name,
            extension: Extension { acls, others: group.extension },
        }
    }
}

/// `GET /groups`.
pub(crate) async fn list(
    State(state): State<AppState>,
    Signed(actor): Signed,
) -> Result<Json<Vec<GroupWire>>, Failure> {
    let groups = state.backend.groups.list(&actor).await?;
    Ok(Json(groups.into_iter().map(GroupWire::from).collect()))
}

/// `GET /groups/:group`.
pub(crate) async fn get(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
) -> Result<Json<GroupWire>, Failure> {
    Ok(Json(find(state.backend.groups.list(&actor).await?, &name)?.into()))
}

/// Somebody in a group.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MemberWire {
    username: UserName,
    cluster_admin: bool,
    source: Source,
}

/// `GET /groups/:group/userlist`.
pub(crate) async fn members(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
) -> Result<Json<Vec<MemberWire>>, Failure> {
    let group = find(state.backend.groups.list(&actor).await?, &name)?;
    let users = state.backend.users.list(&actor).await?;
    let wire = group.members.into_iter().map(|Member { user, source }| {
        let cluster_admin = users.iter().any(|one| one.admin && one.name == user);
        MemberWire { username: user, cluster_admin, source }
    });
    Ok(Json(wire.collect()))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GroupList {
    grouplist: Vec<String>,
}

/// `PUT /users/:user/grouplist`: these groups, as far as they are written here.
pub(crate) async fn set(
    State(state): State<AppState>,
    Person(actor): Person,
    Path(user): Path<String>,
    Fields(GroupList { grouplist }): Fields<GroupList>,
) -> Result<Response, Failure> {
    let groups = grouplist.iter().map(|name| group(name)).collect::<Result<_, _>>()?;
    state.backend.groups.set(&actor, &user_name(&user)?, groups).await?;
    Ok((StatusCode::CREATED, message("update user grouplist successfully.")).into_response())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct One {
    groupname: String,
}

/// `PUT /users/:user/group`: into one more group.
pub(crate) async fn add(
    State(state): State<AppState>,
    Person(actor): Person,
    Path(user): Path<String>,
    Fields(One { groupname }): Fields<One>,
) -> Result<Response, Failure> {
    let (user, group) = (user_name(&user)?, group(&groupname)?);
    state.backend.groups.alter(&actor, &user, vec![group], Vec::new()).await?;
    Ok((StatusCode::CREATED, message(format!("User {user} is added into group."))).into_response())
}

/// `DELETE /users/:user/group`: out of a group.
pub(crate) async fn remove(
    State(state): State<AppState>,
    Person(actor): Person,
    Path(user): Path<String>,
    Fields(One { groupname }): Fields<One>,
) -> Result<Response, Failure> {
    let (user, group) = (user_name(&user)?, group(&groupname)?);
    state.backend.groups.alter(&actor, &user, Vec::new(), vec![group]).await?;
    let text = format!("User {user} is removed from group.");
    Ok((StatusCode::CREATED, message(text)).into_response())
}

fn find(groups: Vec<GroupView>, name: &str) -> Result<GroupView, Failure> {
    let found = groups.into_iter().find(|group| group.name.as_str() == name);
    let message = || format!("Group {name} is not found.");
    found.ok_or_else(|| Failure::new(ErrorCode::NoGroupError, message()))
}

fn group(name: &str) -> Result<GroupName, Failure> {
    name.trim().parse().map_err(|error: InvalidName| {
        Failure::new(ErrorCode::InvalidParametersError, format!("groupname: {error}"))
    })
}

fn user_name(name: &str) -> Result<UserName, Failure> {
    name.parse().map_err(|_| no_user(name))
}

fn no_user(name: &str) -> Failure {
    Failure::new(ErrorCode::NoUserError, format!("User {name} is not found."))
}
