//! What users have had of GPUs, as their attempts say that have ended.

use protocol::ids::{UserName, VirtualClusterName};
use protocol::time::Timestamp;
use sea_orm::{QueryResult, Statement, Value};

use crate::convert::{Row, readable};
use crate::{ConnectionTrait, Result};

/// What attempts of a user had that were placed and ended at about the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Had {
    /// Whose they were.
    pub user: UserName,
    /// Where they counted.
    pub virtual_cluster: VirtualClusterName,
    /// When they were placed, to within a step.
    pub from: Timestamp,
    /// When they ended, to within a step; always later.
    pub until: Timestamp,
    /// Thousandths of GPUs × milliseconds, each GPU counting as its type did when it was given; those of one
    /// GPU for a job without any; at most as much as there are numbers, however far a clock was wrong.
    pub gpu_milli_ms: i64,
}

/// What attempts had that have ended between these two moments, with times in steps of so many
/// milliseconds. What cannot be read is left out.
///
/// # Errors
/// See [`crate::Error`].
pub async fn had(
    conn: &impl ConnectionTrait,
    (since, until): (Timestamp, Timestamp),
    step_ms: i64,
) -> Result<Vec<Had>> {
    let step = step_ms.max(1);
    let values = [Value::from(since.0), Value::from(until.0)];
    let statement = Statement::from_sql_and_values(conn.get_database_backend(), sql(step), values);
    let found = conn.query_all_raw(statement).await?;
    Ok(readable(found.iter().map(|row| read(row, step))))
}

fn sql(step: i64) -> String {
    format!(
        "SELECT jobs.user_name AS user_name, jobs.virtual_cluster AS virtual_cluster, \
         attempts.placed_at / {step} AS placed, attempts.completed_at / {step} AS completed, \
         SUM(CAST(attempts.completed_at - attempts.placed_at AS DOUBLE PRECISION) \
         * COALESCE(attempts.weighed_milli, \
         CASE WHEN jobs.gpu_milli = 0 THEN 1000 ELSE jobs.gpu_milli END)) AS had \
         FROM attempts JOIN jobs ON jobs.id = attempts.job \
         WHERE attempts.completed_at > $1 AND attempts.completed_at <= $2 \
         AND attempts.placed_at < attempts.completed_at \
         GROUP BY 1, 2, 3, 4"
    )
}

fn read(row: &QueryResult, step: i64) -> Result<Had> {
    let text = |column| row.try_get::<String>("", column);
    let number = |column| row.try_get::<i64>("", column);
    let (user, virtual_cluster) = (text("user_name")?, text("virtual_cluster")?);
    let (placed, completed) = (number("placed")?, number("completed")?);
    let names = Row::new("jobs", &user);
    Ok(Had {
        user: names.name(&user)?,
        virtual_cluster: names.name(&virtual_cluster)?,
        from: Timestamp(placed.saturating_mul(step)),
        until: Timestamp(completed.max(placed.saturating_add(1)).saturating_mul(step)),
        // What exceeds all whole numbers is the largest of them.
        gpu_milli_ms: row.try_get::<f64>("", "had")? as i64,
    })
}

#[cfg(test)]
mod tests {
    use sea_orm::DbBackend;

    use super::*;
    use crate::Database;

    #[tokio::test]
    async fn what_a_start_reads_of_attempts_is_found_by_an_index() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("berth.db");
        let database = Database::open(&format!("sqlite://{}", file.display())).await.unwrap();
        let plan = format!("EXPLAIN QUERY PLAN {}", sql(1_000));
        let values = [Value::from(1_i64), Value::from(2_i64)];
        let plan = Statement::from_sql_and_values(DbBackend::Sqlite, plan, values);
        let steps = database.read().query_all_raw(plan).await.unwrap();
        let step = |row: &QueryResult| row.try_get::<String>("", "detail").unwrap();
        let steps: Vec<String> = steps.iter().map(step).collect();
        let is_by_index = |step: &String| step.contains("USING INDEX attempts_by_completed");
        assert!(steps.iter().any(is_by_index), "{steps:?}");
    }
}
