//! Attempts: each placement of a job's tasks.

use protocol::exit::Exit;
use protocol::ids::JobId;
use protocol::state::State;
use protocol::time::Timestamp;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, Set, Statement, Value};

use crate::convert::{
    ROWS_A_STATEMENT, amount, any_of, filled, form, in_forms, millis, parameters, readable, to_json,
};
use crate::error::named;
use crate::{ConnectionTrait, Error, Result};

mod had;
mod row;

pub use had::{Had, had};

/// One attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Its job.
    pub job: JobId,
    /// Its number, from 0.
    pub number: u32,
    /// State.
    pub state: State,
    /// It runs on what its virtual cluster is not guaranteed.
    pub borrowed: bool,
    /// When it was placed.
    pub placed_at: Timestamp,
    /// When its first container ran.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// How it ends: known before its last containers have ended.
    pub exit: Option<Box<Exit>>,
    /// For how many seconds its tasks run on without a word from the server; `None`: for ever. It is what
    /// they were told when they began, whatever is set since.
    pub lease: Option<u32>,
    /// Thousandths of GPUs as which counts between users what it has; `None`: what its job asks for.
    pub weighed_milli: Option<u64>,
}

/// An attempt's new facts; what is `None` stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptUpdate {
    /// New state; it may be the old one.
    pub state: State,
    /// When its first container ran.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// How it ends.
    pub exit: Option<Box<Exit>>,
}

impl AttemptUpdate {
    /// A change of state and of nothing else.
    #[must_use]
    pub fn to(state: State) -> Self {
        Self { state, started_at: None, completed_at: None, exit: None }
    }

    /// Changes an attempt that is known from before as the database changes it.
    pub fn apply(&self, attempt: &mut Attempt) {
        let Self { state, started_at, completed_at, exit } = self;
        attempt.state = *state;
        attempt.started_at = started_at.or(attempt.started_at);
        attempt.completed_at = completed_at.or(attempt.completed_at);
        if exit.is_some() {
            attempt.exit.clone_from(exit);
        }
    }
}

/// Stores attempts: all of them or none.
///
/// # Errors
/// [`crate::Error::Conflict`] when one of them is stored already.
pub async fn insert_many(conn: &impl ConnectionTrait, attempts: &[Attempt]) -> Result<()> {
    for attempts in in_forms(attempts) {
        row::Entity::insert_many(attempts.iter().map(row_of))
            .exec_without_returning(conn)
            .await
            .map_err(named("an attempt of that number"))?;
    }
    Ok(())
}

fn row_of(attempt: &Attempt) -> row::ActiveModel {
    let Attempt {
        job,
        number,
        state,
        borrowed,
        placed_at,
        started_at,
        completed_at,
        exit,
        lease,
        weighed_milli,
    } = attempt;
    row::ActiveModel {
        job: Set(job.0),
        number: Set((*number).into()),
        state: Set(state.as_str().to_owned()),
        borrowed: Set(*borrowed),
        placed_at: Set(placed_at.0),
        started_at: Set(millis(*started_at)),
        completed_at: Set(millis(*completed_at)),
        exit: Set(exit.as_ref().map(to_json)),
        lease: Set(lease.map(i64::from)),
        weighed_milli: Set(weighed_milli.map(amount)),
    }
}

/// Changes an attempt that is still in the state `expected`. `false`: it is not, and nothing
/// changed.
///
/// # Errors
/// See [`crate::Error`].
pub async fn update(
    conn: &impl ConnectionTrait,
    job: JobId,
    number: u32,
    expected: State,
    update: AttemptUpdate,
) -> Result<bool> {
    Ok(update_many(conn, &[(job, number, expected, update)]).await? == 1)
}

/// Changes those attempts that are still in the states given with them, by few statements; returns
/// how many these are. An attempt is named at most once.
///
/// # Errors
/// See [`crate::Error`].
pub async fn update_many(
    conn: &impl ConnectionTrait,
    updates: &[(JobId, u32, State, AttemptUpdate)],
) -> Result<u64> {
    let mut changed = 0;
    for updates in updates.chunks(ROWS_A_STATEMENT) {
        changed += conn.execute_raw(update_statement(conn, updates)).await?.rows_affected();
    }
    Ok(changed)
}

/// Somebody has set the clock by so many milliseconds: attempts that run have begun that much later by
/// it, so that they have run as long as they have.
///
/// # Errors
/// See [`crate::Error`].
pub async fn clock_was_set(conn: &impl ConnectionTrait, millis: i64) -> Result<()> {
    let sql = "UPDATE attempts SET started_at = started_at + $1 \
        WHERE started_at IS NOT NULL AND completed_at IS NULL";
    let backend = conn.get_database_backend();
    conn.execute_raw(Statement::from_sql_and_values(backend, sql, [Value::from(millis)])).await?;
    Ok(())
}

fn update_statement(
    conn: &impl ConnectionTrait,
    updates: &[(JobId, u32, State, AttemptUpdate)],
) -> Statement {
    let sql = format!(
        "WITH news (job, number, expected, state, started_at, completed_at, exit) AS (VALUES {}) \
         UPDATE attempts SET state = news.state, \
         started_at = coalesce(news.started_at, attempts.started_at), \
         completed_at = coalesce(news.completed_at, attempts.completed_at), \
         exit = coalesce(news.exit, attempts.exit) \
         FROM news WHERE attempts.job = news.job AND attempts.number = news.number \
         AND attempts.state = news.expected",
        parameters(conn.get_database_backend(), form(updates.len()), 7)
    );
    let values = filled(updates).flat_map(|(job, number, expected, update)| {
        [
            Value::from(job.0),
            Value::from(i64::from(*number)),
            Value::from(expected.as_str()),
            Value::from(update.state.as_str()),
            Value::from(millis(update.started_at)),
            Value::from(millis(update.completed_at)),
            Value::from(update.exit.as_ref().map(to_json)),
        ]
    });
    Statement::from_sql_and_values(conn.get_database_backend(), sql, values)
}

/// The job's attempts, oldest first.
///
/// # Errors
/// See [`crate::Error`].
pub async fn of_job(conn: &impl ConnectionTrait, job: JobId) -> Result<Vec<Attempt>> {
    of_jobs(conn, &[job]).await
}

/// The jobs' attempts, by job and number.
///
/// # Errors
/// See [`crate::Error`].
pub async fn of_jobs(conn: &impl ConnectionTrait, jobs: &[JobId]) -> Result<Vec<Attempt>> {
    let found = stored(conn, jobs).await?.into_iter().map(row::Model::into_attempt);
    Ok(in_order(found.collect::<Result<_>>()?))
}

/// The same without what cannot be read.
///
/// # Errors
/// See [`crate::Error`].
pub async fn readable_of_jobs(conn: &impl ConnectionTrait, jobs: &[JobId]) -> Result<Vec<Attempt>> {
    let found = stored(conn, jobs).await?.into_iter().map(row::Model::into_attempt);
    Ok(in_order(readable(found)))
}

/// Those of the jobs with an attempt that cannot be read, each with why.
pub(crate) async fn examine(
    conn: &impl ConnectionTrait,
    jobs: &[JobId],
) -> Result<Vec<(JobId, Error)>> {
    let found = stored(conn, jobs).await?.into_iter();
    let unreadable = |row: row::Model| Some((JobId(row.job), row.into_attempt().err()?));
    Ok(found.filter_map(unreadable).collect())
}

fn in_order(mut attempts: Vec<Attempt>) -> Vec<Attempt> {
    attempts.sort_by_key(|attempt| (attempt.job, attempt.number));
    attempts
}

async fn stored(conn: &impl ConnectionTrait, jobs: &[JobId]) -> Result<Vec<row::Model>> {
    let mut found = Vec::with_capacity(jobs.len());
    for jobs in jobs.chunks(ROWS_A_STATEMENT) {
        let query = row::Entity::find()
            .filter(row::Column::Job.is_in(any_of(jobs)))
            .order_by_asc(row::Column::Job)
            .order_by_asc(row::Column::Number);
        found.extend(query.all(conn).await?);
    }
    Ok(found)
}
