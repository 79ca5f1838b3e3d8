use std::collections::HashMap;

use protocol::document::Syntax;
use protocol::ids::{JobId, JobKey, UserName};
use protocol::state::State;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::SelectStatement;
use sea_orm::{QueryOrder, QuerySelect, QueryTrait};

use super::{Job, JobRow, file, row};
use crate::convert::{ROWS_A_STATEMENT, ids};
use crate::{ConnectionTrait, Error, Result};

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
        let query = row::Entity::find().filter(row::Column::Id.is_in(ids(jobs)));
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
    let mut found = Vec::with_capacity(jobs.len());
    for jobs in jobs.chunks(ROWS_A_STATEMENT) {
        let query = row::Entity::find().filter(row::Column::Id.is_in(ids(jobs)));
        found.extend(query.all(conn).await?);
    }
    found.into_iter().map(row::Model::into_row).collect()
}

/// All jobs that have not ended, oldest first, without their specs.
///
/// # Errors
/// See [`Error`].
pub async fn active(conn: &impl ConnectionTrait) -> Result<Vec<JobRow>> {
    in_states(conn, |state| !state.is_final()).await
}

/// The active jobs that have been given their place, oldest first, without their specs.
///
/// # Errors
/// See [`Error`].
pub async fn placed(conn: &impl ConnectionTrait) -> Result<Vec<JobRow>> {
    in_states(conn, |state| !state.is_final() && state != State::Waiting).await
}

/// The user's jobs that have not ended, oldest first, without their specs.
///
/// # Errors
/// See [`Error`].
pub async fn active_of(conn: &impl ConnectionTrait, user: &UserName) -> Result<Vec<JobRow>> {
    let states = State::ALL.into_iter().filter(|state| !state.is_final()).map(State::as_str);
    let query = row::Entity::find()
        .filter(row::Column::UserName.eq(user.as_str()))
        .filter(row::Column::State.is_in(states))
        .order_by_asc(row::Column::Id);
    query.all(conn).await?.into_iter().map(row::Model::into_row).collect()
}

/// The ids of all of a user's jobs, as a part of another query.
pub(crate) fn ids_of(user: &UserName) -> SelectStatement {
    let query = row::Entity::find().filter(row::Column::UserName.eq(user.as_str()));
    query.select_only().column(row::Column::Id).into_query()
}

async fn in_states(
    conn: &impl ConnectionTrait,
    which: impl Fn(State) -> bool,
) -> Result<Vec<JobRow>> {
    let states = State::ALL.into_iter().filter(|state| which(*state)).map(State::as_str);
    let query = row::Entity::find().filter(row::Column::State.is_in(states));
    let found = query.order_by_asc(row::Column::Id).all(conn).await?;
    found.into_iter().map(row::Model::into_row).collect()
}

async fn with_specs(conn: &impl ConnectionTrait, rows: Vec<row::Model>) -> Result<Vec<Job>> {
    let mut specs = HashMap::with_capacity(rows.len());
    for rows in rows.chunks(ROWS_A_STATEMENT) {
        let query = file::Entity::find()
            .select_only()
            .columns([file::Column::Job, file::Column::Spec])
            .filter(file::Column::Job.is_in(rows.iter().map(|row| row.id)));
        specs.extend(query.into_tuple::<(i64, String)>().all(conn).await?);
    }
    rows.into_iter()
        .map(|row| {
            let text = specs
                .get(&row.id)
                .ok_or_else(|| Error::corrupt(format!("job {}", row.id), "its file is missing"))?;
            Ok(Job { spec: file::spec(row.id, text)?, row: row.into_row()? })
        })
        .collect()
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
