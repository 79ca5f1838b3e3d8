//! The users' files and the logs of what ran, over OpenDAL: in a local folder or behind a WebHDFS
//! server. Users reach everything below the root but `/.berth`, which holds what Berth keeps for
//! itself; whose what is says [`rights`].

mod entry;
mod error;
mod files;
mod folder;
mod logs;
mod measure;
mod open;
mod owners;
mod path;
mod read;
pub mod rights;
pub mod stage;
mod upload;
mod web;
mod write;

pub use entry::{Entry, EntryKind, Page};
pub use error::StorageError;
pub use logs::{KeptLog, LogLimits, LogPart, LogSlice};
pub use measure::Size;
pub use open::StorageOptions;
pub use path::StoragePath;
pub use read::Range;
pub use upload::Arriving;
pub use write::Content;

use folder::Folder;
use opendal::Operator;
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
    operator: Operator,
    place: Place,
}

/// What OpenDAL does not do is done there.
#[derive(Debug, Clone)]
enum Place {
    Folder(Folder),
    Web(Web),
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

    /// The path with all links on its way followed: rights are a matter of where a file is, not of
    /// what leads to it.
    ///
    /// # Errors
    /// [`StorageError::Path`] for a link that leads out of the root, to Berth's own files, or
    /// nowhere.
    pub fn real(&self, path: &StoragePath) -> Result<StoragePath> {
        match &self.place {
            Place::Folder(folder) => folder.real(path),
            // A WebHDFS server follows its links itself and can only make them within itself.
            Place::Web(_) => Ok(path.clone()),
        }
    }
}
