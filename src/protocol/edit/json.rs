//! Changes in JSON, and in the bracketed parts of YAML.

use serde_json::Value as Json;

use super::place::{Place, wrap};
use super::{Edit, Step, column, line_end, line_start};
use crate::document::{Node, Value};
use crate::render::json_value;

pub(super) fn set(text: &str, path: &[Step], place: &Place<'_>, value: &Json) -> Option<Vec<Edit>> {
    let node = place.last();
    let indent = indent_of(text, node.start);
    if place.complete {
        return Some(vec![Edit::replace(node.start, node.end, pretty(value, &indent))]);
    }
    let (step, rest) = path[place.taken..].split_first()?;
    let value = wrap(rest, value)?;
    let spans: Vec<(usize, usize)> = match (&node.value, step) {
        (Value::Null, _) => {
            let value = wrap(std::slice::from_ref(step), &value)?;
            return Some(vec![Edit::replace(node.start, node.end, pretty(&value, &indent))]);
        }
        (Value::Map(entries), Step::Key(_)) => {
            entries.iter().map(|entry| (entry.key_start, entry.node.end)).collect()
        }
        (Value::List(items), Step::Append) => spans(items),
        (Value::List(items), Step::Index(index)) if *index == items.len() => spans(items),
        _ => return None,
    };
    let key = match step {
        Step::Key(key) => format!("{}: ", Json::from(key.as_str())),
        Step::Index(_) | Step::Append => String::new(),
    };
    Some(insert(text, node, &spans, |indent| format!("{key}{}", pretty(&value, indent))))
}

fn spans(items: &[Node]) -> Vec<(usize, usize)> {
    items.iter().map(|item| (item.start, item.end)).collect()
}

/// Puts a new part at the end of a list or object, in the manner of the parts before it.
fn insert(
    text: &str,
    node: &Node,
    spans: &[(usize, usize)],
    part: impl Fn(&str) -> String,
) -> Vec<Edit> {
    let close = node.end - 1;
    let outer = indent_of(text, node.start);
    let Some((first, _)) = spans.first() else {
        let inner = format!("{outer}  ");
        let kept = node.start + 1 + text[node.start + 1..close].trim_end().len();
        let part = format!("\n{inner}{}\n{outer}", part(&inner));
        return vec![Edit::replace(kept, close, part)];
    };
    let last = spans[spans.len() - 1].1;
    let multiline = text[node.start..close].contains('\n');
    if !multiline {
        let comma = if has_comma(&text[last..close]) { " " } else { ", " };
        return vec![Edit::insert(last + text[last..close].trim_end().len(), {
            format!("{comma}{}", part(&outer))
        })];
    }
    let line = line_start(text, *first);
    let own_line = text[line..*first].trim().is_empty();
    let inner = if own_line { text[line..*first].to_owned() } else { format!("{outer}  ") };
    let kept = last + text[last..close].trim_end().len();
    let mut edits = Vec::new();
    if !has_comma(&text[last..close]) {
        edits.push(Edit::insert(last, ","));
    }
    edits.push(Edit::insert(kept, format!("\n{inner}{}", part(&inner))));
    edits
}

/// Whether there is a comma outside of comments.
fn has_comma(text: &str) -> bool {
    comma(text).is_some()
}

fn comma(text: &str) -> Option<usize> {
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("//") || rest.starts_with('#') {
            at += rest.find('\n')?;
        } else if rest.starts_with("/*") {
            at += rest.find("*/")? + 2;
        } else if rest.starts_with(',') {
            return Some(at);
        } else {
            at += rest.chars().next()?.len_utf8();
        }
    }
    None
}

pub(super) fn remove(text: &str, place: &Place<'_>) -> Vec<Edit> {
    let Some((holder, position)) = place.holder().filter(|_| place.complete) else {
        return Vec::new();
    };
    let spans = match &holder.value {
        Value::Map(entries) => entries.iter().map(|e| (e.key_start, e.node.end)).collect(),
        Value::List(items) => spans(items),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => return Vec::new(),
    };
    let (start, end) = spans[position];
    let mut edits = Vec::new();
    let next = spans.get(position + 1).map_or(holder.end - 1, |(start, _)| *start);
    let (mut start, mut end) = (start, end);
    if let Some(comma) = comma(&text[end..next]) {
        end += comma + 1;
    } else if let Some(before) = position.checked_sub(1).map(|before| spans[before].1) {
        // The last part goes, and with it the comma that led to it.
        if let Some(at) = comma(&text[before..start]).map(|at| before + at) {
            edits.push(Edit::replace(at, at + 1, ""));
            if text[at + 1..start].bytes().all(|byte| byte == b' ') {
                start = at + 1;
            }
        }
    }
    let line = line_start(text, start);
    if text[line..start].trim().is_empty() && text[end..line_end(text, end)].trim().is_empty() {
        start = line;
        end = (line_end(text, end) + 1).min(text.len());
        if text[..end].ends_with('\r') {
            end = (end + 1).min(text.len());
        }
        // The closing bracket keeps the line that it had.
        end = end.min(next.max(start));
    } else if text[end..].starts_with(' ') && position + 1 < spans.len() {
        end += 1;
    }
    edits.push(Edit::replace(start, end, ""));
    edits
}

/// The white space at the start of a line.
fn indent_of(text: &str, at: usize) -> String {
    let line = &text[line_start(text, at)..];
    line.chars().take(column(text, at)).take_while(|c| matches!(c, ' ' | '\t')).collect()
}

/// JSON over several lines, those after the first indented.
fn pretty(value: &Json, indent: &str) -> String {
    json_value(value).replace('\n', &format!("\n{indent}"))
}
