use std::fmt;

use api::storages::StorageView;
use leptos::prelude::*;
use protocol::ids::StorageName;
use protocol::storages::{NfsExport, SmbShare, StorageSource};
use serde::{Deserialize, Serialize};
use server_fn::codec::GetUrl;

use crate::Failed;
use crate::json::Answer;
use crate::server_fns::reads::Reads;

/// A storage as its form sends it: texts, empty where nothing is said.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct StorageForm {
    pub(crate) name: String,
    /// A path, `nfs://server/folder` or `smb://server/share`.
    pub(crate) place: String,
    pub(crate) user: String,
    pub(crate) password: String,
    pub(crate) options: String,
    pub(crate) mount: String,
    pub(crate) read_only: bool,
    pub(crate) default: bool,
    pub(crate) own_folders: bool,
    pub(crate) users: String,
    pub(crate) groups: String,
}

impl fmt::Debug for StorageForm {
    /// Without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StorageForm").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Where a storage is, as its form has it.
pub(crate) fn place(source: &StorageSource) -> String {
    match source {
        StorageSource::Path(path) => path.clone(),
        StorageSource::Nfs(NfsExport { server, path, .. }) => {
            ["nfs://", server.as_str(), path.as_str()].concat()
        }
        StorageSource::Smb(SmbShare { server, share, .. }) => {
            ["smb://", server.as_str(), "/", share.as_str()].concat()
        }
    }
}

impl From<&StorageView> for StorageForm {
    fn from(view: &StorageView) -> Self {
        let (user, options) = match &view.source {
            Some(StorageSource::Smb(share)) => (share.user.clone(), share.options.clone()),
            Some(StorageSource::Nfs(export)) => (None, export.options.clone()),
            Some(StorageSource::Path(_)) | None => (None, None),
        };
        let users: Vec<_> = view.users.iter().map(ToString::to_string).collect();
        let groups: Vec<_> = view.groups.iter().map(ToString::to_string).collect();
        Self {
            name: view.name.to_string(),
            place: view.source.as_ref().map(place).unwrap_or_default(),
            user: user.unwrap_or_default(),
            password: String::new(),
            options: options.unwrap_or_default(),
            mount: view.mount.clone(),
            read_only: view.read_only,
            default: view.default,
            own_folders: view.own_folders,
            users: users.join(" "),
            groups: groups.join(", "),
        }
    }
}

/// All storages that the reader may use.
#[server(prefix = "/fn", endpoint = "storages/list", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn list_storages() -> Result<Vec<StorageView>, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.storages.list(&actor).await.map_err(failed)
}

/// Sets a storage up or changes it.
#[server(prefix = "/fn", endpoint = "storages/save", output = Answer)]
pub(crate) async fn save_storage(storage: StorageForm) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    let settings = crate::settings::storage(&storage).map_err(failed)?;
    backend.storages.save(&actor, settings).await.map_err(failed)
}

/// Forgets a storage.
#[server(prefix = "/fn", endpoint = "storages/remove", output = Answer)]
pub(crate) async fn remove_storage(name: StorageName) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.storages.remove(&actor, &name).await.map_err(failed)
}
