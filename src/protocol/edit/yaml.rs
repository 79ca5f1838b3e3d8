//! Changes in YAML: blocks by lines, bracketed parts as in JSON.

use serde_json::Value as Json;

use super::place::{Place, wrap};
use super::{Edit, Step, column, json, line_end, line_start};
use crate::document::{Node, Value};
use crate::render::{yaml_item, yaml_key, yaml_value};

pub(super) fn set(text: &str, path: &[Step], place: &Place<'_>, value: &Json) -> Option<Vec<Edit>> {
    if place.nodes.iter().rev().skip(usize::from(place.complete)).any(|node| node.alias) {
        return None;
    }
    let node = place.last();
    // Inside brackets everything is written as in JSON.
    if bracketed(place) {
        return json::set(text, path, place, value);
    }
    if place.complete {
        return Some(replace(text, place, value));
    }
    let (step, rest) = path[place.taken..].split_first()?;
    let inner = wrap(rest, value)?;
    let empty = match &node.value {
        Value::Null => true,
        Value::Map(entries) => entries.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Text(_) => return None,
    };
    if empty {
        let whole = wrap(std::slice::from_ref(step), &inner)?;
        return Some(replace(text, place, &whole));
    }
    let indent = column(text, node.start);
    let (part, last) = match (&node.value, step) {
        (Value::Map(entries), Step::Key(key)) => {
            let last = entries.last()?;
            let part = format!("{}{}:", " ".repeat(indent), yaml_key(key));
            (part + &yaml_value(&inner, indent), last.node.end.max(last.key_end))
        }
        (Value::List(items), Step::Append) => (yaml_item(&inner, indent), items.last()?.end),
        (Value::List(items), Step::Index(index)) if *index == items.len() => {
            (yaml_item(&inner, indent), items.last()?.end)
        }
        _ => return None,
    };
    let after = line_end(text, trimmed(text, last));
    Some(vec![Edit::insert(after, format!("\n{}", part.trim_end_matches('\n')))])
}

/// The value, or what holds it, stands in brackets.
fn bracketed(place: &Place<'_>) -> bool {
    let node = place.last();
    let collection = |node: &Node| matches!(node.value, Value::List(_) | Value::Map(_));
    let filled = match &node.value {
        Value::List(items) => !items.is_empty(),
        Value::Map(entries) => !entries.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => false,
    };
    let held = place.nodes.iter().rev().skip(1).any(|node| collection(node) && node.flow);
    held || (!place.complete && filled && node.flow)
}

/// Byte after the last character that is not white space.
fn trimmed(text: &str, end: usize) -> usize {
    text[..end].trim_end().len()
}

/// Puts a value in the place of another. What follows on the line, a comment, stays on it.
fn replace(text: &str, place: &Place<'_>, value: &Json) -> Vec<Edit> {
    let node = place.last();
    let holder = place.holder().map(|(holder, _)| column(text, holder.start));
    let Some(indent) = holder else {
        let value = crate::render::yaml_document(value);
        return vec![Edit::replace(node.start, node.end, value)];
    };
    let end = trimmed(text, node.end).max(node.start);
    let written = yaml_value(value, indent);
    let (first, lines) = written.split_once('\n').unwrap_or((&written, ""));
    let lines = lines.trim_end_matches('\n');
    let start = trimmed(text, node.start);
    if lines.is_empty() {
        // A block on lines of its own gives way to one line behind the key.
        let block = matches!(node.value, Value::Map(_) | Value::List(_)) && !node.flow;
        let start = if block { start } else { node.start };
        let first = if start == node.start && text[..start].ends_with(' ') {
            first.trim_start()
        } else {
            first
        };
        return vec![Edit::replace(start, end, first)];
    }
    let rest_end = line_end(text, end);
    let rest = &text[end..rest_end];
    let block = matches!(node.value, Value::Map(_) | Value::List(_)) && !node.flow;
    if block && first.is_empty() {
        // The lines of the new block stand where those of the old one stood.
        let start = line_start(text, node.start);
        if start > 0 && text[start..node.start].trim().is_empty() {
            return vec![Edit::replace(start, end, lines)];
        }
    }
    let rest = rest.trim_end();
    vec![Edit::replace(start, rest_end, format!("{first}{rest}\n{lines}"))]
}

pub(super) fn remove(text: &str, place: &Place<'_>) -> Option<Vec<Edit>> {
    if !place.complete {
        return Some(Vec::new());
    }
    let (holder, position) = place.holder()?;
    if place.nodes[..place.nodes.len() - 1].iter().any(|node| node.alias) {
        return None;
    }
    if holder.flow {
        return Some(json::remove(text, place));
    }
    let (starts, empty): (Vec<usize>, &str) = match &holder.value {
        Value::Map(entries) => (entries.iter().map(|entry| entry.key_start).collect(), "{}"),
        Value::List(items) => (dashes(text, holder, items), "[]"),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => return None,
    };
    if starts.len() == 1 {
        return Some(vec![Edit::replace(holder.start, trimmed(text, holder.end), empty)]);
    }
    let start = *starts.get(position)?;
    let line = line_start(text, start);
    if !text[line..start].trim().is_empty() {
        // The first part stands behind the dash or key of what holds it: the next one moves there.
        return Some(vec![Edit::replace(start, *starts.get(position + 1)?, "")]);
    }
    let end = line_end(text, trimmed(text, place.last().end).max(start));
    let after = text[end..].find('\n').map_or(end, |at| end + at + 1);
    Some(vec![Edit::replace(line, after, "")])
}

/// Where the items' dashes are.
fn dashes(text: &str, list: &Node, items: &[Node]) -> Vec<usize> {
    let indent = column(text, list.start);
    let mut dashes = vec![list.start];
    for item in &items[..items.len() - 1] {
        let mut at = line_end(text, trimmed(text, item.end));
        // The next dash begins the next line that is indented so far and no further.
        while let Some(next) = text[at..].find('\n').map(|end| at + end + 1) {
            let dash = next + indent;
            let blank = text.get(next..dash).is_some_and(|part| part.trim().is_empty());
            if blank && text[dash..].starts_with('-') {
                dashes.push(dash);
                break;
            }
            at = next;
        }
    }
    dashes
}
