//! YAML 1.2, one document, core schema. Aliases are followed within a budget, so that a small text
//! cannot become a huge tree.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span, Tag};

use super::{Entry, Fault, MAX_DEPTH, Node, Value};

/// What copies made by aliases may cost together, in bytes.
const ALIAS_BUDGET: usize = 1 << 20;

pub(super) fn read(text: &str) -> Result<Node, Fault> {
    let mut builder = Builder {
        places: Places::new(text),
        text,
        seen: 0,
        open: Vec::new(),
        root: None,
        anchors: HashMap::new(),
        budget: ALIAS_BUDGET,
    };
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| {
            let at = builder.places.byte(error.marker().index());
            Fault::new(at, format!("this is not YAML: {}", error.info()), "YAML 1.2")
        })?;
        builder.take(event, span)?;
    }
    builder.root.ok_or_else(|| Fault::new(0, "the file is empty", "a job in JSON or YAML"))
}

/// The parser counts characters, the tree counts bytes.
struct Places {
    bytes: Option<Vec<usize>>,
    length: usize,
}

impl Places {
    fn new(text: &str) -> Self {
        let bytes = (!text.is_ascii()).then(|| text.char_indices().map(|(at, _)| at).collect());
        Self { bytes, length: text.len() }
    }

    fn byte(&self, index: usize) -> usize {
        match &self.bytes {
            None => index.min(self.length),
            Some(bytes) => bytes.get(index).copied().unwrap_or(self.length),
        }
    }
}

/// A list or an object that is still being read.
struct Open {
    start: usize,
    flow: bool,
    anchor: usize,
    content: Content,
}

enum Content {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, key: Option<Key> },
}

struct Key {
    text: String,
    start: usize,
    end: usize,
}

struct Builder<'t> {
    places: Places,
    text: &'t str,
    /// Up to here the text has been taken into the tree.
    seen: usize,
    open: Vec<Open>,
    root: Option<Node>,
    anchors: HashMap<usize, (Node, usize)>,
    budget: usize,
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Fault> {
        let (start, end) =
            (self.places.byte(span.start.index()), self.places.byte(span.end.index()));
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) if self.root.is_some() => {
                Err(Fault::new(start, "a second document begins here", "one document a file"))
            }
            Event::DocumentStart(_) => Ok(()),
            Event::Alias(anchor) => self.alias(anchor, start, end),
            Event::Scalar(text, style, anchor, tag) => {
                let value = scalar(&text, style, tag.as_deref(), start)?;
                if self.key_is_next() {
                    self.key(&text, start, end);
                    return Ok(());
                }
                self.enter(start);
                let empty = style == ScalarStyle::Plain && text.is_empty();
                let (start, end) = match empty {
                    true => (self.seen, self.seen),
                    false => self.scalar_span(style, start, end),
                };
                let node = Node { value, start, end, alias: false, flow: true };
                self.add(node, anchor)
            }
            Event::SequenceStart(anchor, tag) => {
                self.begin(start, anchor, tag.as_deref(), Content::List(Vec::new()))
            }
            Event::MappingStart(anchor, tag) => {
                let content = Content::Map { entries: Vec::new(), key: None };
                self.begin(start, anchor, tag.as_deref(), content)
            }
            Event::SequenceEnd | Event::MappingEnd => self.finish(end),
        }
    }

    fn key_is_next(&self) -> bool {
        matches!(self.open.last(), Some(Open { content: Content::Map { key: None, .. }, .. }))
    }

    fn key(&mut self, text: &str, start: usize, end: usize) {
        self.seen = end;
        if let Some(Open { content: Content::Map { key, .. }, .. }) = self.open.last_mut() {
            *key = Some(Key { text: text.to_owned(), start, end });
        }
    }

    /// Goes past the `:` or the `-` before a value; the parser puts an empty one about there.
    fn enter(&mut self, start: usize) {
        let Some(open) = self.open.last_mut() else { return };
        let mark = match open.content {
            Content::Map { .. } => b':',
            Content::List(_) if open.flow => return,
            Content::List(_) => b'-',
        };
        let Some(at) = find(self.text, self.seen, start + 2, &[mark]) else { return };
        self.seen = at + 1;
        if let Content::List(items) = &open.content
            && items.is_empty()
        {
            open.start = at;
        }
    }

    /// Where a scalar really stands: the parser begins a block after its `|`. The empty one, which it
    /// puts somewhere behind its key, stands where the text was taken up to.
    fn scalar_span(&self, style: ScalarStyle, start: usize, end: usize) -> (usize, usize) {
        if matches!(style, ScalarStyle::Literal | ScalarStyle::Folded) {
            let header = find(self.text, self.seen, start, b"|>");
            return (header.unwrap_or(start), end);
        }
        // An anchor or a tag before the value stays when the value is replaced.
        let mut start = start;
        while let Some(rest) = self.text.get(start..end).filter(|rest| rest.starts_with(['&', '!']))
        {
            let Some(space) = rest.find(char::is_whitespace) else { break };
            start = end - rest[space..].trim_start().len();
        }
        (start, end)
    }

    fn alias(&mut self, anchor: usize, start: usize, end: usize) -> Result<(), Fault> {
        let Some((node, cost)) = self.anchors.get(&anchor) else {
            return Err(Fault::new(start, "this alias stands inside what it names", "no cycles"));
        };
        if self.key_is_next() {
            return Err(Fault::new(start, "a key cannot be an alias", "a text as key"));
        }
        let levels = self.open.len() + depth(node);
        if levels > MAX_DEPTH {
            return Err(Fault::new(
                start,
                "lists and objects are nested too deeply",
                "at most 64 levels",
            ));
        }
        let cost = *cost;
        let node = Node { start, end, alias: true, ..node.clone() };
        self.enter(start);
        self.spend(cost, start)?;
        self.add(node, 0)
    }

    fn spend(&mut self, cost: usize, at: usize) -> Result<(), Fault> {
        self.budget = self.budget.checked_sub(cost).ok_or_else(|| {
            Fault::new(at, "the aliases make this file too large", "1 MiB of copies in all")
        })?;
        Ok(())
    }

    fn begin(
        &mut self,
        start: usize,
        anchor: usize,
        tag: Option<&Tag>,
        content: Content,
    ) -> Result<(), Fault> {
        let (expected, bracket) = match content {
            Content::List(_) => ("seq", b'['),
            Content::Map { .. } => ("map", b'{'),
        };
        if tag.is_some_and(|tag| !tag.is_yaml_core_schema() || tag.suffix != expected) {
            return Err(unknown_tag(start));
        }
        if self.key_is_next() {
            return Err(Fault::new(start, "a key cannot be a list or an object", "a text as key"));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(Fault::new(
                start,
                "lists and objects are nested too deeply",
                "at most 64 levels",
            ));
        }
        self.enter(start);
        let inside = self.open.last().is_some_and(|open| open.flow);
        let dash = find(self.text, self.seen, start, b"-").is_some();
        let own = self.text.as_bytes().get(start) == Some(&bracket) && !dash;
        if own {
            self.seen = start + 1;
        }
        self.open.push(Open { start, flow: own || inside, anchor, content });
        Ok(())
    }

    fn finish(&mut self, end: usize) -> Result<(), Fault> {
        let Some(Open { start, flow, anchor, content }) = self.open.pop() else { return Ok(()) };
        let (value, last) = match content {
            Content::List(items) => {
                let last = items.last().map(|item| item.end);
                (Value::List(items), last)
            }
            Content::Map { entries, .. } => {
                let last = entries.last().map(|entry| entry.node.end);
                (Value::Map(entries), last)
            }
        };
        // A block ends where its last value ends; only brackets have an end of their own.
        let end = if flow { end } else { last.unwrap_or(start) };
        self.add(Node { value, start, end, alias: false, flow }, anchor)
    }

    fn add(&mut self, node: Node, anchor: usize) -> Result<(), Fault> {
        self.seen = self.seen.max(node.end);
        if anchor > 0 {
            let cost = cost(&node);
            self.spend(cost, node.start)?;
            self.anchors.insert(anchor, (node.clone(), cost));
        }
        match self.open.last_mut().map(|open| &mut open.content) {
            None => self.root = Some(node),
            Some(Content::List(items)) => items.push(node),
            Some(Content::Map { entries, key }) => {
                if let Some(Key { text, start, end }) = key.take() {
                    entries.push(Entry { key: text, key_start: start, key_end: end, node });
                }
            }
        }
        Ok(())
    }
}

/// The first of some marks between two places, comments left out; a dash must have white space after
/// it.
fn find(text: &str, from: usize, to: usize, marks: &[u8]) -> Option<usize> {
    let bytes = &text.as_bytes()[..to.min(text.len())];
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        let spaced = at == 0 || bytes[at - 1].is_ascii_whitespace();
        if byte == b'#' && spaced {
            at += bytes[at..].iter().position(|b| matches!(b, b'\n' | b'\r'))?;
            continue;
        }
        let whole = byte != b'-' || text.as_bytes().get(at + 1).is_none_or(u8::is_ascii_whitespace);
        if marks.contains(&byte) && whole {
            return Some(at);
        }
        at += 1;
    }
    None
}

fn cost(node: &Node) -> usize {
    let own = size_of::<Node>();
    own + match &node.value {
        Value::Null | Value::Bool(_) => 0,
        Value::Number(text) | Value::Text(text) => text.len(),
        Value::List(items) => items.iter().map(cost).sum(),
        Value::Map(entries) => entries.iter().map(|e| e.key.len() + cost(&e.node)).sum(),
    }
}

fn depth(node: &Node) -> usize {
    match &node.value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => 0,
        Value::List(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Map(entries) => 1 + entries.iter().map(|e| depth(&e.node)).max().unwrap_or(0),
    }
}

fn unknown_tag(at: usize) -> Fault {
    Fault::new(at, "this tag is not known", "!!str, !!int, !!float, !!bool, !!null, !!seq, !!map")
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>, at: usize) -> Result<Value, Fault> {
    if let Some(tag) = tag {
        if !tag.is_yaml_core_schema() {
            return Err(unknown_tag(at));
        }
        return match (tag.suffix.as_str(), plain(text)) {
            ("str", _) => Ok(Value::Text(text.to_owned())),
            ("int" | "float", Value::Number(number)) => Ok(Value::Number(number)),
            ("bool", Value::Bool(flag)) => Ok(Value::Bool(flag)),
            ("null", Value::Null) => Ok(Value::Null),
            _ => Err(unknown_tag(at)),
        };
    }
    Ok(if style == ScalarStyle::Plain { plain(text) } else { Value::Text(text.to_owned()) })
}

/// What an unquoted word means in the core schema of YAML 1.2.
pub(super) fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ if is_number(text) => Value::Number(text.to_owned()),
        _ => Value::Text(text.to_owned()),
    }
}

/// Whether an unquoted word is a number in the core schema of YAML 1.2.
fn is_number(text: &str) -> bool {
    let all =
        |digits: &str, ok: fn(&u8) -> bool| !digits.is_empty() && digits.bytes().all(|b| ok(&b));
    if let Some(hex) = text.strip_prefix("0x") {
        return all(hex, u8::is_ascii_hexdigit);
    }
    if let Some(octal) = text.strip_prefix("0o") {
        return all(octal, |b| (b'0'..=b'7').contains(b));
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && unsigned.contains(|c: char| c.is_ascii_digit())
        && unsigned
            .bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'))
        && unsigned.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &str, node: &Node, found: &mut Vec<String>) {
        found.push(text[node.start..node.end].trim_end().to_owned());
        match &node.value {
            Value::Map(entries) => entries.iter().for_each(|e| places(text, &e.node, found)),
            Value::List(items) => items.iter().for_each(|item| places(text, item, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => {}
        }
    }

    #[test]
    fn every_value_stands_where_it_is_written() {
        let text = "a: 1 # c\nb:\nc: |-\n  x\n  y\n\nd: > # folded | so\n   ed\ne: p\n  q # k\nf:\n\
                    - [1]\n-\n- - {s: 't'}\ng: &x pw\nh: *x\ni: !!str 5\nj:\n  k: # none\n";
        let node = read(text).ok().unwrap();
        let mut found = Vec::new();
        places(text, &node, &mut found);
        let expected = [
            "1",
            "",
            "|-\n  x\n  y",
            "> # folded | so\n   ed",
            "p\n  q",
            "- [1]\n-\n- - {s: 't'}",
            "[1]",
            "1",
            "",
            "- {s: 't'}",
            "{s: 't'}",
            "'t'",
            "pw",
            "*x",
            "5",
            "k:",
            "",
        ];
        assert_eq!(found[1..], expected);
    }
}
