//! Writing files: a new one is written aside and appears when it is whole.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use futures::StreamExt;

use crate::content::Content;
use crate::entry::EntryKind;
use crate::error::{Result, StorageError};
use crate::own::{OWN, UNFINISHED};
use crate::path::StoragePath;
use crate::storage::{Place, Storage};

/// Unfinished files older than this belong to nobody any more.
const FORGOTTEN: Duration = Duration::from_secs(7 * 24 * 3_600);

impl Storage {
    /// Writes a whole file, in place of one that is there; folders are made.
    ///
    /// # Errors
    /// As [`Storage::create`].
    pub async fn write(&self, path: &StoragePath, content: Bytes) -> Result<()> {
        self.create_whole(path, true, content).await
    }

    /// Writes a file that is whole in memory already.
    ///
    /// # Errors
    /// As [`Storage::create`].
    pub(crate) async fn create_whole(
        &self,
        path: &StoragePath,
        replace: bool,
        content: Bytes,
    ) -> Result<()> {
        match &self.place {
            Place::Folder(folder) => {
                let replace = self.may_put(path, replace).await?;
                folder.put(path, replace, content).await
            }
            Place::Web(_) => {
                let content = futures::stream::iter([Ok(content)]).boxed();
                self.create(path, replace, content).await
            }
        }
    }

    /// Writes a file from a stream; folders are made. Until all has arrived there is no file, or
    /// the one that was there before.
    ///
    /// # Errors
    /// [`StorageError::Exists`] unless it may be replaced; [`StorageError::IsFolder`],
    /// [`StorageError::NotFolder`], [`StorageError::Content`].
    pub async fn create(&self, path: &StoragePath, replace: bool, content: Content) -> Result<()> {
        let replace = self.may_put(path, replace).await?;
        let web = match &self.place {
            Place::Folder(folder) => return folder.create(path, replace, content).await,
            Place::Web(web) => web,
        };
        let aside = aside();
        let written = match web.create(&aside, content).await {
            Ok(()) => web.finish(&aside, path, replace).await,
            Err(error) => Err(about(error, path)),
        };
        if written.is_err() {
            let _swept_later = web.remove(&aside, false).await;
        }
        written
    }

    /// Whether a file takes the place of another there, where that is allowed.
    pub(crate) async fn may_put(&self, path: &StoragePath, replace: bool) -> Result<bool> {
        match self.find(path).await?.map(|found| found.kind) {
            None => Ok(false),
            Some(EntryKind::Folder) => Err(StorageError::IsFolder { path: path.to_string() }),
            Some(EntryKind::Link) => Err(StorageError::link(path)),
            Some(EntryKind::File) if replace => Ok(true),
            Some(EntryKind::File) => Err(StorageError::Exists { path: path.to_string() }),
        }
    }

    /// Adds to the end of a file. What arrived before a failure stays.
    ///
    /// # Errors
    /// [`StorageError::NotFound`], [`StorageError::IsFolder`], [`StorageError::Content`].
    pub async fn append(&self, path: &StoragePath, content: Content) -> Result<()> {
        match &self.place {
            Place::Folder(folder) => folder.append(path, content).await,
            Place::Web(web) => {
                if self.stat(path).await?.kind == EntryKind::Folder {
                    return Err(StorageError::IsFolder { path: path.to_string() });
                }
                web.append(path, content).await
            }
        }
    }

    /// Removes unfinished files that nobody finishes any more: their writer was killed. Goes on
    /// removing what was too much to be removed at once.
    ///
    /// # Errors
    /// [`StorageError::Failed`].
    pub async fn sweep(&self) -> Result<()> {
        let folder = StoragePath::own(UNFINISHED);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let oldest = now.saturating_sub(FORGOTTEN).as_millis();
        let mut swept = Ok(());
        for name in self.own_names(&folder).await? {
            let Some(path) = folder.child(&name) else { continue };
            // What cannot be removed holds up nothing else.
            swept = swept.and(self.remove_older(&path, oldest).await);
        }
        match &self.place {
            Place::Folder(folder) => swept.and(folder.sweep().await),
            Place::Web(_) => swept,
        }
    }

    /// Removes a file that was last written before so many milliseconds since 1970.
    async fn remove_older(&self, path: &StoragePath, oldest: u128) -> Result<()> {
        let found = self.find(path).await?.and_then(|entry| entry.modified);
        if found.is_some_and(|time| u128::try_from(time.0).is_ok_and(|time| time < oldest)) {
            self.remove(path, false).await?;
        }
        Ok(())
    }

    /// The names in one of Berth's own folders.
    pub(crate) async fn own_names(&self, folder: &StoragePath) -> Result<Vec<String>> {
        debug_assert!(folder.as_str().starts_with(&format!("/{OWN}/")));
        match &self.place {
            Place::Folder(local) => local.names(folder).await,
            Place::Web(web) => web.names(folder).await,
        }
    }
}

/// Where a file is written until it is whole.
fn aside() -> StoragePath {
    StoragePath::own(&format!("{UNFINISHED}/{:032x}", rand::random::<u128>()))
}

/// A failure at the file aside, told of the file that was meant.
fn about(error: StorageError, meant: &StoragePath) -> StorageError {
    let path = meant.to_string();
    match error {
        StorageError::Content { source, .. } => StorageError::Content { path, source },
        StorageError::Failed { source, .. } => StorageError::Failed { path, source },
        other => other,
    }
}
