use std::collections::HashMap;

use protocol::ids::{JobId, JobKey, UserName};
use protocol::spec::JobSpec;
use protocol::state::State;
use protocol::time::Timestamp;
use protocol::wait::Waiting;
use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{
    ActiveValue, ColumnTrait, EntityTrait, Insert, QueryFilter, QueryTrait, Set, Statement, Value,
};

use super::{JobUpdate, NewJob, file, row};
use crate::convert::{ROWS_A_STATEMENT, amount, to_json};
use crate::{ConnectionTrait, Error, Result};

/// Stores a job.
///
/// # Errors
/// [`Error::Conflict`] when its owner has a job of that name.
pub async fn insert(conn: &impl ConnectionTrait, job: &NewJob) -> Result<JobId> {
    let mut results = insert_many(conn, std::slice::from_ref(job)).await?;
    results.pop().expect("one result for one job")
}

/// Stores many jobs by few statements. Each has a result of its own, in the order of `jobs`: those
/// whose names are taken (by a stored job or by one before them) are [`Error::Conflict`]s and
/// leave the others alone.
///
/// # Errors
/// When nothing could be stored at all.
pub async fn insert_many(
    conn: &impl ConnectionTrait,
    jobs: &[NewJob],
) -> Result<Vec<Result<JobId>>> {
    let mut results = Vec::with_capacity(jobs.len());
    for jobs in jobs.chunks(ROWS_A_STATEMENT) {
        let mut stored = insert_rows(conn, jobs).await?;
        let taken: Vec<_> = jobs.iter().map(|job| (job, stored.remove(&job.key))).collect();
        let files = taken.iter().filter_map(|(job, id)| id.map(|id| file_of(id, job)));
        file::Entity::insert_many(files).exec_without_returning(conn).await?;
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
        gpus: Set(amount(spec.gpu_count())),
        gpu_types: Set(gpu_types(spec)),
        user_retries: Set(0),
        platform_retries: Set(0),
        submitted_at: Set(submitted_at.0),
        started_at: Set(None),
        completed_at: Set(None),
        waiting: Set(None),
        exit: Set(None),
        attempt: Set(None),
        not_before: Set(None),
        avoid: Set("[]".to_owned()),
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
    conn: &impl ConnectionTrait,
    id: JobId,
    expected: State,
    update: JobUpdate,
) -> Result<bool> {
    let done = row::Entity::update_many()
        .set(changed(update))
        .filter(row::Column::Id.eq(id.0))
        .filter(row::Column::State.eq(expected.as_str()))
        .exec(conn)
        .await?;
    Ok(done.rows_affected == 1)
}

fn changed(update: JobUpdate) -> row::ActiveModel {
    let waits = update.state == State::Waiting;
    let mut row =
        row::ActiveModel { state: Set(update.state.as_str().to_owned()), ..Default::default() };
    if let Some(at) = update.started_at {
        row.started_at = Set(Some(at.0));
    }
    if let Some(at) = update.completed_at {
        row.completed_at = Set(Some(at.0));
    }
    if let Some(exit) = update.exit {
        row.exit = Set(Some(to_json(&exit)));
    }
    if !waits || update.waiting.is_some() {
        row.waiting = Set(update.waiting.filter(|_| waits).map(|waiting| to_json(&waiting)));
    }
    if let Some(attempt) = update.attempt {
        row.attempt = Set(Some(attempt.into()));
    }
    if let Some(retries) = update.retries {
        row.user_retries = Set(retries.user.into());
        row.platform_retries = Set(retries.platform.into());
    }
    if !waits || update.not_before.is_some() {
        row.not_before = Set(update.not_before.filter(|_| waits).map(|at| at.0));
    }
    if let Some(avoid) = update.avoid {
        row.avoid = Set(to_json(&avoid));
    }
    row
}

/// Says why jobs wait: only of those that still do, and only where it is news. Returns how many
/// rows changed.
///
/// # Errors
/// See [`Error`].
pub async fn set_waiting(conn: &impl ConnectionTrait, waiting: &[(JobId, Waiting)]) -> Result<u64> {
    let mut changed = 0;
    for waiting in waiting.chunks(ROWS_A_STATEMENT) {
        changed += conn.execute_raw(waiting_statement(conn, waiting)).await?.rows_affected();
    }
    Ok(changed)
}

/// One statement for many rows; both databases number their parameters alike.
fn waiting_statement(conn: &impl ConnectionTrait, waiting: &[(JobId, Waiting)]) -> Statement {
    let rows: Vec<_> =
        (0..waiting.len()).map(|row| format!("(${}, ${})", 2 * row + 1, 2 * row + 2)).collect();
    let sql = format!(
        "WITH news (id, waiting) AS (VALUES {}) \
         UPDATE jobs SET waiting = news.waiting FROM news \
         WHERE jobs.id = news.id AND jobs.state = 'WAITING' \
         AND jobs.waiting IS DISTINCT FROM news.waiting",
        rows.join(", ")
    );
    let values = waiting
        .iter()
        .flat_map(|(job, waiting)| [Value::from(job.0), Value::from(to_json(waiting))]);
    Statement::from_sql_and_values(conn.get_database_backend(), sql, values)
}
