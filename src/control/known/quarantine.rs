//! Containers of this cluster that its database did not give: those of a life that a restored backup
//! knows nothing of, and those of a copy that serves elsewhere. Nobody here can tell whether somebody
//! needs them, so they are left alone: never stopped, never removed and never taken for a task's,
//! whatever they are called. What they have of their node is given to nobody, and an administrator is
//! shown what they are.
//!
//! Beside them those of other clusters on the same engine, which are none of ours.

use std::collections::{BTreeMap, HashSet};
use std::sync::Mutex;

use engine::{Container, ContainerStatus, Stranger};
use protocol::ids::{JobId, NodeName, TaskKey};
use protocol::placement::TaskPlacement;
use protocol::resources::Taken;

use crate::lock::lock;

pub(crate) mod labels;

use labels::Labelled;

/// A container in quarantine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) container: Container,
    /// What it says of itself.
    pub(crate) says: Labelled,
}

impl Held {
    fn runs(&self) -> bool {
        matches!(self.container.status, ContainerStatus::Running { .. })
    }

    /// Whether a task in that place would be in its way, or could not have its name.
    fn is_in_the_way(&self, place: &TaskPlacement, task: &TaskKey) -> bool {
        let Labelled { taken, ports, .. } = &self.says;
        let has = place.gpus.iter().any(|gpu| taken.gpus.contains(gpu))
            || place.ports.values().flatten().any(|port| ports.contains(port));
        self.container.key == *task || self.runs() && has
    }
}

/// What is on a node and is not to be touched.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct OnNode {
    /// By name.
    pub(crate) held: Vec<Held>,
    /// Some of other clusters.
    pub(crate) strangers: Vec<Stranger>,
}

impl OnNode {
    /// What those that run take of it.
    pub(crate) fn taken(&self) -> Taken {
        let running = self.held.iter().filter(|held| held.runs());
        running.fold(Taken::default(), |taken, held| taken.plus(&held.says.taken))
    }
}

/// What is on all nodes and is not to be touched.
#[derive(Debug, Default)]
pub(crate) struct Quarantine(Mutex<BTreeMap<NodeName, OnNode>>);

impl Quarantine {
    /// What is on a node.
    pub(crate) fn on(&self, node: &NodeName) -> OnNode {
        lock(&self.0).get(node).cloned().unwrap_or_default()
    }

    /// What is on all nodes, by name.
    pub(crate) fn all(&self) -> Vec<(NodeName, OnNode)> {
        lock(&self.0).iter().map(|(node, there)| (node.clone(), there.clone())).collect()
    }

    /// These are on a node now.
    pub(crate) fn set_held(&self, node: &NodeName, held: Vec<Held>) {
        self.change(node, |there| there.held = held);
    }

    /// These of other clusters are on a node now. Says whether that is new.
    pub(crate) fn set_strangers(&self, node: &NodeName, strangers: Vec<Stranger>) -> bool {
        let before =
            self.change(node, |there| std::mem::replace(&mut there.strangers, strangers.clone()));
        before != strangers
    }

    /// Nobody looks at the node any more.
    pub(crate) fn forget(&self, node: &NodeName) {
        lock(&self.0).remove(node);
    }

    /// The name of one that a task in that place would be in the way of.
    pub(crate) fn in_the_way(&self, place: &TaskPlacement, task: &TaskKey) -> Option<String> {
        let nodes = lock(&self.0);
        let mut held = nodes.get(&place.node)?.held.iter();
        held.find(|held| held.is_in_the_way(place, task)).map(|held| held.container.name.clone())
    }

    /// The attempts whose containers are on a node.
    pub(crate) fn attempts(&self, node: &NodeName) -> HashSet<(JobId, u32)> {
        let keys = self.keys(node).into_iter();
        keys.map(|key| (key.job, key.attempt)).collect()
    }

    /// The tasks that those on a node say they run.
    pub(crate) fn keys(&self, node: &NodeName) -> HashSet<TaskKey> {
        let nodes = lock(&self.0);
        let held = nodes.get(node).into_iter().flat_map(|there| &there.held);
        held.map(|held| held.container.key).collect()
    }

    fn change<T>(&self, node: &NodeName, change: impl FnOnce(&mut OnNode) -> T) -> T {
        let mut nodes = lock(&self.0);
        let there = nodes.entry(node.clone()).or_default();
        let changed = change(there);
        if *there == OnNode::default() {
            nodes.remove(node);
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use protocol::epoch::Epoch;
    use protocol::placement::TaskPorts;
    use protocol::time::Timestamp;

    use super::*;

    fn held(job: i64, status: ContainerStatus) -> Held {
        let key = TaskKey { job: JobId(job), attempt: 0, role: 0, index: 0, retry: 0 };
        let name = key.container_name("c");
        let epoch = Epoch::default().next(9);
        let taken = Taken { cpus: 2, memory_mb: 100, disk_gb: 0, gpus: [3].into() };
        let says = Labelled { taken, ports: vec![20_000], ..Labelled::default() };
        Held { container: Container { key, epoch, id: name.clone(), name, status }, says }
    }

    fn runs() -> ContainerStatus {
        ContainerStatus::Running { started_at: Timestamp(1) }
    }

    fn place(gpus: &[u32], port: u16) -> TaskPlacement {
        let ports = TaskPorts::from([("http".parse().unwrap(), vec![port])]);
        let (node, address) = ("a".parse().unwrap(), String::new());
        TaskPlacement { role: 0, index: 0, node, address, gpus: gpus.to_vec(), ports }
    }

    #[test]
    fn what_runs_in_quarantine_has_its_place() {
        let (quarantine, node) = (Quarantine::default(), "a".parse().unwrap());
        let task = TaskKey { job: JobId(1), attempt: 0, role: 0, index: 0, retry: 0 };
        let in_the_way = |gpus: &[u32], port| quarantine.in_the_way(&place(gpus, port), &task);
        assert_eq!(in_the_way(&[3], 20_000), None);
        quarantine.set_held(&node, vec![held(7, runs())]);
        assert_eq!(quarantine.on(&node).taken().gpus, [3].into());
        let name = Some("berth-c-7-a0-r0-t0-n0".to_owned());
        assert_eq!(in_the_way(&[2, 3], 20_001), name);
        assert_eq!(in_the_way(&[], 20_000), name);
        assert_eq!(in_the_way(&[2], 20_001), None);
        let elsewhere = TaskPlacement { node: "b".parse().unwrap(), ..place(&[3], 20_000) };
        assert_eq!(quarantine.in_the_way(&elsewhere, &task), None);
        assert_eq!(quarantine.attempts(&node), [(JobId(7), 0)].into());
    }

    #[test]
    fn what_has_ended_in_quarantine_has_its_name_alone() {
        let (quarantine, node) = (Quarantine::default(), "a".parse().unwrap());
        let created = held(7, ContainerStatus::Created);
        quarantine.set_held(&node, vec![created.clone()]);
        assert!(quarantine.on(&node).taken().is_nothing());
        let other = TaskKey { job: JobId(8), ..created.container.key };
        assert_eq!(quarantine.in_the_way(&place(&[3], 20_000), &other), None);
        assert!(quarantine.in_the_way(&place(&[], 1), &created.container.key).is_some());
        quarantine.set_held(&node, Vec::new());
        assert_eq!(quarantine.all(), []);
    }
}
