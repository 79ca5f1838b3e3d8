//! Finding the task that somebody means.

use std::cmp::Reverse;

use api::{Error, ErrorCode, Result};
use database::tasks::Task;
use protocol::ids::{JobKey, RoleName};
use protocol::state::State;

use super::jobs;

use crate::records::store::Store;

/// The last run of a task in an attempt; in the current one, if none is named.
pub(super) async fn last_run(
    store: &Store,
    job: &JobKey,
    attempt: Option<u32>,
    role: &RoleName,
    index: u32,
) -> Result<Option<Task>> {
    let reader = store.database.read();
    let found = database::jobs::by_key(reader, job).await?;
    let row = found.ok_or_else(|| jobs::missing(job))?.row;
    let attempt = attempt.or(row.attempt);
    let tasks = database::tasks::of_job(reader, row.id).await?;
    let of_it = |task: &Task| {
        Some(task.key.attempt) == attempt && task.role_name == *role && task.key.index == index
    };
    Ok(tasks.into_iter().filter(of_it).max_by_key(|task| task.key.retry))
}

/// The last runs of all tasks of an attempt, by role and index; of the current one, if none is named.
pub(super) async fn last_runs(
    store: &Store,
    job: &JobKey,
    attempt: Option<u32>,
) -> Result<Vec<Task>> {
    let reader = store.database.read();
    let found = database::jobs::by_key(reader, job).await?;
    let row = found.ok_or_else(|| jobs::missing(job))?.row;
    let attempt = attempt.or(row.attempt);
    let mut tasks = database::tasks::of_job(reader, row.id).await?;
    tasks.retain(|task| Some(task.key.attempt) == attempt);
    tasks.sort_by_key(|task| (task.key.role, task.key.index, Reverse(task.key.retry)));
    tasks.dedup_by_key(|task| (task.key.role, task.key.index));
    Ok(tasks)
}

/// The last run of a task, if it runs now.
pub(super) async fn running(
    store: &Store,
    job: &JobKey,
    role: &RoleName,
    index: u32,
) -> Result<Task> {
    let task = last_run(store, job, None, role, index).await?.ok_or_else(|| {
        let message = format!("{job} has no task {role}-{index}, or it has no place yet");
        Error::new(ErrorCode::NoTaskError, message)
    })?;
    if task.state == State::Running {
        return Ok(task);
    }
    let message = format!("{role}-{index} of {job} does not run: it is {}", task.state.as_str());
    Err(Error::new(ErrorCode::UnavailableError, message))
}
