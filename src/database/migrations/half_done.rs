//! Steps that a version of Berth left half done which was killed at its first start, or at the first
//! one after an upgrade: on SQLite those versions stored each statement of a step by itself. What had
//! run by then is found there, and is not run again.

use sea_orm::{ConnectionTrait, DbBackend, DbErr, SqlErr, Statement, Value};

use crate::error::is_of_schema;

/// Whether a statement failed because it had run before.
pub(super) async fn has_run(
    conn: &impl ConnectionTrait,
    statement: &str,
    error: &DbErr,
) -> Result<bool, DbErr> {
    // On PostgreSQL a step was always done as a whole, and nothing can be asked after a failure.
    if conn.get_database_backend() != DbBackend::Sqlite {
        return Ok(false);
    }
    if matches!(error.sql_err(), Some(SqlErr::UniqueConstraintViolation(_))) {
        // A step fills only tables that it has made.
        return Ok(statement.starts_with("INSERT "));
    }
    if !is_of_schema(error) {
        return Ok(false);
    }
    let words: Vec<&str> = statement.split_whitespace().take(6).collect();
    match words[..] {
        ["CREATE", "TABLE", name, ..] => is_there(conn, "table", name).await,
        ["CREATE", "INDEX", name, ..] | ["CREATE", "UNIQUE", "INDEX", name, ..] => {
            is_there(conn, "index", name).await
        }
        ["ALTER", "TABLE", table, "ADD", "COLUMN", name] => has_column(conn, table, name).await,
        ["ALTER", "TABLE", table, "DROP", "COLUMN", name] => {
            Ok(!has_column(conn, table, name).await?)
        }
        _ => Ok(false),
    }
}

async fn is_there(conn: &impl ConnectionTrait, kind: &str, name: &str) -> Result<bool, DbErr> {
    finds(conn, "SELECT 1 FROM sqlite_schema WHERE type = $1 AND name = $2", kind, name).await
}

async fn has_column(conn: &impl ConnectionTrait, table: &str, name: &str) -> Result<bool, DbErr> {
    finds(conn, "SELECT 1 FROM pragma_table_info($1) WHERE name = $2", table, name).await
}

async fn finds(
    conn: &impl ConnectionTrait,
    sql: &str,
    one: &str,
    other: &str,
) -> Result<bool, DbErr> {
    let values = [one, other].map(Value::from);
    let statement = Statement::from_sql_and_values(DbBackend::Sqlite, sql, values);
    Ok(conn.query_one_raw(statement).await?.is_some())
}
