//! YAML in block style, as people write it.

use super::tree::Tree;
use crate::document::is_plain_text;

pub(super) fn write(tree: &Tree) -> String {
    let mut text = String::new();
    match tree {
        Tree::Map(entries) if !entries.is_empty() => map(entries, 0, &mut text),
        Tree::Null
        | Tree::Bool(_)
        | Tree::Number(_)
        | Tree::Text(_)
        | Tree::List(_)
        | Tree::Map(_) => value(tree, 0, &mut text),
    }
    text
}

fn map(entries: &[(String, Tree)], indent: usize, text: &mut String) {
    for (key, item) in entries {
        text.push_str(&" ".repeat(indent));
        text.push_str(&line(key));
        text.push(':');
        value(item, indent, text);
    }
}

/// What follows `key:` or `-`, line break included.
pub(super) fn value(tree: &Tree, indent: usize, text: &mut String) {
    match tree {
        Tree::Null => text.push_str(" null\n"),
        Tree::Bool(flag) => text.push_str(if *flag { " true\n" } else { " false\n" }),
        Tree::Number(number) => push_line(number, text),
        Tree::Text(value) if is_block(value) => block(value, indent + 2, text),
        Tree::Text(value) => push_line(&line(value), text),
        Tree::List(items) if items.is_empty() => text.push_str(" []\n"),
        Tree::Map(entries) if entries.is_empty() => text.push_str(" {}\n"),
        Tree::List(items) => {
            text.push('\n');
            list(items, indent + 2, text);
        }
        Tree::Map(entries) => {
            text.push('\n');
            map(entries, indent + 2, text);
        }
    }
}

fn push_line(value: &str, text: &mut String) {
    text.push(' ');
    text.push_str(value);
    text.push('\n');
}

pub(super) fn list(items: &[Tree], indent: usize, text: &mut String) {
    for item in items {
        text.push_str(&" ".repeat(indent));
        text.push('-');
        match item {
            Tree::Map(entries) if !entries.is_empty() => {
                // The first key stands on the line of the dash.
                let mut inner = String::new();
                map(entries, indent + 2, &mut inner);
                text.push(' ');
                text.push_str(inner.trim_start_matches(' '));
            }
            Tree::Null
            | Tree::Bool(_)
            | Tree::Number(_)
            | Tree::Text(_)
            | Tree::List(_)
            | Tree::Map(_) => value(item, indent, text),
        }
    }
}

/// Several lines that can stand as they are.
fn is_block(text: &str) -> bool {
    let blank = |line: &str| !line.is_empty() && line.trim().is_empty();
    text.contains('\n')
        && text.trim() == text
        && !text.chars().any(|c| c != '\n' && c != '\t' && needs_escape(c))
        && !text.split('\n').any(blank)
}

fn block(value: &str, indent: usize, text: &mut String) {
    text.push_str(" |-\n");
    for line in value.split('\n') {
        if !line.is_empty() {
            text.push_str(&" ".repeat(indent));
            text.push_str(line);
        }
        text.push('\n');
    }
}

/// A text on one line, in quotation marks where it would mean something else without them.
pub(super) fn line(text: &str) -> String {
    if is_bare(text) { text.to_owned() } else { quoted(text) }
}

fn is_bare(text: &str) -> bool {
    let first = |c: char| c.is_alphanumeric() || matches!(c, '/' | '$' | '_' | '.' | '<');
    // Words that other readers of YAML take for flags.
    let flags = ["y", "n", "yes", "no", "on", "off"];
    text.starts_with(first)
        && !text.starts_with("...")
        && !text.ends_with([':', ' '])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.chars().any(|c| needs_escape(c) || c == '\t')
        && !flags.contains(&text.to_ascii_lowercase().as_str())
        && is_plain_text(text)
}

fn needs_escape(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if needs_escape(c) => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
