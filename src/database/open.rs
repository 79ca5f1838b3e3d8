use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sea_orm::sqlx::ConnectOptions;
use sea_orm::sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sea_orm::sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous,
};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, SqliteTransactionMode, SqlxPostgresConnector,
    SqlxSqliteConnector, TransactionOptions, TransactionTrait,
};

use crate::jobs::Listing;
use crate::{Error, Result, Transaction, migrations};

/// How long a statement waits for a connection or for another program's lock.
const PATIENCE: Duration = Duration::from_secs(30);
/// Connections that only read, of SQLite.
const READERS: u32 = 8;
/// Connections to PostgreSQL.
const CONNECTIONS: u32 = 16;
/// Prepared statements kept by each connection: more than this crate has forms of.
const STATEMENTS: usize = 500;

/// An open database.
///
/// SQLite has one writer, so writes have one connection of their own and wait for each other in
/// turn, while reads go on beside them. PostgreSQL has one pool for both.
#[derive(Debug)]
pub struct Database {
    reader: DatabaseConnection,
    writer: DatabaseConnection,
    listing: Arc<Listing>,
    /// Held as long as the file is open, so that no second server writes into it.
    _lock: Option<File>,
}

impl Database {
    /// Opens `sqlite:///path/file.db` (made if it is not there) or `postgres://…`, and brings its
    /// tables up to date.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when it cannot be reached, is in use by another server or the URL is
    /// neither; [`Error::Corrupt`], naming the file, when it is no database or a damaged one.
    pub async fn open(url: &str) -> Result<Self> {
        if let Some(path) = url.strip_prefix("sqlite://") {
            open_sqlite(Path::new(path)).await
        } else if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            open_postgres(url).await
        } else {
            Err(Error::unavailable(
                "its address must begin with sqlite:// (as in sqlite:///var/lib/berth/berth.db) \
                 or postgres://",
            ))
        }
    }

    /// What reads take.
    #[must_use]
    pub fn read(&self) -> &impl ConnectionTrait {
        &self.reader
    }

    /// Begins a write transaction. On SQLite it waits for the one before to end.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when its turn does not come.
    pub async fn begin(&self) -> Result<Transaction> {
        let options = TransactionOptions {
            sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
            ..TransactionOptions::default()
        };
        let begun = self.writer.begin_with_options(options).await?;
        Ok(Transaction::new(begun, Arc::clone(&self.listing)))
    }

    /// What lists of jobs look at.
    pub(crate) fn listing(&self) -> &Listing {
        &self.listing
    }

    /// Whether it answers.
    ///
    /// # Errors
    /// When it does not.
    pub async fn ping(&self) -> Result<()> {
        Ok(self.reader.ping().await?)
    }

    /// Closes all connections; SQLite's log is written back into its file.
    ///
    /// # Errors
    /// When they cannot be closed in good order; nothing is lost by that.
    pub async fn close(self) -> Result<()> {
        self.reader.close().await?;
        Ok(self.writer.close().await?)
    }
}

async fn open_sqlite(path: &Path) -> Result<Database> {
    let lock = lock(path)?;
    let of_file = |error: Error| name_file(path, error);
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .foreign_keys(true)
        .busy_timeout(PATIENCE)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .statement_cache_capacity(STATEMENTS)
        .disable_statement_logging();
    let writer = sqlite_pool(options.clone(), 1).await.map_err(of_file)?;
    check(&writer).await.map_err(of_file)?;
    migrations::run(&writer).await.map_err(of_file)?;
    let reading = options.pragma("query_only", "on");
    let reader = sqlite_pool(reading, READERS).await.map_err(of_file)?;
    Ok(Database { reader, writer, listing: Arc::default(), _lock: Some(lock) })
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

async fn sqlite_pool(
    options: SqliteConnectOptions,
    connections: u32,
) -> Result<DatabaseConnection> {
    let pool = SqlitePoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(PATIENCE)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
        .connect_with(options)
        .await?;
    Ok(SqlxSqliteConnector::from_sqlx_sqlite_pool(pool))
}

/// Looks through the whole file once, so that damage shows at the start and not in the middle of
/// a job's life.
async fn check(writer: &DatabaseConnection) -> Result<()> {
    let sql =
        sea_orm::Statement::from_string(writer.get_database_backend(), "PRAGMA quick_check(1)");
    let answer = writer.query_one_raw(sql).await?;
    let verdict = answer.map(|row| row.try_get_by_index::<String>(0)).transpose()?;
    match verdict.as_deref() {
        Some("ok") => Ok(()),
        Some(message) => Err(Error::corrupt("the database", message)),
        None => Err(Error::corrupt("the database", "its check gave no answer")),
    }
}

fn name_file(path: &Path, error: Error) -> Error {
    let file = format!("the database file {}", path.display());
    match error {
        Error::Corrupt { message, .. } => Error::Corrupt { what: file, message },
        Error::Unavailable { message } => {
            Error::Unavailable { message: format!("{file}: {message}") }
        }
        other @ (Error::Conflict { .. } | Error::NotFound { .. } | Error::Internal { .. }) => other,
    }
}

async fn open_postgres(url: &str) -> Result<Database> {
    let options: PgConnectOptions = url.parse::<PgConnectOptions>().map_err(|error| {
        Error::unavailable(format!("its postgres:// address is not understood: {error}"))
    })?;
    let options = options
        .application_name("berth")
        .statement_cache_capacity(STATEMENTS)
        .options([("jit", "off")])
        .disable_statement_logging();
    let pool = PgPoolOptions::new()
        .max_connections(CONNECTIONS)
        .acquire_timeout(PATIENCE)
        .connect_with(options)
        .await?;
    let connection = SqlxPostgresConnector::from_sqlx_postgres_pool(pool);
    migrations::run(&connection).await?;
    let (reader, listing) = (connection.clone(), Arc::default());
    Ok(Database { reader, writer: connection, listing, _lock: None })
}
