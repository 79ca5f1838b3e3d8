//! Nodes and virtual clusters in memory: as configured, and as the engines show them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use database::nodes::{NodeObserved, NodeRecord};
use engine::{ContainerStatus, Engine};
use protocol::cluster::{NodeCondition, NodeNetwork, NodeSettings, VirtualClusterSettings};
use protocol::ids::{NodeName, TaskKey, VirtualClusterName};
use scheduler::Admission;
use scheduler::model::{Node, VirtualCluster};

use crate::known::capacity::capacity;
use crate::known::containers::Containers;
use crate::known::heartbeats::says_the_same;
use crate::known::members::{self, Members};
use crate::known::portal::Portal;

/// Nodes and virtual clusters as the database has them. Each change makes another one of it, which
/// shares all that is as it was: what differs is found without a look into what does not.
#[derive(Debug, Default)]
pub(crate) struct Cluster {
    /// By name.
    pub(crate) nodes: Vec<Arc<NodeRecord>>,
    /// By name.
    pub(crate) virtual_clusters: Vec<VirtualClusterSettings>,
    /// Those of them that take no new jobs.
    pub(crate) stopped: BTreeSet<VirtualClusterName>,
    /// Who is in which group, where virtual clusters limit groups or are shared by them.
    pub(crate) members: Arc<Members>,
    /// Where each node is among them, once somebody has asked.
    places: OnceLock<Arc<HashMap<NodeName, usize>>>,
    /// What tells whether a job could ever start here, once somebody has asked.
    admission: OnceLock<Arc<Admission>>,
}

impl Cluster {
    /// Of nodes and virtual clusters by name.
    pub(crate) fn new(
        nodes: impl IntoIterator<Item = NodeRecord>,
        virtual_clusters: Vec<VirtualClusterSettings>,
    ) -> Self {
        let nodes = nodes.into_iter().map(Arc::new).collect();
        Self { nodes, virtual_clusters, ..Self::default() }
    }

    pub(crate) async fn read(
        database: &database::Database,
        portal: &Portal,
    ) -> Result<Self, database::Error> {
        let nodes = database::nodes::list(database.read()).await?;
        let nodes = nodes.into_iter().map(|node| as_wanted(portal, node));
        let virtual_clusters = database::virtual_clusters::list(database.read()).await?;
        let stopped = database::virtual_clusters::stopped(database.read()).await?;
        let members = members::read(database.read(), &virtual_clusters).await?;
        let members = Arc::new(members);
        Ok(Self { stopped, members, ..Self::new(nodes, virtual_clusters) })
    }

    /// What was read anew, as another one of this.
    pub(crate) fn renewed(&self, read: Self) -> Self {
        let known = |node: Arc<NodeRecord>| match self.place(&node.settings.name) {
            Some(at) if is_same(&self.nodes[at], &node) => Arc::clone(&self.nodes[at]),
            Some(_) | None => node,
        };
        let nodes = read.nodes.into_iter().map(known).collect();
        let (stopped, members) = (read.stopped, read.members);
        Self { stopped, members, ..self.another(nodes, read.virtual_clusters) }
    }

    /// With a node as it is now; without it, if it is not there any more.
    pub(crate) fn with_node(&self, name: &NodeName, node: Option<NodeRecord>) -> Self {
        let mut nodes = self.nodes.clone();
        let place = nodes.binary_search_by(|node| node.settings.name.cmp(name));
        match (place, node.map(Arc::new)) {
            (Ok(at), Some(node)) => nodes[at] = node,
            (Ok(at), None) => drop(nodes.remove(at)),
            (Err(at), Some(node)) => nodes.insert(at, node),
            (Err(_), None) => {}
        }
        self.another(nodes, self.virtual_clusters.clone())
    }

    /// With what was seen of nodes.
    pub(crate) fn with_seen(&self, seen: &[(NodeName, Arc<NodeObserved>)]) -> Self {
        let mut nodes = self.nodes.clone();
        for (name, observed) in seen {
            if let Some(at) = self.place(name) {
                Arc::make_mut(&mut nodes[at]).observed = Some(Arc::clone(observed));
            }
        }
        self.another(nodes, self.virtual_clusters.clone())
    }

    /// With these virtual clusters, of which some take no new jobs.
    pub(crate) fn with_virtual_clusters(
        &self,
        clusters: Vec<VirtualClusterSettings>,
        stopped: BTreeSet<VirtualClusterName>,
    ) -> Self {
        Self { stopped, ..self.another(self.nodes.clone(), clusters) }
    }

    /// With these members of groups.
    pub(crate) fn with_members(self, members: Members) -> Self {
        Self { members: Arc::new(members), ..self }
    }

    /// The virtual clusters as the scheduler is told them.
    pub(crate) fn scheduler_clusters(&self) -> Vec<VirtualCluster> {
        let clusters = self.virtual_clusters.iter();
        clusters.map(|settings| members::scheduler_cluster(settings, &self.members)).collect()
    }

    /// What could ever start here still can where nodes only come and go.
    fn another(
        &self,
        nodes: Vec<Arc<NodeRecord>>,
        virtual_clusters: Vec<VirtualClusterSettings>,
    ) -> Self {
        let of_all = |is: fn(&NodeRecord, &NodeRecord) -> bool| {
            let mut pairs = self.nodes.iter().zip(&nodes);
            self.nodes.len() == nodes.len()
                && pairs.all(|(one, other)| Arc::ptr_eq(one, other) || is(one, other))
        };
        let same_names = of_all(|one, other| one.settings.name == other.settings.name);
        let places = if same_names { self.places.clone() } else { OnceLock::new() };
        let alike = of_all(|one, other| whole_node(one).is_like(&whole_node(other)))
            && self.virtual_clusters == virtual_clusters;
        let admission = if alike { self.admission.clone() } else { OnceLock::new() };
        let (stopped, members) = (self.stopped.clone(), Arc::clone(&self.members));
        Self { nodes, virtual_clusters, stopped, members, places, admission }
    }

    /// What tells whether a job could ever start here, if somebody has asked already: else it takes a
    /// while to make where there are thousands of nodes.
    pub(crate) fn known_admission(&self) -> Option<Arc<Admission>> {
        self.admission.get().cloned()
    }

    /// The same, made if nobody has.
    pub(crate) fn admission(&self) -> Arc<Admission> {
        let make = || {
            let nodes: Vec<Node> = self.records().map(whole_node).collect();
            let clusters: Vec<VirtualCluster> =
                self.virtual_clusters.iter().map(VirtualCluster::from).collect();
            Arc::new(Admission::new(&nodes, &clusters))
        };
        Arc::clone(self.admission.get_or_init(make))
    }

    /// All nodes, by name.
    pub(crate) fn records(&self) -> impl Iterator<Item = &NodeRecord> {
        self.nodes.iter().map(|node| &**node)
    }

    pub(crate) fn node(&self, name: &NodeName) -> Option<&NodeRecord> {
        self.place(name).map(|at| &*self.nodes[at])
    }

    /// Where a node is. Each is asked for some times a second: to compare names by the numbers in them takes longer.
    fn place(&self, name: &NodeName) -> Option<usize> {
        let all = || {
            let names = self.nodes.iter().map(|node| node.settings.name.clone());
            Arc::new(names.zip(0..).collect())
        };
        self.places.get_or_init(all).get(name).copied()
    }

    pub(crate) fn virtual_cluster(
        &self,
        name: &VirtualClusterName,
    ) -> Option<&VirtualClusterSettings> {
        self.virtual_clusters.iter().find(|settings| settings.name == *name)
    }
}

/// Whether nothing is new of a node but when it answered last.
fn is_same(one: &NodeRecord, other: &NodeRecord) -> bool {
    let NodeRecord { settings, from_file, draining, emptied, closed, health, observed } = one;
    let as_seen = match (observed, &other.observed) {
        (Some(one), Some(other)) => says_the_same(one, other),
        (one, other) => one == other,
    };
    as_seen
        && (from_file, draining, emptied) == (&other.from_file, &other.draining, &other.emptied)
        && (closed, health) == (&other.closed, &other.health)
        && *settings == other.settings
}

/// A node with what holds of what was seen of it.
pub(crate) fn as_wanted(portal: &Portal, node: NodeRecord) -> NodeRecord {
    let seen = |observed: Arc<NodeObserved>| {
        Arc::new(wanted(portal.network(&node.settings), Arc::unwrap_or_clone(observed)))
    };
    NodeRecord { observed: node.observed.map(seen), ..node }
}

/// What was seen of a node, without what was seen while its tasks had another network than this: it
/// takes nothing until its engine has told their address.
pub(crate) fn wanted(network: NodeNetwork, observed: NodeObserved) -> NodeObserved {
    let NodeObserved { reachable, tasks_address, .. } = observed;
    match network {
        NodeNetwork::Host => NodeObserved { tasks_address: None, ..observed },
        NodeNetwork::Bridge => {
            NodeObserved { reachable: reachable && tasks_address.is_some(), ..observed }
        }
    }
}

/// The address of a node's tasks, as they and their users reach them.
pub(crate) fn tasks_address(node: &NodeRecord) -> String {
    let own = node.observed.as_ref().and_then(|observed| observed.tasks_address);
    own.map_or_else(|| node.settings.address.clone(), |own| own.to_string())
}

/// Whether a node takes tasks.
pub(crate) fn condition(node: &NodeRecord) -> NodeCondition {
    match &node.observed {
        Some(observed) if observed.reachable && takes_nothing(node) => NodeCondition::Draining,
        Some(observed) if observed.reachable => NodeCondition::Ready,
        Some(_) | None => NodeCondition::Unreachable,
    }
}

/// Whether an administrator wants it empty, or it was closed by itself, or has failed, or answers and is
/// of no use all the same.
fn takes_nothing(node: &NodeRecord) -> bool {
    let is_useless = node.observed.as_ref().is_some_and(|observed| observed.problem.is_some());
    node.draining || node.closed.is_some() || node.health.has_failed() || is_useless
}

/// Which of its GPUs are linked closely: as set, else as its driver says.
fn links(node: &NodeRecord) -> Vec<Vec<u32>> {
    let found = node.observed.as_ref().and_then(|observed| observed.gpus.as_ref());
    match (node.settings.links.as_slice(), found) {
        ([], Some(found)) => found.links.clone(),
        (set, _) => set.to_vec(),
    }
}

/// A node as the scheduler sees it: without what is taken of it by what is no job's.
pub(crate) fn scheduler_node(node: &NodeRecord) -> Node {
    let whole = whole_node(node);
    match &node.observed {
        Some(observed) => Node { capacity: whole.capacity.without(&observed.taken), ..whole },
        None => whole,
    }
}

/// The same with all that it has: what could ever start there can, whatever is there for a while.
fn whole_node(node: &NodeRecord) -> Node {
    Node {
        name: node.settings.name.clone(),
        address: tasks_address(node),
        condition: condition(node),
        capacity: capacity(node),
        ports: node.settings.ports,
        labels: node.settings.labels.clone(),
        links: links(node),
        shares_gpus: node.settings.shares_gpus,
        doubtful: node.health.is_doubtful(),
        known: is_known(node),
    }
}

/// Whether what a node has is known: its engine has answered once, or all of it is set.
fn is_known(node: &NodeRecord) -> bool {
    let NodeSettings { cpus, memory_mb, gpus, .. } = &node.settings;
    let set = cpus.is_some() && memory_mb.is_some() && gpus.is_some();
    set || node.observed.as_ref().is_some_and(|observed| observed.capacity.is_some())
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
        containers: Arc<Containers>,
        /// Wakes its watcher for another look.
        look: Arc<tokio::sync::Notify>,
        /// Wakes its watcher to look for its GPUs.
        probe: Arc<tokio::sync::Notify>,
        /// Since it was met, for the first time or again.
        contact: Arc<Contact>,
    },
}

impl Observation {
    /// The containers, if it is of a look since the engine answers for that long.
    pub(crate) fn containers_since(&self, since: &Arc<Contact>) -> Option<Arc<Containers>> {
        match self {
            Self::Answers { containers, contact, .. } => {
                Arc::ptr_eq(contact, since).then(|| Arc::clone(containers))
            }
            Self::Silent => None,
        }
    }
}

/// A time in which a node's engine answered whenever it was asked.
#[derive(Debug, Default)]
pub(crate) struct Contact {
    /// Tasks whose containers had ended at the first look: nobody saw how.
    ended_before: HashSet<TaskKey>,
}

impl Contact {
    /// Of which this is seen at the first look.
    pub(crate) fn new(containers: &Containers) -> Self {
        let ended = containers.iter().filter(|container| match container.status {
            ContainerStatus::Exited { .. } => true,
            ContainerStatus::Created | ContainerStatus::Running { .. } => false,
        });
        Self { ended_before: ended.map(|container| container.key).collect() }
    }

    /// Whether a task's container had ended before.
    pub(crate) fn ended_before(&self, task: &TaskKey) -> bool {
        self.ended_before.contains(task)
    }
}

#[cfg(test)]
mod tests {
    use protocol::cluster::GpuCount;
    use protocol::gpus::GpuReport;
    use protocol::resources::{Capacity, Gpu};

    use super::*;
    use crate::known::capacity::{gpu_indices, said_capacity};

    fn node(name: &str) -> NodeRecord {
        let settings = serde_json::json!({
            "name": name, "address": "10.0.0.1", "endpoint": "sim://", "cpus": 8, "memory_mb": 1000,
        });
        let settings = serde_json::from_value(settings).unwrap();
        NodeRecord {
            settings,
            from_file: false,
            draining: false,
            emptied: false,
            closed: None,
            health: protocol::health::Health::default(),
            observed: None,
        }
    }

    #[test]
    fn what_is_no_jobs_is_left_out_for_now_and_not_for_ever() {
        let mut taken = node("n9");
        taken.observed = Some(Arc::new(NodeObserved {
            reachable: true,
            problem: None,
            last_seen: None,
            engine: None,
            engine_id: None,
            capacity: None,
            tasks_address: None,
            gpus: None,
            taken: protocol::resources::Taken { cpus: 3, ..Default::default() },
        }));
        assert_eq!(scheduler_node(&taken).capacity.cpus, 5);
        let before = twelve();
        let admission = before.admission();
        let after = before.with_node(&"n9".parse().unwrap(), Some(taken));
        assert!(Arc::ptr_eq(&after.known_admission().unwrap(), &admission));
    }

    #[test]
    fn what_has_failed_takes_nothing_and_what_is_doubtful_is_the_last_choice() {
        use protocol::health::GpuSigns;
        use protocol::time::Timestamp;

        let declared = GpuCount { gpu_type: "A100".parse().unwrap(), count: 2 };
        let mut sick = node("n1");
        sick.settings.gpus = Some(vec![declared]);
        let hot = GpuSigns { index: 0, degrees: Some(95), ..GpuSigns::default() };
        let broken = GpuSigns { index: 1, xid: Some(79), ..GpuSigns::default() };
        sick.health = sick.health.measured(&[hot, broken], Timestamp(1));
        let seen = scheduler_node(&sick);
        let healthy: Vec<bool> = seen.capacity.gpus.iter().map(|gpu| gpu.healthy).collect();
        assert_eq!((healthy, seen.doubtful), (vec![true, false], true));
        assert!(said_capacity(&sick).gpus.iter().all(|gpu| gpu.healthy));
    }

    fn twelve() -> Cluster {
        let default = VirtualClusterSettings::new(VirtualClusterName::default());
        Cluster::new((1..=12).map(|number| node(&format!("n{number}"))), vec![default])
    }

    /// The nodes that are not shared with the cluster before.
    fn different(before: &Cluster, after: &Cluster) -> Vec<String> {
        let shared =
            |node: &&Arc<NodeRecord>| before.nodes.iter().any(|one| Arc::ptr_eq(one, node));
        let others = after.nodes.iter().filter(|node| !shared(node));
        others.map(|node| node.settings.name.to_string()).collect()
    }

    #[test]
    fn nodes_are_found_in_the_order_in_which_people_count() {
        let cluster = twelve();
        for node in cluster.records() {
            assert_eq!(cluster.node(&node.settings.name), Some(node));
        }
        assert_eq!(cluster.node(&"n13".parse().unwrap()), None);
    }

    #[test]
    fn what_is_set_by_hand_holds_and_the_rest_is_as_it_was_found() {
        let gpu = |index: u32| Gpu {
            index,
            gpu_type: "A100".parse().unwrap(),
            uuid: Some(format!("GPU-{index}")),
            healthy: index != 1,
        };
        let gpus: Vec<Gpu> = (0..4).map(gpu).collect();
        let report = GpuReport { links: vec![vec![0, 1], vec![2, 3]], ..GpuReport::default() };
        let observed = NodeObserved {
            reachable: true,
            problem: None,
            last_seen: None,
            engine: None,
            engine_id: None,
            capacity: Some(Capacity { gpus: gpus.clone(), ..Capacity::default() }),
            tasks_address: None,
            gpus: Some(report.clone()),
            taken: protocol::resources::Taken::default(),
        };
        let mut node = NodeRecord { observed: Some(Arc::new(observed)), ..node("n1") };
        let seen = scheduler_node(&node);
        assert_eq!((seen.capacity.gpus, seen.links), (gpus, report.links));
        assert_eq!(gpu_indices(&node), [0, 1, 2, 3]);
        let declared = GpuCount { gpu_type: "Ours".parse().unwrap(), count: 2 };
        node.settings.gpus = Some(vec![declared]);
        node.settings.links = vec![vec![1, 0]];
        let set = scheduler_node(&node);
        let each: Vec<_> = set.capacity.gpus.iter().map(|gpu| (gpu.index, gpu.healthy)).collect();
        assert_eq!((each, set.links), (vec![(0, true), (1, false)], vec![vec![1, 0]]));
        assert!(set.capacity.gpus.iter().all(|gpu| gpu.gpu_type.as_str() == "Ours"));
        assert_eq!(set.capacity.gpus[0].uuid.as_deref(), Some("GPU-0"));
        assert_eq!(gpu_indices(&node), [0, 1]);
    }

    #[test]
    fn what_is_as_it_was_is_shared() {
        let before = twelve();
        let name: NodeName = "n9".parse().unwrap();
        assert_eq!(different(&before, &before.renewed(twelve())), Vec::<String>::new());
        let drained = NodeRecord { draining: true, ..node("n9") };
        let after = before.with_node(&name, Some(drained.clone()));
        assert_eq!(different(&before, &after), ["n9"]);
        assert_eq!(different(&before, &before.renewed(after)), ["n9"]);
        let without = before.with_node(&name, None);
        assert_eq!((without.nodes.len(), without.node(&name)), (11, None));
        let back = without.with_node(&name, Some(drained.clone()));
        assert_eq!(different(&before, &back), ["n9"]);
        assert_eq!(back.nodes.iter().position(|node| **node == drained), Some(8));
    }

    #[test]
    fn what_could_ever_start_is_worked_out_again_where_that_may_differ() {
        let before = twelve();
        assert!(before.known_admission().is_none());
        let admission = before.admission();
        let same = |after: &Cluster| {
            after.known_admission().is_some_and(|known| Arc::ptr_eq(&known, &admission))
        };
        let name: NodeName = "n9".parse().unwrap();
        let drained = NodeRecord { draining: true, ..node("n9") };
        assert!(same(&before.with_node(&name, Some(drained))));
        assert!(same(&before.renewed(twelve())));
        let mut larger = node("n9");
        larger.settings.cpus = Some(9);
        assert!(!same(&before.with_node(&name, Some(larger))));
        assert!(!same(&before.with_node(&name, None)));
        assert!(!same(&before.with_virtual_clusters(Vec::new(), BTreeSet::new())));
        let known = before.virtual_clusters.clone();
        let stopped = BTreeSet::from([known[0].name.clone()]);
        let stopped = before.with_virtual_clusters(known, stopped);
        assert!(same(&stopped), "who is stopped is no matter of what could ever start");
        assert_eq!(stopped.with_node(&name, None).stopped.len(), 1);
        assert!(stopped.renewed(twelve()).stopped.is_empty(), "what was read is so");
    }
}
