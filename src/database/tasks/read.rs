use std::collections::{BTreeSet, HashMap, HashSet};

use protocol::epoch::Epoch;
use protocol::ids::{JobId, NodeName, TaskKey};
use protocol::state::State;
use sea_orm::entity::prelude::*;
use sea_orm::{DbBackend, QueryOrder, QueryResult, QuerySelect, Select, Statement, Value};

use super::{Task, row};
use crate::convert::{ROWS_A_STATEMENT, Row, any_of, filled, form, parameters, readable};
use crate::{ConnectionTrait, Error, Result, states};

/// All tasks of all attempts of a job, by attempt, role, index and retry.
///
/// # Errors
/// See [`crate::Error`].
pub async fn of_job(conn: &impl ConnectionTrait, job: JobId) -> Result<Vec<Task>> {
    let query = row::Entity::find().filter(row::Column::Job.eq(job.0));
    tasks(in_order(query).all(conn).await?)
}

/// All tasks of all attempts of some jobs, in any order, but what cannot be read.
///
/// # Errors
/// See [`crate::Error`].
pub async fn of_jobs(conn: &impl ConnectionTrait, jobs: &[JobId]) -> Result<Vec<Task>> {
    let mut found = Vec::new();
    for jobs in jobs.chunks(ROWS_A_STATEMENT) {
        let query = row::Entity::find().filter(row::Column::Job.is_in(any_of(jobs)));
        found.extend(readable(query.all(conn).await?.into_iter().map(row::Model::into_task)));
    }
    Ok(found)
}

/// One run of one task.
///
/// # Errors
/// See [`crate::Error`].
pub async fn get(conn: &impl ConnectionTrait, key: &TaskKey) -> Result<Option<Task>> {
    let TaskKey { job, attempt, role, index, retry } = *key;
    let query = row::Entity::find()
        .filter(row::Column::Job.eq(job.0))
        .filter(row::Column::Attempt.eq(i64::from(attempt)))
        .filter(row::Column::Role.eq(i64::from(role)))
        .filter(row::Column::TaskIndex.eq(i64::from(index)))
        .filter(row::Column::Retry.eq(i64::from(retry)));
    query.one(conn).await?.map(row::Model::into_task).transpose()
}

/// Which of these runs are recorded, and what has become of them.
///
/// # Errors
/// See [`crate::Error`].
pub async fn recorded(
    conn: &impl ConnectionTrait,
    keys: &[TaskKey],
) -> Result<HashMap<TaskKey, State>> {
    recorded_runs(conn, keys).await?.iter().map(|run| Ok((key(run)?, state(run)?))).collect()
}

/// In which lives of the database these runs were given, those of them that were and of which that can be
/// read.
///
/// # Errors
/// See [`crate::Error`].
pub async fn given(
    conn: &impl ConnectionTrait,
    keys: &[TaskKey],
) -> Result<HashMap<TaskKey, Epoch>> {
    let found = recorded_runs(conn, keys).await?;
    let given = readable(found.iter().map(|run| Ok((key(run)?, epoch(run)?))));
    Ok(given.into_iter().collect())
}

async fn recorded_runs(conn: &impl ConnectionTrait, keys: &[TaskKey]) -> Result<Vec<QueryResult>> {
    let mut found = Vec::with_capacity(keys.len());
    for keys in keys.chunks(ROWS_A_STATEMENT) {
        found.extend(conn.query_all_raw(recorded_statement(conn, keys)).await?);
    }
    Ok(found)
}

/// Only so much of them is read: a job may have thousands of tasks besides.
fn recorded_statement(conn: &impl ConnectionTrait, keys: &[TaskKey]) -> Statement {
    let sql = format!(
        "WITH asked (job, attempt, role, task_index, retry) AS (VALUES {}) \
         SELECT tasks.job, tasks.attempt, tasks.role, tasks.task_index, tasks.retry, tasks.state, \
         tasks.epoch FROM asked JOIN tasks ON tasks.job = asked.job AND tasks.attempt = asked.attempt \
         AND tasks.role = asked.role AND tasks.task_index = asked.task_index \
         AND tasks.retry = asked.retry",
        parameters(conn.get_database_backend(), form(keys.len()), 5)
    );
    let values = filled(keys).flat_map(|key| {
        let TaskKey { job, attempt, role, index, retry } = *key;
        [job.0, attempt.into(), role.into(), index.into(), retry.into()].map(Value::from)
    });
    Statement::from_sql_and_values(conn.get_database_backend(), sql, values)
}

fn key(run: &QueryResult) -> Result<TaskKey> {
    let job: i64 = run.try_get("", "job")?;
    let row = Row::new("tasks", &job);
    let number = |column: &str| -> Result<u32> {
        let value: i64 = run.try_get("", column)?;
        row.number(value)
    };
    Ok(TaskKey {
        job: JobId(job),
        attempt: number("attempt")?,
        role: number("role")?,
        index: number("task_index")?,
        retry: number("retry")?,
    })
}

fn state(run: &QueryResult) -> Result<State> {
    let job: i64 = run.try_get("", "job")?;
    let state: String = run.try_get("", "state")?;
    Row::new("tasks", &job).state(&state)
}

fn epoch(run: &QueryResult) -> Result<Epoch> {
    let job: i64 = run.try_get("", "job")?;
    let epoch: Option<String> = run.try_get("", "epoch")?;
    Ok(Row::new("tasks", &job).name_if(epoch.as_deref())?.unwrap_or_default())
}

/// The tasks that a node holds: those placed there that have not ended.
///
/// # Errors
/// See [`crate::Error`].
pub async fn of_node(conn: &impl ConnectionTrait, node: &NodeName) -> Result<Vec<Task>> {
    let query = row::Entity::find()
        .filter(row::Column::Node.eq(node.as_str()))
        .filter(Expr::cust(states::has_not_ended()));
    tasks(in_order(query).all(conn).await?)
}

/// The tasks that matter now: all that have not ended, and all of the current attempts of jobs
/// that have not ended. By job, attempt, role, index and retry.
///
/// # Errors
/// See [`crate::Error`].
pub async fn active(conn: &impl ConnectionTrait) -> Result<Vec<Task>> {
    active_but(conn, &BTreeSet::new()).await
}

/// The same without those of some jobs, whose rows need not be readable.
///
/// # Errors
/// See [`crate::Error`].
pub async fn active_but(
    conn: &impl ConnectionTrait,
    others: &BTreeSet<JobId>,
) -> Result<Vec<Task>> {
    let found = stored(conn).await?.into_iter().filter(|row| !others.contains(&JobId(row.job)));
    found.map(row::Model::into_task).collect()
}

/// The jobs with a task that matters now and cannot be read, each with why.
pub(crate) async fn examine(conn: &impl ConnectionTrait) -> Result<Vec<(JobId, Error)>> {
    let found = stored(conn).await?.into_iter();
    let unreadable = |row: row::Model| Some((JobId(row.job), row.into_task().err()?));
    Ok(found.filter_map(unreadable).collect())
}

/// Where a job has tasks that have not ended, as far as the names of these nodes can be read.
pub(crate) async fn nodes_of(
    conn: &impl ConnectionTrait,
    job: JobId,
) -> Result<BTreeSet<NodeName>> {
    let query = row::Entity::find()
        .select_only()
        .column(row::Column::Node)
        .distinct()
        .filter(row::Column::Job.eq(job.0))
        .filter(Expr::cust(states::has_not_ended()));
    let names: Vec<String> = query.into_tuple().all(conn).await?;
    Ok(names.iter().filter_map(|name| name.parse().ok()).collect())
}

async fn stored(conn: &impl ConnectionTrait) -> Result<Vec<row::Model>> {
    let statement = that_matter(conn.get_database_backend());
    let mut found = row::Entity::find().from_raw_sql(statement).all(conn).await?;
    found.sort_unstable_by_key(|row| (row.job, row.attempt, row.role, row.task_index, row.retry));
    Ok(found)
}

/// They are not asked for in their order: SQLite would come past all tasks that have ever ended to find it.
fn that_matter(backend: DbBackend) -> Statement {
    let sql = format!(
        "SELECT tasks.* FROM jobs JOIN tasks \
         ON tasks.job = jobs.id AND tasks.attempt = jobs.attempt \
         WHERE jobs.state IN {} \
         UNION SELECT tasks.* FROM tasks WHERE {}",
        states::going_on(),
        states::has_not_ended()
    );
    Statement::from_string(backend, sql)
}

/// The same for some jobs.
///
/// # Errors
/// See [`crate::Error`].
pub async fn active_of(conn: &impl ConnectionTrait, jobs: &[JobId]) -> Result<Vec<Task>> {
    let mut found = Vec::new();
    for jobs in jobs.chunks(ROWS_A_STATEMENT) {
        let current = "attempt = (SELECT attempt FROM jobs WHERE jobs.id = tasks.job)";
        let active = states::has_not_ended();
        let query = row::Entity::find()
            .filter(row::Column::Job.is_in(any_of(jobs)))
            .filter(Expr::cust(format!("({current} OR {active})")));
        found.extend(tasks(in_order(query).all(conn).await?)?);
    }
    Ok(found)
}

/// Where these jobs have or had tasks, each node of a job once, as far as the names of these can be read.
///
/// # Errors
/// See [`crate::Error`].
pub async fn places_of(
    conn: &impl ConnectionTrait,
    jobs: &[JobId],
) -> Result<Vec<(JobId, NodeName)>> {
    let mut found = Vec::new();
    for jobs in jobs.chunks(ROWS_A_STATEMENT) {
        let query = row::Entity::find()
            .select_only()
            .columns([row::Column::Job, row::Column::Node])
            .distinct()
            .filter(row::Column::Job.is_in(any_of(jobs)));
        let places: Vec<(i64, String)> = query.into_tuple().all(conn).await?;
        let readable =
            |(job, node): (i64, String)| Some((JobId(job), node.parse::<NodeName>().ok()?));
        found.extend(places.into_iter().filter_map(readable));
    }
    Ok(found)
}

/// The ids of the jobs that have or had a task on one of these nodes.
pub(crate) async fn jobs_on(
    conn: &impl ConnectionTrait,
    nodes: &[NodeName],
) -> Result<HashSet<i64>> {
    let query = row::Entity::find()
        .select_only()
        .column(row::Column::Job)
        .distinct()
        .filter(row::Column::Node.is_in(nodes.iter().map(NodeName::as_str)));
    let jobs: Vec<i64> = query.into_tuple().all(conn).await?;
    Ok(jobs.into_iter().collect())
}

fn in_order(query: Select<row::Entity>) -> Select<row::Entity> {
    query
        .order_by_asc(row::Column::Job)
        .order_by_asc(row::Column::Attempt)
        .order_by_asc(row::Column::Role)
        .order_by_asc(row::Column::TaskIndex)
        .order_by_asc(row::Column::Retry)
}

fn tasks(rows: Vec<row::Model>) -> Result<Vec<Task>> {
    rows.into_iter().map(row::Model::into_task).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan;

    #[tokio::test]
    async fn no_task_that_has_ended_before_is_come_past() {
        let steps = plan::of(that_matter(DbBackend::Sqlite)).await;
        let of_tasks: Vec<&String> = steps.iter().filter(|step| step.contains(" tasks ")).collect();
        let [current, others] = *of_tasks.as_slice() else { panic!("{steps:?}") };
        assert!(current.contains("(job=? AND attempt=?)"), "{steps:?}");
        assert!(others.contains("USING INDEX tasks_active"), "{steps:?}");
    }
}
