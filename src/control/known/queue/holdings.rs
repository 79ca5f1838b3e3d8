//! What is held, node by node: kept as it changes, and given away as it is to however many look at it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::iter;
use std::sync::Arc;

use api::cluster::NodeTask;
use protocol::amount::Amount;
use protocol::ids::{JobId, NodeName, VirtualClusterName};
use scheduler::model::{Demand, QosClass, Running};

use crate::known::active::Active;

/// Nodes are kept in so many pieces. Once what is held was given away, those pieces alone are copied in
/// which something changes.
const PIECES: usize = 64;

/// What a task has of its node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holding {
    pub(crate) job: JobId,
    pub(crate) task: NodeTask,
    pub(crate) demand: Demand,
    pub(crate) virtual_cluster: VirtualClusterName,
    /// It is not that virtual cluster's, but borrowed.
    pub(crate) borrowed: bool,
}

/// By node, the oldest job at the head.
type OnNodes = HashMap<NodeName, Arc<Vec<Holding>>>;

/// What is held. A copy costs next to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holdings {
    /// On each node on which anything is.
    pieces: Vec<Arc<OnNodes>>,
    /// By how many jobs of each virtual cluster.
    jobs: Arc<HashMap<VirtualClusterName, u64>>,
}

impl Default for Holdings {
    fn default() -> Self {
        let pieces = iter::repeat_with(Arc::<OnNodes>::default).take(PIECES).collect();
        Self { pieces, jobs: Arc::default() }
    }
}

impl Holdings {
    /// Of jobs with what each holds.
    pub(super) fn of<'a>(held: impl Iterator<Item = (&'a Active, &'a Running)>) -> Self {
        let mut holdings = Self::default();
        held.for_each(|(job, running)| holdings.insert(job, running));
        holdings
    }

    /// A job holds something else than before, or perhaps the same.
    pub(super) fn change(&mut self, job: &Active, before: Option<&Running>, after: &Running) {
        let is_same = before.is_some_and(|before| {
            before.qos_class == after.qos_class
                && before.virtual_cluster == after.virtual_cluster
                && before.tasks == after.tasks
        });
        if !is_same {
            before.into_iter().for_each(|before| self.remove(before));
            self.insert(job, after);
        }
    }

    fn insert(&mut self, job: &Active, running: &Running) {
        let virtual_cluster = &running.virtual_cluster;
        *Arc::make_mut(&mut self.jobs).entry(virtual_cluster.clone()).or_default() += 1;
        for (place, demand) in &running.tasks {
            let Some(role) = job.spec.roles.get(place.role as usize) else { continue };
            let task = NodeTask {
                job: job.row.key.clone(),
                task: format!("{}-{}", role.name, place.index),
                gpus: place.gpus.clone(),
                gpu_part: Some(amount_of_each(demand)).filter(|part| part.is_part()),
            };
            let holding = Holding {
                job: running.job,
                task,
                demand: *demand,
                virtual_cluster: virtual_cluster.clone(),
                borrowed: running.qos_class == QosClass::Borrowed,
            };
            let there = self.piece_mut(&place.node).entry(place.node.clone()).or_default();
            let there = Arc::make_mut(there);
            // Most nodes have a single task, or few.
            there.reserve_exact(usize::from(there.is_empty()));
            there.insert(there.partition_point(|other| other.job <= running.job), holding);
        }
    }

    /// A job holds this no more.
    pub(super) fn remove(&mut self, running: &Running) {
        let jobs = Arc::make_mut(&mut self.jobs);
        if let Some(of_cluster) = jobs.get_mut(&running.virtual_cluster) {
            *of_cluster -= 1;
            if *of_cluster == 0 {
                jobs.remove(&running.virtual_cluster);
            }
        }
        for (place, _) in &running.tasks {
            let piece = self.piece_mut(&place.node);
            // Another task of it may have been there.
            let Some(there) = piece.get_mut(&place.node) else { continue };
            Arc::make_mut(there).retain(|holding| holding.job != running.job);
            if there.is_empty() {
                piece.remove(&place.node);
            }
        }
    }

    fn piece_mut(&mut self, node: &NodeName) -> &mut OnNodes {
        Arc::make_mut(&mut self.pieces[piece_of(node)])
    }

    /// What is held on a node.
    pub(crate) fn on(&self, node: &NodeName) -> &[Holding] {
        let there = self.pieces[piece_of(node)].get(node);
        there.map(|held| held.as_slice()).unwrap_or_default()
    }

    /// What is held on each of the nodes on which anything is.
    pub(crate) fn on_nodes(&self) -> impl Iterator<Item = (&NodeName, &[Holding])> {
        let nodes = self.pieces.iter().flat_map(|piece| piece.iter());
        nodes.map(|(node, held)| (node, held.as_slice()))
    }

    /// How many jobs of each virtual cluster hold something.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = (&VirtualClusterName, u64)> {
        self.jobs.iter().map(|(name, jobs)| (name, *jobs))
    }
}

fn piece_of(node: &NodeName) -> usize {
    let mut hasher = DefaultHasher::new();
    node.hash(&mut hasher);
    (hasher.finish() % PIECES as u64) as usize
}

/// How much of each of its GPUs a task has.
pub(crate) fn amount_of_each(demand: &Demand) -> Amount {
    Amount::from_milli(demand.each_gpu_milli().into())
}
