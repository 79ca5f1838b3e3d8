use crate::StoragePath;

/// Why a call to the storage failed.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The configured place cannot be used.
    #[error("storage {root}: {message}")]
    Root {
        /// As configured.
        root: String,
        /// What is wrong and what is allowed.
        message: String,
    },
    /// The path is not one of this storage.
    #[error("path {path:?}: {message}")]
    Path {
        /// As given.
        path: String,
        /// What is wrong and what is allowed.
        message: String,
    },
    /// There is no such file or folder.
    #[error("{path} does not exist")]
    NotFound {
        /// The path.
        path: String,
    },
    /// More than was allowed.
    #[error("{path} has more than {limit} bytes")]
    TooLarge {
        /// The path.
        path: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// The storage failed; asking again may help.
    #[error("the storage failed at {path}")]
    Failed {
        /// The path.
        path: String,
        /// Its reason.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl StorageError {
    pub(crate) fn of(path: &StoragePath, error: opendal::Error) -> Self {
        if error.kind() == opendal::ErrorKind::NotFound {
            return Self::NotFound { path: path.to_string() };
        }
        Self::Failed { path: path.to_string(), source: Box::new(error) }
    }
}
