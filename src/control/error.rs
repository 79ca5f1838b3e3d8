use std::any::Any;
use std::fmt::Display;

/// Why control cannot start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program for containers cannot be packed.
    #[error("the guest cannot be packed")]
    Guest(#[source] std::io::Error),
    /// The database.
    #[error("database: {0}")]
    Database(#[from] database::Error),
    /// The thread of the scheduler.
    #[error("the scheduler has no thread")]
    Thread(#[source] std::io::Error),
    /// A file of the data folder.
    #[error("{path}: {source}")]
    File {
        /// Which.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The key that seals secrets is damaged.
    #[error(
        "{0} is not a key of 32 bytes: restore it from a backup; without it stored secrets cannot be read"
    )]
    Key(String),
    /// There is a key, and its database is not there.
    #[error(
        "the key {0} belongs to a cluster whose database is not there: database.url leads elsewhere, or \
         it was lost. Put it back from a backup, or start once with --begin-anew: the cluster is an \
         empty one then, and the containers of the old one are nobody's"
    )]
    LostDatabase(String),
    /// There is a database, and its key is not there.
    #[error(
        "the key {0} is missing, with which secrets in this database are sealed. Put it back from a \
         backup, or copy it from another server of this database; or start once with --begin-anew: \
         another one is made then, and what was sealed is lost"
    )]
    LostKey(String),
    /// The key that somebody is to have put there is not there.
    #[error(
        "the key_file {0} is not there: it is read and never made. Put the key there with which secrets in \
         this database are sealed; for a new cluster make one, by head -c 32 /dev/urandom, and start once \
         with --begin-anew"
    )]
    NoKey(String),
    /// Key and database do not belong together.
    #[error(
        "the key {0} is not the one with which secrets in this database are sealed: the two do not \
         belong together. Put the right one there; or start once with --begin-anew: this one is taken \
         then, and what was sealed with the other is lost"
    )]
    OtherKey(String),
    /// The database was moved or copied.
    #[error(
        "this database was last served as {before}, and now it is {now}. If it is a copy of one that \
         is still served, both would start and stop the same jobs on the same nodes. If it was moved or \
         restored, and nothing serves the other one any more, start once with --take-over"
    )]
    Elsewhere {
        /// Where.
        before: String,
        /// Where it is.
        now: String,
    },
    /// The administrator's first password is not acceptable.
    #[error("the administrator's password: {0}")]
    Password(String),
    /// Tasks would be where the portal is.
    #[error("nodes cannot be so:\n{}", .0.join("\n"))]
    TasksAtPortal(Vec<String>),
    /// Other servers would take other engines for these nodes.
    #[error(
        "several servers cannot have these nodes:\n{}\nStart one of them alone, without \
         servers.listen, and change or remove them under Administration",
        .0.join("\n")
    )]
    OwnEngines(Vec<String>),
    /// The virtual clusters of the configuration file do not go together with those there are.
    #[error("the virtual clusters cannot be so:\n{}", .0.join("\n"))]
    VirtualClusters(Vec<String>),
    /// The storages of the configuration file do not go together with those there are.
    #[error("the storages cannot be so:\n{}", .0.join("\n"))]
    Storages(Vec<String>),
}

/// Logs a failure of ours and gives the user the error that leaks nothing.
pub(crate) fn internal(error: impl Display) -> api::Error {
    tracing::error!(%error, "operation failed");
    api::Error::internal()
}

/// What a panic says.
pub(crate) fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_database_that_is_away_is_one_to_come_back_to() {
        let away = database::Error::Unavailable { message: "the disk is full".to_owned() };
        let seen = api::Error::from(away);
        assert_eq!((seen.code.status(), seen.is_ours()), (503, true));
        assert!(!seen.message.contains("disk"), "{seen}");
        let what = "row 7 of table jobs".to_owned();
        let seen =
            api::Error::from(database::Error::Corrupt { what, message: "a secret".to_owned() });
        assert_eq!((seen.code.status(), seen.is_ours()), (500, true));
        assert!(seen.message.starts_with("row 7 of table jobs cannot be read"), "{seen}");
        assert!(!seen.message.contains("secret"), "{seen}");
    }
}
