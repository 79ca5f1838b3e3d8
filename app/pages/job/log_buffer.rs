//! The lines of a log as they arrive in pieces.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::pages::job::ansi::{Meaning, Reader, Span, Style};

/// So many lines are shown; the download has all of them.
const KEPT: usize = 5000;

/// A line as shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// Counted from the first line that was read, from 1.
    pub(crate) number: u64,
    /// How often it has changed; number and revision together name one look of a line.
    pub(crate) revision: u32,
    pub(crate) spans: Arc<Vec<Span>>,
}

/// The end of a log.
#[derive(Debug, Clone, Default)]
pub(crate) struct LogBuffer {
    lines: VecDeque<Line>,
    open: Vec<(char, Style)>,
    column: usize,
    revision: u32,
    closed: u64,
    reader: Reader,
}

impl LogBuffer {
    /// Adds what arrived.
    pub(crate) fn push(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        for next in text.chars() {
            match self.reader.read(next) {
                Meaning::Shown(shown, style) => self.put(shown, style),
                Meaning::LineEnd => self.end_line(),
                Meaning::LineStart => self.column = 0,
                Meaning::Nothing => {}
            }
        }
        self.revision += 1;
    }

    /// The lines, the unfinished one last.
    pub(crate) fn lines(&self) -> Vec<Line> {
        let open = (!self.open.is_empty()).then(|| Line {
            number: self.closed + 1,
            revision: self.revision,
            spans: Arc::new(spans(&self.open)),
        });
        self.lines.iter().cloned().chain(open).collect()
    }

    /// Lines so far.
    pub(crate) fn count(&self) -> u64 {
        self.closed + u64::from(!self.open.is_empty())
    }

    /// Whether lines at the beginning are no longer kept.
    pub(crate) fn is_cut(&self) -> bool {
        self.closed > self.lines.len() as u64
    }

    /// A carriage return overwrites what stands there, as progress bars want it.
    fn put(&mut self, shown: char, style: Style) {
        if let Some(place) = self.open.get_mut(self.column) {
            *place = (shown, style);
        } else {
            self.open.push((shown, style));
        }
        self.column += 1;
    }

    fn end_line(&mut self) {
        self.closed += 1;
        let spans = Arc::new(spans(&self.open));
        self.lines.push_back(Line { number: self.closed, revision: 0, spans });
        if self.lines.len() > KEPT {
            self.lines.pop_front();
        }
        self.open.clear();
        self.column = 0;
    }
}

/// Neighbours of one style together.
fn spans(characters: &[(char, Style)]) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for (shown, style) in characters {
        match spans.last_mut() {
            Some(last) if last.style == *style => last.text.push(*shown),
            Some(_) | None => spans.push(Span { style: *style, text: shown.to_string() }),
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(buffer: &LogBuffer) -> Vec<String> {
        let line = |line: Line| line.spans.iter().map(|span| span.text.as_str()).collect();
        buffer.lines().into_iter().map(line).collect()
    }

    fn read(pieces: &[&str]) -> LogBuffer {
        let mut buffer = LogBuffer::default();
        for piece in pieces {
            buffer.push(piece);
        }
        buffer
    }

    #[test]
    fn pieces_join_into_lines() {
        assert_eq!(texts(&read(&["one\ntw", "o\n", "three"])), ["one", "two", "three"]);
        assert_eq!(texts(&read(&["one\r\ntwo\n"])), ["one", "two"]);
    }

    #[test]
    fn a_progress_bar_stays_one_line() {
        assert_eq!(texts(&read(&["10%\r50%\r", "100%\n"])), ["100%"]);
    }

    #[test]
    fn colours_split_a_line() {
        let buffer = read(&["a\u{1b}[3", "1mb\u{1b}[0m\n"]);
        let lines = buffer.lines();
        assert_eq!(lines[0].spans.len(), 2);
    }

    #[test]
    fn an_unfinished_line_changes_its_revision() {
        let mut buffer = read(&["a"]);
        let before = buffer.lines()[0].revision;
        buffer.push("b");
        assert_ne!(buffer.lines()[0].revision, before);
    }

    #[test]
    fn a_long_log_keeps_its_end() {
        let buffer = read(&["x\n".repeat(KEPT + 3).as_str()]);
        assert_eq!(buffer.lines().len(), KEPT);
        assert_eq!(buffer.lines()[0].number, 4);
        assert!(buffer.is_cut());
    }
}
