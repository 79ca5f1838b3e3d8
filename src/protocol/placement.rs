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
    pub ports: BTreeMap<PortLabel, Vec<u16>>,
}

impl TaskPlacement {
    /// Where the task's SSH server listens.
    #[must_use]
    pub fn ssh_port(&self) -> Option<u16> {
        let (_, ports) = self.ports.iter().find(|(label, _)| label.as_str() == "ssh")?;
        ports.first().copied()
    }
}
