//! Writing files: a new one is written aside and appears when it is whole.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};

use crate::error::Source;
use crate::folder::Folder;
use crate::open::UNFINISHED;
use crate::{EntryKind, OWN, Place, Result, Storage, StorageError, StoragePath};

/// Unfinished files older than this belong to nobody any more.
const FORGOTTEN: Duration = Duration::from_secs(7 * 24 * 3_600);

/// What is to be written, as it arrives; the sender's errors come back in
/// [`StorageError::Content`].
pub type Content = BoxStream<'static, std::result::Result<Bytes, Source>>;

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
        let real = self.real(path)?;
        let replace = self.may_put(path, &real, replace).await?;
        match &self.place {
            Place::Folder(folder) => folder.put(&aside(), &real, replace, content).await,
            Place::Web(_) => {
                self.put(&real, replace, futures::stream::iter([Ok(content)]).boxed()).await
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
        let real = self.real(path)?;
        let replace = self.may_put(path, &real, replace).await?;
        self.put(&real, replace, content).await
    }

    /// Whether a file takes the place of another there, where that is allowed.
    async fn may_put(&self, path: &StoragePath, real: &StoragePath, replace: bool) -> Result<bool> {
        match self.find(real).await? {
            Some(found) if found.kind == EntryKind::Folder => {
                Err(StorageError::IsFolder { path: path.to_string() })
            }
            Some(_) if !replace => Err(StorageError::Exists { path: path.to_string() }),
            found => Ok(found.is_some()),
        }
    }

    async fn put(&self, real: &StoragePath, replace: bool, content: Content) -> Result<()> {
        let aside = aside();
        match &self.place {
            Place::Folder(folder) => {
                let aside = Aside { folder, path: aside };
                self.write_all(&aside.path, false, content)
                    .await
                    .map_err(|error| about(error, real))?;
                folder.finish(&aside.path, real, replace)
            }
            Place::Web(web) => {
                let written = match web.create(&aside, content).await {
                    Ok(()) => web.finish(&aside, real, replace).await,
                    Err(error) => Err(about(error, real)),
                };
                if written.is_err() {
                    let _swept_later = web.remove(&aside, false).await;
                }
                written
            }
        }
    }

    /// Adds to the end of a file. What arrived before a failure stays.
    ///
    /// # Errors
    /// [`StorageError::NotFound`], [`StorageError::IsFolder`], [`StorageError::Content`].
    pub async fn append(&self, path: &StoragePath, content: Content) -> Result<()> {
        let real = self.real(path)?;
        if self.stat(&real).await?.kind == EntryKind::Folder {
            return Err(StorageError::IsFolder { path: path.to_string() });
        }
        match &self.place {
            Place::Folder(_) => self.write_all(&real, true, content).await,
            Place::Web(web) => web.append(&real, content).await,
        }
    }

    /// What has arrived is written when it returns, also where the content broke off.
    pub(crate) async fn write_all(
        &self,
        path: &StoragePath,
        append: bool,
        content: Content,
    ) -> Result<()> {
        let fail = |error| StorageError::of(path, error);
        let writer = self.operator.writer_with(path.as_str()).append(append);
        let mut writer = writer.await.map_err(fail)?;
        let mut content =
            content.map_err(|source| StorageError::Content { path: path.to_string(), source });
        let outcome = loop {
            match content.try_next().await {
                Ok(Some(piece)) => writer.write(piece).await.map_err(fail)?,
                Ok(None) => break Ok(()),
                Err(broken) => break Err(broken),
            }
        };
        writer.close().await.map_err(fail)?;
        outcome
    }

    /// Removes unfinished files that nobody finishes any more: their writer was killed.
    ///
    /// # Errors
    /// [`StorageError::Failed`].
    pub async fn sweep(&self) -> Result<()> {
        let folder = StoragePath::own(UNFINISHED);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let oldest = now.saturating_sub(FORGOTTEN).as_millis();
        for name in self.own_names(&folder).await? {
            let Some(path) = folder.child(&name) else { continue };
            let found = self.find(&path).await?.and_then(|entry| entry.modified);
            if found.is_some_and(|time| u128::try_from(time.0).is_ok_and(|time| time < oldest)) {
                self.remove(&path, false).await?;
            }
        }
        Ok(())
    }

    /// The names in one of Berth's own folders.
    pub(crate) async fn own_names(&self, folder: &StoragePath) -> Result<Vec<String>> {
        debug_assert!(folder.as_str().starts_with(&format!("/{OWN}/")));
        let fail = |error| StorageError::of(folder, error);
        let lister = self.operator.lister(&format!("{folder}/")).await.map_err(fail)?;
        let names = lister.map_ok(|entry| entry.name().to_owned());
        let names: Vec<_> = names.try_collect().await.map_err(fail)?;
        Ok(names.into_iter().filter(|name| !name.is_empty() && !name.ends_with('/')).collect())
    }
}

/// Where a file is written until it is whole.
fn aside() -> StoragePath {
    StoragePath::own(&format!("{UNFINISHED}/{:032x}", rand::random::<u128>()))
}

/// A file that is being written; what is left of it is removed, whatever happens.
struct Aside<'a> {
    folder: &'a Folder,
    path: StoragePath,
}

impl Drop for Aside<'_> {
    fn drop(&mut self) {
        let _gone_when_finished = std::fs::remove_file(self.folder.at(&self.path));
    }
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
