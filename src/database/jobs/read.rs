use std::collections::{BTreeSet, HashMap};

use protocol::document::Syntax;
use protocol::ids::{JobId, JobKey, UserName};
use protocol::spec::JobSpec;
use protocol::state::State;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{ExprTrait, SelectStatement};
use sea_orm::{FromQueryResult, JoinType, QueryOrder, QuerySelect, QueryTrait, Select, Statement};

use super::job::{Job, JobRow};
use super::{file, row};
use crate::convert::{ROWS_A_STATEMENT, any_of, filled, readable};
use crate::{ConnectionTrait, Error, Result, states};

/// The job of that owner and name.
///
/// # Errors
/// See [`Error`].
pub async fn by_key(conn: &impl ConnectionTrait, key: &JobKey) -> Result<Option<Job>> {
    let found = row::Entity::find()
        .filter(row::Column::UserName.eq(key.user.as_str()))
        .filter(row::Column::Name.eq(key.name.as_str()))
        .one(conn)
        .await?;
    with_spec(conn, found).await
}

/// The job of that id.
///
/// # Errors
/// See [`Error`].
pub async fn by_id(conn: &impl ConnectionTrait, id: JobId) -> Result<Option<Job>> {
    let found = row::Entity::find_by_id(id.0).one(conn).await?;
    with_spec(conn, found).await
}

async fn with_spec(conn: &impl ConnectionTrait, found: Option<row::Model>) -> Result<Option<Job>> {
    match found {
        Some(found) => Ok(with_specs(conn, vec![found]).await?.pop()),
        None => Ok(None),
    }
}

/// The jobs of those ids, oldest first; ids without a job are left out.
///
/// # Errors
/// See [`Error`].
pub async fn by_ids(conn: &impl ConnectionTrait, jobs: &[JobId]) -> Result<Vec<Job>> {
    let mut found = Vec::with_capacity(jobs.len());
    for jobs in jobs.chunks(ROWS_A_STATEMENT) {
        let query = row::Entity::find().filter(row::Column::Id.is_in(any_of(jobs)));
        found.extend(query.all(conn).await?);
    }
    found.sort_unstable_by_key(|row| row.id);
    found.dedup_by_key(|row| row.id);
    with_specs(conn, found).await
}

/// The jobs of those ids, without their specs, in any order; ids without a job are left out.
///
/// # Errors
/// See [`Error`].
pub async fn rows(conn: &impl ConnectionTrait, jobs: &[JobId]) -> Result<Vec<JobRow>> {
    stored(conn, jobs).await?.into_iter().map(row::Model::into_row).collect()
}

/// The same without what cannot be read.
///
/// # Errors
/// See [`Error`].
pub async fn readable_rows(conn: &impl ConnectionTrait, jobs: &[JobId]) -> Result<Vec<JobRow>> {
    Ok(readable(stored(conn, jobs).await?.into_iter().map(row::Model::into_row)))
}

async fn stored(conn: &impl ConnectionTrait, jobs: &[JobId]) -> Result<Vec<row::Model>> {
    let mut found = Vec::with_capacity(jobs.len());
    for jobs in jobs.chunks(ROWS_A_STATEMENT) {
        let query = row::Entity::find().filter(row::Column::Id.is_in(any_of(jobs)));
        found.extend(query.all(conn).await?);
    }
    Ok(found)
}

/// All jobs that have not ended, oldest first, without their specs.
///
/// # Errors
/// See [`Error`].
pub async fn active(conn: &impl ConnectionTrait) -> Result<Vec<JobRow>> {
    active_but(conn, &BTreeSet::new()).await
}

/// The same without some, whose rows need not be readable.
///
/// # Errors
/// See [`Error`].
pub async fn active_but(
    conn: &impl ConnectionTrait,
    others: &BTreeSet<JobId>,
) -> Result<Vec<JobRow>> {
    in_states(conn, others, |state| !state.is_final()).await
}

/// The active jobs that have been given their place, oldest first, without their specs.
///
/// # Errors
/// See [`Error`].
pub async fn placed(conn: &impl ConnectionTrait) -> Result<Vec<JobRow>> {
    placed_but(conn, &BTreeSet::new()).await
}

/// The same without some, whose rows need not be readable.
///
/// # Errors
/// See [`Error`].
pub async fn placed_but(
    conn: &impl ConnectionTrait,
    others: &BTreeSet<JobId>,
) -> Result<Vec<JobRow>> {
    in_states(conn, others, |state| !state.is_final() && state != State::Waiting).await
}

/// Of the jobs that have succeeded, and of those that have failed, the last so many that were
/// submitted, in the order in which they ended, without their specs. What cannot be read is left out.
///
/// # Errors
/// See [`Error`].
pub async fn ended_last(conn: &impl ConnectionTrait, most: u64) -> Result<Vec<JobRow>> {
    let mut ended = Vec::new();
    for state in [State::Succeeded, State::Failed] {
        let ids = last_of_state(state, most).select_only().column(row::Column::Id);
        let ids: Vec<i64> = ids.into_tuple().all(conn).await?;
        let ids: Vec<JobId> = ids.into_iter().map(JobId).collect();
        // There may be thousands: never many rows are in memory, as in `in_states`.
        for some in ids.chunks(ROWS_A_STATEMENT) {
            ended.extend(readable_rows(conn, some).await?);
        }
    }
    ended.sort_by_key(|job| (job.completed_at, job.id));
    Ok(ended)
}

/// The image of the first role of each of these jobs. What cannot be read is left out.
///
/// # Errors
/// See [`Error`].
pub async fn first_images(
    conn: &impl ConnectionTrait,
    jobs: &[JobId],
) -> Result<HashMap<JobId, String>> {
    let mut images = HashMap::with_capacity(jobs.len());
    // Specs may be long: never more of them are in memory than one statement reads.
    for some in jobs.chunks(ROWS_A_STATEMENT) {
        let specs = specs(conn, some.iter().map(|job| job.0).collect()).await?;
        let image = |(job, text): (i64, String)| Some((JobId(job), file::first_image(&text)?));
        images.extend(specs.into_iter().filter_map(image));
    }
    Ok(images)
}

/// In the order of the index `jobs_by_state`: of a million others none is looked at.
fn last_of_state(state: State, most: u64) -> Select<row::Entity> {
    row::Entity::find()
        .filter(row::Column::State.eq(state.as_str()))
        .order_by_desc(row::Column::SubmittedAt)
        .order_by_desc(row::Column::Id)
        .limit(most)
}

/// The user's jobs that have not ended, oldest first, without their specs.
///
/// # Errors
/// See [`Error`].
pub async fn active_of(conn: &impl ConnectionTrait, user: &UserName) -> Result<Vec<JobRow>> {
    let query = going_on_of(user).order_by_asc(row::Column::Id);
    query.all(conn).await?.into_iter().map(row::Model::into_row).collect()
}

/// The user's jobs that came after that one and have not ended.
///
/// # Errors
/// See [`Error`].
pub async fn active_after(
    conn: &impl ConnectionTrait,
    user: &UserName,
    after: JobId,
) -> Result<Vec<JobId>> {
    let ids: Vec<i64> = going_on_after(user, after)
        .select_only()
        .column(row::Column::Id)
        .into_tuple()
        .all(conn)
        .await?;
    Ok(ids.into_iter().map(JobId).collect())
}

/// Those after none by their states, and those after any other by their ids: they are few.
fn going_on_after(user: &UserName, after: JobId) -> Select<row::Entity> {
    if after == JobId(0) {
        return going_on_of(user);
    }
    row::Entity::find()
        .filter(row::Column::Id.gt(after.0))
        .filter(Expr::cust(format!("NOT {}", states::has_ended())))
        .filter(is_of(user))
}

fn going_on_of(user: &UserName) -> Select<row::Entity> {
    going_on().filter(is_of(user))
}

/// Says whose a job is that is found by something else: SQLite would rather come past all that he has ever submitted.
fn is_of(user: &UserName) -> Expr {
    ExprTrait::is(row::Column::UserName.eq(user.as_str()), Expr::custom_keyword("TRUE"))
}

fn going_on() -> Select<row::Entity> {
    let states = State::ALL.into_iter().filter(|state| !state.is_final()).map(State::as_str);
    row::Entity::find().filter(row::Column::State.is_in(states))
}

/// The jobs that have not ended and have had a place, of a user or of all, without their specs, but what cannot be
/// read.
///
/// # Errors
/// See [`Error`].
pub async fn begun(conn: &impl ConnectionTrait, user: Option<&UserName>) -> Result<Vec<JobRow>> {
    let query = user.map_or_else(going_on, going_on_of).filter(row::Column::Attempt.is_not_null());
    Ok(readable(query.all(conn).await?.into_iter().map(row::Model::into_row)))
}

/// The ids of all of a user's jobs, as a part of another query.
pub(crate) fn ids_of(user: &UserName) -> SelectStatement {
    let query = row::Entity::find().filter(row::Column::UserName.eq(user.as_str()));
    query.select_only().column(row::Column::Id).into_query()
}

async fn in_states(
    conn: &impl ConnectionTrait,
    others: &BTreeSet<JobId>,
    which: impl Fn(State) -> bool,
) -> Result<Vec<JobRow>> {
    let states = State::ALL.into_iter().filter(|state| which(*state)).map(State::as_str);
    let states: Vec<&str> = states.collect();
    let ids = of_states(states.iter().copied()).select_only().column(row::Column::Id);
    let ids: Vec<i64> = ids.into_tuple().all(conn).await?;
    let ids: Vec<JobId> = ids.into_iter().map(JobId).filter(|id| !others.contains(id)).collect();
    let mut found = Vec::with_capacity(ids.len());
    // What the database gives of a row is larger than what is made of it: never much of it is in memory.
    for some in ids.chunks(ROWS_A_STATEMENT) {
        let rows = stored(conn, some).await?.into_iter();
        for row in rows.filter(|row| states.contains(&row.state.as_str())) {
            found.push(row.into_row()?);
        }
    }
    found.sort_by_key(|job: &JobRow| job.id);
    Ok(found)
}

fn of_states(states: impl IntoIterator<Item = impl Into<String>>) -> Select<row::Entity> {
    let states = states.into_iter().map(Into::into);
    row::Entity::find().filter(row::Column::State.is_in::<String, _>(states))
}

async fn with_specs(conn: &impl ConnectionTrait, rows: Vec<row::Model>) -> Result<Vec<Job>> {
    let specs = specs(conn, rows.iter().map(|row| row.id).collect()).await?;
    let with_spec = |row: row::Model| {
        let (mut spec, row) = (spec(&specs, row.id)?, row.into_row()?);
        spec.time_limit = row.time_limit.or(spec.time_limit);
        Ok(Job { row, spec })
    };
    rows.into_iter().map(with_spec).collect()
}

/// The specs of these jobs, as they are stored.
async fn specs(conn: &impl ConnectionTrait, jobs: Vec<i64>) -> Result<HashMap<i64, String>> {
    let mut specs = HashMap::with_capacity(jobs.len());
    for jobs in jobs.chunks(ROWS_A_STATEMENT) {
        let query = file::Entity::find()
            .select_only()
            .columns([file::Column::Job, file::Column::Spec])
            .filter(file::Column::Job.is_in(filled(jobs).copied()));
        specs.extend(query.into_tuple::<(i64, String)>().all(conn).await?);
    }
    Ok(specs)
}

fn spec(specs: &HashMap<i64, String>, job: i64) -> Result<JobSpec> {
    let text = specs.get(&job).ok_or_else(|| without_file(job))?;
    file::spec(job, text)
}

fn without_file(job: i64) -> Error {
    Error::corrupt(format!("job {job}"), "its file is missing")
}

/// What is stored of a job.
#[derive(FromQueryResult)]
struct Stored {
    #[sea_orm(nested)]
    row: row::Model,
    spec: Option<String>,
}

/// The jobs that have not ended, and those of them whose rows or specs cannot be read, each with why. What can be read
/// `learn` is told.
pub(crate) async fn examine(
    conn: &impl ConnectionTrait,
    mut learn: impl FnMut(JobRow, JobSpec),
) -> Result<(Vec<JobId>, Vec<(JobId, Error)>)> {
    let (mut jobs, mut unreadable) = (Vec::new(), Vec::new());
    let mut take = |Stored { row, spec }: Stored| {
        let job = JobId(row.id);
        jobs.push(job);
        let spec = spec.ok_or_else(|| without_file(job.0));
        match (spec.and_then(|text| file::spec(job.0, &text)), row.into_row()) {
            (Ok(spec), Ok(row)) => learn(row, spec),
            (spec, row) => {
                let why = spec.err().into_iter().chain(row.err());
                unreadable.extend(why.map(|error| (job, error)));
            }
        }
    };
    let ended = |word: &String| State::from_word(word).is_some_and(State::is_final);
    for word in words(conn).await?.into_iter().filter(|word| !ended(word)) {
        let part = async |after| part(&word, after).into_model::<Stored>().all(conn).await;
        // Specs may be long: never more of them are in memory than two statements read.
        let mut some = part(None).await?;
        while let Some(Stored { row: last, .. }) = some.last() {
            let after = Some((last.submitted_at, last.id));
            // The database reads on while what it has read is taken in.
            let taken = async { some.into_iter().for_each(&mut take) };
            let (next, ()) = tokio::join!(part(after), taken);
            some = next?;
        }
    }
    Ok((jobs, unreadable))
}

/// Some jobs in a state, be it one or not, after one of them, in the order of the index `jobs_by_state`; each with its
/// spec.
fn part(state: &str, after: Option<(i64, i64)>) -> Select<row::Entity> {
    let (at, id) = (row::Column::SubmittedAt, row::Column::Id);
    let file = row::Entity::belongs_to(file::Entity).from(id).to(file::Column::Job);
    let mut query = row::Entity::find()
        .join(JoinType::LeftJoin, file.into())
        .column(file::Column::Spec)
        .filter(row::Column::State.eq(state))
        .order_by_asc(at)
        .order_by_asc(id)
        .limit(u64::try_from(ROWS_A_STATEMENT).ok());
    if let Some(last) = after {
        let place = Expr::tuple([at.into_expr(), id.into_expr()]);
        query = query.filter(place.gt(Expr::tuple([last.0.into(), last.1.into()])));
    }
    query
}

/// What is written in the column of states, be it a state or not: each word is looked for beyond the
/// one before, since an index is quick at that alone.
async fn words(conn: &impl ConnectionTrait) -> Result<Vec<String>> {
    let sql = "WITH RECURSIVE words (word) AS (SELECT min(state) FROM jobs UNION ALL \
        SELECT (SELECT min(state) FROM jobs WHERE state > word) FROM words WHERE word IS NOT NULL) \
        SELECT word FROM words WHERE word IS NOT NULL";
    let statement = Statement::from_string(conn.get_database_backend(), sql);
    let rows = conn.query_all_raw(statement).await?;
    rows.iter().map(|row| Ok(row.try_get_by_index(0)?)).collect()
}

/// The job's file as it was written, and its notation.
///
/// # Errors
/// [`Error::NotFound`] when there is no such job.
pub async fn text(conn: &impl ConnectionTrait, id: JobId) -> Result<(String, Syntax)> {
    let found = file::Entity::find_by_id(id.0).one(conn).await?;
    let file = found.ok_or_else(|| Error::not_found(format!("job {id}")))?;
    file.into_text()
}

#[cfg(test)]
mod tests {
    use sea_orm::DbBackend;

    use super::*;
    use crate::plan;

    #[tokio::test]
    async fn what_has_not_ended_and_what_a_start_reads_is_found_by_an_index() {
        for query in [
            last_of_state(State::Failed, 9),
            of_states(["WAITING", "RUNNING"]),
            going_on_of(&"ada".parse().unwrap()),
            part("WAITING", None),
            part("WAITING", Some((9, 9))),
        ] {
            let steps = plan::of(query.build(DbBackend::Sqlite)).await;
            assert!(steps[0].contains("USING INDEX jobs_by_state"), "{steps:?}");
        }
        let steps = plan::of(part("WAITING", Some((9, 9))).build(DbBackend::Sqlite)).await;
        assert!(steps[0].contains("(state=? AND submitted_at>?)"), "{steps:?}");
        assert!(!steps.iter().any(|step| step.contains("TEMP B-TREE")), "{steps:?}");
        let lately = going_on_after(&"ada".parse().unwrap(), JobId(9));
        let steps = plan::of(lately.build(DbBackend::Sqlite)).await;
        assert!(steps[0].contains("USING INTEGER PRIMARY KEY (rowid>?)"), "{steps:?}");
    }
}
