//! What is printed: tables and times for people, JSON for programs.

use std::fmt;
use std::io::{self, Write as _};
use std::ops::RangeInclusive;
use std::time::{SystemTime, UNIX_EPOCH};

use protocol::time::Timestamp;
use serde::Serialize;

use super::outcome::Outcome;

/// Prints rows under a heading, every column as wide as its widest cell.
pub(super) fn table(heading: &[&str], rows: &[Vec<String>]) {
    write(format_args!("{}", aligned(heading, rows)));
}

/// Prints a line.
pub(super) fn say(line: impl fmt::Display) {
    write(format_args!("{line}\n"));
}

/// Prints a value for programs.
pub(super) fn json(value: &impl Serialize) -> Outcome {
    say(serde_json::to_string_pretty(value)?);
    Ok(())
}

/// Writes to standard output. Whoever reads it may stop early, as `head` does: nothing is left to
/// be done then.
fn write(text: fmt::Arguments<'_>) {
    if let Err(error) = io::stdout().write_fmt(text) {
        if error.kind() != io::ErrorKind::BrokenPipe {
            eprintln!("berth: cannot write to standard output: {error}");
        }
        std::process::exit(i32::from(error.kind() != io::ErrorKind::BrokenPipe));
    }
}

fn aligned(heading: &[&str], rows: &[Vec<String>]) -> String {
    let heading: Vec<String> = heading.iter().map(|cell| (*cell).to_owned()).collect();
    let width = |column: usize| {
        let cells = std::iter::once(&heading).chain(rows).filter_map(|row| row.get(column));
        cells.map(|cell| columns(cell)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heading.len()).map(width).collect();
    let mut text = String::new();
    for row in std::iter::once(&heading).chain(rows) {
        let cells = row.iter().zip(&widths).map(|(cell, width)| padded(cell, *width));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// A text with spaces after it, up to a width.
pub(super) fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

/// Letters and marks that take two columns of a terminal.
const WIDE: [RangeInclusive<char>; 7] = [
    '\u{2e80}'..='\u{a4cf}',
    '\u{ac00}'..='\u{d7a3}',
    '\u{f900}'..='\u{faff}',
    '\u{fe30}'..='\u{fe6f}',
    '\u{ff00}'..='\u{ff60}',
    '\u{ffe0}'..='\u{ffe6}',
    '\u{20000}'..='\u{3fffd}',
];

/// How many columns of a terminal a text takes.
fn columns(text: &str) -> usize {
    let is_wide = |letter: char| WIDE.iter().any(|range| range.contains(&letter));
    text.chars().map(|letter| if is_wide(letter) { 2 } else { 1 }).sum()
}

/// What this machine's clock says.
pub(super) fn now() -> Timestamp {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX))
}

/// A span, as `3m` or `2d`.
pub(super) fn span(millis: i64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let rows = [vec!["a".into(), "1".into()], vec!["longer".into(), "22".into()]];
        assert_eq!(aligned(&["NAME", "N"], &rows), "NAME    N\na       1\nlonger  22\n");
    }

    #[test]
    fn chinese_letters_are_as_wide_as_two() {
        let rows = [vec!["作业一".into(), "1".into()], vec!["a".into(), "22".into()]];
        assert_eq!(aligned(&["名称", "数"], &rows), "名称    数\n作业一  1\na       22\n");
        assert_eq!((columns("任务："), padded("中", 4)), (6, "中  ".to_owned()));
    }

    #[test]
    fn spans_are_short() {
        let cases =
            [(5, "0s"), (59_999, "59s"), (61_000, "1m"), (7_200_000, "2h"), (864_000_000, "10d")];
        for (millis, text) in cases {
            assert_eq!(span(millis), text);
        }
    }
}
