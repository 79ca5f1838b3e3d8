use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::NodeName;
use crate::topology::Topology;

/// Which nodes will do for the tasks of a job, and how near each other they have to be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeSelector {
    /// The only nodes that will do; empty: any.
    pub names: Vec<NodeName>,
    /// Labels that a node must have, each with this value.
    pub labels: BTreeMap<String, String>,
    /// How near each other the nodes of its tasks have to be.
    #[serde(default, skip_serializing_if = "Topology::is_any")]
    pub topology: Topology,
}

impl NodeSelector {
    /// Whether any node will do, be it near the others or not.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.names.is_empty() && self.labels.is_empty()
    }
}

/// As a phrase: `named a or b and labelled rack=3`.
impl fmt::Display for NodeSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.names.iter().map(ToString::to_string).collect();
        let labels: Vec<_> =
            self.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let parts = [("named ", names.join(" or ")), ("labelled ", labels.join(" and "))];
        let parts = parts.into_iter().filter(|(_, list)| !list.is_empty());
        let parts: Vec<_> = parts.map(|(word, list)| format!("{word}{list}")).collect();
        f.write_str(&parts.join(" and "))
    }
}
