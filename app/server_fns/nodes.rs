use api::cluster::{Drain, NodeView};
use api::node_map::{NodeMap, NodeQuery};
use leptos::prelude::*;
use protocol::cluster::NodeSettings;
use protocol::ids::NodeName;
use server_fn::codec::GetUrl;

use crate::Failed;
use crate::json::Answer;
use crate::server_fns::forms::NodeForm;
use crate::server_fns::reads::Reads;

/// A part of the nodes, as a map or a table shows them.
#[server(prefix = "/fn", endpoint = "nodes/map", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn map_nodes(query: NodeQuery) -> Result<NodeMap, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.nodes.map(&actor, &query).await.map_err(failed)
}

/// One node.
#[server(prefix = "/fn", endpoint = "nodes/get", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn get_node(name: NodeName) -> Result<NodeView, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.nodes.get(&actor, &name).await.map_err(failed)
}

/// What an administrator wrote of a node.
#[server(prefix = "/fn", endpoint = "nodes/settings", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn settings_of_node(name: NodeName) -> Result<NodeSettings, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.nodes.settings(&actor, &name).await.map_err(failed)
}

/// Empties a node, or lets it take tasks again.
#[server(prefix = "/fn", endpoint = "nodes/drain", output = Answer)]
pub(crate) async fn drain_node(name: NodeName, drain: Drain) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.nodes.drain(&actor, &name, drain).await.map_err(failed)
}

/// Has a node's GPUs looked for.
#[server(prefix = "/fn", endpoint = "nodes/probe", output = Answer)]
pub(crate) async fn probe_node(name: NodeName) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.nodes.probe(&actor, &name).await.map_err(failed)
}

/// Forgets a node.
#[server(prefix = "/fn", endpoint = "nodes/remove", output = Answer)]
pub(crate) async fn remove_node(name: NodeName) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.nodes.remove(&actor, &name).await.map_err(failed)
}

/// Adds a node or changes it.
#[server(prefix = "/fn", endpoint = "nodes/save", output = Answer)]
pub(crate) async fn save_node(node: NodeForm) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    let settings = crate::settings::node(&node).map_err(failed)?;
    backend.nodes.save(&actor, settings).await.map_err(failed)
}
