//! A window on very many nodes: filtered, ordered, grouped and cut, with what a map of it needs.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};

use protocol::amount::Amount;
use protocol::cluster::NodeCondition;
use protocol::ids::{GpuType, InvalidName, JobKey, NodeName};
use serde::{Deserialize, Serialize};

use crate::cluster::{GpuHolder, GpuView, NodeView};

/// How many holders have a colour of their own.
const NAMED: usize = 6;

/// Which nodes, in which order, which part of them. All of it is in the page's URL.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeQuery {
    /// Words of which each is part of the name, a GPU type, a label (`rack=3`), a job or its owner.
    pub text: String,
    /// Only those of a kind.
    pub only: Option<Only>,
    /// What stands together.
    pub group: Option<Group>,
    /// Whose colours are wanted.
    pub colour: Colour,
    /// Order, inside a group.
    pub order: NodeOrder,
    /// The other way round.
    pub descending: bool,
    /// How many nodes to leave out.
    pub offset: u64,
    /// How many nodes at most.
    pub limit: u64,
}

/// A kind of nodes that one looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Only {
    /// Takes tasks and has a whole GPU that is free.
    Free,
    /// An administrator wants it empty.
    Draining,
    /// Does not answer.
    Unreachable,
    /// Has a GPU that is broken.
    Faulty,
}

impl Only {
    /// All of them.
    pub const ALL: [Only; 4] = [Only::Free, Only::Draining, Only::Unreachable, Only::Faulty];

    fn has(self, node: &NodeView) -> bool {
        match self {
            Only::Free => node.condition == NodeCondition::Ready && free_gpus(node) > 0,
            Only::Draining => node.condition == NodeCondition::Draining,
            Only::Unreachable => node.condition == NodeCondition::Unreachable,
            Only::Faulty => node.gpus.iter().any(|gpu| !gpu.gpu.healthy),
        }
    }
}

/// What nodes of a group have in common. On the wire it is a word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Group {
    /// Their GPU types.
    Type,
    /// Whether they take tasks.
    Condition,
    /// The value of a label.
    Label(String),
}

impl From<String> for Group {
    fn from(word: String) -> Self {
        match word.as_str() {
            "type" => Group::Type,
            "condition" => Group::Condition,
            label => Group::Label(label.strip_prefix("label:").unwrap_or(label).to_owned()),
        }
    }
}

impl From<Group> for String {
    fn from(group: Group) -> String {
        match group {
            Group::Type => "type".to_owned(),
            Group::Condition => "condition".to_owned(),
            Group::Label(key) => format!("label:{key}"),
        }
    }
}

/// What a GPU's colour tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Colour {
    /// How much of it is given away.
    #[default]
    Held,
    /// Which job holds it.
    Job,
    /// Whose job holds it.
    User,
}

/// What nodes can be ordered by; those that are equal in it follow their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeOrder {
    /// Name.
    #[default]
    Name,
    /// Whether it takes tasks.
    Condition,
    /// Whole free GPUs.
    Free,
    /// Free CPU cores.
    Cpus,
    /// Free memory.
    Memory,
    /// Tasks on it.
    Tasks,
}

/// A part of the nodes, and what is true of all of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeMap {
    /// The part that was asked for.
    pub nodes: Vec<MapNode>,
    /// How many match.
    pub total: u64,
    /// How many there are.
    pub all: u64,
    /// How many match the words, of each kind.
    pub counts: BTreeMap<Only, u64>,
    /// GPUs of those that match, and how much of them is given away.
    pub gpus: u64,
    /// See there.
    pub used: Amount,
    /// Who holds most of what matches, with how much; empty where the colours tell something else.
    pub holders: Vec<(String, Amount)>,
    /// The labels that nodes have.
    pub labels: BTreeSet<String>,
}

/// What a map or a table shows of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapNode {
    /// Name.
    pub name: NodeName,
    /// Its group's name, where there are groups; empty: it has no such label.
    pub group: Option<String>,
    /// Whether it takes tasks.
    pub condition: NodeCondition,
    /// Whether it is simulated.
    pub simulated: bool,
    /// Its GPUs.
    pub gpus: Vec<MapGpu>,
    /// CPU cores given away, and all.
    pub cpus: (u64, u64),
    /// Memory in MiB given away, and all.
    pub memory_mb: (u64, u64),
    /// How many tasks are on it.
    pub tasks: u64,
}

/// A GPU on a map.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "WireGpu", into = "WireGpu")]
pub struct MapGpu {
    /// Its index on the node.
    pub index: u32,
    /// Its type.
    pub gpu_type: GpuType,
    /// Whether it works.
    pub healthy: bool,
    /// Who holds how much of it.
    pub holders: Vec<(JobKey, Amount)>,
}

/// A GPU on the wire: its index, type, whether it works, and what jobs (`user~name`) hold of it. So
/// many of them come with a page that its parts have places instead of names.
type WireGpu = (u32, GpuType, bool, Vec<(String, Amount)>);

impl From<MapGpu> for WireGpu {
    fn from(gpu: MapGpu) -> Self {
        let holders = gpu.holders.into_iter().map(|(job, part)| (job.to_string(), part));
        (gpu.index, gpu.gpu_type, gpu.healthy, holders.collect())
    }
}

impl TryFrom<WireGpu> for MapGpu {
    type Error = InvalidName;

    fn try_from((index, gpu_type, healthy, holders): WireGpu) -> Result<Self, Self::Error> {
        let holder = |(job, part): (String, Amount)| job.parse::<JobKey>().map(|job| (job, part));
        let holders = holders.into_iter().map(holder).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { index, gpu_type, healthy, holders })
    }
}

impl MapGpu {
    /// How much of it is given away.
    #[must_use]
    pub fn used(&self) -> Amount {
        self.holders.iter().map(|(_, part)| *part).sum()
    }

    /// What its colour stands for, of each holder.
    pub fn names(&self, colour: Colour) -> impl Iterator<Item = (String, Amount)> {
        self.holders.iter().filter_map(move |(job, part)| match colour {
            Colour::Held => None,
            Colour::Job => Some((job.to_string(), *part)),
            Colour::User => Some((job.user.to_string(), *part)),
        })
    }
}

impl From<&GpuView> for MapGpu {
    fn from(view: &GpuView) -> Self {
        let holder = |GpuHolder { job, part, task: _ }: &GpuHolder| (job.clone(), *part);
        Self {
            index: view.gpu.index,
            gpu_type: view.gpu.gpu_type.clone(),
            healthy: view.gpu.healthy,
            holders: view.holders.iter().map(holder).collect(),
        }
    }
}

/// The part of the nodes that is asked for.
#[must_use]
pub fn select(nodes: Vec<NodeView>, query: &NodeQuery) -> NodeMap {
    let all = nodes.len() as u64;
    let labels = nodes.iter().flat_map(|node| node.labels.keys().cloned()).collect();
    let words: Vec<String> = query.text.split_whitespace().map(str::to_lowercase).collect();
    let matches = |node: &NodeView| words.iter().all(|word| says(node, word));
    let mut found: Vec<NodeView> = nodes.into_iter().filter(matches).collect();
    let count = |only: Only| (only, found.iter().filter(|node| only.has(node)).count() as u64);
    let counts = Only::ALL.into_iter().map(count).collect();
    found.retain(|node| query.only.is_none_or(|only| only.has(node)));
    sort(&mut found, query);
    let used = found.iter().flat_map(|node| &node.gpus).map(|gpu| gpu.used).sum();
    let shown: Vec<MapNode> = found.iter().map(|node| on_map(node, query)).collect();
    NodeMap {
        total: shown.len() as u64,
        all,
        counts,
        gpus: shown.iter().map(|node| node.gpus.len() as u64).sum(),
        used,
        holders: holders(shown.iter().flat_map(|node| &node.gpus), query.colour),
        labels,
        nodes: cut(shown, query),
    }
}

/// Who holds most, the first with a colour of their own.
pub fn holders<'a>(
    gpus: impl Iterator<Item = &'a MapGpu>,
    colour: Colour,
) -> Vec<(String, Amount)> {
    let mut held: BTreeMap<String, Amount> = BTreeMap::new();
    for (name, part) in gpus.flat_map(|gpu| gpu.names(colour)) {
        *held.entry(name).or_default() += part;
    }
    let mut held: Vec<_> = held.into_iter().collect();
    held.sort_by_key(|(_, amount)| Reverse(*amount));
    held.truncate(NAMED);
    held
}

fn cut(nodes: Vec<MapNode>, query: &NodeQuery) -> Vec<MapNode> {
    let number = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    nodes.into_iter().skip(number(query.offset)).take(number(query.limit)).collect()
}

/// Whether a word, in lower case, is in what one may look for of a node.
fn says(node: &NodeView, word: &str) -> bool {
    let has = |text: &str| text.to_lowercase().contains(word);
    has(node.name.as_str())
        || node.gpus.iter().any(|gpu| has(gpu.gpu.gpu_type.as_str()))
        || node.labels.iter().any(|(key, value)| has(&format!("{key}={value}")))
        || node.tasks.iter().any(|task| has(&task.job.to_string()))
}

fn sort(nodes: &mut [NodeView], query: &NodeQuery) {
    let number = |node: &NodeView| match query.order {
        NodeOrder::Name => 0,
        NodeOrder::Condition => condition_rank(node.condition),
        NodeOrder::Free => free_gpus(node),
        NodeOrder::Cpus => u64::from(node.capacity.cpus).saturating_sub(node.used.cpus),
        NodeOrder::Memory => node.capacity.memory_mb.saturating_sub(node.used.memory_mb),
        NodeOrder::Tasks => node.tasks.len() as u64,
    };
    nodes.sort_by(|a, b| {
        let by = number(a).cmp(&number(b)).then_with(|| a.name.cmp(&b.name));
        let by = if query.descending { by.reverse() } else { by };
        let place = |group: &Group| rank(a, group).cmp(&rank(b, group));
        query.group.as_ref().map_or(Ordering::Equal, place).then(by)
    });
}

fn condition_rank(condition: NodeCondition) -> u64 {
    match condition {
        NodeCondition::Ready => 0,
        NodeCondition::Draining => 1,
        NodeCondition::Unreachable => 2,
    }
}

/// Where a node's group stands; nodes without one come last.
fn rank(node: &NodeView, group: &Group) -> (bool, u64, String) {
    let name = group_of(node, group);
    let place = if *group == Group::Condition { condition_rank(node.condition) } else { 0 };
    (name.is_empty(), place, name)
}

fn group_of(node: &NodeView, group: &Group) -> String {
    match group {
        Group::Type => {
            let kinds: BTreeSet<_> =
                node.gpus.iter().map(|gpu| gpu.gpu.gpu_type.as_str()).collect();
            kinds.into_iter().collect::<Vec<_>>().join(", ")
        }
        Group::Condition => match node.condition {
            NodeCondition::Ready => "ready".to_owned(),
            NodeCondition::Draining => "draining".to_owned(),
            NodeCondition::Unreachable => "unreachable".to_owned(),
        },
        Group::Label(key) => node.labels.get(key).cloned().unwrap_or_default(),
    }
}

fn free_gpus(node: &NodeView) -> u64 {
    let free = |gpu: &&GpuView| gpu.gpu.healthy && gpu.used == Amount::default();
    node.gpus.iter().filter(free).count() as u64
}

fn on_map(node: &NodeView, query: &NodeQuery) -> MapNode {
    MapNode {
        name: node.name.clone(),
        group: query.group.as_ref().map(|group| group_of(node, group)),
        condition: node.condition,
        simulated: node.simulated,
        gpus: node.gpus.iter().map(MapGpu::from).collect(),
        cpus: (node.used.cpus, u64::from(node.capacity.cpus)),
        memory_mb: (node.used.memory_mb, node.capacity.memory_mb),
        tasks: node.tasks.len() as u64,
    }
}

#[cfg(test)]
mod tests {
    use protocol::resources::{Capacity, Gpu, PortRange};

    use super::*;
    use crate::cluster::{NodeTask, Usage};

    /// A node of four GPUs of which the first are held, each by a job.
    fn node(name: &str, kind: &str, held: &[&str]) -> NodeView {
        let job = |key: &str| key.parse::<JobKey>().unwrap();
        let gpu = |index: u32| {
            let key = held.get(index as usize).map(|key| job(key));
            let holder = |job| GpuHolder { job, task: "main-0".into(), part: Amount::whole(1) };
            GpuView {
                gpu: Gpu { index, gpu_type: kind.parse().unwrap(), uuid: None, healthy: true },
                job: key.clone(),
                used: Amount::whole(u64::from(key.is_some())),
                holders: key.into_iter().map(holder).collect(),
            }
        };
        let task = |key: &&str| NodeTask {
            job: job(key),
            task: "main-0".into(),
            gpus: vec![],
            gpu_part: None,
        };
        NodeView {
            name: name.parse().unwrap(),
            address: String::new(),
            tasks_address: None,
            at_portal: false,
            endpoint: String::new(),
            simulated: true,
            condition: NodeCondition::Ready,
            emptied: false,
            problem: None,
            last_seen: None,
            engine: None,
            capacity: Capacity { cpus: 8, memory_mb: 1024, disk_gb: 1, gpus: Vec::new() },
            used: Usage::default(),
            gpus: (0..4).map(gpu).collect(),
            shares_gpus: false,
            ports: PortRange::default(),
            labels: BTreeMap::from([("rack".to_owned(), format!("r{}", name.len() % 2))]),
            tasks: held.iter().map(task).collect(),
        }
    }

    fn nodes() -> Vec<NodeView> {
        let mut nodes = vec![
            node("a1", "A100", &["ada~x", "ada~x", "bo~y", "bo~z"]),
            node("a22", "A100", &["ada~x"]),
            node("v1", "V100", &["bo~y", "bo~y", "bo~y"]),
            node("v22", "V100", &[]),
        ];
        nodes[3].condition = NodeCondition::Draining;
        nodes
    }

    fn shown(query: NodeQuery) -> Vec<String> {
        let query = NodeQuery { limit: 100, ..query };
        select(nodes(), &query).nodes.into_iter().map(|node| node.name.to_string()).collect()
    }

    #[test]
    fn words_look_at_names_types_labels_jobs_and_owners() {
        let by = |text: &str| shown(NodeQuery { text: text.into(), ..NodeQuery::default() });
        assert_eq!(by("v10 V2"), ["v22"]);
        assert_eq!(by("rack=r1"), ["a22", "v22"]);
        assert_eq!(by("bo~y"), ["a1", "v1"]);
        assert_eq!(by("ada"), ["a1", "a22"]);
        assert_eq!(by("nothing"), Vec::<String>::new());
    }

    #[test]
    fn kinds_groups_and_orders() {
        let of = |only| shown(NodeQuery { only: Some(only), ..NodeQuery::default() });
        assert_eq!(of(Only::Free), ["a22", "v1"]);
        assert_eq!(of(Only::Draining), ["v22"]);
        let free = NodeQuery { order: NodeOrder::Free, descending: true, ..NodeQuery::default() };
        assert_eq!(shown(free.clone()), ["v22", "a22", "v1", "a1"]);
        let grouped = NodeQuery { group: Some(Group::Type), ..free };
        assert_eq!(shown(grouped), ["a22", "a1", "v22", "v1"]);
    }

    #[test]
    fn a_window_knows_of_all_that_matches() {
        let query = NodeQuery { limit: 1, offset: 1, colour: Colour::User, ..NodeQuery::default() };
        let map = select(nodes(), &query);
        assert_eq!((map.nodes.len(), map.total, map.all, map.gpus), (1, 4, 4, 16));
        assert_eq!(map.used, Amount::whole(8));
        let expected = [("bo".to_owned(), Amount::whole(5)), ("ada".to_owned(), Amount::whole(3))];
        assert_eq!(map.holders, expected);
        assert_eq!(map.counts[&Only::Free], 2);
        assert_eq!(map.labels, BTreeSet::from(["rack".to_owned()]));
    }

    #[test]
    fn groups_survive_the_wire() {
        for group in [Group::Type, Group::Condition, Group::Label("rack".into())] {
            assert_eq!(Group::from(String::from(group.clone())), group);
        }
    }

    #[test]
    fn a_gpu_is_short_on_the_wire_and_survives_it() {
        let gpu = MapGpu::from(&node("a1", "A100", &["ada~x"]).gpus[0]);
        let text = serde_json::to_string(&gpu).unwrap();
        assert_eq!(text, r#"[0,"A100",true,[["ada~x",1]]]"#);
        assert_eq!(serde_json::from_str::<MapGpu>(&text).unwrap(), gpu);
        assert!(serde_json::from_str::<MapGpu>(r#"[0,"A100",true,[["nobody",1]]]"#).is_err());
    }
}
