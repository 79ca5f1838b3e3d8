//! `berth nodes` and `berth vc`.

use std::collections::BTreeMap;

use api::cluster::NodeView;
use clap::{Args, Subcommand};
use protocol::amount::Amount;
use protocol::ids::NodeName;
use serde_json::{Value, json};

use super::client::Client;
use super::outcome::Outcome;
use super::reach::Common;
use super::text;
use super::words::Words;
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
    let client = Client::signed_in(common)?;
    let answer: Value = client.post(&path, &json!({}))?;
    if common.json {
        return text::json(&answer);
    }
    text::say((client.words().probing)(name.as_str()));
    Ok(())
}

fn nodes(common: &Common) -> Outcome {
    let client = Client::signed_in(common)?;
    client.show(common, "/api/v2/nodes", |nodes: Vec<NodeView>| {
        let words = client.words();
        let rows: Vec<_> = nodes.iter().map(|node| node_row(node, words)).collect();
        text::table(&words.nodes_heading, &rows);
        for node in &nodes {
            if let Some(problem) = &node.problem {
                text::say(format_args!("{}: {}", node.name, client.language.told(problem)));
            }
        }
    })
}

fn node_row(node: &NodeView, words: &Words) -> Vec<String> {
    let mut condition = (words.condition)(node.condition).to_owned();
    if node.simulated {
        condition.push_str(words.simulated);
    }
    let architecture = node.capacity.architecture.as_ref();
    let held: Amount = node.gpus.iter().map(|gpu| gpu.used).sum();
    vec![
        node.name.to_string(),
        node.address.clone(),
        condition,
        architecture.map(ToString::to_string).unwrap_or_default(),
        format!("{}/{}", node.used.cpus, node.capacity.cpus),
        format!("{}/{} MiB", node.used.memory_mb, node.capacity.memory_mb),
        format!("{held}/{}", node.gpus.len()),
        node.tasks.len().to_string(),
    ]
}

pub(super) fn virtual_clusters(common: &Common) -> Outcome {
    let client = Client::signed_in(common)?;
    let said = |clusters: BTreeMap<String, VirtualClusterWire>| {
        let words = client.words();
        let rows = clusters.iter().map(|(name, wire)| cluster_row(name, wire, words));
        text::table(&words.clusters_heading, &rows.collect::<Vec<_>>());
    };
    client.show(common, "/api/v2/virtual-clusters", said)
}

fn cluster_row(name: &str, cluster: &VirtualClusterWire, words: &Words) -> Vec<String> {
    let (used, total) = (&cluster.resources_used, &cluster.resources_total);
    vec![
        name.to_owned(),
        format!("{}/{}", used.gpu, total.gpu),
        format!("{}/{}", used.cpu, total.cpu),
        format!("{}/{} MiB", used.memory, total.memory),
        cluster.running_jobs.to_string(),
        cluster.waiting_jobs.to_string(),
        if cluster.usable { words.yes } else { words.no }.to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use app::i18n::Language;

    use super::*;
    use crate::commands::client::tests::seen;
    use crate::commands::words::words;

    #[test]
    fn a_virtual_cluster_says_what_is_used_of_what() {
        let mut answer = seen("v2_virtual_cluster");
        answer["resourcesUsed"]["gpu"] = serde_json::json!(0.25);
        let words = words(Language::English);
        let row = cluster_row("vision", &serde_json::from_value(answer).unwrap(), words);
        assert_eq!(row, ["vision", "0.25/4", "2/8", "200/800 MiB", "1", "2", "yes"]);
    }
}
