use std::collections::{HashMap, HashSet};

use protocol::ids::{JobId, JobKey, UserName};
use protocol::spec::JobSpec;
use protocol::state::State;
use protocol::time::Timestamp;
use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{
    ActiveValue, ColumnTrait, EntityTrait, Insert, QueryFilter, QueryTrait, Set, Statement, Value,
};

use super::job::{JobUpdate, NewJob};
use super::{file, row};
use crate::convert::{
    ROWS_A_STATEMENT, amount, filled, form, in_forms, millis, parameters, to_json,
};
use crate::{ConnectionTrait, Error, Result, Transaction};

/// Stores a job.
///
/// # Errors
/// [`Error::Conflict`] when its owner has a job of that name.
pub async fn insert(transaction: &Transaction, job: &NewJob) -> Result<JobId> {
    let mut results = insert_many(transaction, std::slice::from_ref(job)).await?;
    results.pop().expect("one result for one job")
}

/// Stores many jobs by few statements. Each has a result of its own, in the order of `jobs`: those
/// whose names are taken (by a stored job or by one before them) are [`Error::Conflict`]s and
/// leave the others alone.
///
/// # Errors
/// When nothing could be stored at all.
pub async fn insert_many(transaction: &Transaction, jobs: &[NewJob]) -> Result<Vec<Result<JobId>>> {
    let mut results = Vec::with_capacity(jobs.len());
    for jobs in in_forms(jobs) {
        let mut stored = insert_rows(transaction, jobs).await?;
        transaction.lists(stored.values().copied());
        let taken: Vec<_> = jobs.iter().map(|job| (job, stored.remove(&job.key))).collect();
        let files = taken.iter().filter_map(|(job, id)| id.map(|id| file_of(id, job)));
        file::Entity::insert_many(files).exec_without_returning(transaction).await?;
        results.extend(
            taken
                .into_iter()
                .map(|(job, id)| id.ok_or_else(|| Error::conflict(format!("job {}", job.key)))),
        );
    }
    Ok(results)
}

/// Stores the rows that do not conflict and says which those are.
async fn insert_rows(
    conn: &impl ConnectionTrait,
    jobs: &[NewJob],
) -> Result<HashMap<JobKey, JobId>> {
    let mut statement = Insert::many(jobs.iter().map(row_of)).into_query();
    statement
        .on_conflict(
            OnConflict::columns([row::Column::UserName, row::Column::Name]).do_nothing().to_owned(),
        )
        .returning(sea_orm::sea_query::Query::returning().columns([
            row::Column::Id,
            row::Column::UserName,
            row::Column::Name,
        ]));
    let mut stored = HashMap::with_capacity(jobs.len());
    for returned in conn.query_all(&statement).await? {
        let id: i64 = returned.try_get("", "id")?;
        let row = crate::convert::Row::new("jobs", &id);
        let user: String = returned.try_get("", "user_name")?;
        let name: String = returned.try_get("", "name")?;
        stored.insert(JobKey { user: row.name(&user)?, name: row.name(&name)? }, JobId(id));
    }
    Ok(stored)
}

fn row_of(job: &NewJob) -> row::ActiveModel {
    let NewJob { key, spec, text: _, syntax: _, submitted_at } = job;
    row::ActiveModel {
        id: ActiveValue::NotSet,
        user_name: Set(key.user.to_string()),
        name: Set(key.name.to_string()),
        state: Set(State::Waiting.as_str().to_owned()),
        stop_by: Set(None),
        stop_at: Set(None),
        virtual_cluster: Set(spec.virtual_cluster.to_string()),
        priority: Set(spec.priority.0.into()),
        tasks: Set(spec.task_count().into()),
        roles: Set(amount(spec.roles.len() as u64)),
        gpu_milli: Set(amount(spec.gpu_count().milli())),
        gpu_types: Set(gpu_types(spec)),
        user_retries: Set(0),
        platform_retries: Set(0),
        submitted_at: Set(submitted_at.0),
        started_at: Set(None),
        completed_at: Set(None),
        exit: Set(None),
        attempt: Set(None),
        not_before: Set(None),
        avoid: Set("[]".to_owned()),
        held_by: Set(None),
        held_at: Set(None),
        held_by_administrator: Set(false),
        moved_ms: Set(0),
        most_priority: Set(None),
        counted: Set(false),
        time_limit: Set(spec.time_limit.map(|limit| limit.seconds().into())),
    }
}

/// The types the job asks for and those of roles that ask for their own, each once.
fn gpu_types(spec: &JobSpec) -> String {
    let mut types = Vec::new();
    for asked in spec.gpu_types.iter().chain(spec.roles.iter().flat_map(|role| &role.gpu_types)) {
        if !types.contains(&asked) {
            types.push(asked);
        }
    }
    to_json(&types)
}

fn file_of(id: JobId, job: &NewJob) -> file::ActiveModel {
    file::ActiveModel {
        job: Set(id.0),
        spec: Set(to_json(&job.spec)),
        text: Set(job.text.clone()),
        syntax: Set(file::syntax_word(job.syntax).to_owned()),
    }
}

/// Notes that somebody wants the job to end. `false`: it has ended, somebody asked before, or
/// there is no such job; nothing changed then.
///
/// # Errors
/// See [`Error`].
pub async fn request_stop(
    conn: &impl ConnectionTrait,
    id: JobId,
    by: &UserName,
    at: Timestamp,
) -> Result<bool> {
    let finals = State::ALL.into_iter().filter(|state| state.is_final()).map(State::as_str);
    let done = row::Entity::update_many()
        .col_expr(row::Column::StopBy, Expr::value(by.as_str()))
        .col_expr(row::Column::StopAt, Expr::value(at.0))
        .filter(row::Column::Id.eq(id.0))
        .filter(row::Column::StopAt.is_null())
        .filter(row::Column::State.is_not_in(finals))
        .exec(conn)
        .await?;
    Ok(done.rows_affected == 1)
}

/// Changes a job that is still in the state `expected`. `false`: it is not, and nothing changed.
///
/// # Errors
/// See [`Error`].
pub async fn update(
    transaction: &Transaction,
    id: JobId,
    expected: State,
    update: JobUpdate,
) -> Result<bool> {
    Ok(!update_many(transaction, &[(id, expected, update)]).await?.is_empty())
}

/// Changes those jobs that are still in the states given with them, by few statements, and says
/// which these are. A job is named at most once.
///
/// # Errors
/// See [`Error`].
pub async fn update_many(
    transaction: &Transaction,
    updates: &[(JobId, State, JobUpdate)],
) -> Result<HashSet<JobId>> {
    let mut changed = HashSet::with_capacity(updates.len());
    for updates in updates.chunks(ROWS_A_STATEMENT) {
        let statement = update_statement(transaction, updates);
        for row in transaction.query_all_raw(statement).await? {
            changed.insert(JobId(row.try_get("", "id")?));
        }
    }
    transaction.lists(changed.iter().copied());
    Ok(changed)
}

/// Only a job that waits has a time before which it does not begin, and a hold.
fn update_statement(
    conn: &impl ConnectionTrait,
    updates: &[(JobId, State, JobUpdate)],
) -> Statement {
    let (waiting, preparing) = (State::Waiting.as_str(), State::Preparing.as_str());
    let sql = format!(
        "WITH news (id, expected, state, started_at, completed_at, exit, attempt, user_retries, \
         platform_retries, avoid, not_before) AS (VALUES {}) \
         UPDATE jobs SET state = news.state, \
         started_at = coalesce(news.started_at, jobs.started_at), \
         completed_at = coalesce(news.completed_at, jobs.completed_at), \
         exit = coalesce(news.exit, jobs.exit), \
         attempt = coalesce(news.attempt, jobs.attempt), \
         user_retries = coalesce(news.user_retries, jobs.user_retries), \
         platform_retries = coalesce(news.platform_retries, jobs.platform_retries), \
         avoid = coalesce(news.avoid, jobs.avoid), \
         not_before = CASE WHEN news.state = '{waiting}' \
         THEN coalesce(news.not_before, jobs.not_before) END, \
         held_by = CASE WHEN news.state = '{waiting}' THEN jobs.held_by END, \
         held_at = CASE WHEN news.state = '{waiting}' THEN jobs.held_at END \
         FROM news WHERE jobs.id = news.id AND jobs.state = news.expected \
         AND (jobs.held_at IS NULL OR news.state <> '{preparing}') RETURNING jobs.id",
        parameters(conn.get_database_backend(), form(updates.len()), 11)
    );
    let values = filled(updates).flat_map(|(id, expected, update)| {
        let retries = update.retries;
        [
            Value::from(id.0),
            Value::from(expected.as_str()),
            Value::from(update.state.as_str()),
            Value::from(millis(update.started_at)),
            Value::from(millis(update.completed_at)),
            Value::from(update.exit.as_ref().map(to_json)),
            Value::from(update.attempt.map(i64::from)),
            Value::from(retries.map(|retries| i64::from(retries.user))),
            Value::from(retries.map(|retries| i64::from(retries.platform))),
            Value::from(update.avoid.as_ref().map(to_json)),
            Value::from(millis(update.not_before)),
        ]
    });
    Statement::from_sql_and_values(conn.get_database_backend(), sql, values)
}
