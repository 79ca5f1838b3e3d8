//! Whose jobs take the places of others of their virtual cluster.

use std::borrow::Cow;
use std::fmt::{self, Formatter};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::spec::Priority;

/// Of which classes jobs take the places of those of lower classes of their virtual cluster. Jobs of the
/// others at most take the right to its share from them. Written as `true` (of all), `false` (of none),
/// or a list, in which a class is only after all that are above it: `["crit"]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preempts {
    /// Of none.
    Nobody,
    /// Of `crit`.
    Critical,
    /// Of all that have lower ones.
    #[default]
    Everybody,
}

impl Preempts {
    /// Whether a job of this priority takes the places of jobs of lower classes.
    #[must_use]
    pub fn lets(self, priority: Priority) -> bool {
        match self {
            Self::Nobody => false,
            Self::Critical => priority.class() == Priority::CRITICAL,
            Self::Everybody => true,
        }
    }
}

/// A class that has lower ones whose jobs may have to leave: what is below them only borrows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Class {
    Crit,
    Prod,
}

impl Serialize for Preempts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Nobody => serializer.serialize_bool(false),
            Self::Critical => [Class::Crit].serialize(serializer),
            Self::Everybody => serializer.serialize_bool(true),
        }
    }
}

impl<'de> Deserialize<'de> for Preempts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Written)
    }
}

struct Written;

impl<'de> Visitor<'de> for Written {
    type Value = Preempts;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("true, false or a list of the classes crit and prod")
    }

    fn visit_bool<E: Error>(self, all: bool) -> Result<Preempts, E> {
        Ok(if all { Preempts::Everybody } else { Preempts::Nobody })
    }

    /// As forms send it.
    fn visit_str<E: Error>(self, text: &str) -> Result<Preempts, E> {
        match text.parse::<bool>() {
            Ok(all) => self.visit_bool(all),
            Err(_) => Err(E::invalid_value(Unexpected::Str(text), &self)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut classes: A) -> Result<Preempts, A::Error> {
        let (mut crit, mut prod) = (false, false);
        while let Some(class) = classes.next_element::<Class>()? {
            match class {
                Class::Crit => crit = true,
                Class::Prod => prod = true,
            }
        }
        match (crit, prod) {
            (false, false) => Ok(Preempts::Nobody),
            (true, false) => Ok(Preempts::Critical),
            (true, true) => Ok(Preempts::Everybody),
            (false, true) => Err(A::Error::custom(
                "preempts names prod, but not crit, which is above it: allowed are true, false and \
                 a list of crit, or of crit and prod",
            )),
        }
    }
}

impl JsonSchema for Preempts {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Preempts")
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "type": "boolean" },
            { "type": "array", "items": { "type": "string", "enum": ["crit", "prod"] } },
        ] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Preempts, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn it_is_all_none_or_the_highest_classes() {
        for (text, read_as, written) in [
            ("true", Preempts::Everybody, "true"),
            ("false", Preempts::Nobody, "false"),
            ("\"false\"", Preempts::Nobody, "false"),
            ("[]", Preempts::Nobody, "false"),
            (r#"["crit"]"#, Preempts::Critical, r#"["crit"]"#),
            (r#"["crit", "crit"]"#, Preempts::Critical, r#"["crit"]"#),
            (r#"["prod", "crit"]"#, Preempts::Everybody, "true"),
        ] {
            assert_eq!(read(text), Ok(read_as), "{text}");
            assert_eq!(serde_json::to_string(&read_as).unwrap(), written);
        }
    }

    #[test]
    fn a_class_alone_that_has_one_above_it_and_what_is_none_are_refused() {
        let no_gap = read(r#"["prod"]"#).unwrap_err();
        assert!(no_gap.starts_with("preempts names prod, but not crit"), "{no_gap}");
        for text in [r#"["test"]"#, r#"["crit", "high"]"#, "\"crit\"", "1", "null"] {
            let error = read(text).unwrap_err();
            assert!(error.contains("crit") && error.contains("prod"), "{text}: {error}");
        }
    }

    #[test]
    fn of_each_priority_its_class_counts() {
        let lets = |preempts: Preempts| {
            let all = [i32::MIN, -1, 0, 10, 99, 100, 119, 120, i32::MAX];
            all.map(|priority| u8::from(preempts.lets(Priority(priority))))
        };
        assert_eq!(lets(Preempts::Nobody), [0; 9]);
        assert_eq!(lets(Preempts::Critical), [0, 0, 0, 0, 0, 0, 0, 1, 1]);
        assert_eq!(lets(Preempts::Everybody), [1; 9]);
    }
}
