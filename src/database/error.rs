use protocol::trouble::{OwnTrouble, Trouble};
use sea_orm::{DbErr, RuntimeErr, SqlErr, sqlx};

/// What every query answers with.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something could not be read or stored.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It exists already, or its name is taken.
    #[error("{what} exists already")]
    Conflict {
        /// What was to be stored.
        what: String,
    },
    /// It does not exist.
    #[error("{what} does not exist")]
    NotFound {
        /// What was asked for.
        what: String,
    },
    /// What is stored cannot be understood: a damaged file, or rows of another program.
    #[error("{what} is damaged: {message}")]
    Corrupt {
        /// The file, or the table and row.
        what: String,
        /// What is wrong.
        message: String,
    },
    /// It cannot be reached or used now; the same call may work later.
    #[error("the database is not available: {message}")]
    Unavailable {
        /// Why, and what to do about it.
        message: String,
    },
    /// Anything else: a mistake of this program.
    #[error("the database refused a statement")]
    Internal {
        /// The database's own words.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    pub(crate) fn conflict(what: impl ToString) -> Self {
        Self::Conflict { what: what.to_string() }
    }

    pub(crate) fn not_found(what: impl ToString) -> Self {
        Self::NotFound { what: what.to_string() }
    }

    pub(crate) fn corrupt(what: impl ToString, message: impl ToString) -> Self {
        Self::Corrupt { what: what.to_string(), message: message.to_string() }
    }

    pub(crate) fn unavailable(message: impl ToString) -> Self {
        Self::Unavailable { message: message.to_string() }
    }

    /// Of work on a thread or task of its own that did not come to its end.
    pub(crate) fn broken_off(error: tokio::task::JoinError) -> Self {
        Self::Internal { source: Box::new(error) }
    }
}

/// The database's own words are for the log alone.
impl OwnTrouble for Error {
    fn answer(self) -> Trouble {
        tracing::error!(error = &self as &dyn std::error::Error, "operation failed");
        match self {
            Self::Unavailable { .. } => Trouble::NoDatabase,
            Self::Corrupt { what, .. } => Trouble::Damaged(what),
            Self::Conflict { .. } | Self::NotFound { .. } | Self::Internal { .. } => Trouble::Ours,
        }
    }
}

/// A conflict names the constraint; callers that know what they store use [`named`] instead.
impl From<DbErr> for Error {
    fn from(error: DbErr) -> Self {
        if let Some(SqlErr::UniqueConstraintViolation(constraint)) = error.sql_err() {
            return Self::conflict(constraint);
        }
        match sqlx_cause(&error).map(fault) {
            Some(Fault::Damaged) => Self::corrupt("the database", error),
            Some(Fault::Passing) => Self::unavailable(error),
            Some(Fault::Ours) | None => Self::Internal { source: Box::new(error) },
        }
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        match fault(&error) {
            Fault::Damaged => Self::corrupt("the database", error),
            Fault::Passing => Self::unavailable(error),
            Fault::Ours => Self::Internal { source: Box::new(error) },
        }
    }
}

/// Turns a violated unique constraint into a conflict of `what`.
pub(crate) fn named(what: impl ToString) -> impl FnOnce(DbErr) -> Error {
    move |error| match error.into() {
        Error::Conflict { .. } => Error::conflict(what),
        other => other,
    }
}

/// Whether SQLite does not understand a statement, or cannot do it with the tables that there are. Of
/// the failures of a statement these leave its transaction as it was.
pub(crate) fn is_of_schema(error: &DbErr) -> bool {
    let Some(sqlx::Error::Database(database)) = sqlx_cause(error) else { return false };
    // SQLITE_ERROR.
    database.try_downcast_ref::<sqlx::sqlite::SqliteError>().is_some()
        && database.code().is_some_and(|code| code == "1")
}

/// Whose fault a failure is.
enum Fault {
    Damaged,
    Passing,
    Ours,
}

fn sqlx_cause(error: &DbErr) -> Option<&sqlx::Error> {
    match error {
        DbErr::Conn(RuntimeErr::SqlxError(cause))
        | DbErr::Exec(RuntimeErr::SqlxError(cause))
        | DbErr::Query(RuntimeErr::SqlxError(cause)) => Some(cause),
        DbErr::ConnectionAcquire(_) => Some(&sqlx::Error::PoolTimedOut),
        _ => None,
    }
}

fn fault(error: &sqlx::Error) -> Fault {
    match error {
        sqlx::Error::Database(database) => {
            let code = database.code().unwrap_or_default();
            if database.try_downcast_ref::<sqlx::sqlite::SqliteError>().is_some() {
                sqlite_fault(&code)
            } else {
                postgres_fault(&code)
            }
        }
        // What is read as no word of its protocol is the end of a line that was cut.
        sqlx::Error::Protocol(_)
        | sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => Fault::Passing,
        _ => Fault::Ours,
    }
}

/// Extended result codes keep the primary code in their low byte.
fn sqlite_fault(code: &str) -> Fault {
    match code.parse::<u32>().map(|code| code & 0xff) {
        // SQLITE_CORRUPT, SQLITE_NOTADB.
        Ok(11 | 26) => Fault::Damaged,
        // SQLITE_PERM, BUSY, LOCKED, NOMEM, READONLY, IOERR, FULL, CANTOPEN.
        Ok(3 | 5 | 6 | 7 | 8 | 10 | 13 | 14) => Fault::Passing,
        _ => Fault::Ours,
    }
}

/// Classes of SQLSTATE: connection, authorisation, rollback, resources, operator, system, damage. Of
/// others: nothing may be written (by a server that is not the first one), a transaction was ended
/// for taking too long, somebody else holds a lock.
fn postgres_fault(code: &str) -> Fault {
    match (code, code.get(..2)) {
        ("25006" | "25P03" | "55P03", _)
        | (_, Some("08" | "28" | "3D" | "40" | "53" | "57" | "58")) => Fault::Passing,
        (_, Some("XX")) => Fault::Damaged,
        _ => Fault::Ours,
    }
}
