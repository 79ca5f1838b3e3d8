//! Moments and spans. Nothing here reads a clock: `now` is always an argument.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01 UTC.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Milliseconds from `earlier` to `self`; 0 when `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Timestamp) -> i64 {
        (self.0 - earlier.0).max(0)
    }

    /// The moment `millis` later.
    #[must_use]
    pub fn plus_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A moment that somebody names: so long ago, or this one. On the wire it is a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Moment {
    /// So many milliseconds ago.
    Ago(i64),
    /// This one.
    At(Timestamp),
}

impl Moment {
    /// When that is.
    #[must_use]
    pub fn at(self, now: Timestamp) -> Timestamp {
        match self {
            Moment::Ago(millis) => now.plus_millis(-millis),
            Moment::At(at) => at,
        }
    }
}

impl From<Moment> for String {
    fn from(moment: Moment) -> String {
        match moment {
            Moment::Ago(millis) => format!("-{millis}"),
            Moment::At(Timestamp(millis)) => millis.to_string(),
        }
    }
}

impl TryFrom<String> for Moment {
    type Error = <i64 as FromStr>::Err;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.strip_prefix('-') {
            Some(millis) => millis.parse().map(Moment::Ago),
            None => text.parse().map(|millis| Moment::At(Timestamp(millis))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_survive_the_wire() {
        for moment in [Moment::Ago(5), Moment::At(Timestamp(7))] {
            let text = serde_json::to_string(&moment).unwrap();
            assert_eq!(serde_json::from_str::<Moment>(&text).unwrap(), moment, "{text}");
        }
    }
}
