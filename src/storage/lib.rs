//! The users' files and the logs of what ran, over OpenDAL. Users reach everything below the root
//! but `/.berth`, which holds what Berth keeps for itself.

mod error;
mod logs;
mod path;

pub use error::StorageError;
pub use logs::{KeptLog, LogLimits, LogPart, LogSlice};
pub use path::StoragePath;

use std::path::{Path, PathBuf};

use bytes::Bytes;
use futures::TryStreamExt;
use opendal::{EntryMode, ErrorKind, Operator};

/// What every call answers.
pub type Result<T> = std::result::Result<T, StorageError>;

/// The folder of Berth's own files, below the root.
const OWN: &str = ".berth";

/// A place for files: cheap to clone.
#[derive(Debug, Clone)]
pub struct Storage {
    folder: PathBuf,
    uri: String,
    operator: Operator,
}

impl Storage {
    /// Opens a folder, given as `file:///folder` or as an absolute path; it is made if it is
    /// missing.
    ///
    /// # Errors
    /// [`StorageError::Root`] for other places and for a folder that cannot be written.
    pub fn open(root: &str) -> Result<Self> {
        let fail = |message: String| StorageError::Root { root: root.to_owned(), message };
        let folder = match root.split_once("://") {
            Some(("file", folder)) => folder,
            Some((scheme, _)) => {
                return Err(fail(format!(
                    "{scheme}:// is not supported: allowed are file:///folder and an absolute path"
                )));
            }
            None => root,
        };
        if !folder.starts_with('/') {
            return Err(fail(
                "an absolute path is needed, as in file:///var/lib/berth/files".into(),
            ));
        }
        std::fs::create_dir_all(Path::new(folder).join(OWN).join("unfinished"))
            .map_err(|error| fail(error.to_string()))?;
        let folder = std::fs::canonicalize(folder).map_err(|error| fail(error.to_string()))?;
        let text = folder.to_str().ok_or_else(|| fail("the path is not UTF-8".into()))?;
        let unfinished = folder.join(OWN).join("unfinished");
        // A file appears whole or not at all.
        let service = opendal::services::Fs::default()
            .root(text)
            .atomic_write_dir(&unfinished.to_string_lossy());
        let operator = Operator::new(service).map_err(|error| fail(error.to_string()))?;
        Ok(Self { uri: format!("file://{}", text.trim_end_matches('/')), folder, operator })
    }

    /// What `$PAI_DEFAULT_FS_URI` is for jobs: the root, without a slash at its end.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// Takes `<uri>/a/b` or `/a/b` as a path below the root.
    ///
    /// # Errors
    /// [`StorageError::Path`] for other roots, `..`, control characters and what is Berth's own.
    pub fn resolve(&self, text: &str) -> Result<StoragePath> {
        path::resolve(&self.uri, text)
    }

    /// Whether there is a file or a folder.
    ///
    /// # Errors
    /// [`StorageError::Path`] when a link leads out of the root, else [`StorageError::Failed`].
    pub async fn exists(&self, path: &StoragePath) -> Result<bool> {
        self.guard(path)?;
        Ok(self.mode(path).await?.is_some())
    }

    /// Bytes of a file, or of all files below a folder.
    ///
    /// # Errors
    /// [`StorageError::TooLarge`] as soon as more than `limit` are counted;
    /// [`StorageError::NotFound`].
    pub async fn folder_size(&self, path: &StoragePath, limit: u64) -> Result<u64> {
        self.guard(path)?;
        let fail = |error| StorageError::of(path, error);
        let too_large = || StorageError::TooLarge { path: path.to_string(), limit };
        let size = match self.mode(path).await? {
            None => return Err(StorageError::NotFound { path: path.to_string() }),
            Some(EntryMode::DIR) => {
                let folder = format!("{path}/");
                let mut entries =
                    self.operator.lister_with(&folder).recursive(true).await.map_err(fail)?;
                let mut size: u64 = 0;
                while let Some(entry) = entries.try_next().await.map_err(fail)? {
                    if entry.metadata().mode() == EntryMode::FILE {
                        size += self.length(entry.path(), path).await?;
                    }
                    if size > limit {
                        return Err(too_large());
                    }
                }
                size
            }
            Some(EntryMode::FILE | EntryMode::Unknown) => self.length(path.as_str(), path).await?,
        };
        if size > limit { Err(too_large()) } else { Ok(size) }
    }

    /// Makes a folder and those above it; one that is there is left as it is.
    ///
    /// # Errors
    /// [`StorageError::Path`], [`StorageError::Failed`].
    pub async fn create_folder(&self, path: &StoragePath) -> Result<()> {
        self.guard(path)?;
        let folder = format!("{path}/");
        self.operator.create_dir(&folder).await.map_err(|error| StorageError::of(path, error))
    }

    /// A whole file.
    ///
    /// # Errors
    /// [`StorageError::NotFound`], [`StorageError::Path`], [`StorageError::Failed`].
    pub async fn read(&self, path: &StoragePath) -> Result<Bytes> {
        self.guard(path)?;
        let content = self.operator.read(path.as_str()).await;
        Ok(content.map_err(|error| StorageError::of(path, error))?.to_bytes())
    }

    /// Writes a whole file, in place of one that is there; folders are made.
    ///
    /// # Errors
    /// [`StorageError::Path`], [`StorageError::Failed`].
    pub async fn write(&self, path: &StoragePath, content: Bytes) -> Result<()> {
        self.guard(path)?;
        let written = self.operator.write(path.as_str(), content).await;
        written.map(drop).map_err(|error| StorageError::of(path, error))
    }

    async fn mode(&self, path: &StoragePath) -> Result<Option<EntryMode>> {
        match self.operator.stat(path.as_str()).await {
            Ok(found) => Ok(Some(found.mode())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StorageError::of(path, error)),
        }
    }

    /// Asked of each file: what is listed need not carry it.
    async fn length(&self, file: &str, of: &StoragePath) -> Result<u64> {
        match self.operator.stat(file).await {
            Ok(found) => Ok(found.content_length()),
            // Gone since the list was made.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
            Err(error) => Err(StorageError::of(of, error)),
        }
    }

    /// Refuses a path with a link on its way that leads out of the root or to Berth's own files.
    fn guard(&self, path: &StoragePath) -> Result<()> {
        let refuse = |message: &str| {
            Err(StorageError::Path { path: path.to_string(), message: message.to_owned() })
        };
        let mut real = self.folder.clone();
        for part in path.parts() {
            real.push(part);
            match std::fs::symlink_metadata(&real) {
                // What is not there yet leads nowhere.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
                Err(error) => return refuse(&error.to_string()),
                Ok(found) if found.is_symlink() => match std::fs::canonicalize(&real) {
                    Ok(target) => real = target,
                    Err(_) => return refuse("it is a link that leads nowhere"),
                },
                Ok(_) => {}
            }
            match real.strip_prefix(&self.folder) {
                Err(_) => return refuse("it is a link that leads out of the storage"),
                Ok(below) if below.starts_with(OWN) && !path.is_own() => {
                    return refuse("it is a link to files of the system");
                }
                Ok(_) => {}
            }
        }
        Ok(())
    }
}
