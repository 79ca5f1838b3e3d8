//! The logs of tasks that have ended. A kept log is one file: a mark, how long its index is, the
//! index, and its compressed blocks.

use std::io::Read;

use bytes::Bytes;
use flate2::read::{DeflateDecoder, GzDecoder};
use futures::{StreamExt, TryStreamExt, stream};
use protocol::ids::TaskKey;

use crate::content::Range;
use crate::error::{Result, StorageError, failed};
use crate::log_blocks::{LogBlock, deflate};
use crate::log_reader::{Blocks, LogReader};
use crate::log_spool::{LogLimits, LogSpool};
use crate::old_logs::folder_of;
use crate::path::StoragePath;
use crate::short_logs::{self, SHORT};
use crate::storage::{Place, Storage};

/// What a kept log begins with.
const MARK: &[u8; 8] = b"berthlog";
/// The mark and the length of the index.
const PREFIX: usize = MARK.len() + 4;
/// So much is read at first of a kept log: nearly always all of its index.
const BEGINNING: u64 = 64 * 1024;
/// An index has so many bytes at most.
const LARGEST_INDEX: u64 = 64 * 1024 * 1024;
/// A log up to this size is written at once.
const AT_ONCE: u64 = 1024 * 1024;

impl Storage {
    /// Keeps a task's log, in place of one that was kept of it before.
    ///
    /// # Errors
    /// [`StorageError::Failed`].
    pub async fn keep_log(&self, key: &TaskKey, log: &LogReader) -> Result<()> {
        let path = path(key, "log");
        let fail = |error: std::io::Error| failed(&path, error);
        let blocks = log.stored();
        if log.bytes() <= AT_ONCE {
            let blocks: Vec<Bytes> = blocks.try_collect().await?;
            let last = blocks.last().map_or(0, Bytes::len);
            let mut whole = beginning(log, last).map_err(fail)?;
            blocks.iter().for_each(|block| whole.extend_from_slice(block));
            return match &self.place {
                Place::Folder(folder) if whole.len() <= SHORT => {
                    self.short_logs.keep(folder, path.clone(), whole.into()).await
                }
                Place::Folder(_) | Place::Web(_) => {
                    self.create_whole(&path, true, whole.into()).await
                }
            };
        }
        // The size of the block that was being written is known when it is compressed.
        let last = match log.is_open() {
            true => log.block(log.index().len() - 1).await?.compress().map_err(fail)?.len(),
            false => 0,
        };
        let first = stream::iter([beginning(log, last).map(Bytes::from).map_err(fail)]);
        let content = first.chain(blocks).map_err(Into::into).boxed();
        self.create(&path, true, content).await
    }

    /// A kept log, to be read; `None`: none was kept of this task.
    ///
    /// # Errors
    /// [`StorageError::Failed`], also for a file that is damaged.
    pub async fn kept_log(&self, key: &TaskKey) -> Result<Option<LogReader>> {
        let path = path(key, "log");
        let Some(mut bytes) = self.some_bytes(&path, BEGINNING).await? else {
            return self.kept_as_gzip(key).await;
        };
        let part = short_logs::part(&bytes, &path).map_err(|error| failed(&path, error))?;
        let begin = part.as_ref().map_or(0, |part| part.start as u64);
        if let Some(part) = part {
            bytes = bytes.drain(part).collect();
        }
        let length = index_length(&bytes).map_err(|error| failed(&path, error))?;
        let needed = PREFIX as u64 + length;
        if begin == 0 && (bytes.len() as u64) < needed {
            bytes = self.some_bytes(&path, needed).await?.unwrap_or_default();
        }
        let mut index = index(&bytes, needed).map_err(|error| failed(&path, error))?;
        index.iter_mut().for_each(|block| block.place += begin);
        let torn = self.tear(&path, &mut index, begin + bytes.len() as u64).await?;
        let blocks = Blocks::Kept { storage: self.clone(), path };
        Ok(Some(LogReader::new(index, blocks, None).torn_by(torn)))
    }

    /// Takes those blocks off an index that are not in its file, of which so many bytes are known to be there.
    /// Says how many bytes of the log were in them.
    async fn tear(&self, path: &StoragePath, index: &mut Vec<LogBlock>, known: u64) -> Result<u64> {
        let end = |block: &LogBlock| block.place + u64::from(block.size);
        if index.last().is_none_or(|last| end(last) <= known) {
            return Ok(0);
        }
        let size = self.stat(path).await?.size;
        let there = index.partition_point(|block| end(block) <= size);
        Ok(index.drain(there..).map(|block| u64::from(block.bytes)).sum())
    }

    async fn some_bytes(&self, path: &StoragePath, length: u64) -> Result<Option<Vec<u8>>> {
        let range = Range { offset: 0, length: Some(length) };
        let content = match self.read_range(path, range).await {
            Ok((_, content)) => content,
            Err(StorageError::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let pieces = content.try_fold(Vec::new(), async |mut bytes, piece| {
            bytes.extend_from_slice(&piece);
            Ok(bytes)
        });
        pieces.await.map(Some)
    }

    /// As logs were kept before they had an index: these are short.
    async fn kept_as_gzip(&self, key: &TaskKey) -> Result<Option<LogReader>> {
        let path = path(key, "gz");
        let compressed = match self.read(&path).await {
            Ok(compressed) => compressed,
            Err(StorageError::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let read = move || {
            let mut whole = Vec::new();
            let most = LogLimits::default().tail;
            GzDecoder::new(compressed.as_ref()).take(most).read_to_end(&mut whole)?;
            let mut log = LogSpool::new(LogLimits::default(), None);
            log.push(&whole, None)?;
            Ok(Some(log.reader()))
        };
        let read = tokio::task::spawn_blocking(read).await;
        read.map_err(std::io::Error::other).flatten().map_err(|error| failed(&path, error))
    }
}

/// What is kept of a task. That of a thousand jobs shares a folder.
pub(crate) fn path(key: &TaskKey, kind: &str) -> StoragePath {
    let TaskKey { job, attempt, role, index, retry } = key;
    let name = format!("{job}-a{attempt}-r{role}-t{index}-n{retry}.{kind}");
    folder_of(*job).child(&name).expect("numbers, letters and dashes are a file's name")
}

/// Everything before the blocks. Their places are counted from the first one; the last block, if it
/// was being written, has `last` bytes.
fn beginning(log: &LogReader, last: usize) -> std::io::Result<Vec<u8>> {
    let mut place = 0;
    let mut index: Vec<LogBlock> = log.index().to_vec();
    if let Some(open) = index.last_mut().filter(|_| log.is_open()) {
        open.size = u32::try_from(last).map_err(std::io::Error::other)?;
    }
    for block in &mut index {
        block.place = place;
        place += u64::from(block.size);
    }
    let index = deflate(&[&serde_json::to_vec(&index)?])?;
    let length = u32::try_from(index.len()).map_err(std::io::Error::other)?;
    Ok([MARK.as_slice(), &length.to_le_bytes(), &index].concat())
}

fn index_length(bytes: &[u8]) -> std::io::Result<u64> {
    let length = bytes.strip_prefix(MARK).and_then(<[u8]>::first_chunk::<4>);
    let length = length.map(|length| u64::from(u32::from_le_bytes(*length)));
    length.filter(|length| *length <= LARGEST_INDEX).ok_or_else(damaged)
}

fn index(bytes: &[u8], end: u64) -> std::io::Result<Vec<LogBlock>> {
    let last = usize::try_from(end).map_err(std::io::Error::other)?;
    let compressed = bytes.get(PREFIX..last).ok_or_else(damaged)?;
    let json = DeflateDecoder::new(compressed).take(LARGEST_INDEX);
    let mut index: Vec<LogBlock> = serde_json::from_reader(std::io::BufReader::new(json))?;
    for block in &mut index {
        block.place += end;
    }
    Ok(index)
}

fn damaged() -> std::io::Error {
    std::io::Error::other("the kept log is damaged")
}
