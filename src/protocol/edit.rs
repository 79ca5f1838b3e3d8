//! Changes one value of a job file and nothing else: comments, order and every other byte stay as
//! they were written, so that form and editor can work on one text.

mod json;
mod place;
mod yaml;

use serde_json::Value as Json;

use self::place::{Place, find};
use crate::document::{Document, Entry, Lines, Syntax, Value, without_bom};
use crate::problem::Problem;
use crate::render::yaml_key;

/// One step on the way to a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The value of a key.
    Key(String),
    /// An item of a list, from 0.
    Index(usize),
    /// A new item at the end of a list.
    Append,
}

/// The text as plain JSON, right or wrong as a job.
///
/// # Errors
/// The text is neither JSON nor YAML.
pub fn value(text: &str) -> Result<Json, Vec<Problem>> {
    let document = Document::read(text).map_err(|problem| vec![problem])?;
    Ok(document.root.to_json())
}

/// The keys of an object in the order of the text, which plain JSON does not keep; none where
/// there is no object.
#[must_use]
pub fn keys(text: &str, path: &[Step]) -> Vec<String> {
    let Ok(document) = Document::read(text) else { return Vec::new() };
    let place = find(&document.root, path);
    match &place.last().value {
        Value::Map(entries) if place.complete => {
            let mut keys: Vec<String> = Vec::new();
            for entry in entries {
                if !keys.contains(&entry.key) {
                    keys.push(entry.key.clone());
                }
            }
            keys
        }
        Value::Map(_)
        | Value::List(_)
        | Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Text(_) => Vec::new(),
    }
}

/// Sets one value. What is missing on the way is made.
///
/// # Errors
/// The text cannot be read, the way leads through something that is no list or object, or the
/// place is written in a form that cannot be changed alone (an alias, say).
pub fn set(text: &str, path: &[Step], value: &Json) -> Result<String, Vec<Problem>> {
    change(text, path, Some(value))
}

/// Takes one value out, with its key. What is not there is left so.
///
/// # Errors
/// As [`set`].
pub fn remove(text: &str, path: &[Step]) -> Result<String, Vec<Problem>> {
    change(text, path, None)
}

/// Gives the value at a path another key, where it stands.
///
/// # Errors
/// As [`set`]; also where there is no such value, or another one has that key.
pub fn rename(text: &str, path: &[Step], key: &str) -> Result<String, Vec<Problem>> {
    let document = Document::read(text).map_err(|problem| vec![problem])?;
    let place = find(&document.root, path);
    let mut expected = document.root.to_json();
    let edits = new_key(document.text, &place, key);
    let edits = edits.filter(|_| place::rename(&mut expected, path, key));
    made(text, &document, edits, &expected).ok_or_else(|| vec![refused(&document, &place)])
}

fn change(text: &str, path: &[Step], value: Option<&Json>) -> Result<String, Vec<Problem>> {
    let document = Document::read(text).map_err(|problem| vec![problem])?;
    let place = find(&document.root, path);
    let mut expected = document.root.to_json();
    let edits = edits(&document, path, &place, value);
    let edits = edits.filter(|_| place::change(&mut expected, path, value));
    made(text, &document, edits, &expected).ok_or_else(|| vec![refused(&document, &place)])
}

/// The text after its edits. Whatever the notation made difficult: it says exactly what is expected,
/// or nothing is changed at all.
fn made(
    text: &str,
    document: &Document<'_>,
    edits: Option<Vec<Edit>>,
    expected: &Json,
) -> Option<String> {
    let mark = &text[..text.len() - without_bom(text).len()];
    let edited = format!("{mark}{}", apply(document.text, edits?));
    value(&edited).is_ok_and(|found| found == *expected).then_some(edited)
}

/// Writes another key in the place of a value's own.
fn new_key(text: &str, place: &Place<'_>, key: &str) -> Option<Vec<Edit>> {
    let (holder, position) = place.holder().filter(|_| place.complete)?;
    let Value::Map(entries) = &holder.value else { return None };
    let is_taken = entries.iter().any(|entry| entry.key == key);
    if is_taken || place.nodes[..place.nodes.len() - 1].iter().any(|node| node.alias) {
        return None;
    }
    let Entry { key_start: start, key_end: end, .. } = *entries.get(position)?;
    let end = start + text.get(start..end)?.trim_end().len();
    // Inside brackets everything is written as in JSON.
    let written = if holder.flow { Json::from(key).to_string() } else { yaml_key(key) };
    Some(vec![Edit::replace(start, end, written)])
}

fn edits(
    document: &Document<'_>,
    path: &[Step],
    place: &Place<'_>,
    value: Option<&Json>,
) -> Option<Vec<Edit>> {
    match (document.syntax, value) {
        (Syntax::Json, Some(value)) => json::set(document.text, path, place, value),
        (Syntax::Json, None) => Some(json::remove(document.text, place)),
        (Syntax::Yaml, Some(value)) => yaml::set(document.text, path, place, value),
        (Syntax::Yaml, None) => yaml::remove(document.text, place),
    }
}

fn refused(document: &Document<'_>, place: &Place<'_>) -> Problem {
    let (line, column) = Lines::new(document.text).position(place.last().start);
    Problem {
        path: String::new(),
        line,
        column,
        message: "this part of the text cannot be changed by itself".to_owned(),
        allowed: "change it in the text".to_owned(),
    }
}

/// A part of the text and what comes in its place.
struct Edit {
    start: usize,
    end: usize,
    text: String,
}

impl Edit {
    fn replace(start: usize, end: usize, text: impl Into<String>) -> Self {
        Self { start, end, text: text.into() }
    }

    fn insert(at: usize, text: impl Into<String>) -> Self {
        Self::replace(at, at, text)
    }
}

fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| edit.start);
    let mut edited = String::with_capacity(text.len() + 64);
    let mut last = 0;
    for Edit { start, end, text: new } in edits {
        edited.push_str(text.get(last..start).unwrap_or_default());
        edited.push_str(&new);
        last = end.max(last);
    }
    edited.push_str(text.get(last..).unwrap_or_default());
    edited
}

/// The start of the line that holds a byte.
fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

/// The end of the line that holds a byte, its break not included.
fn line_end(text: &str, at: usize) -> usize {
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    if text[..end].ends_with('\r') && end > at { end - 1 } else { end }
}

/// How far a byte is from the start of its line.
fn column(text: &str, at: usize) -> usize {
    text[line_start(text, at)..at].chars().count()
}

#[cfg(test)]
mod tests;
