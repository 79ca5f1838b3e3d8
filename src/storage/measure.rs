//! How much is in a folder.

use crate::entry::{Entry, EntryKind};
use crate::error::{Result, StorageError};
use crate::path::StoragePath;
use crate::storage::Storage;

/// Entries that are looked at together.
const AT_ONCE: usize = 1_000;

/// What a folder holds, or a single file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Size {
    /// Bytes of all files.
    pub bytes: u64,
    /// Files.
    pub files: u64,
    /// Folders, the one that was asked for among them.
    pub folders: u64,
}

impl Storage {
    /// Bytes of a file, or of all files below a folder.
    ///
    /// # Errors
    /// [`StorageError::TooLarge`] as soon as more than `limit` are counted;
    /// [`StorageError::NotFound`].
    pub async fn folder_size(&self, path: &StoragePath, limit: u64) -> Result<u64> {
        Ok(self.measure(path, limit).await?.bytes)
    }

    /// What is in a folder and below it; links are not counted.
    ///
    /// # Errors
    /// As [`Storage::folder_size`].
    pub async fn measure(&self, path: &StoragePath, limit: u64) -> Result<Size> {
        let mut size = Size::default();
        let mut walk = Walk::from(self, path).await?;
        while let Some((_, entry)) = walk.next().await? {
            match entry.kind {
                EntryKind::File => {
                    size.files += 1;
                    size.bytes = size.bytes.saturating_add(entry.size);
                }
                EntryKind::Folder => size.folders += 1,
                EntryKind::Link => {}
            }
            if size.bytes > limit {
                return Err(StorageError::TooLarge { path: path.to_string(), limit });
            }
        }
        Ok(size)
    }
}

/// Everything in a folder and below it, each folder before what is in it, in the order of the
/// names. It remembers only a page for each folder on the way. Links are left out: a tree has no
/// circles.
pub(crate) struct Walk {
    storage: Storage,
    first: Option<(StoragePath, Entry)>,
    open: Vec<Open>,
}

/// A folder of which a part has been gone through.
struct Open {
    path: StoragePath,
    page: std::vec::IntoIter<Entry>,
    /// The last name of the page, when there are more.
    after: Option<String>,
}

impl Walk {
    pub(crate) async fn from(storage: &Storage, path: &StoragePath) -> Result<Self> {
        let found = storage.stat(path).await?;
        if found.kind == EntryKind::Link {
            return Err(StorageError::link(path));
        }
        Ok(Self { storage: storage.clone(), first: Some((path.clone(), found)), open: Vec::new() })
    }

    /// The next file or folder.
    pub(crate) async fn next(&mut self) -> Result<Option<(StoragePath, Entry)>> {
        if let Some((path, entry)) = self.first.take() {
            self.enter(&path, &entry).await?;
            return Ok(Some((path, entry)));
        }
        while let Some(folder) = self.open.last_mut() {
            let Some(entry) = folder.page.next() else {
                match folder.after.take() {
                    Some(after) => {
                        let path = folder.path.clone();
                        let next = Open::page(&self.storage, path, Some(&after)).await?;
                        *folder = next;
                    }
                    None => drop(self.open.pop()),
                }
                continue;
            };
            let link = entry.kind == EntryKind::Link;
            let Some(path) = folder.path.child(&entry.name).filter(|_| !link) else {
                continue;
            };
            self.enter(&path, &entry).await?;
            return Ok(Some((path, entry)));
        }
        Ok(None)
    }

    async fn enter(&mut self, path: &StoragePath, entry: &Entry) -> Result<()> {
        if entry.kind == EntryKind::Folder {
            self.open.push(Open::page(&self.storage, path.clone(), None).await?);
        }
        Ok(())
    }
}

impl Open {
    async fn page(storage: &Storage, path: StoragePath, after: Option<&str>) -> Result<Self> {
        let page = match storage.list(&path, after, AT_ONCE).await {
            Ok(page) => page,
            // Gone, or replaced by a file or a link, since it was listed; or deeper than a path is.
            Err(
                StorageError::NotFound { .. }
                | StorageError::NotFolder { .. }
                | StorageError::Path { .. },
            ) => {
                return Ok(Self { path, page: Vec::new().into_iter(), after: None });
            }
            Err(error) => return Err(error),
        };
        let after = page.entries.last().filter(|_| page.more).map(|entry| entry.name.clone());
        Ok(Self { path, page: page.entries.into_iter(), after })
    }
}
