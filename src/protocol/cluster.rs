//! How nodes and virtual clusters are described: what an administrator writes and everyone reads.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{GpuType, GroupName, JobKey, NodeName, UserName, VirtualClusterName};
use crate::limits::Limits;
use crate::resources::PortRange;
use crate::time::Timestamp;
use crate::topology::TopologyLevel;

mod mistakes;
mod preempts;

pub(crate) use mistakes::outside;
pub use preempts::Preempts;

/// How a node is reached and what is said of it; what is left out is asked of its engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeSettings {
    /// Its name.
    pub name: NodeName,
    /// What containers and users reach, unless its tasks have a network of their own.
    pub address: String,
    /// `unix://…`, `tcp://…`, `ssh://…` or `sim://`.
    pub endpoint: String,
    /// CPU cores.
    #[serde(default)]
    pub cpus: Option<u32>,
    /// Memory in MiB.
    #[serde(default)]
    pub memory_mb: Option<u64>,
    /// Disk in GiB.
    #[serde(default)]
    pub disk_gb: Option<u64>,
    /// GPUs by type, in the order of their indices.
    #[serde(default)]
    pub gpus: Option<Vec<GpuCount>>,
    /// How containers get GPUs.
    #[serde(default)]
    pub gpu_runtime: GpuRuntime,
    /// Ports given to tasks, as `10000-31999`.
    #[serde(default)]
    pub ports: PortRange,
    /// Labels.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Groups of GPU indices that are linked closely (NVLink, NUMA); empty: neighbours by index.
    #[serde(default)]
    pub links: Vec<Vec<u32>>,
    /// Whether several tasks may share one of its GPUs, each with a part of it.
    #[serde(default)]
    pub shares_gpus: bool,
    /// Which network its tasks have; none: one of their own where the node is the portal's own
    /// machine, else the node's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NodeNetwork>,
    /// Where an exporter tells what its GPUs do, as `http://gpu-1:9400/metrics`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics: Option<String>,
}

/// Labels that say where a node is, the widest place first. Nodes whose label has the same value are in
/// the same place; the tasks of a job go to as narrow a place as holds them all.
pub const LEVELS: [&str; 4] = TopologyLevel::NAMES;

/// Places by their level, as nodes' labels name them: `rack` → `3`, `4`.
pub type Places = BTreeMap<TopologyLevel, Vec<String>>;

/// The narrowest place in which nodes with these labels are together, as `rack=3`.
#[must_use]
pub fn common_place<'a>(
    labels: impl Iterator<Item = &'a BTreeMap<String, String>> + Clone,
) -> Option<String> {
    LEVELS.iter().rev().find_map(|level| {
        let mut names = labels.clone().map(|labels| labels.get(*level));
        let first = names.next()??;
        names.all(|name| name == Some(first)).then(|| format!("{level}={first}"))
    })
}

/// Which network a node's tasks have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NodeNetwork {
    /// The node's: its address is the tasks' address, and their programs may listen anywhere on it.
    Host,
    /// One of their own on that node: their ports are published at an address that is nobody
    /// else's, and that only the node itself and the tasks on it reach.
    Bridge,
}

impl NodeSettings {
    /// One of which nothing else is said: its engine is asked.
    #[must_use]
    pub fn new(name: NodeName, address: impl Into<String>, endpoint: impl Into<String>) -> Self {
        Self {
            name,
            address: address.into(),
            endpoint: endpoint.into(),
            cpus: None,
            memory_mb: None,
            disk_gb: None,
            gpus: None,
            gpu_runtime: GpuRuntime::default(),
            ports: PortRange::default(),
            labels: BTreeMap::new(),
            links: Vec::new(),
            shares_gpus: false,
            network: None,
            metrics: None,
        }
    }

    /// What its endpoint says of which engine it is: all but what a simulated one is to have.
    #[must_use]
    pub fn engine(&self) -> &str {
        let engine =
            self.endpoint.split_once('?').map_or(self.endpoint.as_str(), |(engine, _)| engine);
        engine.trim_end_matches('/')
    }

    /// Why it may not be beside another node: what one engine has would be given twice.
    #[must_use]
    pub fn refusal_beside(&self, other: &Self) -> Option<String> {
        (self.name != other.name && self.engine() == other.engine()).then(|| {
            format!(
                "{}: endpoint {:?} is the engine of {} already: one engine is one node, or what it has \
                 would be given twice",
                self.name, self.endpoint, other.name
            )
        })
    }

    /// Whether it is a simulated one.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.endpoint.starts_with("sim://")
    }
}

/// Which of these nodes have an engine that one before them has, and why that may not be.
#[must_use]
pub fn shared_engines(nodes: &[NodeSettings]) -> Vec<String> {
    let mut first = BTreeMap::new();
    let refused = nodes.iter().filter_map(|node| {
        let other = *first.entry(node.engine()).or_insert(node);
        node.refusal_beside(other)
    });
    refused.collect()
}

/// So many GPUs of one type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GpuCount {
    /// The type.
    #[serde(rename = "type")]
    pub gpu_type: GpuType,
    /// How many.
    pub count: u32,
}

/// How containers get their GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GpuRuntime {
    /// Through the NVIDIA runtime, by UUID or index.
    #[default]
    Nvidia,
    /// By their names of the Container Device Interface (`nvidia.com/gpu=UUID`), by UUID or index.
    Cdi,
    /// AMD's: `/dev/kfd` and the devices of the task's GPUs, by index.
    Amd,
    /// Through Ascend's runtime, by index.
    Ascend,
    /// Not at all: the environment says which, the devices are not there.
    None,
}

impl GpuRuntime {
    /// Whether GPUs that containers get so are found by asking their driver.
    #[must_use]
    pub fn finds_gpus(self) -> bool {
        match self {
            Self::Nvidia | Self::Cdi | Self::Amd | Self::Ascend => true,
            Self::None => false,
        }
    }
}

/// Whether a node takes tasks.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum NodeCondition {
    /// It answers and takes tasks.
    Ready,
    /// It answers; an administrator wants it empty, or it was [`Closed`] by itself.
    Draining,
    /// It does not answer.
    Unreachable,
}

/// Why a node takes nothing new though nobody said so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Closed {
    /// Since when.
    pub since: Timestamp,
    /// What it does not do.
    #[serde(default)]
    pub cause: ClosedCause,
    /// Of one that starts nothing the engine's words about our own container, else what does not end.
    pub message: String,
    /// What it had failed to start before, of each job the last, oldest first.
    pub failures: Vec<StartFailure>,
    /// The containers that do not end, by name.
    #[serde(default)]
    pub containers: Vec<String>,
}

/// What a node that was closed by itself does not do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClosedCause {
    /// It failed to start what it was given, and a container of ours as well: it is tried again.
    #[default]
    StartsNothing,
    /// Containers do not end, though they are killed again and again: until these are gone.
    Unkilled,
}

/// A task that a node failed to start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StartFailure {
    /// When.
    pub at: Timestamp,
    /// The task's job.
    pub job: JobKey,
    /// Its image.
    pub image: String,
    /// The engine's words.
    pub message: String,
}

/// A virtual cluster's share and users.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VirtualClusterSettings {
    /// Its name.
    pub name: VirtualClusterName,
    /// Its share.
    #[serde(default)]
    pub share: Share,
    /// Who may use it; where no user and no group is named: everybody.
    #[serde(default)]
    pub users: Vec<UserName>,
    /// Groups whose members may use it.
    #[serde(default)]
    pub groups: Vec<GroupName>,
    /// The virtual cluster of whose share this one's is a part. Its jobs run on its own share, then on
    /// what is left of its parent's, and so on.
    #[serde(default)]
    pub parent: Option<VirtualClusterName>,
    /// Groups of GPUs that it is guaranteed beyond `share`.
    #[serde(default)]
    pub shapes: Vec<Shape>,
    /// Nodes on which the GPUs that it is guaranteed lie, as far as they have so many; the rest lies
    /// anywhere. What of these nodes it does not use is lent as everything else.
    #[serde(default)]
    pub nodes: Vec<NodeName>,
    /// Places on whose nodes they lie as well. A node that several places name is the narrowest's, and
    /// whoever names the node itself has it before all of them.
    #[serde(default, skip_serializing_if = "Places::is_empty")]
    pub within: Places,
    /// Whether its jobs may run on what others do not use, until those want it back.
    #[serde(default = "yes")]
    pub borrows: bool,
    /// Whose jobs take the places of those of lower classes; before others these run on, and at most give
    /// up their right to its share.
    #[serde(default)]
    pub preempts: Preempts,
    /// Whether its jobs that have to start soon to meet their deadlines go before others of their priority.
    #[serde(default)]
    pub deadlines: bool,
    /// For how many minutes its tasks run on without a word from the server, after which their jobs start
    /// elsewhere; `None`: for ever, and what is on a silent node waits for it, or for an administrator.
    #[serde(default)]
    pub lease: Option<u32>,
    /// What becomes of its jobs whose GPUs do nothing; `None`: nothing.
    #[serde(default)]
    pub idle: Option<IdleRule>,
    /// What each user and each group may have of it at once.
    #[serde(default, skip_serializing_if = "Limits::is_empty")]
    pub limits: Limits,
    /// Groups between which it is shared fairly, each with its weight.
    #[serde(default, skip_serializing_if = "GroupWeights::is_empty")]
    pub group_shares: GroupWeights,
}

/// Groups, each with its weight: what one has is fair when it is to the others' as their weights are.
pub type GroupWeights = BTreeMap<GroupName, u32>;

impl VirtualClusterSettings {
    /// One that is guaranteed nothing, borrows and preempts, has no lease, minds no deadlines and no idle
    /// GPUs, limits nobody, knows no groups beside each other and is for everybody.
    #[must_use]
    pub fn new(name: VirtualClusterName) -> Self {
        let share = Share::default();
        Self {
            name,
            share,
            users: Vec::new(),
            groups: Vec::new(),
            parent: None,
            shapes: Vec::new(),
            nodes: Vec::new(),
            within: Places::new(),
            borrows: true,
            preempts: Preempts::default(),
            deadlines: false,
            lease: None,
            idle: None,
            limits: Limits::default(),
            group_shares: GroupWeights::new(),
        }
    }

    /// Whether a user who is in these groups may use it.
    pub fn admits<'a>(
        &self,
        user: &UserName,
        groups: impl IntoIterator<Item = &'a GroupName>,
    ) -> bool {
        let everybody = self.users.is_empty() && self.groups.is_empty();
        everybody
            || self.users.contains(user)
            || groups.into_iter().any(|group| self.groups.contains(group))
    }
}

/// What becomes of jobs that hold GPUs and do not use them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdleRule {
    /// A GPU does nothing while it is busy for less than so many percent.
    #[serde(default = "IdleRule::load")]
    pub load: u32,
    /// A job is warned when none of its GPUs did anything for so many minutes.
    pub minutes: u32,
    /// So many minutes after an attempt was placed do not count.
    #[serde(default)]
    pub grace: u32,
    /// It is stopped so many minutes after it was warned; `None`: it is warned and marked, and runs on.
    #[serde(default)]
    pub stop_after: Option<u32>,
}

impl IdleRule {
    /// The longest of its times: a week, in minutes.
    pub const LONGEST: u32 = 7 * 24 * 60;

    /// What is idle where nothing is said.
    #[must_use]
    pub fn load() -> u32 {
        5
    }
}

/// `count` groups of `gpus` GPUs of a type, each on one node: whole nodes or link groups.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// The type.
    #[serde(rename = "type")]
    pub gpu_type: GpuType,
    /// GPUs of one group.
    pub gpus: u32,
    /// How many groups.
    pub count: u32,
}

fn yes() -> bool {
    true
}

/// A share of the cluster: what is guaranteed. What others leave idle may be used beyond it, until
/// they want it back.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Share {
    /// CPU cores.
    pub cpus: Option<u64>,
    /// Memory in MiB.
    pub memory_mb: Option<u64>,
    /// GPUs by type; once any type is named, types that are not have a share of 0.
    pub gpus: BTreeMap<GpuType, u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_engine_is_one_node() {
        let node = |name: &str, endpoint: &str| {
            NodeSettings::new(name.parse().unwrap(), "10.0.0.1", endpoint)
        };
        for (one, other) in [
            ("tcp://10.0.0.1:2376", "tcp://10.0.0.1:2376/"),
            ("unix:///var/run/docker.sock", "unix:///var/run/docker.sock"),
            ("sim://a?gpus=8xA100", "sim://a"),
        ] {
            let refused = shared_engines(&[node("a", one), node("b", "sim://b"), node("c", other)]);
            let [refused] = refused.as_slice() else { panic!("{one} {other}: {refused:?}") };
            assert!(refused.starts_with("c: ") && refused.contains("engine of a "), "{refused}");
        }
        let apart = [node("a", "ssh://a"), node("b", "ssh://b"), node("b", "ssh://b")];
        assert_eq!(shared_engines(&apart), Vec::<String>::new(), "a name is told of elsewhere");
    }

    #[test]
    fn nodes_are_together_in_the_narrowest_place_that_all_name() {
        let node = |labels: &[(&str, &str)]| -> BTreeMap<String, String> {
            labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
        };
        let one = node(&[("site", "x"), ("rack", "1"), ("switch", "s")]);
        let two = node(&[("site", "x"), ("rack", "1"), ("switch", "t")]);
        let far = node(&[("site", "x"), ("disk", "fast")]);
        let none = node(&[("disk", "fast")]);
        for (nodes, place) in [
            (vec![&one], Some("switch=s")),
            (vec![&one, &two], Some("rack=1")),
            (vec![&one, &two, &far], Some("site=x")),
            (vec![&far, &none], None),
            (Vec::new(), None),
        ] {
            assert_eq!(common_place(nodes.into_iter()).as_deref(), place);
        }
    }

    #[test]
    fn users_and_groups_open_a_virtual_cluster() {
        let (ada, bob) = ("ada".parse().unwrap(), "bob".parse().unwrap());
        let group: GroupName = "gpu users".parse().unwrap();
        let mut settings = VirtualClusterSettings::new("lab".parse().unwrap());
        assert!(settings.admits(&bob, []), "nobody is named: it is everybody's");
        settings.groups = vec![group.clone()];
        assert!(!settings.admits(&bob, []), "a group alone closes it to others");
        assert!(settings.admits(&bob, [&group]));
        settings.users = vec![ada];
        assert!(!settings.admits(&bob, []));
        assert!(settings.admits(&bob, [&group]));
    }
}
