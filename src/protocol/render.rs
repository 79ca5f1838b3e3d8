//! Writes a [`JobSpec`] in either notation. Reading the result gives the same spec back, but for
//! its `dialect` and the values of its secrets, which stand as `******`.

mod berth;
mod json;
mod tree;
mod v1;
mod v2;
mod yaml;

use crate::spec::JobSpec;

/// The job as version 1, pretty-printed JSON. What version 1 has no word for stands under
/// `extras.berth`.
#[must_use]
pub fn to_json(spec: &JobSpec) -> String {
    json::write(&v1::tree(spec))
}

/// The job as version 2, YAML in block style. What version 2 has no word for stands under
/// `extras.berth`.
#[must_use]
pub fn to_yaml(spec: &JobSpec) -> String {
    yaml::write(&v2::tree(spec))
}

/// Plain JSON as people write it: known keys in the order of the documents.
fn ranked(value: &serde_json::Value) -> tree::Tree {
    let mut tree = tree::Tree::of_json(value);
    tree.sort_keys(&crate::fields::rank);
    tree
}

/// A value as JSON over several lines, no line break at the end.
pub(crate) fn json_value(value: &serde_json::Value) -> String {
    let mut text = json::write(&ranked(value));
    text.pop();
    text
}

/// A key as YAML writes it.
pub(crate) fn yaml_key(key: &str) -> String {
    yaml::line(key)
}

/// What follows a key or a dash that stands `indent` columns in, line break included.
pub(crate) fn yaml_value(value: &serde_json::Value, indent: usize) -> String {
    let mut text = String::new();
    yaml::value(&ranked(value), indent, &mut text);
    text
}

/// An item of a list whose dashes stand `indent` columns in.
pub(crate) fn yaml_item(value: &serde_json::Value, indent: usize) -> String {
    let mut text = String::new();
    yaml::list(&[ranked(value)], indent, &mut text);
    text
}

/// A whole YAML document.
pub(crate) fn yaml_document(value: &serde_json::Value) -> String {
    yaml::write(&ranked(value))
}

#[cfg(test)]
mod tests;
