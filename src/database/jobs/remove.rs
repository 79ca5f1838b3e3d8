//! What is forgotten of jobs that have ended.

use std::collections::HashMap;

use protocol::ids::JobId;
use protocol::time::Timestamp;
use sea_orm::{ColumnTrait, DbBackend, EntityTrait, QueryFilter, QuerySelect, Statement, Value};

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
        for row in transaction.query_all_raw(removal(backend, jobs)).await? {
            removed.push(JobId(row.try_get("", "id")?));
        }
    }
    transaction.lists(removed.iter().copied());
    Ok(removed)
}

/// The other tables' rows go with it, by their references.
fn removal(backend: DbBackend, jobs: &[JobId]) -> Statement {
    let sql = format!(
        "DELETE FROM jobs WHERE id IN {} AND counted AND {} RETURNING id",
        parameters(backend, 1, jobs.len()),
        states::has_ended()
    );
    Statement::from_sql_and_values(backend, sql, ids(jobs).map(Value::from))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan;

    #[tokio::test]
    async fn those_that_go_are_found_by_their_ids() {
        let jobs: Vec<JobId> = (1..=100).map(JobId).collect();
        let steps = plan::of(removal(DbBackend::Sqlite, &jobs)).await;
        assert!(steps[0].contains("USING INTEGER PRIMARY KEY"), "{steps:?}");
    }
}
