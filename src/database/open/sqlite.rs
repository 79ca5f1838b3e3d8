//! A file of SQLite.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use sea_orm::sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous,
};
use sea_orm::sqlx::{ConnectOptions, Connection};
use sea_orm::{ConnectionTrait, DatabaseConnection, SqlxSqliteConnector, Statement};

use super::connections::Connections;
use super::limits::{Limits, STATEMENTS};
use crate::{Error, Result, migrations};

/// How long a statement waits for a connection or for another program's lock.
const PATIENCE: Duration = Duration::from_secs(30);
/// Connections that only read: as many as processors can be busy with, and some that may wait for the disk. Each has a
/// thread of its own, and keeps statements and a part of the file for itself.
const READERS: std::ops::RangeInclusive<usize> = 4..=8;
/// Pages of the log after which its writer brings them back into the file. What is written again and again
/// until then, as the rows of jobs are that just run, is brought back once.
const LOG_PAGES: &str = "4000";
/// What the connection that writes keeps of the file, in kibibytes, as SQLite is told it: below 0.
const WRITER_CACHE: &str = "-16000";
/// Rows that a statement may be ahead of who reads them. Where these were few, the two would wait for each other
/// again and again while very many are read.
const ROWS_AHEAD: usize = 1_024;

/// What SQLite's file is besides its connections.
#[derive(Debug)]
pub(super) struct SqliteFile {
    /// Its name, for people.
    pub(super) name: String,
    /// It was looked through when it was opened.
    pub(super) looked_through: bool,
    /// What is wrong with it, once that is known.
    pub(super) damage: OnceLock<String>,
    /// Held as long as the file is open, so that no second server writes into it.
    _lock: File,
}

/// The connection that writes, those that read, and the file.
pub(super) async fn open(path: &Path, limits: Limits) -> Result<(Connections, SqliteFile)> {
    let lock = lock(path)?;
    let name = format!("the database file {}", path.display());
    let of_file = |error: Error| name_file(&name, error);
    let bytes = path.metadata().map_or(0, |file| file.len());
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .foreign_keys(true)
        .busy_timeout(PATIENCE)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .statement_cache_capacity(STATEMENTS)
        .row_buffer_size(ROWS_AHEAD)
        .disable_statement_logging();
    let writing = options
        .clone()
        .pragma("wal_autocheckpoint", LOG_PAGES)
        .pragma("cache_size", WRITER_CACHE)
        // What a statement of many rows needs beside them has no file of its own.
        .pragma("temp_store", "memory");
    let writer = connect(checked(pool(1)), writing).await.map_err(of_file)?;
    let looked_through = bytes <= limits.looked_through;
    if looked_through {
        look_through(&writer).await.map_err(of_file)?;
    }
    migrations::run(&writer).await.map_err(of_file)?;
    let reading = options.pragma("query_only", "on");
    // Half as many more are kept for who only looks: what a page reads takes a millisecond or two.
    let looker = connect(pool(readers() / 2), reading.clone()).await.map_err(of_file)?;
    let reader = connect(pool(readers()), reading).await.map_err(of_file)?;
    let file = SqliteFile { name, looked_through, damage: OnceLock::new(), _lock: lock };
    Ok((Connections { writer, reader, looker }, file))
}

/// Takes the lock file beside the database. The operating system lets go of it when the process
/// ends, however it ends.
fn lock(path: &Path) -> Result<File> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let name = PathBuf::from(name);
    let open = File::options().create(true).truncate(false).write(true).open(&name);
    let file = open.map_err(|error| {
        Error::unavailable(format!("{} cannot be written: {error}", name.display()))
    })?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(Error::unavailable(format!(
            "another server uses {}; stop it, or give this one a database of its own",
            path.display()
        ))),
        Err(std::fs::TryLockError::Error(error)) => {
            Err(Error::unavailable(format!("{} cannot be locked: {error}", name.display())))
        }
    }
}

fn readers() -> u32 {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let readers = (processors + 2).clamp(*READERS.start(), *READERS.end());
    u32::try_from(readers).unwrap_or(u32::MAX)
}

fn pool(connections: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(PATIENCE)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
}

/// A connection that comes back within a transaction is closed, and the next one is a new one. A
/// commit that fails, as on a full disk, leaves it so: whatever was written by it afterwards would
/// be part of a transaction that never ends.
fn checked(pool: SqlitePoolOptions) -> SqlitePoolOptions {
    pool.after_release(|connection, _| {
        Box::pin(async move {
            // Nearly all have come to their end and heard so: whoever writes next does not wait for another answer.
            if connection.is_in_transaction() {
                // What is under way, such as a rollback, is done once this is answered.
                connection.ping().await?;
            }
            Ok(!connection.is_in_transaction())
        })
    })
}

async fn connect(
    pool: SqlitePoolOptions,
    options: SqliteConnectOptions,
) -> Result<DatabaseConnection> {
    Ok(SqlxSqliteConnector::from_sqlx_sqlite_pool(pool.connect_with(options).await?))
}

/// Looks through the whole file once, so that damage shows early and not in the middle of a job's
/// life.
pub(super) async fn look_through(connection: &DatabaseConnection) -> Result<()> {
    let sql = Statement::from_string(connection.get_database_backend(), "PRAGMA quick_check(1)");
    let answer = connection.query_one_raw(sql).await?;
    let verdict = answer.map(|row| row.try_get_by_index::<String>(0)).transpose()?;
    match verdict.as_deref() {
        Some("ok") => Ok(()),
        Some(message) => Err(Error::corrupt("the database", message)),
        None => Err(Error::corrupt("the database", "its check gave no answer")),
    }
}

fn name_file(file: &str, error: Error) -> Error {
    match error {
        Error::Corrupt { message, .. } => Error::Corrupt { what: file.to_owned(), message },
        Error::Unavailable { message } => {
            Error::Unavailable { message: format!("{file}: {message}") }
        }
        other @ (Error::Conflict { .. } | Error::NotFound { .. } | Error::Internal { .. }) => other,
    }
}
