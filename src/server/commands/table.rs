//! `berth nodes` and `berth vc`.

use api::cluster::NodeView;
use protocol::amount::Amount;
use protocol::cluster::NodeCondition;
use serde_json::Value;

use super::client::Client;
use super::{Common, Outcome, text};

pub(super) fn nodes(common: &Common) -> Outcome {
    let nodes: Vec<NodeView> = Client::signed_in(common)?.get("/api/v2/nodes")?;
    if common.json {
        return print_json(&nodes);
    }
    let rows: Vec<_> = nodes.iter().map(node_row).collect();
    text::table(&["NODE", "ADDRESS", "CONDITION", "CPUS", "MEMORY", "GPUS", "TASKS"], &rows);
    for node in &nodes {
        if let Some(problem) = &node.problem {
            text::say(format_args!("{}: {problem}", node.name));
        }
    }
    Ok(())
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
    let clusters: serde_json::Map<String, Value> =
        Client::signed_in(common)?.get("/api/v2/virtual-clusters")?;
    if common.json {
        return print_json(&clusters);
    }
    let amount = |cluster: &Value, part: &str, what: &str| {
        let value = cluster.pointer(&format!("/{part}/{what}")).cloned().unwrap_or_default();
        serde_json::from_value::<Amount>(value).unwrap_or_default()
    };
    let rows: Vec<_> = clusters
        .iter()
        .map(|(name, cluster)| {
            let pair = |what| {
                let used = amount(cluster, "resourcesUsed", what);
                format!("{used}/{}", amount(cluster, "resourcesTotal", what))
            };
            let count = |what: &str| cluster[what].as_u64().unwrap_or(0).to_string();
            let usable = if cluster["usable"].as_bool() == Some(true) { "yes" } else { "no" };
            vec![
                name.clone(),
                pair("gpu"),
                pair("cpu"),
                format!("{} MiB", pair("memory")),
                count("runningJobs"),
                count("waitingJobs"),
                usable.to_owned(),
            ]
        })
        .collect();
    text::table(&["NAME", "GPUS", "CPUS", "MEMORY", "RUNNING", "WAITING", "MAY USE"], &rows);
    Ok(())
}

/// Prints a value for programs.
pub(super) fn print_json(value: &impl serde::Serialize) -> Outcome {
    text::say(serde_json::to_string_pretty(value)?);
    Ok(())
}
