//! The lines of a log that are at hand, and where they stand in a log of any length.

use std::collections::BTreeMap;

use api::logs::{LeftOut, LogLine, LogWindow};

/// So many lines are held, those farthest from what is seen are let go.
const HELD: usize = 4_000;
/// So many lines around what is seen are read before they are needed.
const AHEAD: u64 = 60;

/// A row of what is seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    /// The line's number; 0: it is not known yet.
    pub(crate) number: u64,
    /// Tells rows apart that show different things.
    pub(crate) look: (u64, u64),
    /// The line; `None`: it is not here yet.
    pub(crate) line: Option<LogLine>,
}

/// The lines at hand.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lines {
    held: BTreeMap<u64, (u64, LogLine)>,
    /// The last lines, as long as their numbers are not known.
    end: Vec<LogLine>,
    changes: u64,
    pub(crate) total: u64,
    pub(crate) bytes: u64,
    pub(crate) complete: bool,
    /// Whether the log is lost, and no more of it comes.
    pub(crate) lost: bool,
    pub(crate) reading: bool,
    pub(crate) left_out: Option<LeftOut>,
    /// Whether its end is lost, though it was kept.
    pub(crate) torn: bool,
}

impl Lines {
    /// Takes lines over that were read. Answers can arrive in another order than they were asked for.
    pub(crate) fn take(&mut self, window: LogWindow) {
        self.changes += 1;
        let LogWindow { lines, total, bytes, complete, lost, reading, left_out, torn } = window;
        if bytes >= self.bytes {
            (self.total, self.bytes, self.left_out) = (total, bytes, left_out);
            self.reading = reading && (self.reading || self.held.is_empty());
        }
        self.complete |= complete;
        self.lost |= lost;
        self.torn |= torn > 0;
        self.end.clear();
        for line in lines {
            match line.number {
                0 => self.end.push(line),
                number => self.put(number, line),
            }
        }
    }

    fn put(&mut self, number: u64, line: LogLine) {
        match self.held.get_mut(&number) {
            // An unfinished line only grows.
            Some((_, before)) if before.text.len() > line.text.len() && !line.cut => {}
            Some((_, before)) if *before == line => {}
            Some(held) => *held = (self.changes, line),
            None => drop(self.held.insert(number, (self.changes, line))),
        }
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> u64 {
        match self.reading {
            true => self.end.len() as u64,
            false => self.total - self.left_out.map_or(0, |left_out| left_out.count),
        }
    }

    /// The number of the line in a row.
    pub(crate) fn number_at(&self, row: u64) -> u64 {
        match self.left_out {
            Some(left_out) if row + 1 >= left_out.first => row + 1 + left_out.count,
            Some(_) | None => row + 1,
        }
    }

    /// The row in which a line is, or would be.
    pub(crate) fn row_of(&self, number: u64) -> u64 {
        let row = match self.left_out {
            Some(left_out) if number >= left_out.first + left_out.count => number - left_out.count,
            Some(left_out) => number.min(left_out.first),
            None => number,
        };
        row.saturating_sub(1).min(self.rows().saturating_sub(1))
    }

    /// Some rows.
    pub(crate) fn shown(&self, from: u64, count: u64) -> Vec<Row> {
        let rows = from..(from + count).min(self.rows());
        if self.reading {
            let row = |row: u64| {
                let line = usize::try_from(row).ok().and_then(|row| self.end.get(row).cloned());
                Row { number: 0, look: (row, self.changes), line }
            };
            return rows.map(row).collect();
        }
        let row = |row: u64| {
            let number = self.number_at(row);
            let held = self.held.get(&number);
            let change = held.map_or(0, |(change, _)| *change);
            Row { number, look: (number, change), line: held.map(|(_, line)| line.clone()) }
        };
        rows.map(row).collect()
    }

    /// All rows that are here and follow each other, for a page without a script.
    pub(crate) fn all(&self) -> Vec<Row> {
        if self.reading {
            return self.shown(0, self.rows());
        }
        let Some(first) = self.held.keys().next() else { return Vec::new() };
        self.shown(self.row_of(*first), self.held.len() as u64)
    }

    /// The first line that is not here of those near some rows.
    pub(crate) fn missing(&self, from: u64, count: u64) -> Option<u64> {
        if self.reading {
            return None;
        }
        let near = from.saturating_sub(AHEAD)..(from + count + AHEAD).min(self.rows());
        near.map(|row| self.number_at(row)).find(|number| !self.held.contains_key(number))
    }

    /// Lets lines go that are far from a row.
    pub(crate) fn forget_far(&mut self, row: u64) {
        if self.held.len() <= HELD {
            return;
        }
        let half = HELD as u64 / 4;
        let near = self.number_at(row.saturating_sub(half))..=self.number_at(row + half);
        self.held.retain(|number, _| near.contains(number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(numbers: std::ops::RangeInclusive<u64>, total: u64) -> LogWindow {
        let line =
            |number| LogLine { number, at: None, text: format!("line {number}"), cut: false };
        LogWindow {
            lines: numbers.map(line).collect(),
            total,
            bytes: total * 9,
            ..LogWindow::default()
        }
    }

    #[test]
    fn rows_that_are_not_here_are_asked_for() {
        let mut lines = Lines::default();
        lines.take(window(999_901..=1_000_000, 1_000_000));
        assert_eq!(lines.rows(), 1_000_000);
        assert_eq!(lines.missing(999_970, 30), None);
        assert_eq!(lines.missing(500_000, 30), Some(500_001 - AHEAD));
        let rows = lines.shown(999_899, 3);
        assert_eq!(rows[0].number, 999_900);
        assert_eq!(rows[0].line, None);
        assert_eq!(rows[1].line.as_ref().unwrap().text, "line 999901");
        assert_eq!(lines.all().len(), 100);
    }

    #[test]
    fn only_so_many_are_held() {
        let mut lines = Lines::default();
        for from in (0..20_000).step_by(500) {
            lines.take(window(from + 1..=from + 500, 20_000));
            lines.forget_far(from);
            assert!(lines.held.len() <= HELD);
        }
        assert_eq!(lines.missing(19_600, 30), None, "what is seen stays");
    }

    #[test]
    fn lines_that_are_left_out_have_no_row() {
        let mut lines = Lines::default();
        let left_out = Some(LeftOut { first: 11, count: 1_000 });
        lines.take(LogWindow { left_out, ..window(1_001..=1_100, 1_100) });
        assert_eq!(lines.rows(), 100);
        assert_eq!((lines.number_at(9), lines.number_at(10)), (10, 1_011));
        for (number, row) in [(1, 0), (10, 9), (1_011, 10), (1_100, 99), (9_999, 99)] {
            assert_eq!(lines.row_of(number), row, "{number}");
        }
        assert_eq!(lines.shown(9, 2)[1].number, 1_011);
    }

    #[test]
    fn an_unfinished_line_grows_and_its_row_changes() {
        let mut lines = Lines::default();
        lines.take(window(1..=1, 1));
        let before = lines.shown(0, 1);
        let mut grown = window(1..=1, 1);
        grown.lines[0].text += " and more";
        grown.bytes += 9;
        lines.take(grown);
        lines.take(window(1..=1, 1));
        let after = lines.shown(0, 1);
        assert_ne!(before[0].look, after[0].look);
        assert_eq!(after[0].line.as_ref().unwrap().text, "line 1 and more", "older news are none");
    }

    #[test]
    fn what_was_read_of_a_log_that_is_lost_then_stays() {
        let mut lines = Lines::default();
        lines.take(window(1..=50, 50));
        lines.take(LogWindow { complete: true, lost: true, ..LogWindow::default() });
        assert!(lines.complete && lines.lost);
        assert_eq!((lines.rows(), lines.shown(0, 99).len()), (50, 50));
    }

    #[test]
    fn a_log_whose_end_is_lost_is_not_called_whole() {
        let mut lines = Lines::default();
        lines.take(LogWindow { complete: true, torn: 9, ..window(1..=50, 50) });
        assert!(lines.complete && lines.torn && !lines.lost);
    }

    #[test]
    fn the_end_is_shown_before_it_has_numbers() {
        let mut lines = Lines::default();
        let end = LogWindow { reading: true, ..window(0..=0, 70) };
        lines.take(end);
        assert_eq!(lines.shown(0, 5).len(), 1);
        assert_eq!((lines.shown(0, 1)[0].number, lines.missing(0, 5)), (0, None));
        lines.take(window(71..=100, 100));
        assert!(!lines.reading && lines.rows() == 100);
    }
}
