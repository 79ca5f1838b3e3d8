//! Storages in the words of OpenPAI; setting them up is Berth's own addition.

use api::ErrorCode;
use api::storages::StorageView;
use axum::Json;
use axum::extract::{Path, State};
use axum::response::Response;
use protocol::ids::{GroupName, StorageName, UserName};
use protocol::storages::{NfsExport, SmbShare, StorageSettings, StorageSource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::jobs::accepted;
use crate::auth::Signed;
use crate::failure::Failure;
use crate::rest::body::{Fields, Params};
use crate::rest::message::{Message, message};
use crate::state::AppState;

/// All that somebody may use.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Listed {
    storages: Vec<Summary>,
}

/// A storage among others.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Summary {
    name: StorageName,
    /// Whether all have the same of it; else each has a folder of his own.
    share: bool,
    volume_name: StorageName,
    default: bool,
}

/// A storage with where it is; its password is told nobody.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Detail {
    #[serde(flatten)]
    summary: Summary,
    #[serde(rename = "type")]
    kind: String,
    data: Value,
    read_only: bool,
    mount_options: Vec<String>,
    /// Where tasks have it; OpenPAI had no word for that.
    mount_path: String,
    /// Who may use it, for administrators.
    users: Vec<UserName>,
    groups: Vec<GroupName>,
}

impl From<&StorageView> for Summary {
    fn from(view: &StorageView) -> Self {
        let StorageView { name, own_folders, default, .. } = view;
        Self {
            name: name.clone(),
            share: !own_folders,
            volume_name: name.clone(),
            default: *default,
        }
    }
}

impl From<StorageView> for Detail {
    fn from(view: StorageView) -> Self {
        let (data, options) = data(view.source.as_ref());
        let options = options.unwrap_or_default().split(',');
        Self {
            summary: Summary::from(&view),
            kind: view.kind,
            data,
            read_only: view.read_only,
            mount_options: options.filter(|one| !one.is_empty()).map(str::to_owned).collect(),
            mount_path: view.mount,
            users: view.users,
            groups: view.groups,
        }
    }
}

/// Where a storage is, and how it is mounted.
fn data(source: Option<&StorageSource>) -> (Value, Option<&str>) {
    match source {
        None => (json!({}), None),
        Some(StorageSource::Path(path)) => (json!({ "path": path }), None),
        Some(StorageSource::Nfs(NfsExport { server, path, options })) => {
            (json!({ "server": server, "path": path }), options.as_deref())
        }
        Some(StorageSource::Smb(SmbShare { server, share, user, options, password: _ })) => {
            let address = format!("//{server}/{share}");
            (json!({ "address": address, "username": user }), options.as_deref())
        }
    }
}

/// `?default=true`: only those that jobs have which name none.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    default: Option<String>,
}

/// `GET /storages`.
pub(crate) async fn list(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Params(asked): Params<Asked>,
) -> Result<Json<Listed>, Failure> {
    let only_default = asked.default.as_deref() == Some("true");
    let views = state.backend.storages.list(&actor).await?;
    let wanted = views.iter().filter(|view| view.default || !only_default);
    Ok(Json(Listed { storages: wanted.map(Summary::from).collect() }))
}

/// `GET /storages/:name`.
pub(crate) async fn get(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
) -> Result<Json<Detail>, Failure> {
    let views = state.backend.storages.list(&actor).await?;
    let found = views.into_iter().find(|view| view.name.as_str() == name);
    found.map(|view| Json(view.into())).ok_or_else(|| not_found(&name))
}

/// `PUT /storages/:name`: its settings without the name, which the address says.
pub(crate) async fn save(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
    Fields(mut settings): Fields<Map<String, Value>>,
) -> Result<Response, Failure> {
    let name: StorageName = name.parse()?;
    settings.insert("name".to_owned(), name.as_str().into());
    let settings: StorageSettings = serde_json::from_value(Value::Object(settings))
        .map_err(|error| Failure::new(ErrorCode::InvalidParametersError, error.to_string()))?;
    state.backend.storages.save(&actor, settings).await?;
    Ok(accepted(format!("Update storage {name} successfully.")))
}

/// `DELETE /storages/:name`.
pub(crate) async fn remove(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
) -> Result<Json<Message>, Failure> {
    let known: StorageName = name.parse().map_err(|_| not_found(&name))?;
    state.backend.storages.remove(&actor, &known).await?;
    Ok(message(format!("Remove storage {name} successfully.")))
}

fn not_found(name: &str) -> Failure {
    Failure::new(ErrorCode::NoStorageError, format!("Storage {name} is not found."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storages_are_told_as_openpai_told_them() {
        let source: StorageSource = serde_json::from_value(json!({ "smb": {
            "server": "files", "share": "team", "user": "berth", "password": "hunter2",
            "options": "vers=3.1.1,seal",
        }}))
        .unwrap();
        let view = StorageView {
            name: "team".parse().unwrap(),
            kind: source.kind().to_owned(),
            source: Some(source),
            mount: "/mnt/team".to_owned(),
            read_only: false,
            default: true,
            own_folders: true,
            users: Vec::new(),
            groups: Vec::new(),
            has_password: true,
        };
        let told = serde_json::to_value(Detail::from(view)).unwrap();
        let expected = json!({
            "name": "team", "share": false, "volumeName": "team", "default": true, "type": "samba",
            "data": { "address": "//files/team", "username": "berth" }, "readOnly": false,
            "mountOptions": ["vers=3.1.1", "seal"], "mountPath": "/mnt/team",
            "users": [], "groups": [],
        });
        assert_eq!(told, expected);
    }
}
