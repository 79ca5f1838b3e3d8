//! What is forgotten of jobs that have ended.

use std::collections::HashMap;

use protocol::ids::JobId;
use protocol::time::Timestamp;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, Statement, Value};

use super::row;
use crate::convert::{ROWS_A_STATEMENT, ids, moment, parameters};
use crate::{ConnectionTrait, Result, Transaction, states};

/// Removes those of these jobs that have ended and whose use was counted, with all that is recorded of
/// them: their files, secrets, attempts, tasks and events. Says which these are.
///
/// # Errors
/// See [`crate::Error`].
pub async fn remove_many(transaction: &Transaction, jobs: &[JobId]) -> Result<Vec<JobId>> {
    let mut removed = Vec::with_capacity(jobs.len());
    let backend = transaction.get_database_backend();
    for jobs in jobs.chunks(ROWS_A_STATEMENT) {
        // The other tables' rows go with it, by their references.
        let sql = format!(
            "DELETE FROM jobs WHERE id IN {} AND counted AND state IN {} RETURNING id",
            parameters(backend, 1, jobs.len()),
            states::ended()
        );
        let statement = Statement::from_sql_and_values(backend, sql, ids(jobs).map(Value::from));
        for row in transaction.query_all_raw(statement).await? {
            removed.push(JobId(row.try_get("", "id")?));
        }
    }
    transaction.lists(removed.iter().copied());
    Ok(removed)
}

/// Which of these jobs are stored, and when each has ended, if it has.
///
/// # Errors
/// See [`crate::Error`].
pub async fn ends(
    conn: &impl ConnectionTrait,
    jobs: &[JobId],
) -> Result<HashMap<JobId, Option<Timestamp>>> {
    let mut found = HashMap::with_capacity(jobs.len());
    for jobs in jobs.chunks(ROWS_A_STATEMENT) {
        let query = row::Entity::find()
            .select_only()
            .columns([row::Column::Id, row::Column::CompletedAt])
            .filter(row::Column::Id.is_in(ids(jobs)));
        let ends: Vec<(i64, Option<i64>)> = query.into_tuple().all(conn).await?;
        found.extend(ends.into_iter().map(|(id, ended)| (JobId(id), moment(ended))));
    }
    Ok(found)
}
