//! Nodes and virtual clusters in memory: as configured, and as the engines show them.

use std::collections::HashMap;
use std::sync::Arc;

use database::nodes::NodeRecord;
use engine::{Container, Engine};
use protocol::cluster::{NodeCondition, NodeNetwork, NodeSettings, VirtualClusterSettings};
use protocol::ids::{NodeName, TaskKey, VirtualClusterName};
use protocol::resources::{Capacity, Gpu};
use protocol::time::Timestamp;
use scheduler::model::Node;

use crate::known::portal::Portal;

/// Nodes and virtual clusters as the database has them.
#[derive(Debug, Default)]
pub(crate) struct Cluster {
    /// By name.
    pub(crate) nodes: Vec<NodeRecord>,
    /// By name.
    pub(crate) virtual_clusters: Vec<VirtualClusterSettings>,
}

impl Cluster {
    pub(crate) async fn read(
        database: &database::Database,
        portal: &Portal,
    ) -> Result<Self, database::Error> {
        let nodes = database::nodes::list(database.read()).await?;
        Ok(Self {
            nodes: nodes.into_iter().map(|node| as_wanted(portal, node)).collect(),
            virtual_clusters: database::virtual_clusters::list(database.read()).await?,
        })
    }

    pub(crate) fn node(&self, name: &NodeName) -> Option<&NodeRecord> {
        self.nodes.iter().find(|node| node.settings.name == *name)
    }

    pub(crate) fn virtual_cluster(
        &self,
        name: &VirtualClusterName,
    ) -> Option<&VirtualClusterSettings> {
        self.virtual_clusters.iter().find(|settings| settings.name == *name)
    }
}

/// A node without what was seen of it while its tasks had another network: it takes nothing until
/// its engine has told their address.
fn as_wanted(portal: &Portal, mut node: NodeRecord) -> NodeRecord {
    if let Some(observed) = &mut node.observed {
        match portal.network(&node.settings) {
            NodeNetwork::Host => observed.tasks_address = None,
            NodeNetwork::Bridge => observed.reachable &= observed.tasks_address.is_some(),
        }
    }
    node
}

/// The address of a node's tasks, as they and their users reach them.
pub(crate) fn tasks_address(node: &NodeRecord) -> String {
    let own = node.observed.as_ref().and_then(|observed| observed.tasks_address);
    own.map_or_else(|| node.settings.address.clone(), |own| own.to_string())
}

/// Whether a node takes tasks.
pub(crate) fn condition(node: &NodeRecord) -> NodeCondition {
    match &node.observed {
        Some(observed) if observed.reachable && node.draining => NodeCondition::Draining,
        Some(observed) if observed.reachable => NodeCondition::Ready,
        Some(_) | None => NodeCondition::Unreachable,
    }
}

/// What a node has: as set, and what is not set as its engine said when it last answered.
pub(crate) fn capacity(node: &NodeRecord) -> Capacity {
    let seen = node.observed.as_ref().and_then(|observed| observed.capacity.clone());
    let seen = seen.unwrap_or_default();
    let NodeSettings { cpus, memory_mb, disk_gb, gpus, .. } = &node.settings;
    Capacity {
        cpus: cpus.unwrap_or(seen.cpus),
        memory_mb: memory_mb.unwrap_or(seen.memory_mb),
        disk_gb: disk_gb.unwrap_or(seen.disk_gb),
        gpus: gpus.as_ref().map_or(seen.gpus.clone(), |declared| {
            let types = declared
                .iter()
                .flat_map(|gpus| std::iter::repeat_n(&gpus.gpu_type, gpus.count as usize));
            types.zip(0..).map(|(gpu_type, index)| declared_gpu(gpu_type, index, &seen)).collect()
        }),
    }
}

/// A declared GPU; its UUID and health are the engine's, when it knows a GPU of that index.
fn declared_gpu(gpu_type: &protocol::ids::GpuType, index: u32, seen: &Capacity) -> Gpu {
    let known = seen.gpus.iter().find(|gpu| gpu.index == index);
    Gpu {
        index,
        gpu_type: gpu_type.clone(),
        uuid: known.and_then(|gpu| gpu.uuid.clone()),
        healthy: known.is_none_or(|gpu| gpu.healthy),
    }
}

/// A node as the scheduler sees it.
pub(crate) fn scheduler_node(node: &NodeRecord) -> Node {
    Node {
        name: node.settings.name.clone(),
        address: tasks_address(node),
        condition: condition(node),
        capacity: capacity(node),
        ports: node.settings.ports,
        labels: node.settings.labels.clone(),
        links: node.settings.links.clone(),
        shares_gpus: node.settings.shares_gpus,
    }
}

/// What is seen of a node's engine.
#[derive(Debug, Clone)]
pub(crate) enum Observation {
    /// It does not answer.
    Silent,
    /// It answers.
    Answers {
        /// To act through.
        engine: Arc<dyn Engine>,
        /// The moment before the last look.
        looked: u64,
        /// What the last look showed.
        containers: Arc<HashMap<TaskKey, Container>>,
        /// Rings for another look.
        look: Arc<tokio::sync::Notify>,
        /// The last time it was out of contact, from when to when.
        absence: Option<(Timestamp, Timestamp)>,
    },
}
