//! Which lines of a log have what is looked for, block by block. A line that goes on in further blocks
//! is put together, as far as that is seen and there is room for it.

use std::borrow::Cow;

use regex::bytes::Regex;
use storage::{BlockText, LogBlock};

/// So many bytes of a line over several blocks are looked at together.
const TOGETHER: usize = 1024 * 1024;
/// Of a longer line so many are looked at again with what follows: nothing longer is found where one
/// part of it ends.
const AGAIN: usize = 64 * 1024;

const ESCAPE: u8 = 0x1b;

/// What is looked for, and where in the log that is.
pub(super) struct Matching {
    pattern: Regex,
    /// The line that goes on in the next block.
    begun: Option<Begun>,
    /// Where the last block ended, and where the log does.
    offset: u64,
    end: u64,
}

/// A line as far as it was read.
struct Begun {
    /// Its number, from 1.
    number: u64,
    /// The end of it that was not looked at yet, or is to be again.
    text: Vec<u8>,
    /// Whether what is seen of it has what is looked for.
    found: bool,
}

impl Matching {
    /// Looks through a log of so many bytes.
    pub(super) fn new(pattern: Regex, end: u64) -> Self {
        Self { pattern, begun: None, offset: 0, end }
    }

    /// Numbers, from 1, of the lines that have it and of which the end is known with this block, the
    /// next one of the log.
    pub(super) fn lines(&mut self, block: &LogBlock, content: &BlockText) -> Vec<u64> {
        let mut lines = Vec::new();
        let head = &content.text[..(block.head as usize).min(content.text.len())];
        if block.offset != self.offset || head.is_empty() {
            lines.extend(self.finish());
        }
        self.offset = block.end_offset();
        if !head.is_empty() {
            lines.extend(self.add(block.line, head));
        }
        for (number, line) in (block.line + 1..).zip(content.lines(block)) {
            lines.extend(self.add(number, line));
        }
        if self.offset == self.end {
            lines.extend(self.finish());
        }
        lines
    }

    /// A piece of a line; its number, if the line ends with it and has what is looked for.
    fn add(&mut self, number: u64, piece: &[u8]) -> Option<u64> {
        let ends = piece.ends_with(b"\n");
        if ends && self.begun.is_none() {
            return self.pattern.is_match(&visible(piece)).then_some(number);
        }
        let new = || Begun { number, text: Vec::new(), found: false };
        self.begun.get_or_insert_with(new).add(piece, &self.pattern);
        if ends { self.finish() } else { None }
    }

    fn finish(&mut self) -> Option<u64> {
        let begun = self.begun.take()?;
        (begun.found || self.pattern.is_match(&visible(&begun.text))).then_some(begun.number)
    }
}

impl Begun {
    fn add(&mut self, piece: &[u8], pattern: &Regex) {
        // A carriage return at the end may be part of the end of the line.
        let settled = self.text.len().saturating_sub(1);
        self.text.extend_from_slice(piece);
        let fresh = &without_end(&self.text)[settled..];
        let overwritten = fresh.iter().rposition(|byte| *byte == b'\r');
        if let Some(at) = overwritten {
            self.text.drain(..=settled + at);
            self.found = false;
        }
        if self.text.len() > TOGETHER {
            self.found |= pattern.is_match(&visible(&self.text));
            self.text.drain(..self.text.len() - AGAIN);
        }
    }
}

/// What is seen of a line: without its end, without what a carriage return has overwritten, without
/// colours.
fn visible(line: &[u8]) -> Cow<'_, [u8]> {
    let line = without_end(line);
    let line = match line.iter().rposition(|byte| *byte == b'\r') {
        Some(at) => &line[at + 1..],
        None => line,
    };
    if line.contains(&ESCAPE) { Cow::from(without_escapes(line)) } else { Cow::from(line) }
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn without_escapes(line: &[u8]) -> Vec<u8> {
    let mut seen = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.iter().position(|byte| *byte == ESCAPE) {
        seen.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(after) = rest.strip_prefix(b"[") else { continue };
        let end = after.iter().position(|byte| (0x40..=0x7e).contains(byte));
        rest = end.map_or(&[], |end| &after[end + 1..]);
    }
    seen.extend_from_slice(rest);
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_an_end_takes_bounded_memory() {
        let pattern = Regex::new("needle").unwrap();
        let mut line = Begun { number: 1, text: Vec::new(), found: false };
        let mut add = |piece: &str| {
            line.add(piece.as_bytes(), &pattern);
            (line.text.len(), line.found)
        };
        let much = "x".repeat(TOGETHER);
        assert_eq!(add(&much), (TOGETHER, false));
        assert_eq!(add("nee"), (AGAIN, false));
        assert_eq!(add("dle"), (AGAIN + 3, false), "it is found with what follows");
        assert_eq!(add(&much), (AGAIN, true));
        assert_eq!(add(&much), (AGAIN, true));
        assert_eq!(add("\rover"), (4, false), "nothing of it is seen any more");
        assert_eq!(line.text, b"over");
    }
}
