//! `berth nodes` and `berth vc`.

use std::collections::BTreeMap;

use api::cluster::NodeView;
use clap::{Args, Subcommand};
use protocol::amount::Amount;
use protocol::cluster::NodeCondition;
use protocol::ids::NodeName;
use serde_json::{Value, json};

use super::client::Client;
use super::{Common, Outcome, text};
use crate::rest::v2::cluster::VirtualClusterWire;

#[derive(Debug, Args)]
pub(super) struct Nodes {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Lists nodes
    List,
    /// Looks for the GPUs of a node now
    Probe {
        /// The node
        name: NodeName,
    },
}

impl Nodes {
    pub(super) fn run(self) -> Outcome {
        match self.what.unwrap_or(What::List) {
            What::List => nodes(&self.common),
            What::Probe { name } => probe(&self.common, &name),
        }
    }
}

fn probe(common: &Common, name: &NodeName) -> Outcome {
    let path = format!("/api/v2/nodes/{name}/gpus");
    let answer: Value = Client::signed_in(common)?.post(&path, &json!({}))?;
    if common.json {
        return text::json(&answer);
    }
    text::say(format_args!("GPUs of {name} are being looked for"));
    Ok(())
}

fn nodes(common: &Common) -> Outcome {
    Client::signed_in(common)?.show(common, "/api/v2/nodes", |nodes: Vec<NodeView>| {
        let rows: Vec<_> = nodes.iter().map(node_row).collect();
        text::table(&["NODE", "ADDRESS", "CONDITION", "CPUS", "MEMORY", "GPUS", "TASKS"], &rows);
        for node in &nodes {
            if let Some(problem) = &node.problem {
                text::say(format_args!("{}: {problem}", node.name));
            }
        }
    })
}

fn node_row(node: &NodeView) -> Vec<String> {
    let condition = match node.condition {
        NodeCondition::Ready => "ready",
        NodeCondition::Draining => "draining",
        NodeCondition::Unreachable => "unreachable",
    };
    let simulated = if node.simulated { " (simulated)" } else { "" };
    let held: Amount = node.gpus.iter().map(|gpu| gpu.used).sum();
    vec![
        node.name.to_string(),
        node.address.clone(),
        format!("{condition}{simulated}"),
        format!("{}/{}", node.used.cpus, node.capacity.cpus),
        format!("{}/{} MiB", node.used.memory_mb, node.capacity.memory_mb),
        format!("{held}/{}", node.gpus.len()),
        node.tasks.len().to_string(),
    ]
}

pub(super) fn virtual_clusters(common: &Common) -> Outcome {
    let client = Client::signed_in(common)?;
    let said = |clusters: BTreeMap<String, VirtualClusterWire>| {
        let rows: Vec<_> = clusters.iter().map(|(name, wire)| cluster_row(name, wire)).collect();
        text::table(&["NAME", "GPUS", "CPUS", "MEMORY", "RUNNING", "WAITING", "MAY USE"], &rows);
    };
    client.show(common, "/api/v2/virtual-clusters", said)
}

fn cluster_row(name: &str, cluster: &VirtualClusterWire) -> Vec<String> {
    let (used, total) = (&cluster.resources_used, &cluster.resources_total);
    vec![
        name.to_owned(),
        format!("{}/{}", used.gpu, total.gpu),
        format!("{}/{}", used.cpu, total.cpu),
        format!("{}/{} MiB", used.memory, total.memory),
        cluster.running_jobs.to_string(),
        cluster.waiting_jobs.to_string(),
        if cluster.usable { "yes" } else { "no" }.to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::client::tests::seen;

    #[test]
    fn a_virtual_cluster_says_what_is_used_of_what() {
        let mut answer = seen("v2_virtual_cluster");
        answer["resourcesUsed"]["gpu"] = serde_json::json!(0.25);
        let row = cluster_row("vision", &serde_json::from_value(answer).unwrap());
        assert_eq!(row, ["vision", "0.25/4", "2/8", "200/800 MiB", "1", "2", "yes"]);
    }
}
