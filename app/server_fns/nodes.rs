use api::cluster::{Drain, NodeView};
use api::node_map::{AdminRow, NodeMap, NodeQuery};
use leptos::prelude::*;
use protocol::ids::NodeName;
use serde::{Deserialize, Serialize};
use server_fn::codec::GetUrl;

use crate::failed::Failed;
use crate::forms::NodeForm;
use crate::json::Answer;
use crate::server_fns::reads::Reads;

/// Some of the nodes, as administrators change them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Managed {
    pub(crate) rows: Vec<AdminRow>,
    /// How many there are with the words that were looked for.
    pub(crate) total: u64,
    /// How many there are at all.
    pub(crate) all: u64,
}

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

/// A part of the nodes, as administrators change them. The page that asks for it needs no code that reads maps.
#[server(prefix = "/fn", endpoint = "nodes/managed", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn managed_nodes(
    text: String,
    offset: u64,
    limit: u64,
) -> Result<Managed, Failed> {
    use api::node_map::{Face, Shown};

    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    let face = Face::Administration;
    let query = NodeQuery { text, face, offset, limit, ..NodeQuery::default() };
    let NodeMap { shown, total, all, .. } =
        backend.nodes.map(&actor, &query).await.map_err(failed)?;
    let rows = match shown {
        Shown::Administration(rows) => rows,
        Shown::Map(_) | Shown::Table(_) => Vec::new(),
    };
    Ok(Managed { rows, total, all })
}

/// What an administrator wrote of a node, as its form shows it.
#[server(prefix = "/fn", endpoint = "nodes/form", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn form_of_node(name: NodeName) -> Result<NodeForm, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    let settings = backend.nodes.settings(&actor, &name).await.map_err(failed)?;
    Ok(NodeForm::from(&settings))
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
