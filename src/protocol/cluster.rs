//! How nodes and virtual clusters are described: what an administrator writes and everyone reads.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::ids::{GpuType, GroupName, NodeName, UserName, VirtualClusterName};
use crate::resources::PortRange;

/// How a node is reached and what is said of it; what is left out is asked of its engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
}

/// Which network a node's tasks have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeNetwork {
    /// The node's: its address is the tasks' address, and their programs may listen anywhere on it.
    Host,
    /// One of their own on that node: their ports are published at an address that is nobody
    /// else's, and that only the node itself and the tasks on it reach.
    Bridge,
}

impl NodeSettings {
    /// Whether it is a simulated one.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.endpoint.starts_with("sim://")
    }

    /// What is wrong with its links: one line a mistake, each with what is allowed.
    #[must_use]
    pub fn link_mistakes(&self) -> Vec<String> {
        let declared = self.gpus.as_ref();
        let gpus: Option<u64> =
            declared.map(|gpus| gpus.iter().map(|gpus| u64::from(gpus.count)).sum());
        let mut seen = BTreeSet::new();
        let mut lines = Vec::new();
        for (at, link) in self.links.iter().enumerate() {
            for index in link {
                if let Some(gpus) = gpus.filter(|gpus| u64::from(*index) >= *gpus) {
                    let allowed = match gpus.checked_sub(1) {
                        Some(last) => format!("allowed is 0 to {last}"),
                        None => "the node has no GPU; allowed are no links".to_owned(),
                    };
                    lines.push(format!("links[{at}]: {index}: {allowed}"));
                }
                if !seen.insert(*index) {
                    lines.push(format!("links[{at}]: {index} is there twice: allowed is once"));
                }
            }
        }
        lines
    }
}

/// So many GPUs of one type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GpuCount {
    /// The type.
    #[serde(rename = "type")]
    pub gpu_type: GpuType,
    /// How many.
    pub count: u32,
}

/// How containers get their GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GpuRuntime {
    /// Through the NVIDIA runtime, by UUID or index.
    #[default]
    Nvidia,
    /// Not at all: the environment says which, the devices are not there.
    None,
}

/// Whether a node takes tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeCondition {
    /// It answers and takes tasks.
    Ready,
    /// It answers; an administrator wants it empty.
    Draining,
    /// It does not answer.
    Unreachable,
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
    /// The virtual cluster of whose share this one's is a part; one level deep. Its jobs run on its
    /// own share, then on what is left of its parent's.
    #[serde(default)]
    pub parent: Option<VirtualClusterName>,
    /// Groups of GPUs that it is guaranteed beyond `share`.
    #[serde(default)]
    pub shapes: Vec<Shape>,
    /// Whether its jobs may run on what others do not use, until those want it back.
    #[serde(default = "yes")]
    pub borrows: bool,
}

impl VirtualClusterSettings {
    /// One that is guaranteed nothing, borrows, and is for everybody.
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
            borrows: true,
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

/// `count` groups of `gpus` GPUs of a type, each on one node: whole nodes or link groups.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
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

    #[test]
    fn links_name_gpus_that_are_there_each_once() {
        let node = |gpus: &str, links: &str| -> Vec<String> {
            let text = format!(
                r#"{{"name": "a", "address": "a", "endpoint": "sim://a", {gpus} "links": {links}}}"#
            );
            serde_json::from_str::<NodeSettings>(&text).unwrap().link_mistakes()
        };
        let four = r#""gpus": [{"type": "A100", "count": 3}, {"type": "V100", "count": 1}],"#;
        assert_eq!(node(four, "[[0, 2], [1, 3]]"), Vec::<String>::new());
        assert_eq!(node("", "[[0, 9]]"), Vec::<String>::new(), "its engine will say");
        assert_eq!(node(four, "[[0], [4]]"), ["links[1]: 4: allowed is 0 to 3"]);
        assert_eq!(node(four, "[[0, 0]]"), ["links[0]: 0 is there twice: allowed is once"]);
        let none = node(r#""gpus": [],"#, "[[0]]");
        assert_eq!(none, ["links[0]: 0: the node has no GPU; allowed are no links"]);
    }
}
