use std::fmt;

use clap::ValueEnum;
use demo::Mode;
use serde::de::{Deserializer, Error, Unexpected, Visitor};
use serde::{Deserialize, Serialize};

/// Whether the cluster is a simulated one to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Demonstration {
    /// It is a real one.
    #[default]
    #[value(skip)]
    Off,
    /// Jobs come and go.
    Living,
    /// Nothing begins or ends by itself.
    Still,
}

impl Demonstration {
    /// What is asked of the demonstration, if there is one.
    #[must_use]
    pub fn mode(self) -> Option<Mode> {
        match self {
            Self::Off => None,
            Self::Living => Some(Mode::Living),
            Self::Still => Some(Mode::Still),
        }
    }
}

/// `true` is a living one.
impl<'de> Deserialize<'de> for Demonstration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Written)
    }
}

struct Written;

impl Visitor<'_> for Written {
    type Value = Demonstration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a boolean, \"living\" or \"still\"")
    }

    fn visit_bool<E: Error>(self, on: bool) -> Result<Demonstration, E> {
        Ok(if on { Demonstration::Living } else { Demonstration::Off })
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Demonstration, E> {
        match word {
            "living" => Ok(Demonstration::Living),
            "still" => Ok(Demonstration::Still),
            _ => Err(E::invalid_value(Unexpected::Str(word), &self)),
        }
    }
}
