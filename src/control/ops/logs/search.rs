//! Looking through a whole log for a text or a pattern.

mod matching;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::time::Duration;

use api::logs::{LogMatches, SearchAsk};
use api::{Error, ErrorCode, Result};
use futures::TryStreamExt;
use regex::bytes::{Regex, RegexBuilder};
use storage::LogReader;
use tokio::time::{Instant, timeout_at};

use crate::error::internal;
use matching::Matching;

/// What is looked for has so many bytes at most.
const LONGEST: usize = 1_000;
/// A pattern takes so many bytes at most when it is ready.
const LARGEST: usize = 1024 * 1024;
/// So many lines are named before the line asked for, and as many from it on.
const NAMED: usize = 500;
/// It is looked for so long.
pub(super) const TIME: Duration = Duration::from_secs(10);

/// What is looked for, ready to be found.
pub(super) fn pattern(ask: &SearchAsk) -> Result<Regex> {
    let refused = |message: String| Error::new(ErrorCode::InvalidParametersError, message);
    if ask.text.is_empty() || ask.text.len() > LONGEST {
        return Err(refused(format!("what is looked for has 1 to {LONGEST} bytes")));
    }
    let text = if ask.pattern { Cow::from(&ask.text) } else { Cow::from(regex::escape(&ask.text)) };
    let pattern = RegexBuilder::new(&text)
        .case_insensitive(!ask.case)
        .size_limit(LARGEST)
        .dfa_size_limit(LARGEST)
        .build();
    pattern.map_err(|error| {
        let error = error.to_string();
        let reason = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
        refused(format!("this is no pattern: {reason}"))
    })
}

/// The lines that have it, nearest to one line (from 1).
pub(super) async fn search(log: &LogReader, pattern: Regex, near: u64) -> Result<LogMatches> {
    let deadline = Instant::now() + TIME;
    let mut found = Found::new(near, NAMED);
    let (searched, all) = each(log, pattern, deadline, |line| found.add(line)).await?;
    let (count, before) = (found.count, found.unnamed);
    Ok(LogMatches { count, before, lines: found.named(), searched, all })
}

/// Tells the lines that have it, in their order. How many lines were looked through until then, and
/// whether these are all of them.
pub(super) async fn each(
    log: &LogReader,
    pattern: Regex,
    deadline: Instant,
    mut found: impl FnMut(u64) + Send,
) -> Result<(u64, bool)> {
    let mut matching = Matching::new(pattern, log.bytes());
    let mut blocks =
        log.each(move |block, content| (block.end_line(), matching.lines(block, content)));
    let mut searched = 0;
    loop {
        let together = timeout_at(deadline, blocks.try_next()).await;
        let Ok(together) = together else { return Ok((searched, false)) };
        let Some(together) = together.map_err(internal)? else {
            return Ok((log.lines(), true));
        };
        for (end, lines) in together {
            lines.into_iter().for_each(&mut found);
            searched = end;
        }
    }
}

/// What was found, in its order: so many places before one, and as many from it on.
pub(super) struct Found<P> {
    near: P,
    most: usize,
    pub(super) count: u64,
    last: Option<P>,
    /// How many before the first that is named.
    pub(super) unnamed: u64,
    before: VecDeque<P>,
    from: Vec<P>,
}

impl<P: Copy + Ord> Found<P> {
    pub(super) fn new(near: P, most: usize) -> Self {
        let (before, from) = (VecDeque::new(), Vec::new());
        Self { near, most, count: 0, last: None, unnamed: 0, before, from }
    }

    pub(super) fn add(&mut self, place: P) {
        // What is left out of a log may be left out of a line, which then has two parts.
        if self.last == Some(place) {
            return;
        }
        self.last = Some(place);
        self.count += 1;
        if place < self.near {
            self.before.push_back(place);
            if self.before.len() > self.most {
                self.before.pop_front();
                self.unnamed += 1;
            }
        } else if self.from.len() < self.most {
            self.from.push(place);
        }
    }

    /// Those that are named.
    pub(super) fn named(self) -> Vec<P> {
        Vec::from(self.before).into_iter().chain(self.from).collect()
    }
}

#[cfg(test)]
mod tests {
    use storage::{LogLimits, LogSpool};

    use super::*;

    fn ask(text: &str) -> SearchAsk {
        SearchAsk { text: text.to_owned(), pattern: false, case: false, near: 1 }
    }

    fn log(lines: impl IntoIterator<Item = String>) -> LogReader {
        let limits = LogLimits { block: 64, ..LogLimits::default() };
        let mut log = LogSpool::new(limits, None);
        lines.into_iter().for_each(|line| log.push(line.as_bytes(), None).unwrap());
        log.reader()
    }

    async fn lines(log: &LogReader, ask: &SearchAsk) -> Vec<u64> {
        search(log, pattern(ask).unwrap(), ask.near).await.unwrap().lines
    }

    #[tokio::test]
    async fn texts_and_patterns_are_found_as_they_are_seen() {
        let said = [
            "loss=0.5 (step 1)\n",
            "\u{1b}[31mRuntime\u{1b}[0mError: 显存不足\n",
            "10%\r20%\r100%\r\n",
            "a.b\n",
            "axb",
        ];
        let log = log(said.map(str::to_owned));
        assert_eq!(lines(&log, &ask("(step 1)")).await, [1], "a text is no pattern");
        assert_eq!(lines(&log, &ask("runtimeerror")).await, [2], "colours are not in the way");
        assert_eq!(lines(&log, &SearchAsk { case: true, ..ask("runtimeerror") }).await, [0_u64; 0]);
        assert_eq!(lines(&log, &ask("显存")).await, [2]);
        assert_eq!(lines(&log, &ask("20%")).await, [0_u64; 0], "what was overwritten is not seen");
        assert_eq!(lines(&log, &ask("100%")).await, [3]);
        assert_eq!(lines(&log, &ask("a.b")).await, [4]);
        let pattern = |text| SearchAsk { pattern: true, ..ask(text) };
        assert_eq!(lines(&log, &pattern("^a.b$")).await, [4, 5]);
        assert_eq!(lines(&log, &pattern(r"loss=\d+\.\d")).await, [1]);
    }

    #[test]
    fn what_cannot_be_looked_for_is_refused() {
        let huge = format!("(a{{1000}}){}", "{1000}");
        for text in ["", "(", "[z-a]", &huge, &"x".repeat(LONGEST + 1)] {
            let refused = pattern(&SearchAsk { pattern: true, ..ask(text) }).unwrap_err();
            assert_eq!(refused.code, ErrorCode::InvalidParametersError, "{text}");
        }
    }

    #[tokio::test]
    async fn matches_are_counted_and_the_nearest_named() {
        let log = log((0..5_000).map(|number| format!("line {number}\n")));
        let found = search(&log, pattern(&ask("line")).unwrap(), 3_000).await.unwrap();
        assert_eq!((found.count, found.before, found.all), (5_000, 2_499, true));
        assert_eq!(found.lines.first().copied(), Some(2_500));
        assert_eq!(found.lines[500], 3_000);
        assert_eq!((found.lines.len(), found.lines.last().copied()), (1_000, Some(3_499)));
        let none = search(&log, pattern(&ask("nowhere")).unwrap(), 1).await.unwrap();
        assert_eq!(none, LogMatches { searched: 5_000, all: true, ..LogMatches::default() });
    }

    #[tokio::test]
    async fn a_line_over_many_blocks_is_found_once() {
        let log = log([format!("first\n{}needle{}needle\nlast", "x".repeat(300), "y".repeat(300))]);
        assert_eq!(lines(&log, &ask("needle")).await, [2]);
        assert_eq!(lines(&log, &ask("last")).await, [3]);
    }

    #[tokio::test]
    async fn what_lies_over_the_end_of_a_block_is_found() {
        let pattern = |text| SearchAsk { pattern: true, ..ask(text) };
        for before in 0..70 {
            let (x, y) = ("x".repeat(before), "y".repeat(200));
            let log = log([format!("first\n{x}\u{1b}[31mneedle\u{1b}[0m{y}\nlast\n")]);
            assert_eq!(lines(&log, &ask("needle")).await, [2], "after {before}");
            assert_eq!(lines(&log, &pattern("^x*needley{200}$")).await, [2], "after {before}");
            assert_eq!(lines(&log, &pattern("^y|x$|31m")).await, [0_u64; 0], "after {before}");
        }
    }

    #[tokio::test]
    async fn what_another_block_overwrites_is_not_seen() {
        for before in 0..70 {
            let (x, y) = ("x".repeat(before), "y".repeat(200));
            let log = log([format!("{x}old\rnew{y}\r\nlast")]);
            assert_eq!(lines(&log, &ask("old")).await, [0_u64; 0], "after {before}");
            assert_eq!(lines(&log, &ask("newy")).await, [1], "after {before}");
            assert_eq!(lines(&log, &ask("last")).await, [2], "after {before}");
        }
    }
}
