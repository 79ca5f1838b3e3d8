//! Some lines of any place of a log.

use std::time::Duration;

use api::Result;
use api::changes::Change;
use api::logs::{LeftOut, LogLine, LogPlace, LogWindow, WindowAsk};
use database::tasks::Task;
use storage::LogReader;

use super::Ops;
use super::source::{Source, is_lost};
use crate::error::internal;

/// A window has so many lines at most.
const MOST_LINES: u32 = 2_000;
/// Whoever waits for more is answered after so long in any case.
const PATIENCE: Duration = Duration::from_secs(20);
/// So much of the end is read from the engine while the rest of it is still being read.
const END_BYTES: u64 = 128 * 1024;

/// Where the log is once there is more of it than so many bytes, or after a while.
pub(super) async fn after(ops: &Ops, task: &Task, bytes: u64) -> Result<Option<Source>> {
    let mut changes = ops.shared.live.listen();
    match ops.source(task).await? {
        Some(Source::Held(spool)) => {
            let was_present = spool.reached().present;
            let more = spool.until(|reached| {
                let caught_up = reached.present && !was_present;
                reached.bytes != bytes || caught_up || reached.end.is_some()
            });
            let _or_patience_is_over = tokio::time::timeout(PATIENCE, more).await;
            Ok(Some(Source::Held(spool)))
        }
        None if !task.state.is_final() => {
            let ours = async {
                loop {
                    match changes.recv().await {
                        Ok(Change::Job { id, .. }) if id != task.key.job => {}
                        Ok(_) | Err(_) => return,
                    }
                }
            };
            let _or_patience_is_over = tokio::time::timeout(PATIENCE, ours).await;
            ops.source(task).await
        }
        other => Ok(other),
    }
}

pub(super) async fn read(
    ops: &Ops,
    task: &Task,
    source: Option<Source>,
    ask: &WindowAsk,
) -> Result<LogWindow> {
    let Some(source) = source else {
        let (complete, lost) = (task.state.is_final(), is_lost(task));
        return Ok(LogWindow { complete, lost, ..LogWindow::default() });
    };
    // Asked before it is read: what comes in between is read then, and not taken for the end.
    let (complete, present) = (source.is_whole(), source.is_present());
    let log = source.reader();
    let count = ask.count.clamp(1, MOST_LINES);
    if !present && ask.place == LogPlace::End {
        return end_from_engine(ops, task, &log, count).await;
    }
    let from = first(&log, ask.place, u64::from(count)).await.map_err(internal)?;
    let lines = log.window(from, count as usize).await.map_err(internal)?;
    Ok(LogWindow {
        lines: lines.into_iter().map(line).collect(),
        total: log.lines(),
        bytes: log.bytes(),
        complete,
        lost: false,
        reading: !present,
        left_out: log
            .left_out()
            .map(|(first, after)| LeftOut { first: first + 1, count: after - first }),
        torn: log.torn(),
    })
}

/// The first line of a window, counted from 0.
async fn first(log: &LogReader, place: LogPlace, count: u64) -> storage::Result<u64> {
    let last = log.lines().saturating_sub(count);
    Ok(match place {
        LogPlace::End => last,
        LogPlace::From(line) => line.saturating_sub(1),
        LogPlace::Around(line) => line.saturating_sub(1 + count / 2).min(last),
        LogPlace::Time(moment) => log.line_at(moment).await?,
    })
}

pub(super) fn line(line: storage::LogLine) -> LogLine {
    let storage::LogLine { number, at, text, cut } = line;
    LogLine { number: number + 1, at, text, cut }
}

/// The last lines, while nobody knows yet which numbers they have: they are asked for by their count, for
/// whoever opens a long log waits for them.
async fn end_from_engine(ops: &Ops, task: &Task, log: &LogReader, count: u32) -> Result<LogWindow> {
    let end = ops.last_lines(task, count, END_BYTES).await?.unwrap_or_default();
    let lines: Vec<&str> = end.lines().collect();
    let skipped = lines.len().saturating_sub(count as usize);
    let unnumbered =
        |text: &&str| LogLine { number: 0, at: None, text: (*text).to_owned(), cut: false };
    Ok(LogWindow {
        lines: lines[skipped..].iter().map(unnumbered).collect(),
        total: log.lines(),
        bytes: log.bytes(),
        complete: false,
        lost: false,
        reading: true,
        left_out: None,
        torn: 0,
    })
}
