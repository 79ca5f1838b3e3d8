//! What is seen of each node's engine, and of which nodes something else is seen than before.

use std::collections::{HashMap, HashSet};
use std::ops::Deref;

use protocol::ids::{JobId, NodeName};

use crate::known::cluster::Observation;

/// What is seen of each node's engine. It is read as a map; whoever changes it changes it here.
#[derive(Debug, Default)]
pub(crate) struct Observations {
    seen: HashMap<NodeName, Observation>,
    /// Nodes that were looked at since the jobs' loop took in what was seen.
    news: HashSet<NodeName>,
}

impl Observations {
    /// A node was looked at.
    pub(crate) fn insert(&mut self, node: NodeName, observation: Observation) {
        self.news.insert(node.clone());
        self.seen.insert(node, observation);
    }

    /// A node is not looked at any more.
    pub(crate) fn remove(&mut self, node: &NodeName) {
        if self.seen.remove(node).is_some() {
            self.news.insert(node.clone());
        }
    }

    /// What is seen of the nodes of which that may be something else than when this was asked last;
    /// nothing of one that is not looked at any more.
    pub(crate) fn news(&mut self) -> Vec<(NodeName, Option<Observation>)> {
        let news = std::mem::take(&mut self.news).into_iter();
        news.map(|node| (node.clone(), self.seen.get(&node).cloned())).collect()
    }

    /// The jobs of which containers are seen.
    pub(crate) fn jobs(&self) -> HashSet<JobId> {
        self.containers().map(|(_, job)| job).collect()
    }

    /// A node on which a container of a job is seen.
    pub(crate) fn node_with(&self, job: JobId) -> Option<NodeName> {
        self.containers().find(|(_, other)| *other == job).map(|(node, _)| node.clone())
    }

    /// Whether it is known what is on a node.
    pub(crate) fn has_seen(&self, node: &NodeName) -> bool {
        match self.seen.get(node) {
            Some(Observation::Answers { .. }) => true,
            Some(Observation::Silent) | None => false,
        }
    }

    /// Where containers are seen, and of which jobs.
    fn containers(&self) -> impl Iterator<Item = (&NodeName, JobId)> {
        self.seen.iter().flat_map(|(node, observation)| {
            let containers = match observation {
                Observation::Answers { containers, .. } => Some(containers),
                Observation::Silent => None,
            };
            let keys = containers.into_iter().flat_map(|containers| containers.keys());
            keys.map(move |key| (node, key.job))
        })
    }

    /// What is seen of all nodes; nothing of that is news any more.
    pub(crate) fn all(&mut self) -> HashMap<NodeName, Observation> {
        self.news.clear();
        self.seen.clone()
    }
}

impl Deref for Observations {
    type Target = HashMap<NodeName, Observation>;

    fn deref(&self) -> &Self::Target {
        &self.seen
    }
}
