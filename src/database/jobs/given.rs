//! The ids that are given to jobs, each once.

use protocol::ids::JobId;
use sea_orm::{DbBackend, Statement, Value};

use crate::{ConnectionTrait, Result};

/// The last id that was given, be there still such a job or not; `None`: none ever was.
///
/// # Errors
/// See [`crate::Error`].
pub async fn given_last(conn: &impl ConnectionTrait) -> Result<Option<JobId>> {
    let backend = conn.get_database_backend();
    let sql = match backend {
        DbBackend::Postgres => {
            "SELECT pg_sequence_last_value(pg_get_serial_sequence('jobs', 'id')::regclass) AS last"
        }
        _ => "SELECT seq AS last FROM sqlite_sequence WHERE name = 'jobs'",
    };
    let row = conn.query_one_raw(Statement::from_string(backend, sql)).await?;
    let last: Option<i64> = row.map(|row| row.try_get("", "last")).transpose()?.flatten();
    Ok(last.filter(|last| *last > 0).map(JobId))
}

/// Gives no job an id up to this one any more. Those that were given stay.
///
/// # Errors
/// See [`crate::Error`].
pub async fn give_beyond(conn: &impl ConnectionTrait, id: JobId) -> Result<()> {
    let backend = conn.get_database_backend();
    if backend == DbBackend::Postgres {
        let sql = "SELECT setval(ids, $1) \
            FROM (SELECT pg_get_serial_sequence('jobs', 'id')::regclass AS ids) AS sequence \
            WHERE $1 > coalesce(pg_sequence_last_value(ids), 0)";
        let raise = Statement::from_sql_and_values(backend, sql, [Value::from(id.0)]);
        conn.query_all_raw(raise).await?;
        return Ok(());
    }
    // There is a row once there was a job.
    let sql = "INSERT INTO sqlite_sequence (name, seq) SELECT 'jobs', 0 \
        WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'jobs')";
    conn.execute_unprepared(sql).await?;
    let sql = "UPDATE sqlite_sequence SET seq = $1 WHERE name = 'jobs' AND seq < $1";
    let raise = Statement::from_sql_and_values(backend, sql, [Value::from(id.0)]);
    conn.execute_raw(raise).await?;
    Ok(())
}
