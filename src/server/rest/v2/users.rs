pub(crate) mod changes;

use std::collections::{BTreeMap, BTreeSet};

use api::groups::Membership;
use api::users::{NewUser, PasswordChange, UserView};
use api::{Actor, ErrorCode};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use protocol::ids::{InvalidName, StorageName, UserName, VirtualClusterName};
use protocol::person::{Profile, Source};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::auth::{Caller, Signed};
use crate::failure::Failure;
use crate::rest::body::Fields;
use crate::rest::message::message;
use crate::rest::person::Person;
use crate::state::AppState;

/// A user as version 2 shows it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UserWire {
    pub(crate) username: UserName,
    grouplist: Vec<String>,
    email: String,
    extension: serde_json::Map<String, serde_json::Value>,
    pub(crate) admin: bool,
    pub(crate) virtual_cluster: Vec<VirtualClusterName>,
    storage_config: Vec<StorageName>,
    /// Who vouches for the user: `local`, or a sign-in provider.
    source: Source,
}

impl UserWire {
    fn new(user: UserView, profiles: &mut BTreeMap<UserName, Profile>) -> Self {
        let extension = profiles.remove(&user.name).map(|profile| profile.extension);
        Self {
            username: user.name,
            grouplist: grouplist(user.groups),
            email: user.mail.unwrap_or_default(),
            extension: extension.unwrap_or_default(),
            admin: user.admin,
            virtual_cluster: user.virtual_clusters,
            storage_config: user.storages,
            source: user.provider.map_or(Source::Local, Source::Provider),
        }
    }
}

/// The groups that give rights now, each once.
fn grouplist(groups: Vec<Membership>) -> Vec<String> {
    let counting = groups.into_iter().filter(|group| group.counts);
    let names: BTreeSet<String> = counting.map(|group| group.group.into()).collect();
    names.into_iter().collect()
}

pub(crate) async fn list(
    State(state): State<AppState>,
    Signed(actor): Signed,
) -> Result<Json<Vec<UserWire>>, Failure> {
    let users = state.backend.users.list(&actor).await?;
    let mut profiles = state.backend.users.profiles(&actor).await?;
    Ok(Json(users.into_iter().map(|user| UserWire::new(user, &mut profiles)).collect()))
}

pub(crate) async fn get(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
) -> Result<Json<UserWire>, Failure> {
    let user = match known(&state, &actor, &name).await {
        Err(_) if name == changes::ME => known(&state, &actor, actor.user.as_str()).await?,
        found => found?,
    };
    let mut profiles = state.backend.users.profiles(&actor).await?;
    Ok(Json(UserWire::new(user, &mut profiles)))
}

/// A user whom the actor sees.
async fn known(state: &AppState, actor: &Actor, name: &str) -> Result<UserView, Failure> {
    let users = state.backend.users.list(actor).await?;
    let user = users.into_iter().find(|user| user.name.as_str() == name);
    user.ok_or_else(|| not_found(name))
}

#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Creation {
    pub(crate) username: String,
    pub(crate) password: String,
    #[serde(default)]
    pub(crate) admin: bool,
    #[serde(default, skip_serializing)]
    pub(crate) email: Option<String>,
    /// The virtual clusters that are to name the user.
    #[serde(default, skip_serializing)]
    pub(crate) virtual_cluster: Vec<String>,
    /// What programs keep with the account.
    #[serde(default, skip_serializing)]
    pub(crate) extension: serde_json::Map<String, Value>,
    /// Whether the user is to choose another password when he signs in first.
    #[serde(default)]
    pub(crate) temporary: bool,
}

/// `POST /users`.
pub(crate) async fn create(
    State(state): State<AppState>,
    Person(actor): Person,
    Fields(asked): Fields<Creation>,
) -> Result<Response, Failure> {
    let Creation { username, password, admin, email, virtual_cluster, extension, temporary } =
        asked;
    let name: UserName = username.parse().map_err(|error: InvalidName| {
        Failure::new(ErrorCode::InvalidParametersError, format!("username: {error}"))
    })?;
    let profile = Profile { mail: email.filter(|mail| !mail.is_empty()), extension };
    // What is to follow is looked through before there is an account.
    let mistakes = profile.mistakes();
    if !mistakes.is_empty() {
        return Err(api::Error::invalid_settings(mistakes).into());
    }
    let clusters = changes::clusters(&state, &actor, &virtual_cluster).await?;
    let user = NewUser { name: name.clone(), password, admin, temporary };
    state.backend.users.create(&actor, user).await?;
    if profile != Profile::default() {
        state.backend.users.set_profile(&actor, &name, profile).await?;
    }
    let created = (StatusCode::CREATED, message("User is created successfully"));
    if clusters.is_empty() {
        return Ok(created.into_response());
    }
    changes::give(&state, &actor, (&name, admin), clusters, created).await
}

pub(crate) async fn remove(
    State(state): State<AppState>,
    Person(actor): Person,
    Path(name): Path<String>,
) -> Result<Response, Failure> {
    state.backend.users.remove(&actor, &user(&name)?).await?;
    Ok(message("user is removed successfully").into_response())
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Passwords {
    old_password: Option<String>,
    new_password: String,
    /// Whether what this request is made by stays good; all else ends.
    #[serde(default)]
    keep_current: bool,
    /// Whether somebody else is to choose another one when he signs in next.
    #[serde(default)]
    temporary: bool,
}

pub(crate) async fn set_password(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    Fields(asked): Fields<Passwords>,
) -> Result<Response, Failure> {
    let Passwords { old_password: old, new_password: new, keep_current, temporary } = asked;
    let keep = caller.means.filter(|_| keep_current);
    let change = PasswordChange { user: user(&name)?, old, new, keep, temporary };
    state.backend.users.set_password(&actor, change).await?;
    Ok((StatusCode::CREATED, message("update user password successfully.")).into_response())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rank {
    admin: bool,
}

pub(crate) async fn set_admin(
    State(state): State<AppState>,
    Person(actor): Person,
    Path(name): Path<String>,
    Fields(Rank { admin }): Fields<Rank>,
) -> Result<Response, Failure> {
    state.backend.users.set_admin(&actor, &user(&name)?, admin).await?;
    Ok((StatusCode::CREATED, message("update user admin successfully.")).into_response())
}

/// `DELETE …/access`: all sessions and tokens.
pub(crate) async fn end_access(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
) -> Result<Response, Failure> {
    state.backend.users.end_access(&actor, &user(&name)?).await?;
    Ok(message("all sessions and tokens of the user have ended").into_response())
}

fn user(name: &str) -> Result<UserName, Failure> {
    name.parse().map_err(|_| not_found(name))
}

fn not_found(name: &str) -> Failure {
    Failure::new(ErrorCode::NoUserError, format!("User {name} is not found."))
}
