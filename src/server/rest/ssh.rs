//! A job's ways in: where its tasks are, and the keys that open them.

use api::Actor;
use api::ssh::{KeyPair, SshAccess};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use protocol::ids::JobKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::body::Params;
use super::job_key;
use crate::auth::Signed;
use crate::failure::Failure;
use crate::state::AppState;

/// As OpenPAI had it, and what enters by it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SshWire {
    pub(crate) containers: Vec<ContainerWire>,
    key_pair: KeyPairWire,
    pub(crate) user: String,
    pub(crate) host_key: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ContainerWire {
    id: String,
    pub(crate) ssh_ip: String,
    /// Text, as it always was.
    pub(crate) ssh_port: String,
    /// `<role>-<index>`.
    pub(crate) name: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct KeyPairWire {
    folder_path: String,
    public_key_file_name: String,
    private_key_file_name: String,
    private_key_direct_download_link: String,
}

/// Which form of the key.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct KeyParams {
    #[serde(default)]
    form: KeyForm,
}

#[derive(Debug, Default, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum KeyForm {
    #[default]
    Openssh,
    Putty,
    Public,
}

impl KeyForm {
    /// The file's name and its text.
    fn file(self, keys: KeyPair) -> (String, String) {
        let name = keys.file_name;
        match self {
            Self::Openssh => (name, keys.private),
            Self::Putty => (format!("{name}.ppk"), keys.putty),
            Self::Public => (format!("{name}.pub"), format!("{}\n", keys.public)),
        }
    }
}

pub(crate) async fn of_name(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Json<SshWire>, Failure> {
    let key = job_key::find(&state.backend, &actor, &name).await?;
    access(&state, &actor, &key, &headers).await
}

pub(crate) async fn of_user(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path((user, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Json<SshWire>, Failure> {
    access(&state, &actor, &job_key::of_user(&user, &name)?, &headers).await
}

pub(crate) async fn of_key(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(key): Path<String>,
    headers: HeaderMap,
) -> Result<Json<SshWire>, Failure> {
    access(&state, &actor, &job_key::parse(&key)?, &headers).await
}

pub(crate) async fn key_of_name(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
    Params(params): Params<KeyParams>,
) -> Result<Response, Failure> {
    let key = job_key::find(&state.backend, &actor, &name).await?;
    key_file(&state, &actor, &key, params.form).await
}

pub(crate) async fn key_of_user(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path((user, name)): Path<(String, String)>,
    Params(params): Params<KeyParams>,
) -> Result<Response, Failure> {
    key_file(&state, &actor, &job_key::of_user(&user, &name)?, params.form).await
}

pub(crate) async fn key_of_key(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(key): Path<String>,
    Params(params): Params<KeyParams>,
) -> Result<Response, Failure> {
    key_file(&state, &actor, &job_key::parse(&key)?, params.form).await
}

async fn access(
    state: &AppState,
    actor: &Actor,
    key: &JobKey,
    headers: &HeaderMap,
) -> Result<Json<SshWire>, Failure> {
    let SshAccess { user, keys, folder, tasks, host_key } =
        state.backend.ssh.access(actor, key).await?;
    let own = state.origin.address(headers);
    let containers = tasks.into_iter().map(|task| ContainerWire {
        name: task.alias(),
        id: task.container,
        ssh_ip: task.address,
        ssh_port: task.port.to_string(),
    });
    let key_pair = KeyPairWire {
        folder_path: folder,
        public_key_file_name: format!("{}.pub", keys.file_name),
        private_key_direct_download_link: format!(
            "{own}/api/v1/user/{}/jobs/{}/ssh/key",
            key.user, key.name
        ),
        private_key_file_name: keys.file_name,
    };
    Ok(Json(SshWire { containers: containers.collect(), key_pair, user, host_key }))
}

async fn key_file(
    state: &AppState,
    actor: &Actor,
    key: &JobKey,
    form: KeyForm,
) -> Result<Response, Failure> {
    let access = state.backend.ssh.access(actor, key).await?;
    let (name, text) = form.file(access.keys);
    // Names of users and jobs hold nothing that would have to be escaped here.
    let disposition = format!("attachment; filename=\"{name}\"");
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_DISPOSITION, disposition),
    ];
    Ok((headers, text).into_response())
}
