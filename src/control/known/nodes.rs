//! What is known of nodes.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard};

use protocol::ids::NodeName;

use super::checks::Checks;
use super::cluster::{Cluster, Observation};
use super::engines::Engines;
use super::faults::Faults;
use super::heartbeats::Heartbeats;
use super::lacks::Lacking;
use super::observations::Observations;
use super::quarantine::Quarantine;
use super::refresh::ClusterHandle;
use super::unkilled::Unkilled;
use crate::lock::lock;

/// Nodes as they are described, and as they are seen.
#[derive(Debug)]
pub(crate) struct KnownNodes {
    /// Nodes and virtual clusters.
    pub(crate) cluster: ClusterHandle,
    /// Which node each engine is.
    pub(crate) engines: Engines,
    /// What is seen of each node's engine, until it is stored.
    pub(crate) heartbeats: Heartbeats,
    /// What the loops see of each node's engine.
    observations: Mutex<Observations>,
    /// What is on them that is not to be touched.
    pub(crate) quarantine: Quarantine,
    /// What they have failed to start.
    pub(crate) faults: Faults,
    /// The storages that they were found to lack.
    pub(crate) lacking: Lacking,
    /// What does not end on them, though it is told to.
    pub(crate) unkilled: Unkilled,
    /// What is known of the checks that they go through.
    pub(crate) checks: Checks,
}

impl KnownNodes {
    pub(crate) fn new(cluster: ClusterHandle) -> Self {
        Self {
            engines: Engines::of(&cluster.current()),
            cluster,
            heartbeats: Heartbeats::default(),
            observations: Mutex::default(),
            quarantine: Quarantine::default(),
            faults: Faults::default(),
            lacking: Lacking::default(),
            unkilled: Unkilled::default(),
            checks: Checks::default(),
        }
    }

    /// Nodes and virtual clusters as they were last read.
    pub(crate) fn cluster(&self) -> Arc<Cluster> {
        self.cluster.current()
    }

    pub(crate) fn observations(&self) -> MutexGuard<'_, Observations> {
        lock(&self.observations)
    }

    /// The nodes of which nobody knows what is on them: they do not answer, or have not yet.
    pub(crate) fn unseen(&self) -> HashSet<NodeName> {
        let (cluster, observations) = (self.cluster(), self.observations());
        let names = cluster.records().map(|node| &node.settings.name);
        names.filter(|name| !observations.has_seen(name)).cloned().collect()
    }

    /// Whether somebody has tried to look at a node and it does not answer.
    pub(crate) fn is_silent(&self, node: &NodeName) -> bool {
        matches!(self.observations().get(node), Some(Observation::Silent))
    }
}
