//! PostgreSQL databases, to be copied and to be filled.

use std::path::Path;
use std::time::{Duration, Instant};

use sea_orm::sqlx::ConnectOptions;
use sea_orm::sqlx::postgres::PgPoolOptions;
use sea_orm::{
    AccessMode, ConnectionTrait, DatabaseConnection, IsolationLevel, SqlxPostgresConnector,
    Statement, TransactionOptions, TransactionTrait,
};

use super::{CopyError, copy_all, known, newer, sqlite, steps, tables};
use crate::{Result, address, migrations};

/// How long a connection is waited for.
const PATIENCE: Duration = Duration::from_secs(30);
/// A server that has just been stopped is seen for a moment still.
const FAREWELL: Duration = Duration::from_secs(2);
/// How often it is looked for.
const PAUSE: Duration = Duration::from_millis(50);
/// One for the rows, and those that bring the tables up to date.
const CONNECTIONS: u32 = 4;

async fn connect(url: &str) -> Result<DatabaseConnection> {
    let options =
        address::postgres(url)?.application_name("berth-copy").disable_statement_logging();
    let pool = PgPoolOptions::new()
        .max_connections(CONNECTIONS)
        .acquire_timeout(PATIENCE)
        .connect_with(options)
        .await?;
    Ok(SqlxPostgresConnector::from_sqlx_postgres_pool(pool))
}

/// Copies what a database holds into a new file, all of it as of one moment.
pub(super) async fn take(url: &str, file: &Path) -> Result<(), CopyError> {
    let source = connect(url).await?;
    let one_moment = TransactionOptions {
        isolation_level: Some(IsolationLevel::RepeatableRead),
        access_mode: Some(AccessMode::ReadOnly),
        ..TransactionOptions::default()
    };
    let snapshot = source.begin_with_options(one_moment).await?;
    is_current(&steps(&snapshot).await?)?;
    let copy = sqlite::create(file).await?;
    migrations::run(&copy).await?;
    let tables = tables::read(&copy).await?;
    let filled = copy.begin().await?;
    copy_all(&snapshot, &filled, &tables).await?;
    filled.commit().await?;
    snapshot.rollback().await?;
    copy.close().await?;
    Ok(source.close().await?)
}

/// Tables of another version have other columns than the copy's.
fn is_current(steps: &[String]) -> Result<(), CopyError> {
    if let Some(step) = newer(steps) {
        return Err(CopyError::Newer { step });
    }
    match known().into_iter().find(|step| !steps.contains(step)) {
        Some(step) => Err(CopyError::Older { step }),
        None => Ok(()),
    }
}

/// Connects to a database that is to be filled, if no server uses it and it is empty or to be
/// replaced.
pub(super) async fn open(url: &str, replace: bool) -> Result<DatabaseConnection, CopyError> {
    let target = connect(url).await?;
    let deadline = Instant::now() + FAREWELL;
    while is_served(&target).await? {
        if Instant::now() > deadline {
            return Err(CopyError::InUse { place: "the PostgreSQL database".to_owned() });
        }
        tokio::time::sleep(PAUSE).await;
    }
    let is_made = is_so(&target, "SELECT to_regclass('settings') IS NOT NULL").await?;
    if is_made && !replace && is_founded(&target).await? {
        return Err(taken());
    }
    Ok(target)
}

/// Whether a server was ever started with it: its first start gives the cluster a name.
async fn is_founded(target: &impl ConnectionTrait) -> Result<bool> {
    is_so(target, "SELECT EXISTS (SELECT 1 FROM settings WHERE name = 'installation')").await
}

async fn is_served(target: &DatabaseConnection) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM pg_stat_activity \
               WHERE datname = current_database() AND application_name = 'berth')";
    is_so(target, sql).await
}

/// Fills a database with a copy, in one transaction.
pub(super) async fn fill(
    copy: &Path,
    target: &DatabaseConnection,
    replace: bool,
) -> Result<(), CopyError> {
    let copy = sqlite::open(copy).await?;
    let tables = tables::read(&copy).await?;
    migrations::run(target).await?;
    let filled = target.begin().await?;
    // A server that starts now would write its first settings, and waits here until all is there.
    filled.execute_unprepared("LOCK TABLE settings IN ACCESS EXCLUSIVE MODE").await?;
    if !replace && is_founded(&filled).await? {
        return Err(taken());
    }
    copy_all(&copy, &filled, &tables).await?;
    filled.commit().await?;
    Ok(copy.close().await?)
}

fn taken() -> CopyError {
    CopyError::Taken { place: "the PostgreSQL database".to_owned() }
}

async fn is_so(conn: &impl ConnectionTrait, sql: &str) -> Result<bool> {
    let statement = Statement::from_string(conn.get_database_backend(), sql);
    let row = conn.query_one_raw(statement).await?;
    Ok(row.map(|row| row.try_get_by_index(0)).transpose()?.unwrap_or_default())
}
