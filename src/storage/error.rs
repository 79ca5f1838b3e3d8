/// Why something of the storage cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The storage's address.
    #[error("storage {root:?}: {message}")]
    Root {
        /// As configured.
        root: String,
        /// What is wrong and what is allowed.
        message: String,
    },
    /// A user's path.
    #[error("{path:?} {message}")]
    Path {
        /// As given.
        path: String,
        /// What is wrong and what is allowed.
        message: String,
    },
    /// A file is larger than may be read at once.
    #[error("{path} has {size} bytes; at most {limit} are read")]
    TooLarge {
        /// Which.
        path: String,
        /// Its size in bytes.
        size: u64,
        /// What is allowed, in bytes.
        limit: u64,
    },
    /// The storage failed.
    #[error("{what}: {message}")]
    Failed {
        /// What was done.
        what: String,
        /// The storage's words.
        message: String,
    },
}

impl Error {
    pub(crate) fn of(what: impl Into<String>, error: impl std::fmt::Display) -> Self {
        Self::Failed { what: what.into(), message: error.to_string() }
    }
}
