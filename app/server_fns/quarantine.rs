use api::quarantine::Quarantined;
use leptos::prelude::*;
use protocol::ids::NodeName;
use server_fn::codec::GetUrl;

use crate::failed::Failed;
use crate::json::Answer;
use crate::server_fns::reads::Reads;

/// What is in quarantine on a node, or on all.
#[server(prefix = "/fn", endpoint = "quarantine/list", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn list_quarantine(node: Option<NodeName>) -> Result<Vec<Quarantined>, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.quarantine.list(&actor, node.as_ref()).await.map_err(failed)
}

/// Stops a container in quarantine.
#[server(prefix = "/fn", endpoint = "quarantine/stop", output = Answer)]
pub(crate) async fn stop_quarantined(node: NodeName, container: String) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.quarantine.stop(&actor, &node, &container).await.map_err(failed)
}

/// Removes one that does not run.
#[server(prefix = "/fn", endpoint = "quarantine/remove", output = Answer)]
pub(crate) async fn remove_quarantined(node: NodeName, container: String) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.quarantine.remove(&actor, &node, &container).await.map_err(failed)
}
