//! What is read of a file, and what is written to one.

use bytes::Bytes;
use futures::stream::BoxStream;

use crate::error::Source;

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

/// What is to be written, as it arrives; the sender's errors come back in
/// [`crate::StorageError::Content`].
pub type Content = BoxStream<'static, std::result::Result<Bytes, Source>>;
