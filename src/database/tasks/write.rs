use protocol::ids::TaskKey;
use protocol::state::State;
use sea_orm::{EntityTrait, Set, Statement, Value};

use super::{Change, Intent, Task, TaskUpdate, row};
use crate::convert::{
    ROWS_A_STATEMENT, amount, filled, form, in_forms, millis, parameters, to_json,
};
use crate::error::named;
use crate::{ConnectionTrait, Result};

/// Stores tasks, thousands by few statements: all of them or none.
///
/// # Errors
/// [`crate::Error::Conflict`] when one of them is stored already.
pub async fn insert_many(conn: &impl ConnectionTrait, tasks: &[Task]) -> Result<()> {
    for tasks in in_forms(tasks) {
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
        gpu_milli: Set(amount(resources.gpus.milli())),
        disk_gb: Set(amount(resources.disk_gb)),
        container: Set(task.container.clone()),
        progress: Set(task.progress.clone()),
        intent: Set(task.intent.map(word)),
        started_at: Set(millis(task.started_at)),
        completed_at: Set(millis(task.completed_at)),
        exit: Set(task.exit.as_ref().map(to_json)),
        epoch: Set(task.epoch.label()),
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
    Ok(update_many(conn, &[(*key, expected, update)]).await? == 1)
}

/// Changes those tasks that are still in the states given with them, by few statements; returns
/// how many these are. A task is named at most once.
///
/// # Errors
/// See [`crate::Error`].
pub async fn update_many(
    conn: &impl ConnectionTrait,
    updates: &[(TaskKey, State, TaskUpdate)],
) -> Result<u64> {
    let mut changed = 0;
    for updates in updates.chunks(ROWS_A_STATEMENT) {
        let statement = match updates.iter().all(is_intent) {
            true => intent_statement(conn, updates),
            false => update_statement(conn, updates),
        };
        changed += conn.execute_raw(statement).await?.rows_affected();
    }
    Ok(changed)
}

/// Whether nothing but the intent of a task changes, which goes on to prepare.
fn is_intent((_, expected, update): &(TaskKey, State, TaskUpdate)) -> bool {
    let intent = TaskUpdate { intent: update.intent, ..TaskUpdate::to(State::Preparing) };
    *expected == State::Preparing && *update == intent && update.intent != Change::Keep
}

/// Each task has one before it is launched. Of a state that is written, even the same one, two indices are written
/// anew: it is not.
fn intent_statement(
    conn: &impl ConnectionTrait,
    updates: &[(TaskKey, State, TaskUpdate)],
) -> Statement {
    let sql = format!(
        "WITH news (job, attempt, role, task_index, retry, expected, intent) AS (VALUES {}) \
         UPDATE tasks SET intent = news.intent \
         FROM news WHERE tasks.job = news.job AND tasks.attempt = news.attempt \
         AND tasks.role = news.role AND tasks.task_index = news.task_index \
         AND tasks.retry = news.retry AND tasks.state = news.expected",
        parameters(conn.get_database_backend(), form(updates.len()), 7)
    );
    let values = filled(updates).flat_map(|(key, expected, update)| {
        let (_, intent) = news(update.intent);
        of_run(key, *expected).into_iter().chain([Value::from(intent.map(word))])
    });
    Statement::from_sql_and_values(conn.get_database_backend(), sql, values)
}

fn update_statement(
    conn: &impl ConnectionTrait,
    updates: &[(TaskKey, State, TaskUpdate)],
) -> Statement {
    let sql = format!(
        "WITH news (job, attempt, role, task_index, retry, expected, state, container, \
         new_progress, progress, new_intent, intent, started_at, completed_at, exit) \
         AS (VALUES {}) \
         UPDATE tasks SET state = news.state, \
         container = coalesce(news.container, tasks.container), \
         progress = CASE WHEN news.new_progress THEN news.progress ELSE tasks.progress END, \
         intent = CASE WHEN news.new_intent THEN news.intent ELSE tasks.intent END, \
         started_at = coalesce(news.started_at, tasks.started_at), \
         completed_at = coalesce(news.completed_at, tasks.completed_at), \
         exit = coalesce(news.exit, tasks.exit) \
         FROM news WHERE tasks.job = news.job AND tasks.attempt = news.attempt \
         AND tasks.role = news.role AND tasks.task_index = news.task_index \
         AND tasks.retry = news.retry AND tasks.state = news.expected",
        parameters(conn.get_database_backend(), form(updates.len()), 15)
    );
    let values = filled(updates).flat_map(|(key, expected, update)| {
        let progress = match (update.state, &update.progress) {
            (State::Preparing, progress) => progress.clone(),
            // Only what prepares is told of.
            (_, _) => Change::Clear,
        };
        let (new_progress, progress) = news(progress);
        let (new_intent, intent) = news(update.intent);
        let changed = [
            Value::from(update.state.as_str()),
            Value::from(update.container.clone()),
            Value::from(new_progress),
            Value::from(progress),
            Value::from(new_intent),
            Value::from(intent.map(word)),
            Value::from(millis(update.started_at)),
            Value::from(millis(update.completed_at)),
            Value::from(update.exit.as_ref().map(to_json)),
        ];
        of_run(key, *expected).into_iter().chain(changed)
    });
    Statement::from_sql_and_values(conn.get_database_backend(), sql, values)
}

/// A run of a task, and what it must be still.
fn of_run(key: &TaskKey, expected: State) -> [Value; 6] {
    [
        Value::from(key.job.0),
        Value::from(i64::from(key.attempt)),
        Value::from(i64::from(key.role)),
        Value::from(i64::from(key.index)),
        Value::from(i64::from(key.retry)),
        Value::from(expected.as_str()),
    ]
}

/// Whether there is a new value, and which; none is one too.
fn news<T>(change: Change<T>) -> (bool, Option<T>) {
    match change {
        Change::Keep => (false, None),
        Change::Clear => (true, None),
        Change::Set(value) => (true, Some(value)),
    }
}

#[cfg(test)]
mod tests {
    use protocol::ids::JobId;

    use super::*;

    const KEY: TaskKey = TaskKey { job: JobId(1), attempt: 0, role: 0, index: 0, retry: 0 };

    #[test]
    fn an_intent_alone_makes_no_index_follow() {
        let launch = || TaskUpdate {
            intent: Change::Set(Intent::Launch),
            ..TaskUpdate::to(State::Preparing)
        };
        let clear = TaskUpdate { intent: Change::Clear, ..launch() };
        assert!(is_intent(&(KEY, State::Preparing, launch())));
        assert!(is_intent(&(KEY, State::Preparing, clear)));
        let said = TaskUpdate { progress: Change::Set("pulling".to_owned()), ..launch() };
        let runs = TaskUpdate { state: State::Running, ..launch() };
        for other in [said, runs.clone(), TaskUpdate::to(State::Preparing)] {
            assert!(!is_intent(&(KEY, State::Preparing, other.clone())), "{other:?}");
        }
        assert!(!is_intent(&(KEY, State::Running, runs)), "what it was doing is forgotten");
    }
}
