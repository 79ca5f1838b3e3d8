//! How SQLite goes about a statement: what it looks through, and by which index.

use sea_orm::{DbBackend, QueryResult, Statement};

use crate::{ConnectionTrait, Database};

/// The steps of its plan in a database of ours.
pub(crate) async fn of(statement: Statement) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("berth.db");
    let database = Database::open(&format!("sqlite://{}", file.display())).await.unwrap();
    let Statement { sql, values, .. } = statement;
    let sql = format!("EXPLAIN QUERY PLAN {sql}");
    let plan = Statement::from_sql_and_values(
        DbBackend::Sqlite,
        sql,
        values.into_iter().flat_map(|values| values.0),
    );
    let steps = database.read().query_all_raw(plan).await.unwrap();
    let step = |row: &QueryResult| row.try_get::<String>("", "detail").unwrap();
    steps.iter().map(step).collect()
}
