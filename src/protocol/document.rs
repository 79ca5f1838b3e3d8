//! A job file as a tree in which everything knows where it stands in the text, whichever of the
//! two notations it was written in.

mod json;
mod yaml;

use std::collections::HashSet;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// The longest text that is read, in bytes.
pub const MAX_TEXT: usize = 1 << 20;
/// How deep lists and objects may be nested.
pub const MAX_DEPTH: usize = 64;

/// So many repeated keys are told.
const MAX_DUPLICATES: usize = 1000;

/// How a text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Syntax {
    /// JSON, comments and trailing commas allowed.
    Json,
    /// YAML.
    Yaml,
}

impl Syntax {
    /// Tells the notation by the first character that is neither white space nor a comment: `{` is
    /// JSON, anything else YAML.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut rest = without_bom(text).trim_start();
        loop {
            let skipped = if let Some(comment) = rest.strip_prefix("//") {
                comment.find('\n').map(|end| &comment[end..])
            } else if let Some(comment) = rest.strip_prefix("/*") {
                comment.find("*/").map(|end| &comment[end + 2..])
            } else {
                return if rest.starts_with('{') { Self::Json } else { Self::Yaml };
            };
            rest = skipped.unwrap_or("").trim_start();
        }
    }
}

/// A value and its place, in bytes from the start of the text (without a byte order mark).
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// First byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    /// It stands for a value written elsewhere (`*name` in YAML).
    pub alias: bool,
    /// It stands on its own in brackets or quotes, or inside brackets: not a block of YAML.
    pub flow: bool,
}

/// What can be written in a job file.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as it was written.
    Number(String),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// An object; the entries in the order of the text, equal keys included.
    Map(Vec<Entry>),
}

/// A key with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// First byte of the key.
    pub key_start: usize,
    /// The byte after the key.
    pub key_end: usize,
    /// The value.
    pub node: Node,
}

/// A text that could be read as a tree.
#[derive(Debug, Clone)]
pub struct Document<'a> {
    /// The text without a byte order mark: what places in the tree refer to.
    pub text: &'a str,
    /// How it is written.
    pub syntax: Syntax,
    /// The tree.
    pub root: Node,
}

impl<'a> Document<'a> {
    /// Reads a text of either notation.
    ///
    /// # Errors
    /// The one mistake that keeps the text from being read further.
    pub fn read(text: &'a str) -> Result<Self, Problem> {
        let text = without_bom(text);
        let lines = Lines::new(text);
        check_text(text).map_err(|fault| lines.problem(fault))?;
        let syntax = Syntax::of(text);
        let root = match syntax {
            Syntax::Json => json::read(text),
            Syntax::Yaml => yaml::read(text),
        };
        let root = root.map_err(|fault| lines.problem(fault))?;
        Ok(Self { text, syntax, root })
    }

    /// Line and column, both from 1, of the value at a path such as `taskRoles[0].command`.
    #[must_use]
    pub fn position(&self, path: &str) -> Option<(u32, u32)> {
        let node = crate::references::follow(&self.root, path)?;
        Some(Lines::new(self.text).position(node.start))
    }

    /// Every key that an object has twice, at its second place; the first thousand of them.
    #[must_use]
    pub fn duplicate_keys(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        find_duplicates(&self.root, String::new(), &Lines::new(self.text), &mut problems);
        problems
    }
}

/// Whether an unquoted word of YAML is a text, not a number, a flag or nothing.
pub(crate) fn is_plain_text(text: &str) -> bool {
    matches!(yaml::plain(text), Value::Text(_))
}

/// What keeps a text from being read, at a byte of it.
pub(crate) struct Fault {
    at: usize,
    message: String,
    allowed: &'static str,
}

impl Fault {
    fn new(at: usize, message: impl Into<String>, allowed: &'static str) -> Self {
        Self { at, message: message.into(), allowed }
    }
}

/// Finds lines and columns.
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let ends = bytes.iter().enumerate().filter(|&(i, &byte)| {
            byte == b'\n' || (byte == b'\r' && bytes.get(i + 1) != Some(&b'\n'))
        });
        Self { text, starts: std::iter::once(0).chain(ends.map(|(i, _)| i + 1)).collect() }
    }

    /// Line and column of a byte, both from 1, the column in characters.
    pub(crate) fn position(&self, at: usize) -> (u32, u32) {
        let at = at.min(self.text.len());
        let line = self.starts.partition_point(|&start| start <= at);
        let start = self.starts[line - 1];
        let column = self.text.get(start..at).map_or(at - start, |part| part.chars().count());
        (clamp(line), clamp(column + 1))
    }

    fn problem(&self, fault: Fault) -> Problem {
        let (line, column) = self.position(fault.at);
        Problem {
            path: String::new(),
            line,
            column,
            message: fault.message,
            allowed: fault.allowed.to_owned(),
        }
    }
}

fn clamp(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The text without the mark that some editors put before it.
#[must_use]
pub fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Appends one step to a path: `.key`, or `["odd key"]`.
#[must_use]
pub fn join(path: &str, key: &str) -> String {
    let plain =
        !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$'));
    match (plain, path.is_empty()) {
        (true, true) => key.to_owned(),
        (true, false) => format!("{path}.{key}"),
        (false, _) => format!("{path}[{:?}]", shorten(key)),
    }
}

/// At most sixty characters of a text, for a message.
pub(crate) fn shorten(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn check_text(text: &str) -> Result<(), Fault> {
    if text.len() > MAX_TEXT {
        let message = format!("the file has {} bytes", text.len());
        return Err(Fault::new(0, message, "at most 1 MiB of text"));
    }
    let control = |c: char| c < ' ' && !matches!(c, '\t' | '\n' | '\r');
    if let Some(at) = text.find(control) {
        return Err(Fault::new(at, "a control character stands here", "text"));
    }
    Ok(())
}

fn find_duplicates(node: &Node, path: String, lines: &Lines<'_>, problems: &mut Vec<Problem>) {
    match &node.value {
        Value::Map(entries) => {
            let mut seen = HashSet::new();
            for Entry { key, key_start, node, .. } in entries {
                let path = join(&path, key);
                if !seen.insert(key) && problems.len() < MAX_DUPLICATES {
                    let message = format!("the key {:?} is given twice", shorten(key));
                    let fault = Fault::new(*key_start, message, "each key once");
                    problems.push(Problem { path: path.clone(), ..lines.problem(fault) });
                }
                find_duplicates(node, path, lines, problems);
            }
        }
        Value::List(items) => {
            for (i, item) in items.iter().enumerate() {
                let mut path = path.clone();
                let _infallible = write!(path, "[{i}]");
                find_duplicates(item, path, lines, problems);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => {}
    }
}

impl Node {
    /// The value of a key, when this is an object that has it; the first, should it be there twice.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|e| e.key == key).map(|e| &e.node),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::List(_) => {
                None
            }
        }
    }

    /// The tree as plain JSON, places forgotten. A number that JSON cannot say becomes a text.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match &self.value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Number(text) => number(text),
            Value::Text(text) => Json::String(text.clone()),
            Value::List(items) => Json::Array(items.iter().map(Node::to_json).collect()),
            Value::Map(entries) => {
                let mut map = serde_json::Map::new();
                for entry in entries {
                    map.entry(entry.key.clone()).or_insert_with(|| entry.node.to_json());
                }
                Json::Object(map)
            }
        }
    }
}

fn number(text: &str) -> serde_json::Value {
    use serde_json::Value as Json;
    if let Some(value) = integer(text) {
        return Json::from(value);
    }
    if let Ok(value) = text.parse::<u64>() {
        return Json::from(value);
    }
    let float = text.parse().ok().and_then(serde_json::Number::from_f64);
    float.map_or_else(|| Json::String(text.to_owned()), Json::Number)
}

/// A whole number as people write it: decimal with a sign, `0x…`, `0o…`.
pub(crate) fn integer(text: &str) -> Option<i64> {
    if let Some(hex) = text.strip_prefix("0x") {
        return i64::from_str_radix(hex, 16).ok();
    }
    if let Some(octal) = text.strip_prefix("0o") {
        return i64::from_str_radix(octal, 8).ok();
    }
    text.parse().ok()
}
