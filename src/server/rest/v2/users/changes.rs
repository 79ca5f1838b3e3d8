//! Accounts, changed in the words of OpenPAI.

use api::users::{NewUser, PasswordChange, UserView};
use api::{Actor, ErrorCode};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use protocol::ids::{UserName, VirtualClusterName};
use protocol::person::Profile;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{known, user};
use crate::auth::{Caller, Signed};
use crate::failure::Failure;
use crate::rest::body::Fields;
use crate::rest::message::{Message, message};
use crate::rest::person::Person;
use crate::rest::v2::answers::{beside, not_a_virtual_cluster, warned};
use crate::state::AppState;

/// The word for whoever asks.
pub(super) const ME: &str = "me";

/// `{"patch": true, "data": {…}}`: what is not said stays. Without `patch`, what programs keep is what
/// they say now.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Update<T> {
    #[serde(default)]
    patch: bool,
    data: T,
}

/// What an administrator says of a user.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Said {
    username: String,
    email: Option<String>,
    virtual_cluster: Option<Vec<String>>,
    admin: Option<bool>,
    password: Option<String>,
    extension: Option<Map<String, Value>>,
}

/// `PUT /users`.
pub(crate) async fn update(
    State(state): State<AppState>,
    Person(actor): Person,
    Fields(Update { patch, data }): Fields<Update<Said>>,
) -> Result<Response, Failure> {
    administrators_only(&actor)?;
    let Said { username, email, virtual_cluster, admin, password, extension } = data;
    let before = known(&state, &actor, &username).await?;
    let clusters = match virtual_cluster {
        Some(names) => Some(clusters(&state, &actor, &names).await?),
        None => None,
    };
    let (users, name) = (&state.backend.users, &before.name);
    if let Some(new) = password {
        let user = name.clone();
        let change = PasswordChange { user, old: None, new, keep: None, temporary: false };
        users.set_password(&actor, change).await?;
    }
    keep(&state, &actor, &before, (email, extension, patch)).await?;
    if let Some(admin) = admin.filter(|admin| *admin != before.admin) {
        users.set_admin(&actor, name, admin).await?;
    }
    let done = updated(format!("Update user {name} successfully"));
    match clusters {
        Some(clusters) => {
            let admin = admin.unwrap_or(before.admin);
            give(&state, &actor, (name, admin), clusters, done).await
        }
        None => Ok(done.into_response()),
    }
}

/// What somebody says of himself.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OwnSaid {
    username: Option<String>,
    email: Option<String>,
    new_password: Option<String>,
    old_password: Option<String>,
    extension: Option<Map<String, Value>>,
}

/// `PUT /users/me`.
pub(crate) async fn update_own(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    Fields(Update { patch, data }): Fields<Update<OwnSaid>>,
) -> Result<Response, Failure> {
    let own = actor.user.as_str();
    let said = data.username.as_deref().unwrap_or(own);
    if (name != ME && name != own) || said != own {
        let message = "Can't update other user's data";
        return Err(Failure::new(ErrorCode::ForbiddenUserError, message));
    }
    let OwnSaid { username: _, email, new_password, old_password, extension } = data;
    let before = known(&state, &actor, own).await?;
    if let Some(new) = new_password {
        let user = actor.user.clone();
        // What this is asked by stays good; all else ends.
        let keep = caller.means;
        let change = PasswordChange { user, old: old_password, new, keep, temporary: false };
        state.backend.users.set_password(&actor, change).await?;
    }
    keep(&state, &actor, &before, (email, extension, patch)).await?;
    Ok(updated(format!("Update user {} successfully", actor.user)).into_response())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Extended {
    extension: Map<String, Value>,
}

/// `PUT /users/:user/extension`: these beside what is kept.
pub(crate) async fn extend(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
    Fields(Extended { extension }): Fields<Extended>,
) -> Result<Response, Failure> {
    let before = known(&state, &actor, &name).await?;
    keep(&state, &actor, &before, (None, Some(extension), true)).await?;
    Ok(updated("Update user extension data successfully.").into_response())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Addressed {
    email: String,
}

/// `PUT /users/:user/email`.
pub(crate) async fn set_email(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
    Fields(Addressed { email }): Fields<Addressed>,
) -> Result<Response, Failure> {
    let before = known(&state, &actor, &name).await?;
    keep(&state, &actor, &before, (Some(email), None, true)).await?;
    Ok(updated("Update user email data successfully.").into_response())
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Clusters {
    virtual_cluster: Vec<String>,
}

/// `PUT /users/:user/virtualcluster`.
pub(crate) async fn set_virtual_clusters(
    State(state): State<AppState>,
    Person(actor): Person,
    Path(name): Path<String>,
    Fields(Clusters { virtual_cluster }): Fields<Clusters>,
) -> Result<Response, Failure> {
    let clusters = clusters(&state, &actor, &virtual_cluster).await?;
    let granted = state.backend.users.set_virtual_clusters(&actor, &user(&name)?, clusters).await?;
    Ok(beside(&granted, updated("Update user virtualCluster data successfully.")))
}

/// Version 1: names with commas between them.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Listed {
    virtual_clusters: String,
}

/// Version 1, `PUT /user/:user/virtualClusters`.
pub(crate) async fn set_listed(
    State(state): State<AppState>,
    Person(actor): Person,
    Path(name): Path<String>,
    Fields(Listed { virtual_clusters }): Fields<Listed>,
) -> Result<Response, Failure> {
    let names = virtual_clusters.split(',').map(str::trim).filter(|name| !name.is_empty());
    let names: Vec<_> = names.map(str::to_owned).collect();
    let clusters = clusters(&state, &actor, &names).await?;
    let granted = state.backend.users.set_virtual_clusters(&actor, &user(&name)?, clusters).await?;
    Ok(beside(&granted, updated("update user virtual clusters successfully")))
}

/// Version 1: what opens somebody's account at GitHub.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AtGithub {
    #[serde(default, rename = "githubPAT")]
    github_pat: String,
}

/// Version 1, `PUT /user/:user/githubPAT`: OpenPAI shared job files by it. Here they are shared without, and what
/// nothing needs is not kept.
pub(crate) async fn set_at_github(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
    Fields(AtGithub { github_pat }): Fields<AtGithub>,
) -> Result<Response, Failure> {
    known(&state, &actor, &name).await?;
    let done = updated("update user github PAT successfully");
    if github_pat.is_empty() {
        return Ok(done.into_response());
    }
    let warning = "not used: githubPAT; it is not kept, since job files are shared here without";
    Ok(warned(done, warning))
}

/// Version 1: a user, or with `modify` what is to become of one.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Put {
    username: String,
    password: String,
    #[serde(default)]
    admin: bool,
    #[serde(default)]
    modify: bool,
}

/// Version 1, `PUT /user`.
pub(crate) async fn put(
    State(state): State<AppState>,
    Person(actor): Person,
    Fields(Put { username, password, admin, modify }): Fields<Put>,
) -> Result<Response, Failure> {
    administrators_only(&actor)?;
    let users = &state.backend.users;
    if modify {
        let before = known(&state, &actor, &username).await?;
        if admin != before.admin {
            users.set_admin(&actor, &before.name, admin).await?;
        }
        let (user, new) = (before.name, password);
        let change = PasswordChange { user, old: None, new, keep: None, temporary: false };
        users.set_password(&actor, change).await?;
    } else {
        let name: UserName = username.parse()?;
        users.create(&actor, NewUser { name, password, admin, temporary: false }).await?;
    }
    Ok(updated("update successfully").into_response())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Gone {
    username: String,
}

/// Version 1, `DELETE /user`.
pub(crate) async fn remove(
    State(state): State<AppState>,
    Person(actor): Person,
    Fields(Gone { username }): Fields<Gone>,
) -> Result<Json<Message>, Failure> {
    state.backend.users.remove(&actor, &user(&username)?).await?;
    Ok(message("remove successfully"))
}

/// Keeps an address and what programs say with an account: beside what was there, or in its place.
async fn keep(
    state: &AppState,
    actor: &Actor,
    before: &UserView,
    (email, extension, beside): (Option<String>, Option<Map<String, Value>>, bool),
) -> Result<(), Failure> {
    if email.is_none() && extension.is_none() {
        return Ok(());
    }
    let users = &state.backend.users;
    let mut profile: Profile =
        users.profiles(actor).await?.remove(&before.name).unwrap_or_default();
    if let Some(email) = email {
        profile.mail = Some(email).filter(|mail| !mail.is_empty());
    }
    match extension {
        Some(extension) if beside => profile.extension.extend(extension),
        Some(extension) => profile.extension = extension,
        None => {}
    }
    Ok(users.set_profile(actor, &before.name, profile).await?)
}

/// Virtual clusters that are there.
pub(super) async fn clusters(
    state: &AppState,
    actor: &Actor,
    names: &[String],
) -> Result<Vec<VirtualClusterName>, Failure> {
    let mut clusters = Vec::with_capacity(names.len());
    if names.is_empty() {
        return Ok(clusters);
    }
    let there = state.backend.virtual_clusters.list(actor).await?;
    for name in names {
        let mut known = there.iter().map(|view| &view.settings.name);
        let known = known.find(|known| known.as_str() == name);
        clusters.push(known.cloned().ok_or_else(|| not_a_virtual_cluster(name))?);
    }
    Ok(clusters)
}

/// Gives a user virtual clusters, and answers. Administrators may use all of them anyhow.
pub(super) async fn give(
    state: &AppState,
    actor: &Actor,
    (name, admin): (&UserName, bool),
    clusters: Vec<VirtualClusterName>,
    answer: impl IntoResponse,
) -> Result<Response, Failure> {
    if admin {
        let needless = !clusters.is_empty();
        let warning = "not used: virtualCluster; administrators may use all virtual clusters";
        return Ok(if needless { warned(answer, warning) } else { answer.into_response() });
    }
    let granted = state.backend.users.set_virtual_clusters(actor, name, clusters).await?;
    Ok(beside(&granted, answer))
}

fn administrators_only(actor: &Actor) -> Result<(), Failure> {
    if actor.admin {
        return Ok(());
    }
    Err(Failure::new(ErrorCode::ForbiddenUserError, "only administrators may do this"))
}

fn updated(text: impl Into<String>) -> (StatusCode, Json<Message>) {
    (StatusCode::CREATED, message(text))
}
