//! Storages in the words that OpenPAI had for them before 1.0 and kept for clients: what is mounted where
//! (`config`), and of which server (`server`). Passwords are told nobody.

use api::ErrorCode;
use api::storages::StorageView;
use axum::Json;
use axum::extract::{Path, State};
use protocol::ids::StorageName;
use protocol::storages::{NfsExport, SmbShare, StorageSource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::auth::Signed;
use crate::failure::Failure;
use crate::rest::body::Params;
use crate::state::AppState;

/// What is mounted in tasks.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Config {
    name: StorageName,
    default: bool,
    servers: [StorageName; 1],
    mount_infos: [MountInfo; 1],
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct MountInfo {
    mount_point: String,
    /// Below the root of the server.
    path: &'static str,
    server: StorageName,
    permission: &'static str,
}

/// Where a storage is.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Server {
    spn: StorageName,
    #[serde(rename = "type")]
    kind: String,
    data: Value,
    extension: Map<String, Value>,
}

impl From<StorageView> for Config {
    fn from(view: StorageView) -> Self {
        let info = MountInfo {
            mount_point: view.mount,
            path: if view.own_folders { "${PAI_USER_NAME}" } else { "" },
            server: view.name.clone(),
            permission: if view.read_only { "r" } else { "rw" },
        };
        let servers = [view.name.clone()];
        Self { name: view.name, default: view.default, servers, mount_infos: [info] }
    }
}

impl From<StorageView> for Server {
    fn from(view: StorageView) -> Self {
        let data = match view.source {
            None | Some(StorageSource::Path(_)) => json!({}),
            Some(StorageSource::Nfs(NfsExport { server, path, options: _ })) => {
                json!({ "address": server, "rootPath": path })
            }
            Some(StorageSource::Smb(SmbShare { server, share, user, options: _, password: _ })) => {
                json!({ "address": server, "rootPath": share, "userName": user, "domain": "" })
            }
        };
        Self { spn: view.name, kind: view.kind.to_lowercase(), data, extension: Map::new() }
    }
}

/// Which of them: names with commas between them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    names: Option<String>,
}

/// `GET /storage/config`.
pub(crate) async fn configs(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Params(asked): Params<Asked>,
) -> Result<Json<Vec<Config>>, Failure> {
    let views = state.backend.storages.list(&actor).await?;
    Ok(Json(chosen(views, &asked).map(Config::from).collect()))
}

/// `GET /storage/config/:name`.
pub(crate) async fn config(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
) -> Result<Json<Config>, Failure> {
    Ok(Json(find(state.backend.storages.list(&actor).await?, &name)?.into()))
}

/// `GET /storage/server`.
pub(crate) async fn servers(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Params(asked): Params<Asked>,
) -> Result<Json<Vec<Server>>, Failure> {
    let views = state.backend.storages.list(&actor).await?;
    Ok(Json(chosen(views, &asked).map(Server::from).collect()))
}

/// `GET /storage/server/:name`.
pub(crate) async fn server(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
) -> Result<Json<Server>, Failure> {
    Ok(Json(find(state.backend.storages.list(&actor).await?, &name)?.into()))
}

fn chosen(views: Vec<StorageView>, asked: &Asked) -> impl Iterator<Item = StorageView> {
    let is_asked = move |view: &StorageView| match &asked.names {
        Some(names) => names.split(',').any(|name| name.trim() == view.name.as_str()),
        None => true,
    };
    views.into_iter().filter(is_asked)
}

fn find(views: Vec<StorageView>, name: &str) -> Result<StorageView, Failure> {
    let found = views.into_iter().find(|view| view.name.as_str() == name);
    let message = || format!("Storage {name} is not found.");
    found.ok_or_else(|| Failure::new(ErrorCode::NoStorageError, message()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_told_without_its_password() {
        let source: StorageSource = serde_json::from_value(json!({ "smb": {
            "server": "files", "share": "team", "user": "berth", "password": "hunter2",
        }}))
        .unwrap();
        let view = StorageView {
            name: "team".parse().unwrap(),
            kind: source.kind().to_owned(),
            source: Some(source),
            mount: "/mnt/team".to_owned(),
            read_only: true,
            default: false,
            own_folders: true,
            users: Vec::new(),
            groups: Vec::new(),
            has_password: true,
        };
        let server = serde_json::to_value(Server::from(view.clone())).unwrap();
        let data = json!({
            "address": "files", "rootPath": "team", "userName": "berth", "domain": "",
        });
        let wanted = json!({ "spn": "team", "type": "samba", "data": data, "extension": {} });
        assert_eq!(server, wanted);
        let config = serde_json::to_value(Config::from(view)).unwrap();
        let info = json!({
            "mountPoint": "/mnt/team", "path": "${PAI_USER_NAME}", "server": "team",
            "permission": "r",
        });
        let wanted = json!({
            "name": "team", "default": false, "servers": ["team"], "mountInfos": [info],
        });
        assert_eq!(config, wanted);
    }
}
