//! Pauses before what has failed is tried again, from what is recorded of it.

use std::collections::HashMap;

use database::attempts::Attempt;
use database::tasks::Task;
use lifecycle::retry::{self, Ended, MOST_IN_A_ROW};
use protocol::exit::Exit;
use protocol::ids::{JobId, TaskKey};
use protocol::time::Timestamp;

/// How many attempts of a job before this one ended soon, one after the other.
pub(super) fn attempts_in_a_row(
    attempts: &HashMap<(JobId, u32), Attempt>,
    job: JobId,
    current: u32,
) -> u32 {
    // Those that the platform ended lie between them.
    let earlier = (0..current).rev().take(2 * MOST_IN_A_ROW);
    let earlier = earlier.filter_map(|number| attempts.get(&(job, number)));
    retry::in_a_row(earlier.filter_map(|attempt| {
        ended(attempt.exit.as_deref(), attempt.started_at, attempt.completed_at)
    }))
}

/// When those tasks of an attempt may run that have run in it before.
pub(super) fn of_tasks(tasks: &[Task], attempt: u32) -> HashMap<TaskKey, Timestamp> {
    let mut runs: HashMap<(u32, u32), Vec<&Task>> = HashMap::new();
    for task in tasks.iter().filter(|task| task.key.attempt == attempt) {
        runs.entry((task.key.role, task.key.index)).or_default().push(task);
    }
    let again = runs.into_values().filter_map(|mut runs| {
        runs.sort_by_key(|task| std::cmp::Reverse(task.key.retry));
        let (latest, earlier) = runs.split_first()?;
        let mut earlier = earlier.iter().filter_map(|task| {
            Some((ended(task.exit.as_deref(), task.started_at, task.completed_at)?, task))
        });
        let (last, task) = earlier.next()?;
        let pause = retry::pause_after(last.ran_ms, retry::in_a_row(earlier.map(|(run, _)| run)));
        Some((latest.key, task.completed_at?.plus_millis(pause)))
    });
    again.collect()
}

fn ended(
    exit: Option<&Exit>,
    started_at: Option<Timestamp>,
    completed_at: Option<Timestamp>,
) -> Option<Ended> {
    let ran_ms = started_at.map_or(Some(0), |started_at| Some(completed_at?.since(started_at)))?;
    Some(Ended { blame: exit?.cause.blame(), ran_ms })
}
