//! Users' files: what `$PAI_DEFAULT_FS_URI` names, and the kept logs of tasks.
//!
//! Paths come from users, so that a [`StoragePath`] exists only for what lies inside the storage
//! and outside the folder Berth keeps for itself.

mod error;
mod local;
mod logs;
mod path;

pub use error::Error;
pub use path::StoragePath;

use std::path::PathBuf;

use futures::TryStreamExt;
use opendal::Operator;

/// What every call answers.
pub type Result<T> = std::result::Result<T, Error>;

/// The largest file that is read whole, in bytes.
const LARGEST_READ: u64 = 16 * 1024 * 1024;

/// A storage: a local folder.
#[derive(Debug, Clone)]
pub struct Storage {
    operator: Operator,
    /// The folder, without symbolic links.
    root: PathBuf,
    uri: String,
}

impl Storage {
    /// Opens `file:///folder` or a plain path; the folder is made if it is not there.
    ///
    /// # Errors
    /// [`Error::Root`] when the address is of another kind or the folder cannot be used.
    pub async fn open(root: &str) -> Result<Self> {
        let (operator, root) = local::open(root).await?;
        let uri = format!("file://{}", root.display());
        Ok(Self { operator, root, uri })
    }

    /// What `$PAI_DEFAULT_FS_URI` becomes.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// Finds what a user's text names: a URI of this storage or an absolute path in it.
    ///
    /// # Errors
    /// [`Error::Path`] says what is wrong with it.
    pub fn resolve(&self, text: &str) -> Result<StoragePath> {
        path::resolve(&self.uri, text)
    }

    /// Whether the storage answers.
    ///
    /// # Errors
    /// When it does not.
    pub async fn ping(&self) -> Result<()> {
        self.operator.check().await.map_err(|error| Error::of("the storage", error))
    }

    /// Whether there is such a file or folder.
    ///
    /// # Errors
    /// [`Error::Path`] when it leads out of the storage; [`Error::Failed`].
    pub async fn exists(&self, path: &StoragePath) -> Result<bool> {
        local::stays_inside(&self.root, path).await
    }

    /// Bytes of all files in a folder (or of the one file), counted until they exceed `limit`.
    ///
    /// # Errors
    /// As for [`Storage::exists`].
    pub async fn folder_size(&self, path: &StoragePath, limit: u64) -> Result<u64> {
        local::stays_inside(&self.root, path).await?;
        let of = |error| Error::of(path.as_str(), error);
        let about = self.operator.stat(path.as_str()).await.map_err(of)?;
        if about.is_file() {
            return Ok(about.content_length());
        }
        let folder = format!("{}/", path.as_str().trim_end_matches('/'));
        let mut entries = self.operator.lister_with(&folder).recursive(true).await.map_err(of)?;
        let mut size = 0;
        while let Some(entry) = entries.try_next().await.map_err(of)? {
            if entry.metadata().is_dir() {
                continue;
            }
            let about = self.operator.stat(entry.path()).await.map_err(of)?;
            size += about.content_length();
            if size > limit {
                break;
            }
        }
        Ok(size)
    }

    /// Makes a folder and those above it; one that is there is left as it is.
    ///
    /// # Errors
    /// As for [`Storage::exists`].
    pub async fn create_folder(&self, path: &StoragePath) -> Result<()> {
        local::stays_inside(&self.root, path).await?;
        let folder = format!("{}/", path.as_str().trim_end_matches('/'));
        self.operator.create_dir(&folder).await.map_err(|error| Error::of(path.as_str(), error))
    }

    /// A whole file of at most 16 MiB.
    ///
    /// # Errors
    /// [`Error::TooLarge`]; else as for [`Storage::exists`].
    pub async fn read(&self, path: &StoragePath) -> Result<bytes::Bytes> {
        local::stays_inside(&self.root, path).await?;
        let of = |error| Error::of(path.as_str(), error);
        let size = self.operator.stat(path.as_str()).await.map_err(of)?.content_length();
        if size > LARGEST_READ {
            return Err(Error::TooLarge { path: path.to_string(), size, limit: LARGEST_READ });
        }
        Ok(self.operator.read(path.as_str()).await.map_err(of)?.to_bytes())
    }
}

#[cfg(test)]
mod tests;
