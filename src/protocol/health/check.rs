use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Grade;

/// When a check is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// Now and then, while nothing runs on the node.
    #[default]
    Free,
    /// Before each attempt of a job, on each of its nodes, with the GPUs of its tasks there.
    Before,
    /// When a task has failed, before it is said whose fault that is, and when its node becomes free.
    After,
}

/// A command of an administrator's that says whether a node is well: it ends with 0 there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// The image that it runs in.
    pub image: String,
    /// The command, a shell text.
    pub command: String,
    /// When it is made.
    #[serde(default)]
    pub when: When,
    /// How often it is made on a free node; all checks are so where they have failed.
    #[serde(default = "half_an_hour")]
    pub every_minutes: u32,
    /// Whether it has the node's GPUs.
    #[serde(default)]
    pub gpus: bool,
    /// How bad it is that it fails.
    #[serde(default)]
    pub grade: Grade,
    /// So often in a row it has to pass after it has failed.
    #[serde(default = "twice")]
    pub passes: u32,
    /// It fails when it takes longer.
    #[serde(default = "a_minute")]
    pub seconds: u32,
    /// Labels of the nodes that it is for; none: for all.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
}

impl Check {
    /// The longest that one may take, in seconds.
    pub const LONGEST: u32 = 3_600;

    /// Whether it is for a node with these labels.
    #[must_use]
    pub fn is_for(&self, labels: &BTreeMap<String, String>) -> bool {
        self.labels.iter().all(|(key, value)| labels.get(key) == Some(value))
    }

    /// What is wrong with it, a line each.
    #[must_use]
    pub fn mistakes(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (key, value) in
            [("name", &self.name), ("image", &self.image), ("command", &self.command)]
        {
            if value.trim().is_empty() {
                lines.push(format!("{key}: it must not be empty"));
            }
        }
        for (key, value, most) in [
            ("every_minutes", self.every_minutes, 44_640),
            ("passes", self.passes, 100),
            ("seconds", self.seconds, Self::LONGEST),
        ] {
            if value == 0 || value > most {
                lines.push(format!("{key} = {value}: allowed is 1 to {most}"));
            }
        }
        lines
    }
}

fn half_an_hour() -> u32 {
    30
}

fn twice() -> u32 {
    2
}

fn a_minute() -> u32 {
    60
}
