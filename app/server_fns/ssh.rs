use api::ssh::PublicKeyView;
use leptos::prelude::*;
use protocol::ids::JobKey;
use server_fn::codec::GetUrl;

use crate::connect::Ways;
use crate::failed::Failed;
use crate::json::Answer;
use crate::server_fns::reads::Reads;

/// The ways into a job's tasks.
#[server(prefix = "/fn", endpoint = "jobs/ways", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn get_ways(key: JobKey) -> Result<Ways, Failed> {
    use api::ssh::SshAccess;

    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    let access = backend.ssh.access(&actor, &key).await.map_err(failed)?;
    let SshAccess { user, keys, tasks, host_key, folder: _ } = access;
    Ok(Ways { job: key, user, key_file: keys.file_name, host_key, tasks })
}

/// One's own public keys.
#[server(prefix = "/fn", endpoint = "public-keys/list", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn list_public_keys() -> Result<Vec<PublicKeyView>, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.ssh.public_keys(&actor).await.map_err(failed)
}

/// Adds a public key.
#[server(prefix = "/fn", endpoint = "public-keys/add", output = Answer)]
pub(crate) async fn add_public_key(
    #[server(default)] label: String,
    key: String,
) -> Result<PublicKeyView, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.ssh.add_public_key(&actor, &label, &key).await.map_err(failed)
}

/// Removes a public key.
#[server(prefix = "/fn", endpoint = "public-keys/remove", output = Answer)]
pub(crate) async fn remove_public_key(id: i64) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.ssh.remove_public_key(&actor, id).await.map_err(failed)
}
