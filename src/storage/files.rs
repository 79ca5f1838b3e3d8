//! Looking at files and folders, and moving them about.

use crate::entry::{Entry, EntryKind, Page};
use crate::error::{Result, StorageError};
use crate::path::StoragePath;
use crate::storage::{Place, Storage};

impl Storage {
    /// What is at a path.
    ///
    /// # Errors
    /// [`StorageError::NotFound`], [`StorageError::Path`], [`StorageError::Failed`].
    pub async fn stat(&self, path: &StoragePath) -> Result<Entry> {
        let found = self.find(path).await?;
        found.ok_or_else(|| StorageError::NotFound { path: path.to_string() })
    }

    /// Whether there is a file or a folder.
    ///
    /// # Errors
    /// [`StorageError::Path`] below a link, else [`StorageError::Failed`].
    pub async fn exists(&self, path: &StoragePath) -> Result<bool> {
        Ok(self.find(path).await?.is_some())
    }

    /// What is at a path, if anything is.
    ///
    /// # Errors
    /// As [`Storage::exists`].
    pub async fn find(&self, path: &StoragePath) -> Result<Option<Entry>> {
        match &self.place {
            Place::Folder(folder) => folder.find(path).await,
            Place::Web(web) => web.find(path).await,
        }
    }

    /// So many entries of a folder after a name. Berth's own files, names that are not text and
    /// what is neither file nor folder are left out.
    ///
    /// # Errors
    /// [`StorageError::NotFound`]; [`StorageError::NotFolder`].
    pub async fn list(
        &self,
        path: &StoragePath,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Page> {
        match &self.place {
            Place::Folder(folder) => folder.list(path, after, limit).await,
            Place::Web(web) => match self.stat(path).await?.kind {
                EntryKind::Folder => web.list(path, after, limit).await,
                EntryKind::File | EntryKind::Link => {
                    Err(StorageError::NotFolder { path: path.to_string() })
                }
            },
        }
    }

    /// Makes a folder and those above it; one that is there is left as it is.
    ///
    /// # Errors
    /// [`StorageError::Exists`] or [`StorageError::NotFolder`]: there is a file of that name, or on
    /// the way.
    pub async fn create_folder(&self, path: &StoragePath) -> Result<()> {
        match &self.place {
            Place::Folder(folder) => folder.make_folder(path).await,
            Place::Web(web) => web.make_folder(path).await,
        }
    }

    /// Gives a file or folder another path, which must be free and in a folder that is there.
    ///
    /// # Errors
    /// [`StorageError::NotFound`], also for the new path's folder; [`StorageError::Exists`];
    /// [`StorageError::Path`] for a folder that would be in itself.
    pub async fn rename(&self, from: &StoragePath, to: &StoragePath) -> Result<()> {
        let refuse = |message: &str| {
            Err(StorageError::Path { path: to.to_string(), message: message.to_owned() })
        };
        if to.is_within(from) || from.is_within(to) {
            return refuse(
                "a folder cannot be moved into itself, or in place of one that holds it",
            );
        }
        let web = match &self.place {
            Place::Folder(folder) => return folder.rename(from, to).await,
            Place::Web(web) => web,
        };
        let folder = to.parent().unwrap_or_else(|| to.clone());
        if self.stat(&folder).await?.kind != EntryKind::Folder {
            return Err(StorageError::NotFolder { path: to.to_string() });
        }
        if self.find(to).await?.is_some() {
            return Err(StorageError::Exists { path: to.to_string() });
        }
        self.stat(from).await?;
        web.rename(from, to).await
    }

    /// Removes a file, or a folder with all that is in it; false: there was nothing.
    ///
    /// # Errors
    /// [`StorageError::NotEmpty`] unless it is to be recursive; [`StorageError::Path`] for the root.
    pub async fn remove(&self, path: &StoragePath, recursive: bool) -> Result<bool> {
        if path.name().is_none() {
            let message = "the root is not removed".to_owned();
            return Err(StorageError::Path { path: path.to_string(), message });
        }
        match &self.place {
            Place::Folder(folder) => folder.remove(path, recursive).await,
            Place::Web(web) => {
                if !recursive && self.holds_something(path).await? {
                    return Err(StorageError::NotEmpty { path: path.to_string() });
                }
                web.remove(path, recursive).await
            }
        }
    }

    /// Removes a folder in which nothing is, and nothing else; `false`: it is not empty, or there is none.
    ///
    /// # Errors
    /// [`StorageError::Failed`].
    pub async fn remove_empty(&self, path: &StoragePath) -> Result<bool> {
        match &self.place {
            Place::Folder(folder) => folder.remove_empty(path).await,
            Place::Web(web) => {
                let found = self.find(path).await?;
                let is_folder = found.is_some_and(|found| found.kind == EntryKind::Folder);
                if !is_folder || self.holds_something(path).await? {
                    return Ok(false);
                }
                web.remove(path, false).await
            }
        }
    }

    async fn holds_something(&self, path: &StoragePath) -> Result<bool> {
        match self.find(path).await? {
            Some(Entry { kind: EntryKind::Folder, .. }) => {
                Ok(!self.list(path, None, 1).await?.entries.is_empty())
            }
            Some(_) | None => Ok(false),
        }
    }
}
