//! A place for files, as it is opened once.

use std::sync::Arc;

use crate::error::Result;
use crate::folder::Folder;
use crate::path::{self, StoragePath};
use crate::short_logs::ShortLogs;
use crate::web::Web;

/// A place for files: cheap to clone.
#[derive(Debug, Clone)]
pub struct Storage {
    pub(crate) uri: String,
    pub(crate) quota: Option<u64>,
    pub(crate) place: Place,
    pub(crate) short_logs: Arc<ShortLogs>,
}

/// Where the files are.
#[derive(Debug, Clone)]
pub(crate) enum Place {
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
    /// [`crate::StorageError::Path`] for other roots, `..`, control characters and what is Berth's own.
    pub fn resolve(&self, text: &str) -> Result<StoragePath> {
        path::resolve(&self.uri, text)
    }
}
