use protocol::document::{Entry, Node, Value};
use protocol::edit::Step;
use serde::{Deserialize, Serialize};

/// What stands at a place, as far as the form shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Shown {
    /// One value as it stands in an input; nothing is empty.
    Plain(String),
    List(Vec<Shown>),
    Map(Vec<(String, Shown)>),
}

/// No field lies deeper.
const DEEPEST: usize = 8;

impl Shown {
    pub(super) fn of(node: &Node, depth: usize) -> Self {
        match &node.value {
            Value::Text(text) | Value::Number(text) => Self::Plain(text.clone()),
            Value::Bool(flag) => Self::Plain(flag.to_string()),
            Value::List(items) if depth < DEEPEST => {
                Self::List(items.iter().map(|item| Self::of(item, depth + 1)).collect())
            }
            Value::Map(entries) if depth < DEEPEST => {
                let entry = |entry: &Entry| (entry.key.clone(), Self::of(&entry.node, depth + 1));
                Self::Map(entries.iter().map(entry).collect())
            }
            Value::Null | Value::List(_) | Value::Map(_) => Self::Plain(String::new()),
        }
    }

    /// What stands a step further.
    pub(super) fn at(&self, step: &Step) -> Option<&Self> {
        match (self, step) {
            (Self::Map(entries), Step::Key(key)) => {
                entries.iter().find(|(known, _)| known == key).map(|(_, shown)| shown)
            }
            (Self::List(items), Step::Index(index)) => items.get(*index),
            (Self::Plain(_) | Self::List(_) | Self::Map(_), _elsewhere) => None,
        }
    }

    /// Of a value that is neither list nor object.
    pub(super) fn plain(&self) -> &str {
        match self {
            Self::Plain(text) => text,
            Self::List(_) | Self::Map(_) => "",
        }
    }
}
