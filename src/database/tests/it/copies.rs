use std::collections::BTreeMap;
use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use anyhow::{Context, Result};
use database::copies::{self, CopyError, Place};
use database::{ConnectionTrait, Database, Error, jobs, settings};
use sea_orm::{DatabaseConnection, DbBackend, Statement};

use crate::stage::{Kind, Stage, a_job, new_url, on_both, write};

/// More than are copied at a time.
const ROWS: i64 = 260;

async fn texts(conn: &impl ConnectionTrait, sql: &str) -> Result<Vec<String>> {
    let statement = Statement::from_string(conn.get_database_backend(), sql);
    let rows = conn.query_all_raw(statement).await?;
    Ok(rows.iter().map(|row| row.try_get_by_index(0)).collect::<Result<_, _>>()?)
}

/// Names of tables, of either kind of database, but the one of the tables' own history.
async fn tables(conn: &impl ConnectionTrait) -> Result<Vec<String>> {
    let sql = match conn.get_database_backend() {
        DbBackend::Postgres => {
            "SELECT table_name::text COLLATE \"C\" FROM information_schema.tables \
             WHERE table_schema = current_schema() AND table_name <> 'seaql_migrations' ORDER BY 1"
        }
        _ => {
            "SELECT name FROM sqlite_schema WHERE type = 'table' \
             AND name NOT IN ('seaql_migrations', 'sqlite_sequence') ORDER BY 1"
        }
    };
    texts(conn, sql).await
}

/// The columns of a table of SQLite, each with its type.
async fn columns(conn: &impl ConnectionTrait, table: &str) -> Result<Vec<(String, String)>> {
    let sql = format!("SELECT name || ' ' || type FROM pragma_table_info('{table}') ORDER BY cid");
    let columns = texts(conn, &sql).await?;
    let column = |text: &String| {
        let (name, kind) = text.split_once(' ').context("a column has a name and a type")?;
        Ok((name.to_owned(), kind.to_owned()))
    };
    columns.iter().map(column).collect()
}

/// Puts rows into every table of a SQLite database, whichever there are: the first names nothing in
/// its optional columns, and each names the first of what it needs.
async fn fill(stage: &Stage) -> Result<()> {
    let tx = stage.begin().await?;
    tx.execute_unprepared("PRAGMA defer_foreign_keys = ON").await?;
    for table in tables(&tx).await? {
        let columns = columns(&tx, &table).await?;
        let names: Vec<_> = columns.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        let values: Vec<_> = columns.iter().map(|(_, kind)| value_of(kind)).collect();
        let sql = format!(
            "WITH RECURSIVE numbers (n) AS \
             (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {ROWS}) \
             INSERT INTO {table} ({}) SELECT {} FROM numbers",
            names.join(", "),
            values.join(", ")
        );
        tx.execute_unprepared(&sql).await.with_context(|| sql.clone())?;
        let optional = format!(
            "SELECT name FROM pragma_table_info('{table}') WHERE pk = 0 AND \"notnull\" = 0"
        );
        for column in texts(&tx, &optional).await? {
            let sql = format!("UPDATE {table} SET \"{column}\" = NULL WHERE rowid % 7 = 0");
            tx.execute_unprepared(&sql).await?;
        }
    }
    // A key that was given is not given again, though its row is gone.
    tx.execute_unprepared(&format!("DELETE FROM events WHERE id > {ROWS} - 10")).await?;
    Ok(tx.commit().await?)
}

/// An expression of `n` for a column; what others name has the same in both tables.
fn value_of(kind: &str) -> &'static str {
    match kind {
        "TEXT" => "'x ''“\\' || n",
        "INTEGER" | "BIGINT" => "n",
        "BOOLEAN" => "n % 2 = 1",
        "BLOB" => "CAST(x'00ff' || n AS BLOB)",
        "REAL" | "DOUBLE PRECISION" => "n / 3.0",
        other => panic!("no value is known for a column of type {other}"),
    }
}

/// All rows of all tables of a SQLite database, as literals, and the keys that were given last.
async fn dump(conn: &impl ConnectionTrait) -> Result<BTreeMap<String, Vec<String>>> {
    let mut dump = BTreeMap::new();
    for table in tables(conn).await?.into_iter().chain(["sqlite_sequence".to_owned()]) {
        let columns = columns(conn, &table).await?;
        let literals: Vec<_> =
            columns.iter().map(|(name, _)| format!("quote(\"{name}\")")).collect();
        let sql = format!("SELECT {} FROM {table} ORDER BY 1", literals.join(" || ',' || "));
        dump.insert(table, texts(conn, &sql).await?);
    }
    Ok(dump)
}

async fn opened(file: &Path) -> Result<DatabaseConnection> {
    Ok(sea_orm::Database::connect(format!("sqlite://{}", file.display())).await?)
}

async fn dump_of(file: &Path) -> Result<BTreeMap<String, Vec<String>>> {
    let copy = opened(file).await?;
    let dump = dump(&copy).await?;
    copy.close().await?;
    Ok(dump)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_row_of_every_table_is_copied() -> Result<()> {
    let stage = Stage::new(Kind::Sqlite).await?;
    fill(&stage).await?;
    let all = dump(stage.db.read()).await?;
    let rows = |table: &str| all[table].len();
    assert!(all.len() > 15 && all.iter().all(|(_, rows)| rows.len() > 5), "nothing is empty");
    assert_eq!((rows("jobs"), rows("events")), (260, 250));
    let [there, again, moved] =
        ["there", "again", "moved"].map(|name| stage.folder.path().join(name));

    let taken = copies::take(&stage.url, &there).await?;
    assert_eq!((taken.rows["jobs"], taken.rows["events"]), (260, 250));
    assert_eq!(dump_of(&there).await?, all, "into a copy");
    assert_eq!(copies::ready(&there).await?, taken, "it is up to date already");

    let postgres = new_url(Kind::Postgres, &stage.folder).await?;
    Place::open(&postgres, false).await?.fill(&there).await?;
    assert_eq!(copies::take(&postgres, &again).await?.rows, taken.rows);
    assert_eq!(dump_of(&again).await?, all, "into PostgreSQL and back");
    let other = Database::open(&postgres).await?;
    let mut names = tables(other.read()).await?;
    names.push("sqlite_sequence".to_owned());
    names.sort_unstable();
    assert_eq!(names, all.keys().cloned().collect::<Vec<_>>(), "PostgreSQL has no other tables");
    let tx = other.begin().await?;
    let event = "INSERT INTO events (at, kind, message, warning) VALUES (1, 'a', 'b', FALSE)";
    tx.execute_unprepared(event).await?;
    let last = texts(&tx, "SELECT CAST(max(id) AS TEXT) FROM events").await?;
    assert_eq!(last, ["261"], "no key is given twice");
    tx.rollback().await?;
    other.close().await?;

    let place = format!("sqlite://{}", moved.display());
    copies::ready(&again).await?;
    Place::open(&place, false).await?.fill(&again).await?;
    assert_eq!(dump_of(&moved).await?, all, "into SQLite");
    assert!(!again.exists(), "a copy takes the place itself");
    Ok(())
}

on_both! {
    async fn a_copy_is_of_one_moment(stage) {
        let folder = stage.folder.path().to_owned();
        let stored = std::sync::atomic::AtomicUsize::new(0);
        let done = std::sync::atomic::AtomicBool::new(false);
        let order = std::sync::atomic::Ordering::SeqCst;
        let writing = async {
            // A job is a row of two tables.
            while !done.load(order) {
                let name = format!("j{}", stored.load(order));
                write!(stage, |tx| jobs::insert(&tx, &a_job("a", &name)));
                stored.fetch_add(1, order);
            }
            anyhow::Ok(())
        };
        let copying = async {
            for number in 0..5 {
                while stored.load(order) < number * 3 {
                    tokio::task::yield_now().await;
                }
                let before = stored.load(order);
                let file = folder.join(format!("copy-{number}"));
                let contents = copies::take(&stage.url, &file).await?;
                assert_eq!(contents.rows["jobs"], contents.rows["job_files"]);
                let rows = usize::try_from(contents.rows["jobs"])?;
                assert!(rows >= before, "{rows} of {before} that were stored before it began");
            }
            done.store(true, order);
            anyhow::Ok(())
        };
        tokio::try_join!(writing, copying)?;
    }

    async fn what_is_there_or_in_use_is_not_replaced(stage) {
        write!(stage, |tx| settings::set_once(&tx, "installation", "1234"));
        write!(stage, |tx| settings::set_once(&tx, "a", "of before"));
        let copy = stage.folder.path().join("copy");
        copies::take(&stage.url, &copy).await?;
        write!(stage, |tx| settings::set_once(&tx, "b", "of after"));
        let error = Place::open(&stage.url, true).await.unwrap_err();
        assert!(matches!(error, CopyError::InUse { .. }), "{error}");
        let Stage { kind, url, db, folder } = stage;
        db.close().await?;
        let error = Place::open(&url, false).await.unwrap_err();
        assert!(matches!(error, CopyError::Taken { .. }), "{error}");
        copies::ready(&copy).await?;
        Place::open(&url, true).await?.fill(&copy).await?;
        let db = Database::open(&url).await?;
        assert_eq!(settings::get(db.read(), "a").await?.as_deref(), Some("of before"));
        assert_eq!(settings::get(db.read(), "b").await?, None);
        if kind == Kind::Sqlite {
            let aside = format!("sqlite://{}", folder.path().join("berth.db.replaced-1").display());
            let aside = Database::open(&aside).await?;
            let kept = settings::get(aside.read(), "b").await?;
            assert_eq!(kept.as_deref(), Some("of after"), "what was there is set aside");
        }
    }
}

#[tokio::test]
async fn a_copy_that_is_damaged_or_of_a_newer_version_is_refused() -> Result<()> {
    let stage = Stage::new(Kind::Sqlite).await?;
    let news: Vec<_> = (0..300).map(|n| a_job("a", &format!("j{n}"))).collect();
    write!(stage, |tx| jobs::insert_many(&tx, &news));
    let copy = stage.folder.path().join("copy");
    copies::take(&stage.url, &copy).await?;

    let newer = stage.folder.path().join("newer");
    fs::copy(&copy, &newer)?;
    let future = opened(&newer).await?;
    let step = "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m9999_future', 1)";
    future.execute_unprepared(step).await?;
    future.close().await?;
    let error = copies::ready(&newer).await.unwrap_err();
    assert!(matches!(&error, CopyError::Newer { step } if step == "m9999_future"), "{error}");

    let middle = fs::metadata(&copy)?.len() / 2 / 4096 * 4096;
    let mut file = fs::File::options().write(true).open(&copy)?;
    file.seek(SeekFrom::Start(middle))?;
    file.write_all(&[0x5a; 4 * 4096])?;
    drop(file);
    let error = copies::ready(&copy).await.unwrap_err();
    assert!(matches!(error, CopyError::Database(Error::Corrupt { .. })), "{error}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_is_moved_into_postgres_and_stays_as_it_is() -> Result<()> {
    let stage = Stage::new(Kind::Sqlite).await?;
    fill(&stage).await?;
    for (name, value) in [("installation", "1234"), ("place", "where it was")] {
        write!(stage, |tx| settings::set_once(&tx, name, value));
    }
    let (path, between) =
        (stage.folder.path().join("berth.db"), stage.folder.path().join("between"));
    let postgres = new_url(Kind::Postgres, &stage.folder).await?;
    let error = copies::migrate(&path, &between, &postgres).await.unwrap_err();
    assert!(matches!(error, CopyError::InUse { .. }), "{error}");
    let mut all = dump(stage.db.read()).await?;
    all.get_mut("settings").context("a table")?.retain(|row| !row.starts_with("'place'"));
    stage.db.close().await?;
    let bytes = fs::read(&path)?;

    let moved = copies::migrate(&path, &between, &postgres).await?;
    assert_eq!(moved.rows["jobs"], 260);
    assert!(fs::read(&path)? == bytes, "nothing was written to where it came from");
    let again = stage.folder.path().join("again");
    copies::take(&postgres, &again).await?;
    assert_eq!(dump_of(&again).await?, all, "but for where it may be served");

    fs::remove_file(&between)?;
    let error = copies::migrate(&path, &between, &postgres).await.unwrap_err();
    assert!(matches!(error, CopyError::Taken { .. }), "{error}");
    Ok(())
}
