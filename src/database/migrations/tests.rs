use std::path::Path;

use sea_orm::sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use sea_orm::{QueryResult, SqlxSqliteConnector, Statement};

use super::*;

/// What SQLite does between two chances to break off.
const TICK: i32 = 10;
/// Chances more that it has each time.
const STEP: usize = 41;

/// A connection that breaks off whatever it does after so many ticks.
async fn connect(path: &Path, ticks: Option<usize>) -> DatabaseConnection {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let pool = SqlitePoolOptions::new().max_connections(1).after_connect(move |connection, _| {
        Box::pin(async move {
            let Some(mut left) = ticks else { return Ok(()) };
            connection.lock_handle().await?.set_progress_handler(TICK, move || {
                let goes_on = left > 0;
                left = left.saturating_sub(1);
                goes_on
            });
            Ok(())
        })
    });
    SqlxSqliteConnector::from_sqlx_sqlite_pool(pool.connect_with(options).await.unwrap())
}

/// Everything that is there, by name, with how it was made.
async fn tables(connection: &DatabaseConnection) -> Vec<(String, Option<String>)> {
    let sql = "SELECT name, sql FROM sqlite_schema ORDER BY name";
    let statement = Statement::from_string(connection.get_database_backend(), sql);
    let rows = connection.query_all_raw(statement).await.unwrap();
    let pair = |row: QueryResult| {
        let name = row.try_get_by_index::<String>(0).unwrap();
        (name, row.try_get_by_index::<Option<String>>(1).unwrap())
    };
    rows.into_iter().map(pair).collect()
}

#[tokio::test]
async fn a_first_start_that_is_cut_off_anywhere_leaves_nothing_half_done() {
    let folder = tempfile::tempdir().unwrap();
    let whole = connect(&folder.path().join("whole"), None).await;
    run(&whole).await.unwrap();
    let expected = tables(&whole).await;
    assert!(expected.len() > 30, "{expected:?}");
    let mut cut = 0;
    for ticks in (0..).step_by(STEP) {
        let path = folder.path().join(ticks.to_string());
        let broken_off = connect(&path, Some(ticks)).await;
        let done = run(&broken_off).await.is_ok();
        broken_off.close().await.unwrap();
        let again = connect(&path, None).await;
        if done {
            break;
        }
        cut += 1;
        assert!(tables(&again).await.is_empty(), "after {ticks} ticks");
        run(&again).await.unwrap();
        assert_eq!(tables(&again).await, expected, "after {ticks} ticks");
        again.close().await.unwrap();
    }
    assert!(cut > 20, "it was cut off {cut} times");
}
