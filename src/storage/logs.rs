//! The logs of tasks that have ended: compressed, and no longer than a limit.

use std::collections::VecDeque;
use std::io::{Read, Write};

use bytes::Bytes;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use protocol::ids::TaskKey;

use crate::{Result, Storage, StorageError, StoragePath};

/// So many bytes are compressed in less time than it takes to hand them to another thread.
const COMPRESSED_AT_ONCE: usize = 16 * 1024;

/// How much of a log is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogLimits {
    /// Bytes of its beginning.
    pub head: usize,
    /// Bytes of its end.
    pub tail: usize,
}

impl Default for LogLimits {
    /// 1 MB and 8 MB.
    fn default() -> Self {
        Self { head: 1_000_000, tail: 8_000_000 }
    }
}

/// A log while it is read from an engine; it never holds more than its limits.
#[derive(Debug)]
pub struct KeptLog {
    limits: LogLimits,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
}

/// Which part of a kept log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogPart {
    /// At most so many bytes from an offset.
    From {
        /// First byte, from 0.
        offset: u64,
        /// How many bytes.
        limit: u64,
    },
    /// At most so many bytes of its end, cut at the beginning of a line.
    Tail {
        /// How many bytes.
        bytes: u64,
    },
}

/// A part of a kept log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSlice {
    /// Where the part begins.
    pub offset: u64,
    /// Bytes of the whole log, as kept.
    pub total: u64,
    /// The part.
    pub bytes: Bytes,
}

impl KeptLog {
    /// An empty log.
    #[must_use]
    pub fn new(limits: LogLimits) -> Self {
        Self { limits, head: Vec::new(), tail: VecDeque::new(), left_out: 0 }
    }

    /// Adds what was written next.
    pub fn push(&mut self, bytes: &[u8]) {
        let room = self.limits.head.saturating_sub(self.head.len()).min(bytes.len());
        let (to_head, rest) = bytes.split_at(room);
        self.head.extend_from_slice(to_head);
        // Only the end of a piece larger than the limit can stay.
        let skipped = rest.len().saturating_sub(self.limits.tail);
        let rest = &rest[skipped..];
        let pushed_out = (self.tail.len() + rest.len()).saturating_sub(self.limits.tail);
        self.tail.drain(..pushed_out);
        self.tail.extend(rest);
        self.left_out += (skipped + pushed_out) as u64;
    }

    fn compress(mut self) -> std::io::Result<Vec<u8>> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&self.head)?;
        if self.left_out > 0 {
            write!(encoder, "\n[{} bytes of this log were left out]\n", self.left_out)?;
        }
        encoder.write_all(self.tail.make_contiguous())?;
        encoder.finish()
    }
}

impl Storage {
    /// Keeps a task's log, in place of one that was kept of it before.
    ///
    /// # Errors
    /// [`StorageError::Failed`].
    pub async fn keep_log(&self, key: &TaskKey, log: KeptLog) -> Result<()> {
        let path = path(key);
        let fail = |source: Box<dyn std::error::Error + Send + Sync>| StorageError::Failed {
            path: path.to_string(),
            source,
        };
        let compressed = if log.head.len() + log.tail.len() <= COMPRESSED_AT_ONCE {
            log.compress()
        } else {
            let work = tokio::task::spawn_blocking(move || log.compress());
            work.await.map_err(|error| fail(error.into()))?
        };
        let compressed = compressed.map_err(|error| fail(error.into()))?;
        self.write(&path, compressed.into()).await
    }

    /// A part of a kept log; `None`: none was kept of this task.
    ///
    /// # Errors
    /// [`StorageError::Failed`], also for a file that is damaged.
    pub async fn read_log(&self, key: &TaskKey, part: LogPart) -> Result<Option<LogSlice>> {
        let path = path(key);
        let compressed = match self.read(&path).await {
            Ok(compressed) => compressed,
            Err(StorageError::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let fail = |source: Box<dyn std::error::Error + Send + Sync>| StorageError::Failed {
            path: path.to_string(),
            source,
        };
        tokio::task::spawn_blocking(move || slice(&compressed, part))
            .await
            .map_err(|error| fail(error.into()))?
            .map(Some)
            .map_err(|error| fail(error.into()))
    }
}

/// The logs of a thousand jobs share a folder.
fn path(key: &TaskKey) -> StoragePath {
    let TaskKey { job, attempt, role, index, retry } = key;
    let folder = job.0 / 1000;
    StoragePath::own(&format!("logs/{folder}/{job}-a{attempt}-r{role}-t{index}-n{retry}.gz"))
}

fn slice(compressed: &[u8], part: LogPart) -> std::io::Result<LogSlice> {
    let mut whole = Vec::new();
    GzDecoder::new(compressed).read_to_end(&mut whole)?;
    let total = whole.len();
    let clamp = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).min(total);
    let (from, to) = match part {
        LogPart::From { offset, limit } => {
            let from = clamp(offset);
            (from, clamp(offset.saturating_add(limit)))
        }
        LogPart::Tail { bytes } => (line_after(&whole, total - clamp(bytes)), total),
    };
    Ok(LogSlice {
        offset: from as u64,
        total: total as u64,
        bytes: Bytes::from(whole).slice(from..to),
    })
}

/// The first beginning of a line at or after a place; the place itself in a last, endless line.
fn line_after(text: &[u8], from: usize) -> usize {
    if from == 0 || text[from - 1] == b'\n' {
        return from;
    }
    let next = text[from..].iter().position(|byte| *byte == b'\n').map(|at| from + at + 1);
    next.filter(|at| *at < text.len()).unwrap_or(from)
}
