//! What is held, node by node: put together once after a change, however many look at it.

use std::collections::HashMap;

use api::cluster::NodeTask;
use protocol::amount::Amount;
use protocol::ids::{NodeName, VirtualClusterName};
use scheduler::model::{Demand, Standing};

use super::Queue;

/// What a task has of its node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holding {
    pub(crate) task: NodeTask,
    pub(crate) demand: Demand,
    pub(crate) virtual_cluster: VirtualClusterName,
    /// It is not that virtual cluster's, but borrowed.
    pub(crate) borrowed: bool,
}

/// What is held.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Holdings {
    /// On each node.
    on_nodes: HashMap<NodeName, Vec<Holding>>,
    /// By how many jobs of each virtual cluster.
    jobs: HashMap<VirtualClusterName, u64>,
}

impl Holdings {
    /// As the queue has it now.
    pub(super) fn of(queue: &Queue) -> Self {
        let mut holdings = Self::default();
        for running in queue.running() {
            let Some(job) = queue.job(running.job) else { continue };
            let virtual_cluster = &running.virtual_cluster;
            *holdings.jobs.entry(virtual_cluster.clone()).or_default() += 1;
            for (place, demand) in &running.tasks {
                let Some(role) = job.spec.roles.get(place.role as usize) else { continue };
                let task = NodeTask {
                    job: job.row.key.clone(),
                    task: format!("{}-{}", role.name, place.index),
                    gpus: place.gpus.clone(),
                    gpu_part: Some(amount_of_each(demand)).filter(|part| part.is_part()),
                };
                let there = holdings.on_nodes.entry(place.node.clone()).or_default();
                there.push(Holding {
                    task,
                    demand: *demand,
                    virtual_cluster: virtual_cluster.clone(),
                    borrowed: running.standing == Standing::Borrowed,
                });
            }
        }
        holdings
    }

    /// What is held on a node.
    pub(crate) fn on(&self, node: &NodeName) -> &[Holding] {
        self.on_nodes.get(node).map(Vec::as_slice).unwrap_or_default()
    }

    /// What is held on each of the nodes on which anything is.
    pub(crate) fn on_nodes(&self) -> impl Iterator<Item = (&NodeName, &[Holding])> {
        self.on_nodes.iter().map(|(node, held)| (node, held.as_slice()))
    }

    /// How many jobs of each virtual cluster hold something.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = (&VirtualClusterName, u64)> {
        self.jobs.iter().map(|(name, jobs)| (name, *jobs))
    }
}

/// How much of each of its GPUs a task has.
pub(crate) fn amount_of_each(demand: &Demand) -> Amount {
    Amount::from_milli(demand.each_gpu_milli().into())
}
