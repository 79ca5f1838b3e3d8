//! Reading files.

use bytes::Bytes;
use futures::TryStreamExt;
use futures::stream::BoxStream;

use crate::{EntryKind, Place, Result, Storage, StorageError, StoragePath};

/// A part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Range {
    /// First byte, from 0.
    pub offset: u64,
    /// How many bytes at most; `None`: all that follow.
    pub length: Option<u64>,
}

impl Range {
    /// The range within a file of so many bytes; one that begins behind its end is empty there.
    #[must_use]
    pub fn within(self, size: u64) -> std::ops::Range<u64> {
        let begin = self.offset.min(size);
        let end = self.length.map_or(size, |length| begin.saturating_add(length).min(size));
        begin..end
    }
}

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
