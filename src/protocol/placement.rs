//! Where a task runs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::{NodeName, PortLabel};

/// A task's place: known for all tasks of a job before the first of them starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskPlacement {
    /// Position of the task role in the job, from 0.
    pub role: u32,
    /// Index of the task in its role, from 0.
    pub index: u32,
    /// The node.
    pub node: NodeName,
    /// The address by which containers and users reach the node.
    pub address: String,
    /// GPU indices on the node, ascending.
    pub gpus: Vec<u32>,
    /// Ports by label; `http` and `ssh` are always there.
    pub ports: TaskPorts,
}

/// The ports of a task by label. They are few, and kept of very many tasks: they take no more memory than they
/// need, where the leaf of a tree has room for eleven.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "ByLabel", into = "ByLabel")]
pub struct TaskPorts(Box<[(PortLabel, Vec<u16>)]>);

type ByLabel = BTreeMap<PortLabel, Vec<u16>>;

impl TaskPlacement {
    /// Where the task's SSH server listens.
    #[must_use]
    pub fn ssh_port(&self) -> Option<u16> {
        self.ports.first("ssh")
    }
}

impl TaskPorts {
    /// Those of a label.
    #[must_use]
    pub fn of(&self, label: &str) -> Option<&[u16]> {
        let (_, ports) = self.0.iter().find(|(known, _)| known.as_str() == label)?;
        Some(ports)
    }

    /// The first one of a label.
    #[must_use]
    pub fn first(&self, label: &str) -> Option<u16> {
        self.of(label)?.first().copied()
    }

    /// Labels with their ports, in the order of the labels.
    pub fn iter(&self) -> impl Iterator<Item = (&PortLabel, &Vec<u16>)> {
        self.0.iter().map(|(label, ports)| (label, ports))
    }

    /// The labels, in order.
    pub fn keys(&self) -> impl Iterator<Item = &PortLabel> {
        self.0.iter().map(|(label, _)| label)
    }

    /// The ports of each label.
    pub fn values(&self) -> impl Iterator<Item = &Vec<u16>> {
        self.0.iter().map(|(_, ports)| ports)
    }
}

impl From<ByLabel> for TaskPorts {
    fn from(ports: ByLabel) -> Self {
        let exact = |mut ports: Vec<u16>| {
            ports.shrink_to_fit();
            ports
        };
        Self(ports.into_iter().map(|(label, ports)| (label, exact(ports))).collect())
    }
}

impl<const N: usize> From<[(PortLabel, Vec<u16>); N]> for TaskPorts {
    fn from(ports: [(PortLabel, Vec<u16>); N]) -> Self {
        ByLabel::from(ports).into()
    }
}

impl FromIterator<(PortLabel, Vec<u16>)> for TaskPorts {
    fn from_iter<I: IntoIterator<Item = (PortLabel, Vec<u16>)>>(ports: I) -> Self {
        ByLabel::from_iter(ports).into()
    }
}

impl From<TaskPorts> for ByLabel {
    fn from(ports: TaskPorts) -> Self {
        ports.0.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_written_as_a_map_in_the_order_of_their_labels() {
        let label = |label: &str| -> PortLabel { label.parse().unwrap() };
        let ports = TaskPorts::from([(label("ssh"), vec![22]), (label("http"), vec![80, 81])]);
        let written = r#"{"http":[80,81],"ssh":[22]}"#;
        assert_eq!(serde_json::to_string(&ports).unwrap(), written);
        assert_eq!(serde_json::from_str::<TaskPorts>(written).unwrap(), ports);
        assert_eq!((ports.of("http"), ports.first("ssh")), (Some(&[80, 81][..]), Some(22)));
        assert_eq!((ports.of("web"), ports.first("web")), (None, None));
        assert_eq!(ports.keys().map(PortLabel::as_str).collect::<Vec<_>>(), ["http", "ssh"]);
        assert_eq!(ports.values().flatten().copied().collect::<Vec<_>>(), [80, 81, 22]);
    }
}
