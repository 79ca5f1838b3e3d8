//! Files that are sent in parts: what has arrived is kept aside, until all of it has.

use protocol::ids::UserName;

use crate::content::Content;
use crate::error::Result;
use crate::own::UNFINISHED;
use crate::path::StoragePath;
use crate::storage::{Place, Storage};

/// A file on its way, whose sender may be away for days between two parts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Arriving {
    aside: StoragePath,
}

impl Arriving {
    /// Of a user; `hash`, in hexadecimal, tells his files on their way apart.
    #[must_use]
    pub fn new(user: &UserName, hash: &str) -> Self {
        debug_assert!(hash.bytes().all(|byte| byte.is_ascii_hexdigit()));
        Self { aside: StoragePath::own(&format!("{UNFINISHED}/{user}.{hash}")) }
    }
}

impl Storage {
    /// How many bytes of a file have arrived.
    ///
    /// # Errors
    /// [`StorageError::Failed`].
    pub async fn arrived(&self, arriving: &Arriving) -> Result<u64> {
        Ok(self.find(&arriving.aside).await?.map_or(0, |found| found.size))
    }

    /// Adds what comes next. What arrived before a failure stays.
    ///
    /// # Errors
    /// [`StorageError::Content`], [`StorageError::Failed`].
    pub async fn add(&self, arriving: &Arriving, content: Content) -> Result<()> {
        match &self.place {
            Place::Folder(folder) => folder.append_or_make(&arriving.aside, content).await,
            Place::Web(web) if self.find(&arriving.aside).await?.is_some() => {
                web.append(&arriving.aside, content).await
            }
            Place::Web(web) => web.create(&arriving.aside, content).await,
        }
    }

    /// All has arrived: it becomes the file at `path`; folders are made.
    ///
    /// # Errors
    /// As [`Storage::create`].
    pub async fn complete(
        &self,
        arriving: &Arriving,
        path: &StoragePath,
        replace: bool,
    ) -> Result<()> {
        let replace = self.may_put(path, replace).await?;
        match &self.place {
            Place::Folder(folder) => folder.finish(&arriving.aside, path, replace).await,
            Place::Web(web) => web.finish(&arriving.aside, path, replace).await,
        }
    }

    /// Bytes of all files of a user that have not arrived completely.
    ///
    /// # Errors
    /// [`StorageError::Failed`].
    pub async fn all_arrived(&self, user: &UserName) -> Result<u64> {
        let folder = StoragePath::own(UNFINISHED);
        let mut bytes: u64 = 0;
        for name in self.own_names(&folder).await? {
            let of = name.rsplit_once('.').map(|(of, _)| of);
            let Some(path) = folder.child(&name).filter(|_| of == Some(user.as_str())) else {
                continue;
            };
            bytes = bytes.saturating_add(self.find(&path).await?.map_or(0, |found| found.size));
        }
        Ok(bytes)
    }
}
