//! What virtual clusters are guaranteed of what there is.

use std::collections::BTreeMap;

use api::cluster::{Promise, Promised};
use database::nodes::NodeRecord;
use protocol::cluster::{Share, VirtualClusterSettings};
use protocol::ids::GpuType;

use crate::known::capacity::capacity;
use crate::known::cluster::Cluster;

/// Each resource of which anything is guaranteed.
pub(crate) fn of<'n>(
    nodes: impl IntoIterator<Item = &'n NodeRecord>,
    clusters: &[VirtualClusterSettings],
) -> Vec<Promise> {
    let Share { cpus, memory_mb, gpus } = protocol::shares::promised(clusters);
    let there: Vec<_> = nodes.into_iter().map(capacity).collect();
    let mut there_gpus: BTreeMap<GpuType, u64> = BTreeMap::new();
    for gpu in there.iter().flat_map(|node| &node.gpus) {
        *there_gpus.entry(gpu.gpu_type.clone()).or_default() += 1;
    }
    let gpus = gpus.into_iter().map(|(gpu_type, promised)| {
        let there = there_gpus.get(&gpu_type).copied().unwrap_or(0);
        Promise { resource: Promised::Gpus(gpu_type), promised, there }
    });
    let cpus = cpus.map(|promised| {
        let there = there.iter().map(|node| u64::from(node.cpus)).sum();
        Promise { resource: Promised::Cpus, promised, there }
    });
    let memory = memory_mb.map(|promised| {
        let there = there.iter().map(|node| node.memory_mb).sum();
        Promise { resource: Promised::MemoryMb, promised, there }
    });
    gpus.chain(cpus).chain(memory).collect()
}

/// Tells whoever reads the log, once it is known what the nodes have.
pub(crate) fn warn(cluster: &Cluster) {
    let is_known = |node: &NodeRecord| {
        node.observed.is_some() || (node.settings.gpus.is_some() && node.settings.cpus.is_some())
    };
    if !cluster.records().all(is_known) {
        return;
    }
    let promises = of(cluster.records(), &cluster.virtual_clusters);
    for promise in promises.iter().filter(|promise| promise.is_too_much()) {
        tracing::warn!("virtual clusters are guaranteed more than there is: {promise}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str) -> NodeRecord {
        let settings = serde_json::json!({
            "name": name, "address": "10.0.0.1", "endpoint": "simulated", "cpus": 8, "memory_mb": 1000,
            "gpus": [{"type": "A100", "count": 8}],
        });
        let settings = serde_json::from_value(settings).unwrap();
        NodeRecord {
            settings,
            from_file: false,
            draining: true,
            emptied: false,
            closed: None,
            health: protocol::health::Health::default(),
            observed: None,
        }
    }

    #[test]
    fn a_type_that_no_node_has_is_promised_of_none() {
        let settings = serde_json::json!({
            "name": "speech", "share": {"gpus": {"A100": 500, "H100": 1}, "cpus": 16},
        });
        let clusters = [serde_json::from_value(settings).unwrap()];
        let promises = of(&[node("a"), node("b")], &clusters);
        let told: Vec<_> = promises.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            ["A100: promised 500 of 16", "H100: promised 1 of 0", "CPU cores: promised 16 of 16"]
        );
        let too_much: Vec<_> = promises.iter().map(Promise::is_too_much).collect();
        assert_eq!(too_much, [true, true, false]);
    }
}
