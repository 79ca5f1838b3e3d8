//! What is stored of the jobs that go on, summed up part by part: whoever knows them all finds out which of
//! them to read again, and reads none of the others.

use std::collections::BTreeMap;

use protocol::ids::JobId;
use protocol::state::State;
use sea_orm::entity::prelude::*;
use sea_orm::{QuerySelect, Statement};

use super::job::JobRow;
use super::row;
use crate::{ConnectionTrait, Result, states};

/// A part is of so many ids, one after the other.
const PART: i64 = 256;

/// Of a number its remainder by this one counts, so that no sum is too large for a database.
const REMAINDER: i64 = 1_000_003;

/// Of a job, in SQL and of its row.
type OfJob = (&'static str, fn(&JobRow) -> i64);

/// What is summed up of each job: what the scheduler goes by that may change. `{waiting}` is that state.
const OF_JOBS: [OfJob; 9] = [
    ("1", |_any| 1),
    ("CASE WHEN state = '{waiting}' THEN 1 ELSE 0 END", |row| {
        i64::from(row.state == State::Waiting)
    }),
    ("CASE WHEN held_at IS NULL THEN 0 ELSE 1 END", |row| i64::from(row.held.is_some())),
    ("CASE WHEN stop_at IS NULL THEN 0 ELSE 1 END", |row| i64::from(row.stop.is_some())),
    ("priority", |row| i64::from(row.priority.0)),
    ("moved_ms", |row| row.moved_ms),
    ("coalesce(attempt + 1, 0)", |row| row.attempt.map_or(0, |number| i64::from(number) + 1)),
    ("coalesce(not_before, 0)", |row| row.not_before.map_or(0, |at| at.0)),
    ("coalesce(time_limit, 0)", |row| row.time_limit.map_or(0, |limit| limit.seconds().into())),
];

/// And of each task of theirs that has not ended.
const OF_TASKS: [&str; 3] = ["1", "role", "task_index"];

/// The jobs of a part, summed up: each number counts by the place of its job, so that two that changed
/// theirs are told from two that did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sums {
    jobs: [i64; OF_JOBS.len()],
    tasks: [i64; OF_TASKS.len()],
}

impl Sums {
    /// Adds a job that goes on.
    pub fn add_job(&mut self, row: &JobRow) {
        for (sum, (_, of)) in self.jobs.iter_mut().zip(OF_JOBS) {
            *sum += weighed(row.id, of(row));
        }
    }

    /// Adds a task of a job, of such a role and index, that has not ended.
    pub fn add_task(&mut self, job: JobId, role: u32, index: u32) {
        for (sum, number) in self.tasks.iter_mut().zip([1, role, index]) {
            *sum += weighed(job, number.into());
        }
    }
}

fn weighed(job: JobId, number: i64) -> i64 {
    number % REMAINDER * (job.0 % PART + 1)
}

/// The part to which a job belongs.
#[must_use]
pub fn part_of(job: JobId) -> i64 {
    job.0 / PART
}

/// What is stored, by part. Parts of which no job goes on are left out.
///
/// # Errors
/// See [`crate::Error`].
pub async fn sums(conn: &impl ConnectionTrait) -> Result<BTreeMap<i64, Sums>> {
    let (going_on, has_not_ended) = (states::going_on(), states::has_not_ended());
    let waiting = State::Waiting.as_str();
    let of_jobs = OF_JOBS.map(|(number, _)| summed("id", &number.replace("{waiting}", waiting)));
    let of_jobs = of_jobs.join(", ");
    let jobs = format!(
        "SELECT id / {PART}, {of_jobs} FROM jobs WHERE state IN {going_on} GROUP BY id / {PART}"
    );
    let of_tasks = OF_TASKS.map(|number| summed("job", number)).join(", ");
    let tasks = format!(
        "SELECT job / {PART}, {of_tasks} FROM tasks WHERE {has_not_ended} GROUP BY job / {PART}"
    );
    let backend = conn.get_database_backend();
    let mut parts = BTreeMap::<i64, Sums>::new();
    for row in conn.query_all_raw(Statement::from_string(backend, jobs)).await? {
        let part: i64 = row.try_get_by_index(0)?;
        for (at, sum) in parts.entry(part).or_default().jobs.iter_mut().enumerate() {
            *sum = row.try_get_by_index(at + 1)?;
        }
    }
    for row in conn.query_all_raw(Statement::from_string(backend, tasks)).await? {
        let part: i64 = row.try_get_by_index(0)?;
        for (at, sum) in parts.entry(part).or_default().tasks.iter_mut().enumerate() {
            *sum = row.try_get_by_index(at + 1)?;
        }
    }
    Ok(parts)
}

/// As [`weighed`] does it.
fn summed(id: &str, number: &str) -> String {
    format!("CAST(sum(({number}) % {REMAINDER} * ({id} % {PART} + 1)) AS BIGINT)")
}

/// The jobs of these parts that go on, as far as their states can be read.
///
/// # Errors
/// See [`crate::Error`].
pub async fn active_in(conn: &impl ConnectionTrait, parts: &[i64]) -> Result<Vec<JobId>> {
    let mut found = Vec::new();
    for part in parts {
        // By id alone: of a few ids those that have ended are quickly passed over.
        let query = row::Entity::find()
            .select_only()
            .columns([row::Column::Id, row::Column::State])
            .filter(row::Column::Id.gte(part * PART))
            .filter(row::Column::Id.lt((part + 1) * PART));
        let jobs: Vec<(i64, String)> = query.into_tuple().all(conn).await?;
        let goes_on = |word: &str| State::from_word(word).is_some_and(|state| !state.is_final());
        let jobs = jobs.into_iter().filter(|(_, word)| goes_on(word));
        found.extend(jobs.map(|(id, _)| JobId(id)));
    }
    Ok(found)
}
