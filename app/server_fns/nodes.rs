use api::cluster::{Drain, NodeView};
use api::node_map::{NodeMap, NodeQuery};
use leptos::prelude::*;
use protocol::cluster::{GpuRuntime, NodeNetwork, NodeSettings};
use protocol::ids::NodeName;
use serde::{Deserialize, Serialize};
use server_fn::codec::GetUrl;

use crate::Failed;
use crate::json::Answer;
use crate::number::gpus_text;
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

/// A node as its form sends it: texts, empty where nothing is said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[derive(Default)]
pub(crate) struct NodeForm {
    pub(crate) name: String,
    pub(crate) address: String,
    pub(crate) endpoint: String,
    pub(crate) cpus: String,
    pub(crate) memory_mb: String,
    pub(crate) disk_gb: String,
    pub(crate) gpus: String,
    pub(crate) gpu_runtime: Option<GpuRuntime>,
    pub(crate) ports: String,
    pub(crate) labels: String,
    pub(crate) links: String,
    pub(crate) shares_gpus: bool,
    /// `host`, `bridge`, or nothing.
    pub(crate) network: String,
    /// Where its exporter is, or nothing.
    pub(crate) metrics: String,
}

/// What the form shows of a node that there is.
impl From<&NodeSettings> for NodeForm {
    fn from(known: &NodeSettings) -> Self {
        let number = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
        let gpus = known.gpus.iter().flatten();
        let labels = known.labels.iter().map(|(name, value)| format!("{name}={value}"));
        let indices =
            |link: &Vec<u32>| link.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let network = match known.network {
            None => "",
            Some(NodeNetwork::Host) => "host",
            Some(NodeNetwork::Bridge) => "bridge",
        };
        Self {
            name: known.name.to_string(),
            address: known.address.clone(),
            endpoint: known.endpoint.clone(),
            cpus: number(known.cpus.map(u64::from)),
            memory_mb: number(known.memory_mb),
            disk_gb: number(known.disk_gb),
            gpus: gpus_text(gpus.map(|gpus| (&gpus.gpu_type, u64::from(gpus.count)))),
            gpu_runtime: Some(known.gpu_runtime),
            ports: known.ports.to_string(),
            labels: labels.collect::<Vec<_>>().join(", "),
            links: known.links.iter().map(indices).collect::<Vec<_>>().join("; "),
            shares_gpus: known.shares_gpus,
            network: network.to_owned(),
            metrics: known.metrics.clone().unwrap_or_default(),
        }
    }
}

/// Adds a node or changes it.
#[server(prefix = "/fn", endpoint = "nodes/save", output = Answer)]
pub(crate) async fn save_node(node: NodeForm) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    let settings = crate::settings::node(&node).map_err(failed)?;
    backend.nodes.save(&actor, settings).await.map_err(failed)
}
