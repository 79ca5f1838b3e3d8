//! The logs of all tasks of an attempt, line by line in the order of time.

use std::time::Duration;

use api::logs::{TaskLine, Together, TogetherAsk, TogetherPlace};
use api::{Error, ErrorCode, Result};
use database::tasks::Task;
use storage::{LogLine, LogReader};

use super::Ops;
use super::source::{Source, is_lost, still_kept};
use super::window::line;
use crate::error::internal;

/// The logs of so many tasks are put together, the first ones.
const MOST_TASKS: usize = 64;
/// So many lines are given at most.
const MOST_LINES: u32 = 500;
/// Whoever waits for more is answered after so long in any case.
const PATIENCE: Duration = Duration::from_secs(20);
/// It is looked so often whether there is more.
const EVERY: Duration = Duration::from_millis(250);

/// The log of one of the tasks, and what was read of it.
struct Part {
    log: LogReader,
    /// The line (from 0) at which it ends: one that is not finished yet is left for later.
    end: u64,
    lines: Vec<LogLine>,
    /// The line (from 0) before which what is wanted ends, or from which on it begins.
    cursor: u64,
}

pub(super) async fn read(ops: &Ops, mut tasks: Vec<Task>, ask: &TogetherAsk) -> Result<Together> {
    let of_tasks = index(tasks.len());
    tasks.truncate(MOST_TASKS);
    let sources = sources(ops, &tasks, ask.after).await?;
    // Asked before they are read: what comes in between is read then, and not taken for the end.
    let ended = have_ended(&tasks, &sources);
    let lost = lost(ops, &tasks, &sources).await?;
    let reading = sources.iter().flatten().any(|source| !source.is_present());
    let parts = sources.iter().map(part);
    let parts = futures::future::join_all(parts).await.into_iter();
    let mut parts: Vec<Part> = parts.collect::<storage::Result<_>>().map_err(internal)?;
    let bytes = parts.iter().map(|part| part.log.bytes()).sum::<u64>();
    let torn = index(parts.iter().filter(|part| part.log.torn() > 0).count());
    let count = ask.count.clamp(1, MOST_LINES) as usize;
    place(&mut parts, &ask.place).await?;
    let before = matches!(ask.place, TogetherPlace::End | TogetherPlace::Before(_));
    let lines = if before {
        backwards(&mut parts, count).await?
    } else {
        forwards(&mut parts, count).await?
    };
    let (first, next) = ends(&parts, &lines);
    let behind = behind(&parts, &next);
    let lines = lines.into_iter().map(|(task, read)| TaskLine { task, line: line(read) });
    let names = tasks.iter().map(|task| format!("{}-{}", task.role_name, task.key.index));
    Ok(Together {
        tasks: names.collect(),
        of_tasks,
        lines: lines.collect(),
        first,
        next,
        behind,
        bytes,
        complete: ended && behind == 0,
        lost,
        torn,
        reading,
    })
}

/// Whether nothing more will come of any of them.
fn have_ended(tasks: &[Task], sources: &[Option<Source>]) -> bool {
    let mut all = tasks.iter().zip(sources);
    all.all(|(task, source)| source.as_ref().map_or(task.state.is_final(), Source::is_whole))
}

/// Of how many the log is lost. Those that were removed for their age are not; that they were is said where nothing else
/// can be.
async fn lost(ops: &Ops, tasks: &[Task], sources: &[Option<Source>]) -> Result<u32> {
    let mut lost = 0;
    let missing = tasks.iter().zip(sources).filter(|(_, source)| source.is_none());
    for (task, _) in missing.filter(|(task, _)| is_lost(task)) {
        match still_kept(&ops.shared, task).await {
            Ok(()) => lost += 1,
            Err(error) if sources.iter().all(Option::is_none) => return Err(error),
            Err(_) => {}
        }
    }
    Ok(lost)
}

async fn part(source: &Option<Source>) -> storage::Result<Part> {
    let log = source.as_ref().map_or_else(LogReader::empty, Source::reader);
    let is_whole = source.as_ref().is_none_or(Source::is_whole);
    let unfinished = !is_whole && log.is_unfinished().await?;
    let end = log.lines() - u64::from(unfinished);
    Ok(Part { cursor: end, end, log, lines: Vec::new() })
}

/// Where the logs are; once there is more than somebody has seen, or after a while.
async fn sources(ops: &Ops, tasks: &[Task], after: Option<u64>) -> Result<Vec<Option<Source>>> {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        let found = futures::future::join_all(tasks.iter().map(|task| ops.source(task))).await;
        let found: Vec<_> = found.into_iter().collect::<Result<_>>()?;
        let bytes: u64 = found.iter().flatten().map(|source| source.reader().bytes()).sum();
        let ended = have_ended(tasks, &found);
        if after != Some(bytes) || ended || tokio::time::Instant::now() >= deadline {
            return Ok(found);
        }
        tokio::time::sleep(EVERY).await;
    }
}

async fn place(parts: &mut [Part], place: &TogetherPlace) -> Result<()> {
    match place {
        TogetherPlace::End => {}
        TogetherPlace::Before(cursors) | TogetherPlace::From(cursors) => {
            if cursors.len() > parts.len() {
                let message = "there are fewer tasks than numbers of lines";
                return Err(Error::new(ErrorCode::InvalidParametersError, message));
            }
            // Tasks that had no place yet when it was asked begin at their beginning.
            for (at, part) in parts.iter_mut().enumerate() {
                part.cursor = cursors.get(at).copied().unwrap_or(0);
            }
        }
        TogetherPlace::Time(moment) => {
            for part in parts {
                part.cursor = part.log.line_at(*moment).await.map_err(internal)?;
            }
        }
    }
    Ok(())
}

/// The lines after the cursors.
async fn forwards(parts: &mut [Part], count: usize) -> Result<Vec<(u32, LogLine)>> {
    for part in &mut *parts {
        part.lines = part.log.window(part.cursor, count).await.map_err(internal)?;
        part.lines.retain(|line| line.number < part.end);
        part.lines.reverse();
    }
    let mut merged = Vec::new();
    while merged.len() < count {
        let heads =
            parts.iter().enumerate().filter_map(|(task, part)| Some((task, part.lines.last()?)));
        let Some((task, _)) = heads.min_by_key(|(task, line)| (line.at, *task)) else { break };
        let Some(line) = parts[task].lines.pop() else { break };
        let more = line.number + 1 < parts[task].end;
        merged.push((index(task), line));
        // What comes next of this one was not read: it may be earlier than what others say.
        if parts[task].lines.is_empty() && more {
            break;
        }
    }
    Ok(merged)
}

/// The lines before the cursors.
async fn backwards(parts: &mut [Part], count: usize) -> Result<Vec<(u32, LogLine)>> {
    for part in &mut *parts {
        part.lines = lines_before(part, count).await?;
    }
    let mut merged = Vec::new();
    while merged.len() < count {
        let ends =
            parts.iter().enumerate().filter_map(|(task, part)| Some((task, part.lines.last()?)));
        let Some((task, _)) = ends.max_by_key(|(task, line)| (line.at, *task)) else { break };
        let Some(line) = parts[task].lines.pop() else { break };
        let more = line.number > 0;
        merged.push((index(task), line));
        if parts[task].lines.is_empty() && more {
            break;
        }
    }
    merged.reverse();
    Ok(merged)
}

/// The lines before a part's cursor, as many as fit into a window.
async fn lines_before(part: &Part, count: usize) -> Result<Vec<LogLine>> {
    let mut count = count as u64;
    let mut end = part.cursor.min(part.end);
    if let Some((first, after)) = part.log.left_out()
        && (first..=after).contains(&end)
    {
        end = first;
    }
    loop {
        let from = end.saturating_sub(count);
        let wanted = usize::try_from(end - from).unwrap_or(usize::MAX);
        let mut lines = part.log.window(from, wanted).await.map_err(internal)?;
        lines.retain(|line| line.number < end);
        let whole = lines.last().is_none_or(|line| line.number + 1 == end);
        if whole || count == 1 {
            return Ok(lines);
        }
        count = (count / 2).max(1);
    }
}

/// The cursors before the first of some lines and after the last of them.
fn ends(parts: &[Part], lines: &[(u32, LogLine)]) -> (Vec<u64>, Vec<u64>) {
    let cursors = parts.iter().zip(0..).map(|(part, task)| {
        let mut own = lines.iter().filter(|(of, _)| *of == task).map(|(_, line)| line.number);
        let first = own.next();
        let last = own.next_back().or(first);
        let cursor = part.cursor.min(part.end);
        (first.unwrap_or(cursor), last.map_or(cursor, |last| last + 1))
    });
    cursors.unzip()
}

/// How many lines come after the cursors. Those that are not held are none of them.
fn behind(parts: &[Part], next: &[u64]) -> u64 {
    let behind = parts.iter().zip(next).map(|(part, next)| {
        let left_out = part.log.left_out();
        let missing = left_out.map_or(0, |(first, after)| after.saturating_sub(first.max(*next)));
        part.end.saturating_sub(*next).saturating_sub(missing)
    });
    behind.sum()
}

fn index(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
