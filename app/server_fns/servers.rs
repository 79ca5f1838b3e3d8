use api::servers::ServerView;
use leptos::prelude::*;
use server_fn::codec::GetUrl;

use crate::failed::Failed;
use crate::json::Answer;
use crate::server_fns::reads::Reads;

/// The servers of the cluster.
#[server(prefix = "/fn", endpoint = "servers/list", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn list_servers() -> Result<Vec<ServerView>, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.servers.list(&actor).await.map_err(failed)
}
