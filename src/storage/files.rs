//! Looking at files and folders, and moving them about.

use opendal::ErrorKind;

use crate::web::{self, Web};
use crate::{Entry, EntryKind, Page, Place, Result, Storage, StorageError, StoragePath};

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
    /// [`StorageError::Path`] when a link leads out of the root, else [`StorageError::Failed`].
    pub async fn exists(&self, path: &StoragePath) -> Result<bool> {
        Ok(self.find(path).await?.is_some())
    }

    /// What is at a path, if anything is.
    ///
    /// # Errors
    /// As [`Storage::exists`].
    pub async fn find(&self, path: &StoragePath) -> Result<Option<Entry>> {
        if let Place::Folder(folder) = &self.place {
            let found = folder.stat(&folder.real(path)?)?;
            return Ok(found.map(|entry| named(entry, path)));
        }
        match self.operator.stat(path.as_str()).await {
            Ok(found) => Ok(web::entry(path.name().unwrap_or_default(), &found)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StorageError::of(path, error)),
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
            Place::Folder(folder) => folder.list(&folder.real(path)?, after, limit).await,
            Place::Web(_) => match self.stat(path).await?.kind {
                EntryKind::File => Err(StorageError::NotFolder { path: path.to_string() }),
                EntryKind::Folder => Web::list(&self.operator, path, after, limit).await,
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
            Place::Folder(folder) => {
                let real = folder.real(path)?;
                let made = self.operator.create_dir(&format!("{real}/")).await;
                made.map_err(|error| StorageError::of(path, error))
            }
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
        let (from, to) = (self.real_name(from)?, self.real_name(to)?);
        if to.is_within(&from) || from.is_within(&to) {
            return refuse(
                "a folder cannot be moved into itself, or in place of one that holds it",
            );
        }
        let folder = to.parent().unwrap_or_else(|| to.clone());
        if self.stat(&folder).await?.kind == EntryKind::File {
            return Err(StorageError::NotFolder { path: to.to_string() });
        }
        if self.find(&to).await?.is_some() {
            return Err(StorageError::Exists { path: to.to_string() });
        }
        match &self.place {
            Place::Folder(folder) => folder.rename(&from, &to),
            Place::Web(web) => {
                self.stat(&from).await?;
                web.rename(&from, &to).await
            }
        }
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
            Place::Folder(folder) => folder.remove(&self.real_name(path)?, recursive).await,
            Place::Web(web) => {
                if !recursive && self.holds_something(path).await? {
                    return Err(StorageError::NotEmpty { path: path.to_string() });
                }
                web.remove(path, recursive).await
            }
        }
    }

    /// The real place of a name, which may be a link itself: where it is removed and renamed.
    ///
    /// # Errors
    /// As [`Storage::real`].
    pub fn real_name(&self, path: &StoragePath) -> Result<StoragePath> {
        let parts = path.parent().zip(path.name());
        let Some((parent, name)) = parts else { return Ok(path.clone()) };
        let real = self.real(&parent)?.child(name);
        real.ok_or_else(|| StorageError::NotFound { path: path.to_string() })
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

/// Under the name it was asked for.
fn named(entry: Entry, path: &StoragePath) -> Entry {
    let name = path.name().unwrap_or_default();
    Entry { link: entry.link || entry.name != name, name: name.to_owned(), ..entry }
}
