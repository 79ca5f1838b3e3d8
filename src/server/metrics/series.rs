//! What the GPUs of each node do, and what each virtual cluster has. How many series there are follows
//! from how many machines there are, not from what people do; but for those of jobs, which somebody has to want,
//! and of which there are so many at most.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use api::cluster::{GpuView, NodeView, VirtualClusterView};
use api::metrics::GpuNow;
use protocol::amount::Amount;
use protocol::ids::JobKey;

use super::{gauge, labels, line};

/// So many GPUs are told of one by one.
const MOST: usize = 20_000;
/// So many jobs are: those that hold most.
const MOST_JOBS: usize = 2_000;

/// A figure of a node's GPUs.
type OfNode = fn(&NodeView) -> f64;
/// A figure of a GPU, where it is measured.
type OfGpu = fn(&GpuNow) -> Option<f64>;
/// A figure of a virtual cluster.
type OfCluster = fn(&VirtualClusterView) -> f64;

/// A figure of a job's GPUs, where it is measured.
type OfJob = fn(&OfJobs) -> Option<f64>;

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
    (
        "virtual_cluster_gpus_used",
        "GPUs that its jobs hold, and of its share those of its parts",
        |cluster| cluster.used.gpus.values().copied().sum::<Amount>().to_f64(),
    ),
    ("virtual_cluster_jobs_running", "Its jobs that run", |cluster| cluster.running_jobs as f64),
    ("virtual_cluster_jobs_waiting", "Its jobs that wait", |cluster| cluster.waiting_jobs as f64),
];

const OF_JOB: [(&str, &str, OfJob); 5] = [
    ("job_gpus", "GPUs that a running job holds, parts of them counted as parts", |of| {
        Some(of.held.to_f64())
    }),
    ("job_gpus_idle", "Those of them that have done nothing for a quarter of an hour", |of| {
        Some(f64::from(of.idle))
    }),
    ("job_gpu_load_percent", "How busy its GPUs are, their mean", |of| of.load.mean()),
    ("job_gpu_memory_used_bytes", "Memory in use of all its GPUs", |of| of.memory.sum()),
    ("job_gpu_power_watts", "What all its GPUs take", |of| of.power.sum()),
];

/// What the GPUs of a job do together. One that it shares with others does what they do, and is left out.
#[derive(Debug, Default)]
struct OfJobs {
    held: Amount,
    idle: u32,
    load: Sum,
    memory: Sum,
    power: Sum,
}

/// Of values, and of how many.
#[derive(Debug, Default)]
struct Sum(f64, u32);

impl Sum {
    fn add(&mut self, value: Option<f64>) {
        if let Some(value) = value {
            *self = Self(self.0 + value, self.1 + 1);
        }
    }

    fn sum(&self) -> Option<f64> {
        (self.1 > 0).then_some(self.0)
    }

    fn mean(&self) -> Option<f64> {
        self.sum().map(|sum| sum / f64::from(self.1))
    }
}

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

/// What the GPUs of running jobs do, job by job.
pub(super) fn of_jobs(text: &mut String, nodes: &[NodeView]) {
    let mut all = BTreeMap::<&JobKey, OfJobs>::new();
    for gpu in nodes.iter().flat_map(|node| &node.gpus) {
        for holder in &gpu.holders {
            let of = all.entry(&holder.job).or_default();
            of.held = [of.held, holder.part].into_iter().sum();
            let Some(now) = gpu.now.filter(|_| gpu.holders.len() == 1) else { continue };
            of.idle += u32::from(now.idle_since.is_some());
            of.load.add(now.load.map(f64::from));
            of.memory.add(now.memory_mb.map(|memory| (memory << 20) as f64));
            of.power.add(now.power.map(f64::from));
        }
    }
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by_key(|(_, of)| Reverse(of.held.milli()));
    all.truncate(MOST_JOBS);
    for (name, help, figure) in OF_JOB {
        gauge(text, name, help);
        for (job, of) in &all {
            let Some(value) = figure(of) else { continue };
            let of = [("user", job.user.to_string()), ("job", job.name.to_string())];
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

    fn holding(gpus: &[serde_json::Value]) -> NodeView {
        serde_json::from_value(json!({
            "name": "gpu-1", "address": "", "endpoint": "", "simulated": false, "condition": "ready",
            "emptied": false, "problem": null, "last_seen": null, "engine": null,
            "capacity": { "cpus": 1, "memory_mb": 1, "disk_gb": 1, "gpus": [] },
            "used": { "cpus": 0, "memory_mb": 0, "disk_gb": 0, "gpus": {} },
            "gpus": gpus, "ports": "10000-10009", "labels": {}, "tasks": [],
        }))
        .unwrap()
    }

    #[test]
    fn what_the_gpus_of_a_job_do_is_told_together() {
        let gpu = |index: u32, holders: &[(&str, f64)], load: u32| {
            let holders = holders.iter().map(|(name, part)| {
                json!({ "job": { "user": "ada", "name": name }, "task": "worker-0", "part": part })
            });
            json!({
                "gpu": { "index": index, "type": "A100", "uuid": null, "healthy": true },
                "job": null, "used": 1, "holders": holders.collect::<Vec<_>>(),
                "now": { "load": load, "memory_mb": 1, "all_memory_mb": null, "temperature": null,
                    "power": null, "idle_since": (load == 0).then_some(5) },
            })
        };
        let gpus = [
            gpu(0, &[("two", 1.0)], 90),
            gpu(1, &[("two", 1.0)], 0),
            gpu(2, &[("part", 0.25), ("other", 0.5)], 70),
        ];
        let mut text = String::new();
        of_jobs(&mut text, &[holding(&gpus)]);
        for expected in [
            "berth_job_gpus{user=\"ada\",job=\"two\"} 2\n",
            "berth_job_gpus{user=\"ada\",job=\"part\"} 0.25\n",
            "berth_job_gpus_idle{user=\"ada\",job=\"two\"} 1\n",
            "berth_job_gpu_load_percent{user=\"ada\",job=\"two\"} 45\n",
            "berth_job_gpu_memory_used_bytes{user=\"ada\",job=\"two\"} 2097152\n",
        ] {
            assert!(text.contains(expected), "{expected} is not in {text}");
        }
        assert!(
            !text.contains("load_percent{user=\"ada\",job=\"part\""),
            "it is not its own: {text}"
        );
        assert!(!text.contains("berth_job_gpu_power_watts{"), "nobody measures it");
    }

    #[test]
    fn so_many_jobs_are_told_of_and_those_that_hold_most() {
        let gpu = |index: usize| {
            let (name, part) = (format!("job-{index}"), if index == 0 { 0.25 } else { 1.0 });
            json!({
                "gpu": { "index": index, "type": "A100", "uuid": null, "healthy": true },
                "job": null, "used": 1, "now": null, "holders": [{
                    "job": { "user": "ada", "name": name }, "task": "worker-0", "part": part }],
            })
        };
        let gpus: Vec<_> = (0..=MOST_JOBS).map(gpu).collect();
        let mut text = String::new();
        of_jobs(&mut text, &[holding(&gpus)]);
        assert_eq!(text.matches("berth_job_gpus{").count(), MOST_JOBS);
        assert!(!text.contains("job=\"job-0\""), "the smallest is left out");
    }

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
        let node = holding(&[gpu(0, now), gpu(1, json!(null))]);
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
