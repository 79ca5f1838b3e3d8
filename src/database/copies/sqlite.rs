//! Copies as files, and SQLite databases to be copied.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sea_orm::sqlx::ConnectOptions;
use sea_orm::sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous,
};
use sea_orm::{ConnectionTrait, DatabaseConnection, SqlxSqliteConnector, Statement};

use super::CopyError;
use crate::{Error, Result};

/// How long a statement waits for another program's lock.
const PATIENCE: Duration = Duration::from_secs(30);
/// A database, and what SQLite keeps beside one that is in use or was not closed.
const FILES: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// Opens a copy that is there.
pub(super) async fn open(file: &Path) -> Result<DatabaseConnection> {
    connect(of_a_copy(file)).await
}

/// Makes a copy that is to be filled. It waits for no disk: it is worth nothing before it is whole.
pub(super) async fn create(file: &Path) -> Result<DatabaseConnection> {
    let options = of_a_copy(file).create_if_missing(true);
    connect(options.synchronous(SqliteSynchronous::Off)).await
}

/// A copy is one file whenever nobody has it open. Its rows come in an order of ours, and are looked
/// through once they are there.
fn of_a_copy(file: &Path) -> SqliteConnectOptions {
    options(file).journal_mode(SqliteJournalMode::Delete).foreign_keys(false)
}

fn options(file: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new().filename(file).busy_timeout(PATIENCE).disable_statement_logging()
}

async fn connect(options: SqliteConnectOptions) -> Result<DatabaseConnection> {
    let pool = SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(PATIENCE)
        .idle_timeout(None)
        .max_lifetime(None)
        .connect_with(options)
        .await?;
    Ok(SqlxSqliteConnector::from_sqlx_sqlite_pool(pool))
}

/// Whether there is a database at all: SQLite makes one of each name that it is given.
pub(super) fn is_there(path: &Path) -> Result<()> {
    if path.is_file() {
        return Ok(());
    }
    Err(Error::unavailable(format!("there is no file {}", path.display())))
}

/// Takes the lock that a server has on its file, for as long as what is answered lives.
pub(super) fn lock(path: &Path) -> Result<File, CopyError> {
    let name = with(path, ".lock");
    let opened = File::options().create(true).truncate(false).write(true).open(&name);
    let file = opened.map_err(|source| CopyError::File { path: name.clone(), source })?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(CopyError::InUse { place: path.display().to_string() })
        }
        Err(TryLockError::Error(source)) => Err(CopyError::File { path: name, source }),
    }
}

/// Writes what a database holds into a file, as of one moment. Nothing is written to the database,
/// and who writes to it meanwhile does not wait.
pub(super) async fn take(from: &Path, file: &Path) -> Result<()> {
    is_there(from)?;
    let path = file.to_str().ok_or_else(|| {
        Error::unavailable(format!("{}: a copy's path is to be UTF-8", file.display()))
    })?;
    let source = connect(options(from).read_only(true)).await?;
    let sql = format!("VACUUM INTO '{}'", path.replace('\'', "''"));
    source.execute_unprepared(&sql).await?;
    Ok(source.close().await?)
}

/// Looks whether all pages are as they were written, and whether all rows are there that others name.
pub(super) async fn look_through(copy: &DatabaseConnection) -> Result<()> {
    let statement = |sql: &str| Statement::from_string(copy.get_database_backend(), sql);
    let verdict = copy.query_one_raw(statement("PRAGMA integrity_check(1)")).await?;
    let verdict = verdict.map(|row| row.try_get_by_index::<String>(0)).transpose()?;
    let verdict = verdict.unwrap_or_default();
    if verdict != "ok" {
        return Err(Error::corrupt("the copy of the database", verdict));
    }
    let orphan = statement("SELECT \"table\" FROM pragma_foreign_key_check LIMIT 1");
    let orphan = copy.query_one_raw(orphan).await?;
    match orphan.map(|row| row.try_get_by_index::<String>(0)).transpose()? {
        None => Ok(()),
        Some(table) => {
            Err(Error::corrupt(format!("table {table}"), "it has rows of something that is gone"))
        }
    }
}

/// Lets a copy be served wherever it is put: whoever moves it there says so by that.
pub(super) async fn forget_place(copy: &Path) -> Result<()> {
    let copy = open(copy).await?;
    copy.execute_unprepared("DELETE FROM settings WHERE name = 'place'").await?;
    Ok(copy.close().await?)
}

/// Whether there is a database, or what is left of one.
pub(super) fn is_taken(path: &Path) -> bool {
    FILES.iter().any(|suffix| with(path, suffix).exists())
}

/// Moves a copy to a database's place; what is there is set aside, where it can be opened as before.
pub(super) fn fill(copy: &Path, path: &Path) -> Result<(), CopyError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| CopyError::File { path, source }
    };
    File::open(copy).and_then(|file| file.sync_all()).map_err(failed(copy))?;
    let aside = aside(path);
    for suffix in FILES {
        let from = with(path, suffix);
        if from.exists() {
            fs::rename(&from, with(&aside, suffix)).map_err(failed(&from))?;
        }
    }
    fs::rename(copy, path).map_err(failed(path))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed(folder))
}

/// A name beside it that is free.
fn aside(path: &Path) -> PathBuf {
    let mut names = (1_u32..).map(|number| with(path, &format!(".replaced-{number}")));
    names.find(|name| !is_taken(name)).unwrap_or_else(|| with(path, ".replaced"))
}

fn with(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
