use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Places of one size that nodes are in, as their labels name them.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum TopologyLevel {
    /// The widest.
    Site,
    /// Racks side by side.
    Row,
    /// Nodes above each other.
    Rack,
    /// The narrowest: nodes that one switch joins.
    Switch,
}

impl TopologyLevel {
    /// All of them, the widest first.
    pub const ALL: [Self; 4] = [Self::Site, Self::Row, Self::Rack, Self::Switch];
    /// Their names, which are those of the labels.
    pub const NAMES: [&'static str; 4] = ["site", "row", "rack", "switch"];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

impl fmt::Display for TopologyLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text is no such level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a level of topology")]
pub struct NoLevel(String);

impl FromStr for TopologyLevel {
    type Err = NoLevel;

    fn from_str(text: &str) -> Result<Self, NoLevel> {
        let found = Self::ALL.into_iter().find(|level| level.name() == text.trim());
        found.ok_or_else(|| NoLevel(crate::document::shorten(text)))
    }
}

/// How near each other the tasks of a job are to be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Topology {
    /// They start in one place of this level, or wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<TopologyLevel>,
    /// They start in one place of this level where one has room, before any narrower one is looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred: Option<TopologyLevel>,
}

impl Topology {
    /// Whether nothing is said.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.required.is_none() && self.preferred.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_read_by_their_names() {
        for level in TopologyLevel::ALL {
            assert_eq!(level.name().parse(), Ok(level));
            assert_eq!(serde_json::to_string(&level).unwrap(), format!("{:?}", level.name()));
        }
        for text in ["", "Rack", "racks", "node"] {
            assert!(text.parse::<TopologyLevel>().is_err(), "{text}");
        }
    }
}
