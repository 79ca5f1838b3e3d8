//! What the GPUs of each node do, and what each virtual cluster has. How many series there are follows
//! from how many machines there are, not from what people do.

use api::cluster::{GpuView, NodeView, VirtualClusterView};
use api::metrics::GpuNow;
use protocol::amount::Amount;

use super::{gauge, labels, line};

/// So many GPUs are told of one by one.
const MOST: usize = 20_000;

/// A figure of a node's GPUs.
type OfNode = fn(&NodeView) -> f64;
/// A figure of a GPU, where it is measured.
type OfGpu = fn(&GpuNow) -> Option<f64>;
/// A figure of a virtual cluster.
type OfCluster = fn(&VirtualClusterView) -> f64;

const OF_NODE: [(&str, &str, OfNode); 4] = [
    ("node_gpus", "GPUs of a node", |node| node.gpus.len() as f64),
    ("node_gpus_used", "GPUs of a node that tasks hold, parts of them counted as parts", |node| {
        node.gpus.iter().map(|gpu| gpu.used).sum::<Amount>().to_f64()
    }),
    ("node_gpus_unhealthy", "GPUs of a node that are gone or have failed", |node| {
        node.gpus.iter().filter(|gpu| !gpu.gpu.healthy).count() as f64
    }),
    (
        "node_gpus_idle",
        "GPUs of a node that tasks hold and that have done nothing for a quarter of an hour",
        |node| node.gpus.iter().filter(|gpu| is_idle(gpu)).count() as f64,
    ),
];

const OF_GPU: [(&str, &str, OfGpu); 4] = [
    ("gpu_load_percent", "How busy a GPU is", |now| now.load.map(f64::from)),
    ("gpu_memory_used_bytes", "Memory of a GPU in use", |now| {
        now.memory_mb.map(|memory| (memory << 20) as f64)
    }),
    ("gpu_temperature_celsius", "How hot a GPU is", |now| now.temperature.map(f64::from)),
    ("gpu_power_watts", "What a GPU takes", |now| now.power.map(f64::from)),
];

const OF_CLUSTER: [(&str, &str, OfCluster); 4] = [
    ("virtual_cluster_gpus", "GPUs that are guaranteed to a virtual cluster, or all", |cluster| {
        cluster.total.gpus.values().copied().sum::<Amount>().to_f64()
    }),
    ("virtual_cluster_gpus_used", "GPUs that its jobs hold", |cluster| {
        cluster.used.gpus.values().copied().sum::<Amount>().to_f64()
    }),
    ("virtual_cluster_jobs_running", "Its jobs that run", |cluster| cluster.running_jobs as f64),
    ("virtual_cluster_jobs_waiting", "Its jobs that wait", |cluster| cluster.waiting_jobs as f64),
];

fn is_idle(gpu: &GpuView) -> bool {
    gpu.now.is_some_and(|now| now.idle_since.is_some())
}

/// What the GPUs of nodes do.
pub(super) fn of_nodes(text: &mut String, nodes: &[NodeView]) {
    for (name, help, figure) in OF_NODE {
        gauge(text, name, help);
        for node in nodes.iter().filter(|node| !node.gpus.is_empty()) {
            line(text, name, &labels(&[("node", node.name.to_string())]), figure(node));
        }
    }
    for (name, help, figure) in OF_GPU {
        gauge(text, name, help);
        let gpus = nodes.iter().flat_map(|node| node.gpus.iter().map(move |gpu| (node, gpu)));
        for (node, gpu) in gpus.take(MOST) {
            let Some(value) = gpu.now.as_ref().and_then(figure) else { continue };
            let of = [
                ("node", node.name.to_string()),
                ("gpu", gpu.gpu.index.to_string()),
                ("type", gpu.gpu.gpu_type.to_string()),
            ];
            line(text, name, &labels(&of), value);
        }
    }
}

/// What virtual clusters have.
pub(super) fn of_virtual_clusters(text: &mut String, clusters: &[VirtualClusterView]) {
    for (name, help, figure) in OF_CLUSTER {
        gauge(text, name, help);
        for cluster in clusters {
            let of = [("virtual_cluster", cluster.settings.name.to_string())];
            line(text, name, &labels(&of), figure(cluster));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_gpu_that_is_measured_has_its_figures() {
        let gpu = |index: u32, now: serde_json::Value| {
            json!({
                "gpu": { "index": index, "type": "A100", "uuid": null, "healthy": index == 0 },
                "job": null, "used": 1, "now": now,
            })
        };
        let now = json!({
            "load": 97, "memory_mb": 2, "all_memory_mb": null, "temperature": 61, "power": null,
            "idle_since": 5,
        });
        let node: NodeView = serde_json::from_value(json!({
            "name": "gpu-1", "address": "", "endpoint": "", "simulated": false, "condition": "ready",
            "emptied": false, "problem": null, "last_seen": null, "engine": null,
            "capacity": { "cpus": 1, "memory_mb": 1, "disk_gb": 1, "gpus": [] },
            "used": { "cpus": 0, "memory_mb": 0, "disk_gb": 0, "gpus": {} },
            "gpus": [gpu(0, now), gpu(1, json!(null))], "ports": "10000-10009", "labels": {},
            "tasks": [],
        }))
        .unwrap();
        let mut text = String::new();
        of_nodes(&mut text, &[node]);
        for expected in [
            "berth_node_gpus{node=\"gpu-1\"} 2\n",
            "berth_node_gpus_used{node=\"gpu-1\"} 2\n",
            "berth_node_gpus_unhealthy{node=\"gpu-1\"} 1\n",
            "berth_node_gpus_idle{node=\"gpu-1\"} 1\n",
            "berth_gpu_load_percent{node=\"gpu-1\",gpu=\"0\",type=\"A100\"} 97\n",
            "berth_gpu_memory_used_bytes{node=\"gpu-1\",gpu=\"0\",type=\"A100\"} 2097152\n",
            "berth_gpu_temperature_celsius{node=\"gpu-1\",gpu=\"0\",type=\"A100\"} 61\n",
        ] {
            assert!(text.contains(expected), "{expected} is not in {text}");
        }
        assert!(!text.contains("gpu=\"1\"") && !text.contains("berth_gpu_power_watts{"));
    }
}
