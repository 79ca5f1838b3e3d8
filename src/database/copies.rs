//! Whole databases: taken from one that is in use, made ready, and put in the place of another.
//!
//! A copy is a SQLite file, whatever it was taken from. So each can be restored into either kind of
//! database, which is also how one moves from SQLite to PostgreSQL. Which tables and columns there
//! are is read from the copy: none can be forgotten.

mod place;
mod postgres;
mod rows;
mod sqlite;
mod tables;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use sea_orm::{ConnectionTrait, DatabaseConnection, Statement};
use sea_orm_migration::MigratorTrait;

use crate::migrations::{self, Migrator};
use crate::{Error, Result};
pub use place::Place;
use tables::Table;

/// What a copy holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// The last step of the tables' history that it has taken.
    pub tables: String,
    /// How many rows each table has.
    pub rows: BTreeMap<String, u64>,
}

/// Why a database was not copied. What was to be filled is as it was.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// What is to be filled is not empty.
    #[error("{place} is not empty")]
    Taken {
        /// The file, or the database.
        place: String,
    },
    /// What is to be filled is being served from.
    #[error("a server uses {place}: stop it first")]
    InUse {
        /// The file, or the database.
        place: String,
    },
    /// The copy was made by a later version.
    #[error(
        "it was made by a newer version of Berth, whose tables this one does not know ({step})"
    )]
    Newer {
        /// A step of its history that we do not have.
        step: String,
    },
    /// The database was last served by an earlier version.
    #[error(
        "its tables are those of an older version of Berth ({step} is missing): start this version \
         with it once, or use the older one"
    )]
    Older {
        /// A step of our history that it does not have.
        step: String,
    },
    /// Not everything arrived.
    #[error("of table {table} {there} rows were to be copied, and {here} arrived")]
    Uneven {
        /// The table.
        table: String,
        /// How many rows it has where they come from.
        there: u64,
        /// How many it has now where they went.
        here: u64,
    },
    /// A file cannot be written or moved.
    #[error("{}", .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// One of the two databases failed.
    #[error(transparent)]
    Database(#[from] Error),
}

impl From<sea_orm::DbErr> for CopyError {
    fn from(error: sea_orm::DbErr) -> Self {
        Self::Database(error.into())
    }
}

/// Writes all that a database holds at one moment into a new file, while it may be in use, and looks
/// that file through.
///
/// # Errors
/// [`CopyError`]; then the file is worth nothing.
pub async fn take(url: &str, file: &Path) -> Result<Contents, CopyError> {
    match url.strip_prefix("sqlite://") {
        Some(path) => sqlite::take(Path::new(path), file).await?,
        None => postgres::take(url, file).await?,
    }
    let copy = sqlite::open(file).await?;
    sqlite::look_through(&copy).await?;
    let contents = contents(&copy).await?;
    copy.close().await?;
    Ok(contents)
}

/// Looks whether a copy is whole, and brings its tables up to date. It is to lie where nobody else
/// uses it.
///
/// # Errors
/// [`CopyError::Newer`]; [`Error::Corrupt`] for a damaged one.
pub async fn ready(file: &Path) -> Result<Contents, CopyError> {
    let copy = sqlite::open(file).await?;
    sqlite::look_through(&copy).await?;
    if let Some(step) = newer(&steps(&copy).await?) {
        return Err(CopyError::Newer { step });
    }
    migrations::run(&copy).await?;
    let contents = contents(&copy).await?;
    copy.close().await?;
    Ok(contents)
}

/// Copies a SQLite database, which stays as it is, into an empty one of any kind, and looks whether
/// all of it arrived. `between` is a file that is not there yet, for the meantime.
///
/// # Errors
/// [`CopyError`], also when a server uses either of them.
pub async fn migrate(from: &Path, between: &Path, to: &str) -> Result<Contents, CopyError> {
    sqlite::is_there(from)?;
    let _lock = sqlite::lock(from)?;
    let place = Place::open(to, false).await?;
    sqlite::take(from, between).await?;
    let contents = ready(between).await?;
    sqlite::forget_place(between).await?;
    place.fill(between).await?;
    Ok(contents)
}

/// The steps of the tables' history that a database has taken, in their order.
async fn steps(conn: &impl ConnectionTrait) -> Result<Vec<String>> {
    let sql = "SELECT version FROM seaql_migrations ORDER BY version";
    let statement = Statement::from_string(conn.get_database_backend(), sql);
    let rows = conn.query_all_raw(statement).await?;
    Ok(rows.iter().map(|row| row.try_get_by_index(0)).collect::<Result<_, _>>()?)
}

/// The names of all steps of our history, in their order.
fn known() -> Vec<String> {
    Migrator::migrations().iter().map(|step| step.name().to_owned()).collect()
}

/// The first step that we do not have.
fn newer(steps: &[String]) -> Option<String> {
    let known = known();
    steps.iter().find(|step| !known.contains(step)).cloned()
}

async fn contents(copy: &DatabaseConnection) -> Result<Contents> {
    let mut rows = BTreeMap::new();
    for table in tables::read(copy).await? {
        let count = rows::count(copy, &table).await?;
        rows.insert(table.name, count);
    }
    let tables = steps(copy).await?.pop().unwrap_or_default();
    Ok(Contents { tables, rows })
}

/// Copies all tables with what their growing keys have come to, in place of what the new ones have by
/// themselves, and counts them.
async fn copy_all(
    from: &impl ConnectionTrait,
    to: &impl ConnectionTrait,
    tables: &[Table],
) -> Result<(), CopyError> {
    rows::clear(to, tables).await?;
    for table in tables {
        rows::copy(from, to, table).await?;
        let (there, here) = (rows::count(from, table).await?, rows::count(to, table).await?);
        if there != here {
            let table = table.name.clone();
            return Err(CopyError::Uneven { table, there, here });
        }
        if let Some(key) = table.growing() {
            let last = rows::last_key(from, table, key).await?;
            rows::go_on_after(to, table, key, last).await?;
        }
    }
    Ok(())
}
