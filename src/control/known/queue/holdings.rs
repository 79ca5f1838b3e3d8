//! What is held on each node: put together once after a change, however many look at it.

use std::collections::HashMap;

use api::cluster::NodeTask;
use protocol::amount::Amount;
use protocol::ids::NodeName;
use scheduler::model::Demand;

use super::Queue;

/// What a task has of its node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holding {
    pub(crate) task: NodeTask,
    pub(crate) demand: Demand,
}

/// What is held on each node.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Holdings(HashMap<NodeName, Vec<Holding>>);

impl Holdings {
    /// As the queue has it now.
    pub(super) fn of(queue: &Queue) -> Self {
        let mut holdings = HashMap::<NodeName, Vec<Holding>>::new();
        for running in queue.running() {
            let Some(job) = queue.job(running.job) else { continue };
            for (place, demand) in &running.tasks {
                let Some(role) = job.spec.roles.get(place.role as usize) else { continue };
                let task = NodeTask {
                    job: job.row.key.clone(),
                    task: format!("{}-{}", role.name, place.index),
                    gpus: place.gpus.clone(),
                    gpu_part: Some(amount_of_each(demand)).filter(|part| part.is_part()),
                };
                let there = holdings.entry(place.node.clone()).or_default();
                there.push(Holding { task, demand: *demand });
            }
        }
        Self(holdings)
    }

    /// What is held on a node.
    pub(crate) fn on(&self, node: &NodeName) -> &[Holding] {
        self.0.get(node).map(Vec::as_slice).unwrap_or_default()
    }
}

/// How much of each of its GPUs a task has.
pub(crate) fn amount_of_each(demand: &Demand) -> Amount {
    Amount::from_milli(demand.each_gpu_milli().into())
}
