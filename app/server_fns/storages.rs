use api::storages::StorageView;
use leptos::prelude::*;
use protocol::ids::StorageName;
use server_fn::codec::GetUrl;

use crate::failed::Failed;
use crate::forms::StorageForm;
use crate::json::Answer;
use crate::server_fns::reads::Reads;

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
