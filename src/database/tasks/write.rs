use protocol::ids::TaskKey;
use protocol::state::State;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Set};

use super::{Change, Intent, Task, TaskUpdate, row};
use crate::convert::{ROWS_A_STATEMENT, amount, millis, to_json};
use crate::error::named;
use crate::{ConnectionTrait, Result};

/// Stores tasks, thousands by few statements: all of them or none.
///
/// # Errors
/// [`crate::Error::Conflict`] when one of them is stored already.
pub async fn insert_many(conn: &impl ConnectionTrait, tasks: &[Task]) -> Result<()> {
    for tasks in tasks.chunks(ROWS_A_STATEMENT) {
        row::Entity::insert_many(tasks.iter().map(row_of))
            .exec_without_returning(conn)
            .await
            .map_err(named("a task of that key"))?;
    }
    Ok(())
}

fn row_of(task: &Task) -> row::ActiveModel {
    let Task { key, placement, resources, .. } = task;
    row::ActiveModel {
        job: Set(key.job.0),
        attempt: Set(key.attempt.into()),
        role: Set(key.role.into()),
        task_index: Set(key.index.into()),
        retry: Set(key.retry.into()),
        role_name: Set(task.role_name.to_string()),
        state: Set(task.state.as_str().to_owned()),
        node: Set(placement.node.to_string()),
        address: Set(placement.address.clone()),
        gpu_indices: Set(to_json(&placement.gpus)),
        ports: Set(to_json(&placement.ports)),
        cpus: Set(resources.cpus.into()),
        memory_mb: Set(amount(resources.memory_mb)),
        gpus: Set(resources.gpus.into()),
        disk_gb: Set(amount(resources.disk_gb)),
        container: Set(task.container.clone()),
        progress: Set(task.progress.clone()),
        intent: Set(task.intent.map(word)),
        started_at: Set(millis(task.started_at)),
        completed_at: Set(millis(task.completed_at)),
        exit: Set(task.exit.as_ref().map(to_json)),
    }
}

fn word(intent: Intent) -> String {
    intent.as_str().to_owned()
}

/// Changes a task that is still in the state `expected`. `false`: it is not, and nothing changed.
///
/// # Errors
/// See [`crate::Error`].
pub async fn update(
    conn: &impl ConnectionTrait,
    key: &TaskKey,
    expected: State,
    update: TaskUpdate,
) -> Result<bool> {
    let done = row::Entity::update_many()
        .set(changed(update))
        .filter(row::Column::Job.eq(key.job.0))
        .filter(row::Column::Attempt.eq(i64::from(key.attempt)))
        .filter(row::Column::Role.eq(i64::from(key.role)))
        .filter(row::Column::TaskIndex.eq(i64::from(key.index)))
        .filter(row::Column::Retry.eq(i64::from(key.retry)))
        .filter(row::Column::State.eq(expected.as_str()))
        .exec(conn)
        .await?;
    Ok(done.rows_affected == 1)
}

fn changed(update: TaskUpdate) -> row::ActiveModel {
    let mut row =
        row::ActiveModel { state: Set(update.state.as_str().to_owned()), ..Default::default() };
    if let Some(container) = update.container {
        row.container = Set(Some(container));
    }
    match update.progress {
        _ if update.state != State::Preparing => row.progress = Set(None),
        Change::Keep => {}
        Change::Clear => row.progress = Set(None),
        Change::Set(progress) => row.progress = Set(Some(progress)),
    }
    match update.intent {
        Change::Keep => {}
        Change::Clear => row.intent = Set(None),
        Change::Set(intent) => row.intent = Set(Some(word(intent))),
    }
    if let Some(at) = update.started_at {
        row.started_at = Set(Some(at.0));
    }
    if let Some(at) = update.completed_at {
        row.completed_at = Set(Some(at.0));
    }
    if let Some(exit) = update.exit {
        row.exit = Set(Some(to_json(&exit)));
    }
    row
}
