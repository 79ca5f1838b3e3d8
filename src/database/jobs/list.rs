use std::collections::{BTreeMap, HashMap};

use protocol::jobs::JobQuery;
use protocol::state::State;
use protocol::time::Timestamp;
use sea_orm::entity::prelude::*;

use super::job::JobRow;
use super::listing::Asked;
use super::row;
use crate::convert::{ROWS_A_STATEMENT, filled, readable};
use crate::{ConnectionTrait, Database, Result, tags, tasks};

/// One page of jobs, and how many there are on all pages. Files are not looked at, and what cannot be
/// read is left out. The query's times are counted from `now`.
///
/// # Errors
/// See [`crate::Error`].
pub async fn list(
    database: &Database,
    query: &JobQuery,
    now: Timestamp,
) -> Result<(Vec<JobRow>, u64)> {
    let conn = database.read();
    let asked = asked(conn, query, now).await?;
    let page = database.listing().look(conn, move |columns| columns.page(&asked));
    let (ids, total) = page.await?;
    Ok((rows(conn, &ids).await?, total))
}

/// Reads what very many jobs have become since somebody listed last, so that whoever lists next does not wait
/// for it.
///
/// # Errors
/// See [`crate::Error`].
pub async fn refresh_lists(database: &Database) -> Result<()> {
    database.listing().refresh(database.read()).await
}

/// The rows of these ids in this order.
async fn rows(conn: &impl ConnectionTrait, ids: &[i64]) -> Result<Vec<JobRow>> {
    let mut found = HashMap::with_capacity(ids.len());
    for ids in ids.chunks(ROWS_A_STATEMENT) {
        let query = row::Entity::find().filter(row::Column::Id.is_in(filled(ids).copied()));
        found.extend(query.all(conn).await?.into_iter().map(|row| (row.id, row)));
    }
    let found = ids.iter().filter_map(|id| found.remove(id));
    Ok(readable(found.map(row::Model::into_row)))
}

/// How many of the jobs of `query` are in each state; the states it names are left out of
/// account, and so are order and page. States without jobs are not in the map, nor what is no state.
///
/// # Errors
/// See [`crate::Error`].
pub async fn counts(
    database: &Database,
    query: &JobQuery,
    now: Timestamp,
) -> Result<BTreeMap<State, u64>> {
    let conn = database.read();
    let asked = asked(conn, query, now).await?;
    let counted = database.listing().look(conn, move |columns| columns.counts(&asked)).await?;
    let some = counted.into_iter().filter(|(_, count)| *count > 0);
    Ok(some.filter_map(|(word, count)| Some((State::from_word(&word)?, count))).collect())
}

async fn asked(conn: &impl ConnectionTrait, query: &JobQuery, now: Timestamp) -> Result<Asked> {
    let on_nodes =
        if query.nodes.is_empty() { None } else { Some(tasks::jobs_on(conn, &query.nodes).await?) };
    let tagged =
        if query.tags.is_empty() { None } else { Some(tags::jobs_with(conn, &query.tags).await?) };
    let only = match (on_nodes, tagged) {
        (Some(one), Some(other)) => Some(one.intersection(&other).copied().collect()),
        (one, other) => one.or(other),
    };
    let without = tags::jobs_with(conn, &query.without_tags).await?;
    Ok(Asked { query: query.clone(), now, only, without })
}
