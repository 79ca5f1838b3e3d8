//! Databases of other versions, and of versions that were killed while they made them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use database::{ConnectionTrait, Database, Error, settings};
use sea_orm::{ConnectOptions, DatabaseConnection, DbBackend, Statement};
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::stage::{Kind, Stage, on_both, write};

/// The step that was always done as a whole, since nobody could tell how much of it was done.
const ALWAYS_WHOLE: &str = "m0008_gpu_parts";

/// What a user of the first version had: by it is seen that nothing is done twice.
const ROWS: [&str; 2] = [
    "INSERT INTO users (name, password_hash, admin, created_at, password_changed_at) \
     VALUES ('Ann', '', FALSE, 1, 1)",
    "INSERT INTO jobs (user_name, name, state, virtual_cluster, priority, tasks, roles, gpus, \
     gpu_types, user_retries, platform_retries, submitted_at, avoid) \
     VALUES ('Ann', 'j', 'FAILED', 'default', 0, 1, 1, 2, '[]', 0, 0, 1, '[]')",
];

/// The steps by name, each with its statements.
fn steps() -> Result<Vec<(String, Vec<String>)>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let files = std::fs::read_dir(folder)?.map(|file| Ok(file?.path()));
    let mut files = files.collect::<Result<Vec<PathBuf>>>()?;
    files.retain(|file| file.extension().is_some_and(|ending| ending == "sql"));
    files.sort();
    let read = |file: PathBuf| {
        let name = file.file_stem().and_then(|name| name.to_str()).context("a step has a name")?;
        let text = std::fs::read_to_string(&file)?;
        let text = text.replace("{key}", "INTEGER PRIMARY KEY AUTOINCREMENT");
        let text = text.replace("{text}", "TEXT").replace("{bytes}", "BLOB");
        Ok((name.to_owned(), text.trim().split("\n\n").map(str::to_owned).collect()))
    };
    files.into_iter().map(read).collect()
}

/// A connection as earlier versions had one, but for what makes it slow.
async fn raw(file: &Path) -> Result<DatabaseConnection> {
    let mut options = ConnectOptions::new(format!("sqlite://{}?mode=rwc", file.display()));
    options.max_connections(1).sqlx_logging(false);
    let connection = sea_orm::Database::connect(options).await?;
    connection.execute_unprepared("PRAGMA synchronous = OFF").await?;
    Ok(connection)
}

/// Everything that is there besides the list of steps, by name, with how it was made.
async fn tables(conn: &impl ConnectionTrait) -> Result<Vec<(String, Option<String>)>> {
    let sql = "SELECT name, sql FROM sqlite_schema WHERE name <> 'seaql_migrations' ORDER BY name";
    let rows = conn.query_all_raw(Statement::from_string(DbBackend::Sqlite, sql)).await?;
    let rows = rows.iter().map(|row| Ok((row.try_get_by_index(0)?, row.try_get_by_index(1)?)));
    rows.collect()
}

/// Opens what was left after the statement `last`.
async fn is_completed(
    (folder, file): (TempDir, PathBuf),
    last: String,
    expected: Vec<(String, Option<String>)>,
) -> Result<()> {
    let db = Database::open(&format!("sqlite://{}", file.display())).await.context(last.clone())?;
    assert_eq!(tables(db.read()).await?, expected, "after {last}");
    let sql = "SELECT (SELECT count(*) FROM user_names), (SELECT sum(gpu_milli) FROM jobs)";
    let row = db.read().query_one_raw(Statement::from_string(DbBackend::Sqlite, sql)).await?;
    let row = row.context("numbers are counted")?;
    let (names, gpus): (i64, Option<i64>) = (row.try_get_by_index(0)?, row.try_get_by_index(1)?);
    assert!(matches!((names, gpus), (0, None) | (1, Some(2000))), "{names}, {gpus:?} after {last}");
    db.close().await?;
    drop(folder);
    Ok(())
}

/// Earlier versions stored each statement of a step by itself, and what the step was called after
/// them. Killed in between, they never started again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_earlier_versions_left_half_done_is_completed() -> Result<()> {
    let stage = Stage::new(Kind::Sqlite).await?;
    let expected = tables(stage.db.read()).await?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("berth.db");
    let earlier = raw(&file).await?;
    let list = "CREATE TABLE seaql_migrations \
        (version varchar NOT NULL PRIMARY KEY, applied_at bigint NOT NULL)";
    earlier.execute_unprepared(list).await?;
    let mut opened = JoinSet::new();
    for (name, statements) in steps()? {
        for (number, statement) in statements.iter().enumerate() {
            earlier.execute_unprepared(statement).await.context(statement.clone())?;
            if name == ALWAYS_WHOLE {
                continue;
            }
            let folder = tempfile::tempdir()?;
            let copy = folder.path().join("berth.db");
            std::fs::copy(&file, &copy)?;
            let last = format!("statement {} of {name}", number + 1);
            opened.spawn(is_completed((folder, copy), last, expected.clone()));
        }
        let done = format!("INSERT INTO seaql_migrations VALUES ('{name}', 1)");
        earlier.execute_unprepared(&done).await?;
        if name == "m0001_first_tables" {
            for row in ROWS {
                earlier.execute_unprepared(row).await?;
            }
        }
    }
    assert!(opened.len() > 60, "{} statements", opened.len());
    while let Some(done) = opened.join_next().await {
        done??;
    }
    Ok(())
}

#[tokio::test]
async fn a_step_that_fails_leaves_the_database_as_it_was() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("berth.db");
    let other = raw(&file).await?;
    other.execute_unprepared("CREATE VIEW user_groups AS SELECT 1").await?;
    let before = tables(&other).await?;
    let url = format!("sqlite://{}", file.display());
    Database::open(&url).await.unwrap_err();
    assert_eq!(tables(&other).await?, before);
    other.execute_unprepared("DROP VIEW user_groups").await?;
    Database::open(&url).await?;
    Ok(())
}

on_both! {
    async fn a_database_of_a_newer_version_is_refused_by_its_name(stage) {
        let Stage { db, url, folder, kind } = stage;
        let tx = db.begin().await?;
        let step = "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m9999_to_come', 1)";
        tx.execute_unprepared(step).await?;
        let version = "UPDATE settings SET value = '99.1.0' WHERE name = 'version'";
        assert_eq!(tx.execute_unprepared(version).await?.rows_affected(), 1);
        tx.commit().await?;
        db.close().await?;
        let error = Database::open(&url).await.unwrap_err();
        assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
        let said = error.to_string();
        for word in ["version 99.1.0 of Berth", "m9999_to_come", "restore the backup"] {
            assert!(said.contains(word), "{said}");
        }
        if kind == Kind::Sqlite {
            assert!(said.contains("berth.db"), "{said}");
        }
        drop(folder);
    }

    async fn a_version_says_that_it_has_used_a_database(stage) {
        let version = async |db: &Database| settings::get(db.read(), "version").await;
        assert_eq!(version(&stage.db).await?.as_deref(), Some(env!("CARGO_PKG_VERSION")));
        write!(stage, |tx| tx.execute_unprepared("UPDATE settings SET value = '0.0.1'"));
        let stage = stage.reopened().await?;
        assert_eq!(version(&stage.db).await?.as_deref(), Some(env!("CARGO_PKG_VERSION")));
    }
}
