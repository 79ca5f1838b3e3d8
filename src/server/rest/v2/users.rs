use std::collections::BTreeSet;

use api::ErrorCode;
use api::groups::Membership;
use api::users::{NewUser, PasswordChange, UserView};
use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use protocol::ids::{InvalidName, StorageName, UserName, VirtualClusterName};
use protocol::person::Source;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::auth::{Caller, Signed};
use crate::failure::Failure;
use crate::rest::body::Fields;
use crate::rest::message;
use crate::state::AppState;

/// A user as version 2 shows it.
#[derive(Debug, Serialize, Deserialize)]
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

impl From<UserView> for UserWire {
    fn from(user: UserView) -> Self {
        Self {
            username: user.name,
            grouplist: grouplist(user.groups),
            email: user.mail.unwrap_or_default(),
            extension: serde_json::Map::new(),
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
    Ok(Json(users.into_iter().map(UserWire::from).collect()))
}

pub(crate) async fn get(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
) -> Result<Json<UserWire>, Failure> {
    let users = state.backend.users.list(&actor).await?;
    let user = users.into_iter().find(|user| user.name.as_str() == name);
    user.map(|user| Json(user.into())).ok_or_else(|| not_found(&name))
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Creation {
    pub(crate) username: String,
    pub(crate) password: String,
    #[serde(default)]
    pub(crate) admin: bool,
    /// What OpenPAI kept of a user beside these, and Berth does not.
    #[serde(default, skip_serializing)]
    pub(crate) email: Value,
    #[serde(default, skip_serializing)]
    pub(crate) virtual_cluster: Value,
    #[serde(default, skip_serializing)]
    pub(crate) extension: Value,
}

impl Creation {
    /// What was said and changes nothing here, in words.
    fn unused(&self) -> Option<String> {
        let said = [
            ("email", &self.email),
            ("virtualCluster", &self.virtual_cluster),
            ("extension", &self.extension),
        ];
        let said = said.into_iter().filter(|(_, value)| !is_empty(value));
        let names = said.map(|(name, _)| name).collect::<Vec<_>>().join(", ");
        let hint = "virtual clusters name their users and groups themselves";
        (!names.is_empty()).then(|| format!("not used: {names}; {hint}"))
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

pub(crate) async fn create(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Fields(asked): Fields<Creation>,
) -> Result<Response, Failure> {
    let unused = asked.unused();
    let Creation { username, password, admin, .. } = asked;
    let name = username.parse().map_err(|error: InvalidName| {
        Failure::new(ErrorCode::InvalidParametersError, format!("username: {error}"))
    })?;
    state.backend.users.create(&actor, NewUser { name, password, admin }).await?;
    let text = message("User is created successfully");
    let mut response = (StatusCode::CREATED, text).into_response();
    if let Some(unused) = unused.and_then(|text| HeaderValue::from_str(&text).ok()) {
        response.headers_mut().insert("x-warning", unused);
    }
    Ok(response)
}

pub(crate) async fn remove(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
) -> Result<Response, Failure> {
    state.backend.users.remove(&actor, &user(&name)?).await?;
    Ok(message("user is removed successfully").into_response())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Passwords {
    old_password: Option<String>,
    new_password: String,
    /// Whether what this request is made by stays good; all else ends.
    #[serde(default)]
    keep_current: bool,
}

pub(crate) async fn set_password(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    Fields(Passwords { old_password, new_password, keep_current }): Fields<Passwords>,
) -> Result<Response, Failure> {
    let keep = caller.means.filter(|_| keep_current);
    let change = PasswordChange { user: user(&name)?, old: old_password, new: new_password, keep };
    state.backend.users.set_password(&actor, change).await?;
    Ok((StatusCode::CREATED, message("update user password successfully.")).into_response())
}

#[derive(Deserialize)]
pub(crate) struct Rank {
    admin: bool,
}

pub(crate) async fn set_admin(
    State(state): State<AppState>,
    Signed(actor): Signed,
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
