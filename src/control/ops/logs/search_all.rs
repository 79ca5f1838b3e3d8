//! Looking through the logs of all tasks of an attempt, one after the other: so much is in memory as of one.

use api::Result;
use api::logs::{JobMatches, LogLine, TaskLine, TaskMatches};
use database::tasks::Task;
use regex::bytes::Regex;
use storage::LogReader;
use tokio::time::{Instant, timeout_at};

use super::Ops;
use super::search::{Found, TIME, each};
use super::source::{Source, still_kept};
use super::window::line;

/// The logs of so many tasks are looked through, the first ones.
const MOST_TASKS: u32 = 256;
/// And of tasks that have not ended so many: each of their logs is held for a while, of which there are as many
/// again for everybody else.
const MOST_RUNNING: u32 = 128;
/// So many lines are named before the place asked for, and as many from it on.
const NAMED: usize = 50;
/// So many bytes of each are given at most.
const LONGEST: usize = 1_000;

/// A line: its task's place among all, and its number from 1.
pub(super) type Place = (u32, u64);

/// The lines that have it, by task and number, nearest to one of them.
pub(super) async fn search(
    ops: &Ops,
    tasks: &[Task],
    pattern: &Regex,
    near: Place,
) -> Result<JobMatches> {
    let deadline = Instant::now() + TIME;
    let mut found = Found::new(near, NAMED);
    let mut told = Vec::with_capacity(tasks.len());
    let mut running = 0;
    for (at, task) in (0..).zip(tasks) {
        let before = found.count;
        running += u32::from(!task.state.is_final());
        let has_room = task.state.is_final() || running <= MOST_RUNNING;
        let answer = match at < MOST_TASKS && has_room && Instant::now() < deadline {
            true => of_task(ops, task, pattern, deadline, |line| found.add((at, line))).await,
            false => Ok((0, false)),
        };
        let (searched, all, unread) = match answer {
            Ok((searched, all)) => (searched, all, None),
            Err(error) => (0, false, Some(error.message)),
        };
        let name = format!("{}-{}", task.role_name, task.key.index);
        told.push(TaskMatches { name, count: found.count - before, searched, all, unread });
    }
    let all = told.iter().all(|task| task.all);
    let (count, before) = (found.count, found.unnamed);
    let hits = hits(ops, tasks, &found.named()).await;
    Ok(JobMatches { tasks: told, count, before, hits, all })
}

/// How many lines of a task were looked through, and whether these are all that it has written.
async fn of_task(
    ops: &Ops,
    task: &Task,
    pattern: &Regex,
    deadline: Instant,
    found: impl FnMut(u64) + Send,
) -> Result<(u64, bool)> {
    still_kept(&ops.shared, task).await?;
    let Some(source) = ops.source(task).await? else { return Ok((0, true)) };
    let caught_up = timeout_at(deadline, source.caught_up()).await.is_ok();
    let is_present = caught_up && source.is_present();
    let (searched, all) = each(&source.reader(), pattern.clone(), deadline, found).await?;
    Ok((searched, all && is_present))
}

/// What the lines say. Of one that cannot be read any more there is its number alone.
async fn hits(ops: &Ops, tasks: &[Task], places: &[Place]) -> Vec<TaskLine> {
    let mut hits = Vec::with_capacity(places.len());
    for of_task in places.chunk_by(|one, other| one.0 == other.0) {
        let task = of_task.first().and_then(|(task, _)| tasks.get(*task as usize));
        let source = match task {
            Some(task) => ops.source(task).await.ok().flatten(),
            None => None,
        };
        let log = source.as_ref().map(Source::reader);
        for (task, number) in of_task {
            let line = text(log.as_ref(), *number).await;
            hits.push(TaskLine { task: *task, line });
        }
    }
    hits
}

/// A line by its number, from 1.
async fn text(log: Option<&LogReader>, number: u64) -> LogLine {
    let nothing = LogLine { number, at: None, text: String::new(), cut: false };
    let Some(log) = log else { return nothing };
    let lines = log.window(number.saturating_sub(1), 1).await.unwrap_or_default();
    let read = lines.into_iter().next().map(line).filter(|line| line.number == number);
    let Some(mut read) = read else { return nothing };
    if read.text.len() > LONGEST {
        read.text.truncate(read.text.floor_char_boundary(LONGEST));
        read.cut = true;
    }
    read
}
