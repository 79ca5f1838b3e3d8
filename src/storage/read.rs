//! Reading files.

use bytes::Bytes;
use futures::TryStreamExt;
use futures::stream::BoxStream;

use crate::content::Range;
use crate::entry::EntryKind;
use crate::error::{Result, StorageError};
use crate::path::StoragePath;
use crate::storage::{Place, Storage};

impl Storage {
    /// A whole file, in memory: for small ones.
    ///
    /// # Errors
    /// [`StorageError::NotFound`], [`StorageError::IsFolder`], [`StorageError::Path`].
    pub async fn read(&self, path: &StoragePath) -> Result<Bytes> {
        let (_, content) = self.read_range(path, Range::default()).await?;
        let whole = content.try_fold(Vec::new(), async |mut whole, piece| {
            whole.extend_from_slice(&piece);
            Ok(whole)
        });
        Ok(whole.await?.into())
    }

    /// A part of a file as it is read, a piece after the other, and which part that is. A stream
    /// that ends early ends with an error.
    ///
    /// # Errors
    /// [`StorageError::NotFound`], [`StorageError::IsFolder`], [`StorageError::Path`].
    pub async fn read_range(
        &self,
        path: &StoragePath,
        range: Range,
    ) -> Result<(std::ops::Range<u64>, BoxStream<'static, Result<Bytes>>)> {
        match &self.place {
            Place::Folder(folder) => folder.read(path, range).await,
            Place::Web(web) => {
                let found = self.stat(path).await?;
                if found.kind == EntryKind::Folder {
                    return Err(StorageError::IsFolder { path: path.to_string() });
                }
                let range = range.within(found.size);
                Ok((range.clone(), web.read(path, range).await?))
            }
        }
    }
}
