//! A window on very many nodes: what is asked for, and what a map or a table of it needs.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use protocol::amount::Amount;
use protocol::cluster::NodeCondition;
use protocol::ids::{GpuType, InvalidName, JobKey, NodeName};
use serde::{Deserialize, Serialize};

use crate::cluster::{GpuHolder, GpuView};
use crate::metrics::{GpuNow, Lately};

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
    /// As what they are shown.
    pub face: Face,
    /// Whose colours are wanted.
    pub colour: Colour,
    /// Order, inside a group; on a map after those in trouble.
    pub order: NodeOrder,
    /// The other way round.
    pub descending: bool,
    /// How many nodes to leave out.
    pub offset: u64,
    /// How many nodes at most.
    pub limit: u64,
}

/// As what nodes are shown, which says what is needed of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Face {
    /// A cell a GPU.
    #[default]
    Map,
    /// A row a node.
    Table,
    /// A row a node with what is needed to change it. Words are looked for in endpoints as well.
    Administration,
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
    /// Has a GPU that is held and does nothing.
    Idle,
}

impl Only {
    /// All of them.
    pub const ALL: [Only; 5] =
        [Only::Free, Only::Draining, Only::Unreachable, Only::Faulty, Only::Idle];
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

/// What a group is called.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupName {
    /// Of nodes in this condition.
    Condition(NodeCondition),
    /// Of nodes with these GPU types, or with this value of a label.
    Named(String),
    /// Of nodes without GPUs, or without the label.
    Nameless,
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
    /// How busy it is.
    Load,
    /// How full its memory is.
    Memory,
    /// How hot it is.
    Temperature,
}

impl Colour {
    /// Whether it tells what is measured, which changes all the time.
    #[must_use]
    pub fn is_measured(self) -> bool {
        match self {
            Colour::Load | Colour::Memory | Colour::Temperature => true,
            Colour::Held | Colour::Job | Colour::User => false,
        }
    }

    /// What it stands for, of a job that holds something; `None`: it tells something else.
    #[must_use]
    pub fn of_holder(self, job: &JobKey) -> Option<String> {
        match self {
            Colour::Held | Colour::Load | Colour::Memory | Colour::Temperature => None,
            Colour::Job => Some(job.to_string()),
            Colour::User => Some(job.user.to_string()),
        }
    }
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
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NodeMap {
    /// The part that was asked for.
    pub shown: Shown,
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

/// Nodes with what their face needs of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    /// On a map.
    Map(Vec<MapNode>),
    /// In a table.
    Table(Vec<NodeRow>),
    /// For administrators.
    Administration(Vec<AdminRow>),
}

impl Default for Shown {
    fn default() -> Self {
        Self::Map(Vec::new())
    }
}

/// What a map shows of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapNode {
    /// Name.
    pub name: NodeName,
    /// Its group, where there are groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupName>,
    /// Whether it takes tasks.
    pub condition: NodeCondition,
    /// Whether something of it is broken, or is to be looked at.
    #[serde(default)]
    pub faulty: bool,
    /// Its GPUs.
    pub gpus: Vec<MapGpu>,
}

/// What a table shows of a node: however many GPUs it has and however many share them, it is short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeRow {
    /// Name.
    pub name: NodeName,
    /// Its group, where there are groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupName>,
    /// Whether it takes tasks.
    pub condition: NodeCondition,
    /// Whether it is simulated.
    pub simulated: bool,
    /// How many GPUs it has of each type.
    pub gpus: BTreeMap<GpuType, u64>,
    /// How many of them work and are free.
    pub free: u64,
    /// The jobs that hold most of them, [`NodeRow::NAMED`] at most, and how much each.
    pub holders: Holders,
    /// How many further jobs hold some.
    pub further: u64,
    /// CPU cores given away, and all.
    pub cpus: (u64, u64),
    /// Memory in MiB given away, and all.
    pub memory_mb: (u64, u64),
    /// How many tasks are on it.
    pub tasks: u64,
    /// How busy its GPUs are.
    #[serde(default, skip_serializing_if = "Lately::is_empty")]
    pub lately: Lately,
}

impl NodeRow {
    /// The most jobs that are named.
    pub const NAMED: usize = 3;
}

/// What an administrator needs of a node to change it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdminRow {
    /// Name.
    pub name: NodeName,
    /// Whether it takes tasks.
    pub condition: NodeCondition,
    /// What runs there is to go at once.
    pub emptied: bool,
    /// Its tasks are at the portal's host, with cookies that ports do not keep apart.
    pub at_portal: bool,
    /// Endpoint, as far as the asker is told.
    pub endpoint: String,
}

/// Jobs, and how much of something each holds. On the wire a job is its name (`user~name`): very many
/// of them come with a page.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<(String, Amount)>", into = "Vec<(String, Amount)>")]
pub struct Holders(pub Vec<(JobKey, Amount)>);

impl From<Holders> for Vec<(String, Amount)> {
    fn from(Holders(holders): Holders) -> Self {
        holders.into_iter().map(|(job, part)| (job.to_string(), part)).collect()
    }
}

impl TryFrom<Vec<(String, Amount)>> for Holders {
    type Error = InvalidName;

    fn try_from(holders: Vec<(String, Amount)>) -> Result<Self, InvalidName> {
        let holder = |(job, part): (String, Amount)| job.parse::<JobKey>().map(|job| (job, part));
        holders.into_iter().map(holder).collect::<Result<_, _>>().map(Self)
    }
}

/// A GPU on a map.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "WireGpu", into = "WireGpu")]
pub struct MapGpu {
    /// Its index on the node.
    pub index: u32,
    /// Its type.
    pub gpu_type: GpuType,
    /// Whether it works.
    pub healthy: bool,
    /// Who holds how much of it.
    pub holders: Vec<(JobKey, Amount)>,
    /// What it does, where that is measured.
    pub does: Option<Does>,
}

/// What a GPU does at the moment, as far as a map tells of it; what is not measured is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "WireDoes", into = "WireDoes")]
pub struct Does {
    /// How busy it is, in percent.
    pub load: Option<u32>,
    /// How full its memory is, in percent.
    pub memory: Option<u32>,
    /// Degrees Celsius.
    pub temperature: Option<u32>,
    /// It has done nothing for long though it is held.
    pub idle: bool,
}

/// The same on the wire, in the same order.
type WireDoes = (Option<u32>, Option<u32>, Option<u32>, bool);

impl From<Does> for WireDoes {
    fn from(does: Does) -> Self {
        (does.load, does.memory, does.temperature, does.idle)
    }
}

impl From<WireDoes> for Does {
    fn from((load, memory, temperature, idle): WireDoes) -> Self {
        Self { load, memory, temperature, idle }
    }
}

impl From<&GpuNow> for Does {
    fn from(now: &GpuNow) -> Self {
        let (load, temperature) = (now.load, now.temperature);
        Self { load, memory: now.memory_percent(), temperature, idle: now.idle_since.is_some() }
    }
}

/// A GPU on the wire: its index, type, whether it works, what jobs hold of it, and what it does. So
/// many of them come with a page that its parts have places instead of names.
type WireGpu = (u32, GpuType, bool, Holders, Option<Does>);

impl From<MapGpu> for WireGpu {
    fn from(gpu: MapGpu) -> Self {
        (gpu.index, gpu.gpu_type, gpu.healthy, Holders(gpu.holders), gpu.does)
    }
}

impl From<WireGpu> for MapGpu {
    fn from((index, gpu_type, healthy, Holders(holders), does): WireGpu) -> Self {
        Self { index, gpu_type, healthy, holders, does }
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
        self.holders.iter().filter_map(move |(job, part)| Some((colour.of_holder(job)?, *part)))
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
            does: view.now.as_ref().map(Does::from),
        }
    }
}

/// Who holds most, the first with a colour of their own.
pub fn holders<'a>(
    gpus: impl Iterator<Item = &'a MapGpu>,
    colour: Colour,
) -> Vec<(String, Amount)> {
    most(gpus.flat_map(|gpu| gpu.names(colour)))
}

/// The same of what was held by name.
pub fn most(names: impl Iterator<Item = (String, Amount)>) -> Vec<(String, Amount)> {
    let mut held: BTreeMap<String, Amount> = BTreeMap::new();
    for (name, part) in names {
        *held.entry(name).or_default() += part;
    }
    let mut held: Vec<_> = held.into_iter().collect();
    held.sort_by_key(|(_, amount)| Reverse(*amount));
    held.truncate(NAMED);
    held
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_survive_the_wire() {
        for group in [Group::Type, Group::Condition, Group::Label("rack".into())] {
            assert_eq!(Group::from(String::from(group.clone())), group);
        }
    }

    #[test]
    fn a_gpu_is_short_on_the_wire_and_survives_it() {
        let gpu = MapGpu {
            index: 0,
            gpu_type: "A100".parse().unwrap(),
            healthy: true,
            holders: vec![("ada~x".parse().unwrap(), Amount::whole(1))],
            does: Some(Does { load: Some(97), memory: None, temperature: Some(61), idle: false }),
        };
        let text = serde_json::to_string(&gpu).unwrap();
        assert_eq!(text, r#"[0,"A100",true,[["ada~x",1]],[97,null,61,false]]"#);
        assert_eq!(serde_json::from_str::<MapGpu>(&text).unwrap(), gpu);
        let nobody = r#"[0,"A100",true,[["nobody",1]],null]"#;
        assert!(serde_json::from_str::<MapGpu>(nobody).is_err());
    }
}
