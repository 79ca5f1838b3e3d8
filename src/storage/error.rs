use protocol::trouble::{OwnTrouble, Trouble};
use rustix::io::Errno;

use crate::path::StoragePath;

/// What every call answers.
pub type Result<T> = std::result::Result<T, StorageError>;

/// What a failure comes from.
pub(crate) type Source = Box<dyn std::error::Error + Send + Sync>;

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
    /// There is something of that name already.
    #[error("{path} exists already")]
    Exists {
        /// The path.
        path: String,
    },
    /// A file is needed.
    #[error("{path} is a folder")]
    IsFolder {
        /// The path.
        path: String,
    },
    /// A folder is needed.
    #[error("{path} is not in a folder: one of the names on the way is a file")]
    NotFolder {
        /// The path.
        path: String,
    },
    /// A folder with something in it is removed only together with it.
    #[error("{path} is not empty")]
    NotEmpty {
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
    /// What was to be written did not arrive.
    #[error("what was to be written to {path} did not arrive")]
    Content {
        /// The path.
        path: String,
        /// The sender's reason.
        #[source]
        source: Source,
    },
    /// The storage failed; asking again may help.
    #[error("the storage failed at {path}")]
    Failed {
        /// The path.
        path: String,
        /// Its reason.
        #[source]
        source: Source,
    },
}

impl StorageError {
    pub(crate) fn of(path: &StoragePath, error: opendal::Error) -> Self {
        let text = path.to_string();
        match error.kind() {
            opendal::ErrorKind::NotFound => Self::NotFound { path: text },
            opendal::ErrorKind::IsADirectory => Self::IsFolder { path: text },
            opendal::ErrorKind::NotADirectory => Self::NotFolder { path: text },
            _ => match std::error::Error::source(&error).and_then(|source| source.downcast_ref()) {
                Some(source) => {
                    Self::of_io_kind(path, source).unwrap_or_else(|| failed(path, error))
                }
                None => failed(path, error),
            },
        }
    }

    /// What a call of the system says. No link is followed, so that one is always in the way.
    pub(crate) fn of_errno(path: &StoragePath, error: Errno) -> Self {
        match error {
            Errno::LOOP => Self::link(path),
            error => Self::of_io(path, error.into()),
        }
    }

    /// There is a link where a file or folder is needed.
    pub(crate) fn link(path: &StoragePath) -> Self {
        let message = "it is a link, or below one: links are not followed here".to_owned();
        Self::Path { path: path.to_string(), message }
    }

    pub(crate) fn of_io(path: &StoragePath, error: std::io::Error) -> Self {
        Self::of_io_kind(path, &error).unwrap_or_else(|| failed(path, error))
    }

    /// The kinds of failure that are the asker's, not the storage's.
    fn of_io_kind(path: &StoragePath, error: &std::io::Error) -> Option<Self> {
        let path = path.to_string();
        match error.kind() {
            std::io::ErrorKind::NotFound => Some(Self::NotFound { path }),
            std::io::ErrorKind::AlreadyExists => Some(Self::Exists { path }),
            std::io::ErrorKind::IsADirectory => Some(Self::IsFolder { path }),
            std::io::ErrorKind::NotADirectory => Some(Self::NotFolder { path }),
            std::io::ErrorKind::DirectoryNotEmpty => Some(Self::NotEmpty { path }),
            std::io::ErrorKind::InvalidFilename => {
                let message = "a name has at most 255 bytes".to_owned();
                Some(Self::Path { path, message })
            }
            _ => None,
        }
    }
}

/// What is the asker's is told in full; where the storage itself fails, its own words are for the log.
impl OwnTrouble for StorageError {
    fn answer(self) -> Trouble {
        let message = self.to_string();
        match self {
            Self::Path { .. } => Trouble::Invalid(message),
            Self::NotFound { .. } => Trouble::NoFile(message),
            Self::Exists { .. } | Self::IsFolder { .. } | Self::NotFolder { .. } => {
                Trouble::InTheWay(message)
            }
            Self::NotEmpty { .. } => Trouble::NotEmpty(message),
            Self::TooLarge { .. } => Trouble::TooLarge(message),
            Self::Content { source, .. } => Trouble::BrokenOff { source, message },
            Self::Failed { path, source } => {
                tracing::warn!(path, error = %chain(source.as_ref()), "the storage failed");
                Trouble::NoStorage
            }
            Self::Root { .. } => {
                tracing::error!(error = %message, "operation failed");
                Trouble::Ours
            }
        }
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(found) = cause {
        text.push_str(": ");
        text.push_str(&found.to_string());
        cause = found.source();
    }
    text
}

pub(crate) fn failed(path: &StoragePath, source: impl Into<Source>) -> StorageError {
    StorageError::Failed { path: path.to_string(), source: source.into() }
}
