//! Where a path leads.

use serde_json::Value as Json;

use super::Step;
use crate::document::{Node, Value};

/// How far a path can be followed.
pub(super) struct Place<'d> {
    /// The values on the way, the root first.
    pub(super) nodes: Vec<&'d Node>,
    /// For each value but the root its position in the list or object before it.
    pub(super) positions: Vec<usize>,
    /// How many steps could be taken.
    pub(super) taken: usize,
    /// All steps were taken: the value is there.
    pub(super) complete: bool,
}

impl<'d> Place<'d> {
    pub(super) fn last(&self) -> &'d Node {
        self.nodes[self.nodes.len() - 1]
    }

    /// The list or object that holds the last value, and the value's position in it.
    pub(super) fn holder(&self) -> Option<(&'d Node, usize)> {
        let holder = self.nodes.len().checked_sub(2)?;
        Some((self.nodes[holder], *self.positions.last()?))
    }
}

pub(super) fn find<'d>(root: &'d Node, path: &[Step]) -> Place<'d> {
    let mut place = Place { nodes: vec![root], positions: Vec::new(), taken: 0, complete: true };
    for step in path {
        let node = place.last();
        let position = match (step, &node.value) {
            (Step::Key(key), Value::Map(entries)) => entries.iter().position(|e| e.key == *key),
            (Step::Index(index), Value::List(items)) => Some(*index).filter(|i| *i < items.len()),
            _ => None,
        };
        let Some(position) = position else {
            place.complete = false;
            break;
        };
        let next = match &node.value {
            Value::Map(entries) => entries.get(position).map(|entry| &entry.node),
            Value::List(items) => items.get(position),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => None,
        };
        place.nodes.extend(next);
        place.positions.push(position);
        place.taken += 1;
    }
    place
}

/// The value under the steps that are still missing on the way to it.
pub(super) fn wrap(steps: &[Step], value: &Json) -> Option<Json> {
    steps.iter().rev().try_fold(value.clone(), |inner, step| match step {
        Step::Key(key) => Some(Json::Object(std::iter::once((key.clone(), inner)).collect())),
        Step::Append | Step::Index(0) => Some(Json::Array(vec![inner])),
        Step::Index(_) => None,
    })
}

/// Gives a value another key in plain JSON; false when it is not there.
pub(super) fn rename(root: &mut Json, path: &[Step], key: &str) -> bool {
    let Some((step, rest)) = path.split_first() else { return false };
    match (step, root) {
        (Step::Key(old), Json::Object(map)) if rest.is_empty() => {
            let value = map.remove(old);
            let found = value.is_some();
            map.extend(value.map(|value| (key.to_owned(), value)));
            found
        }
        (Step::Key(next), Json::Object(map)) => {
            map.get_mut(next).is_some_and(|inner| rename(inner, rest, key))
        }
        (Step::Index(index), Json::Array(items)) => {
            items.get_mut(*index).is_some_and(|inner| rename(inner, rest, key))
        }
        _ => false,
    }
}

/// Makes the same change in plain JSON; false when it cannot be made.
pub(super) fn change(root: &mut Json, path: &[Step], value: Option<&Json>) -> bool {
    let Some((step, rest)) = path.split_first() else {
        if let Some(value) = value {
            root.clone_from(value);
        }
        return value.is_some();
    };
    if root.is_null() && value.is_some() {
        *root = match step {
            Step::Key(_) => Json::Object(serde_json::Map::new()),
            Step::Index(_) | Step::Append => Json::Array(Vec::new()),
        };
    }
    match (step, root) {
        (Step::Key(key), Json::Object(map)) => match (map.get_mut(key), value) {
            (Some(_), None) if rest.is_empty() => map.remove(key).is_some(),
            (Some(inner), _) => change(inner, rest, value),
            (None, None) => true,
            (None, Some(_)) => {
                let mut inner = Json::Null;
                let made = change(&mut inner, rest, value);
                map.insert(key.clone(), inner);
                made
            }
        },
        (Step::Index(index), Json::Array(items)) if *index < items.len() => {
            if rest.is_empty() && value.is_none() {
                items.remove(*index);
                return true;
            }
            change(&mut items[*index], rest, value)
        }
        (Step::Index(index), Json::Array(items)) if *index > items.len() => value.is_none(),
        (Step::Index(_) | Step::Append, Json::Array(items)) => {
            if value.is_none() {
                return true;
            }
            let mut inner = Json::Null;
            let made = change(&mut inner, rest, value);
            items.push(inner);
            made
        }
        _ => value.is_none(),
    }
}
