//! What is to be written, in the order it is to stand.

use serde_json::Value as Json;

/// A value to be written.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Tree>),
    Map(Vec<(String, Tree)>),
}

impl Tree {
    pub(super) fn number(value: impl ToString) -> Self {
        Self::Number(value.to_string())
    }

    pub(super) fn text(value: impl ToString) -> Self {
        Self::Text(value.to_string())
    }

    /// Sorts the keys of all objects by a rank; equal ranks keep their order.
    pub(super) fn sort_keys(&mut self, rank: &dyn Fn(&str) -> usize) {
        match self {
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) => {}
            Self::List(items) => items.iter_mut().for_each(|item| item.sort_keys(rank)),
            Self::Map(entries) => {
                entries.sort_by_key(|(key, _)| rank(key));
                entries.iter_mut().for_each(|(_, item)| item.sort_keys(rank));
            }
        }
    }

    /// Puts another text in the place of each, keys left as they are.
    pub(super) fn change_texts(&mut self, other: &dyn Fn(&str) -> String) {
        match self {
            Self::Null | Self::Bool(_) | Self::Number(_) => {}
            Self::Text(text) => *text = other(text),
            Self::List(items) => items.iter_mut().for_each(|item| item.change_texts(other)),
            Self::Map(entries) => entries.iter_mut().for_each(|(_, item)| item.change_texts(other)),
        }
    }

    pub(super) fn of_json(value: &Json) -> Self {
        match value {
            Json::Null => Self::Null,
            Json::Bool(flag) => Self::Bool(*flag),
            Json::Number(number) => Self::number(number),
            Json::String(text) => Self::text(text),
            Json::Array(items) => Self::List(items.iter().map(Self::of_json).collect()),
            Json::Object(map) => {
                Self::Map(map.iter().map(|(k, v)| (k.clone(), Self::of_json(v))).collect())
            }
        }
    }
}

/// An object under construction.
#[derive(Default)]
pub(super) struct Map(Vec<(String, Tree)>);

impl Map {
    pub(super) fn put(&mut self, key: &str, value: Tree) {
        self.0.push((key.to_owned(), value));
    }

    /// Puts a text where there is one.
    pub(super) fn put_text(&mut self, key: &str, value: Option<&String>) {
        if let Some(text) = value {
            self.put(key, Tree::text(text));
        }
    }

    /// Puts an object or a list unless it is empty.
    pub(super) fn put_filled(&mut self, key: &str, value: Tree) {
        let empty = match &value {
            Tree::List(items) => items.is_empty(),
            Tree::Map(entries) => entries.is_empty(),
            Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::Text(_) => false,
        };
        if !empty {
            self.put(key, value);
        }
    }

    /// Takes out what stands under a key, if it is a text.
    pub(super) fn take_text(&mut self, key: &str) -> Option<Tree> {
        let is_it =
            |(known, value): &(String, Tree)| known == key && matches!(value, Tree::Text(_));
        let at = self.0.iter().position(is_it)?;
        Some(self.0.remove(at).1)
    }

    pub(super) fn into_entries(self) -> Vec<(String, Tree)> {
        self.0
    }

    pub(super) fn done(self) -> Tree {
        Tree::Map(self.0)
    }
}
