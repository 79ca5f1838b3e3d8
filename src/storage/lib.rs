//! The users' files and the logs of what ran: in a local folder, or over OpenDAL behind a WebHDFS
//! server. In a local folder no link is followed: whatever tasks do there, and however fast, the
//! server reads and writes nothing outside of it, and nothing at another place than it is told. Users reach everything below the root but `/.berth`, which holds what Berth keeps for
//! itself; whose what is says [`rights`].

mod entry;
mod error;
mod files;
mod folder;
mod log_blocks;
mod log_reader;
mod log_spool;
mod logs;
mod measure;
mod metrics;
mod old_logs;
mod open;
mod own;
mod owners;
mod path;
mod read;
pub mod rights;
mod short_logs;
pub mod stage;
mod upload;
mod web;
mod write;

pub use entry::{Entry, EntryKind, Page};
pub use error::StorageError;
pub use log_blocks::{BlockText, LogBlock};
pub use log_reader::{LogLine, LogReader};
pub use log_spool::{LogLimits, LogSpool};
pub use measure::Size;
pub use open::StorageOptions;
pub use path::StoragePath;
pub use read::Range;
pub use upload::Arriving;
pub use write::Content;

use std::sync::Arc;

use folder::Folder;
use short_logs::ShortLogs;
use web::Web;

/// What every call answers.
pub type Result<T> = std::result::Result<T, StorageError>;

/// The folder of Berth's own files, below the root.
const OWN: &str = ".berth";

/// A place for files: cheap to clone.
#[derive(Debug, Clone)]
pub struct Storage {
    uri: String,
    quota: Option<u64>,
    place: Place,
    short_logs: Arc<ShortLogs>,
}

/// Where the files are.
#[derive(Debug, Clone)]
enum Place {
    Folder(Folder),
    Web(Box<Web>),
}

impl Storage {
    /// What `$PAI_DEFAULT_FS_URI` is for jobs: the root, without a slash at its end.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// The most that one user's files may take, in bytes; `None`: whatever there is room for.
    #[must_use]
    pub fn quota(&self) -> Option<u64> {
        self.quota
    }

    /// Takes `<uri>/a/b` or `/a/b` as a path below the root.
    ///
    /// # Errors
    /// [`StorageError::Path`] for other roots, `..`, control characters and what is Berth's own.
    pub fn resolve(&self, text: &str) -> Result<StoragePath> {
        path::resolve(&self.uri, text)
    }
}
