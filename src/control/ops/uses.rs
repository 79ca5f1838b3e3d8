//! What is held by virtual clusters: put together once, however many of them are looked at.

use std::collections::HashMap;

use api::cluster::Usage;
use protocol::amount::Amount;
use protocol::cluster::NodeCondition;
use protocol::ids::VirtualClusterName;
use protocol::resources::{Capacity, Taken};
use protocol::shares::wholes;
use scheduler::model::{Demand, WHOLE_GPU};

use crate::known::capacity::capacity;
use crate::known::cluster::{Cluster, condition};
use crate::known::queue::{Holding, Holdings, amount_of_each};

/// What a virtual cluster's jobs hold, and of its share those of its parts.
#[derive(Debug, Clone, Default)]
pub(super) struct InUse {
    pub(super) used: Usage,
    /// What of that is others'.
    pub(super) borrowed: Usage,
    pub(super) running_jobs: u64,
}

/// What all virtual clusters hold and wait for, and what there is.
#[derive(Debug)]
pub(super) struct Uses {
    running: HashMap<VirtualClusterName, InUse>,
    waiting: HashMap<VirtualClusterName, u64>,
    ready: Usage,
}

impl Uses {
    pub(super) fn of(
        cluster: &Cluster,
        holdings: &Holdings,
        waiting: HashMap<VirtualClusterName, u64>,
    ) -> Self {
        let of_jobs = |(name, running_jobs): (&VirtualClusterName, u64)| {
            (name.clone(), InUse { running_jobs, ..InUse::default() })
        };
        let mut running: HashMap<_, _> = holdings.jobs().map(of_jobs).collect();
        let clusters = &cluster.virtual_clusters;
        let wholes = clusters.iter().map(|part| (&part.name, wholes(part, clusters)));
        let wholes: HashMap<_, _> = wholes.collect();
        for whole in wholes.values().flatten() {
            running.entry(whole.name.clone()).or_default();
        }
        for (node, held) in holdings.on_nodes() {
            let node = cluster.node(node).map(capacity).unwrap_or_default();
            for Holding { job: _, task, demand, virtual_cluster, borrowed } in held {
                let Some(uses) = running.get_mut(virtual_cluster) else { continue };
                add(&mut uses.used, &task.gpus, demand, &node);
                if *borrowed {
                    add(&mut uses.borrowed, &task.gpus, demand, &node);
                    continue;
                }
                for whole in wholes.get(virtual_cluster).into_iter().flatten() {
                    let Some(uses) = running.get_mut(&whole.name) else { continue };
                    add(&mut uses.used, &task.gpus, demand, &node);
                }
            }
        }
        Self { running, waiting, ready: ready(cluster) }
    }

    /// What a virtual cluster holds.
    pub(super) fn by(&self, name: &VirtualClusterName) -> InUse {
        self.running.get(name).cloned().unwrap_or_default()
    }

    /// How many of its jobs wait.
    pub(super) fn waiting(&self, name: &VirtualClusterName) -> u64 {
        self.waiting.get(name).copied().unwrap_or(0)
    }

    /// What the nodes that take tasks have together.
    pub(super) fn ready(&self) -> &Usage {
        &self.ready
    }
}

fn ready(cluster: &Cluster) -> Usage {
    let mut total = Usage::default();
    for node in cluster.records().filter(|node| condition(node) == NodeCondition::Ready) {
        let capacity = capacity(node);
        total.cpus += u64::from(capacity.cpus);
        total.memory_mb += capacity.memory_mb;
        total.disk_gb += capacity.disk_gb;
        for gpu in capacity.gpus {
            *total.gpus.entry(gpu.gpu_type).or_default() += Amount::whole(1);
        }
    }
    total
}

/// Adds what is taken of a node by what is no job's.
pub(super) fn add_taken(usage: &mut Usage, taken: &Taken, node: &Capacity) {
    let gpus: Vec<u32> = taken.gpus.iter().copied().collect();
    let demand = Demand {
        cpu_milli: u64::from(taken.cpus) * 1000,
        memory_mb: taken.memory_mb,
        disk_gb: taken.disk_gb,
        gpus: u32::try_from(gpus.len()).unwrap_or(u32::MAX),
        gpu_milli: WHOLE_GPU,
    };
    add(usage, &gpus, &demand, node);
}

/// Adds what a task has of its node.
pub(super) fn add(usage: &mut Usage, gpus: &[u32], demand: &Demand, node: &Capacity) {
    usage.cpus += demand.cpu_milli / 1000;
    usage.memory_mb += demand.memory_mb;
    usage.disk_gb += demand.disk_gb;
    for index in gpus {
        if let Some(gpu) = node.gpus.iter().find(|gpu| gpu.index == *index) {
            *usage.gpus.entry(gpu.gpu_type.clone()).or_default() += amount_of_each(demand);
        }
    }
}
