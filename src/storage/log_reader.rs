//! Reading a log of blocks: lines by their numbers, moments, bytes.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use bytes::Bytes;
use futures::TryStreamExt;
use futures::stream::{self, BoxStream, StreamExt};
use protocol::time::Timestamp;

use crate::content::Range;
use crate::error::{Result, StorageError};
use crate::log_blocks::{BlockText, LogBlock};
use crate::path::StoragePath;
use crate::short_logs::SHORT;
use crate::storage::Storage;

/// A line is shown by so many bytes: the first half and the last half of a longer one.
const LINE_BYTES: usize = 16 * 1024;
/// A window has so many bytes of lines at most, and a line.
const WINDOW_BYTES: usize = 1024 * 1024;
/// Blocks are read together up to so many compressed bytes.
const TOGETHER: u64 = 1024 * 1024;
/// Stands for the middle of a line that is too long to be shown.
const MIDDLE: &str = " … ";

/// A log as it is at a moment.
#[derive(Debug, Clone)]
pub struct LogReader {
    index: Arc<[LogBlock]>,
    blocks: Blocks,
    /// What the last block of the index says, while that is being written.
    open: Option<Arc<BlockText>>,
    /// So many bytes of its end are lost.
    torn: u64,
}

/// Where the compressed blocks are.
#[derive(Debug, Clone)]
pub(crate) enum Blocks {
    Memory(Bytes),
    File(Arc<File>),
    Kept { storage: Storage, path: StoragePath },
}

/// A line of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// Its number, from 0.
    pub number: u64,
    /// When its beginning was written, where that is known.
    pub at: Option<Timestamp>,
    /// What it says, without its end of line; bytes that are not UTF-8 are replaced.
    pub text: String,
    /// Whether the middle of it was left out.
    pub cut: bool,
}

impl LogReader {
    pub(crate) fn new(index: Vec<LogBlock>, blocks: Blocks, open: Option<Arc<BlockText>>) -> Self {
        Self { index: index.into(), blocks, open, torn: 0 }
    }

    /// The same, of whose end so many bytes are lost.
    pub(crate) fn torn_by(self, torn: u64) -> Self {
        Self { torn, ..self }
    }

    /// How many bytes of its end are lost: it was kept with them, and its file is shorter now.
    #[must_use]
    pub fn torn(&self) -> u64 {
        self.torn
    }

    /// A log of which there is nothing.
    #[must_use]
    pub fn empty() -> Self {
        Self::new(Vec::new(), Blocks::Memory(Bytes::new()), None)
    }

    /// Whether its last line has no end yet.
    ///
    /// # Errors
    /// [`StorageError::Failed`].
    pub async fn is_unfinished(&self) -> Result<bool> {
        let Some(last) = self.index.len().checked_sub(1) else { return Ok(false) };
        Ok(!self.block(last).await?.text.ends_with(b"\n"))
    }

    /// Whether it takes next to no memory, and others are kept with it.
    #[must_use]
    pub fn is_short(&self) -> bool {
        self.bytes() <= SHORT as u64
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The index of its blocks, without those that were left out.
    #[must_use]
    pub fn index(&self) -> &[LogBlock] {
        &self.index
    }

    /// How many lines the log has, the unfinished one among them.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.index.last().map_or(0, LogBlock::end_line)
    }

    /// How many bytes it has.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.index.last().map_or(0, LogBlock::end_offset)
    }

    /// The lines that are not held: the first, and the first after them.
    #[must_use]
    pub fn left_out(&self) -> Option<(u64, u64)> {
        let pairs = self.index.windows(2);
        let mut gaps = pairs.filter(|pair| pair[0].end_offset() != pair[1].offset);
        gaps.next().map(|pair| (pair[0].end_line(), pair[1].line))
    }

    /// At most so many lines from one on; fewer, where they are very long.
    ///
    /// # Errors
    /// [`StorageError::Failed`].
    pub async fn window(&self, from: u64, count: usize) -> Result<Vec<LogLine>> {
        let mut lines: Vec<LogLine> = Vec::new();
        let mut bytes = 0;
        let begin = self.index.partition_point(|block| block.end_line() <= from);
        for (at, block) in self.index.iter().enumerate().skip(begin) {
            if lines.len() >= count || bytes >= WINDOW_BYTES {
                break;
            }
            if block.lines == 0 {
                continue;
            }
            let content = self.block(at).await?;
            let skipped = usize::try_from(from.saturating_sub(block.line)).unwrap_or(usize::MAX);
            let wanted = content.lines(block).enumerate().skip(skipped).take(count - lines.len());
            for (nth, line) in wanted {
                if bytes >= WINDOW_BYTES {
                    break;
                }
                let number = block.line + nth as u64;
                let rest = match line.ends_with(b"\n") || number + 1 != block.end_line() {
                    true => Rest::default(),
                    false => self.rest(at + 1).await?,
                };
                let (text, cut) = shown(line, &rest);
                bytes += text.len() + 32;
                lines.push(LogLine { number, at: content.time(nth), text, cut });
            }
        }
        Ok(lines)
    }

    /// What follows of a line that goes on at the beginning of a block: its last bytes, and how many
    /// are before them.
    async fn rest(&self, first: usize) -> Result<Rest> {
        let mut last = None;
        let mut before = 0;
        for (at, block) in self.index.iter().enumerate().skip(first) {
            if block.head == 0 || self.index[at - 1].end_offset() != block.offset {
                break;
            }
            before += last.map_or(0, |(_, head): (usize, u32)| u64::from(head));
            last = Some((at, block.head));
            if block.head < block.bytes {
                break;
            }
        }
        let Some((at, head)) = last else { return Ok(Rest::default()) };
        let content = self.block(at).await?;
        let bytes = content.text[..(head as usize).min(content.text.len())].to_vec();
        Ok(Rest { before, bytes })
    }

    /// The number of the first line that was written at a moment or later; the end, if there is none.
    ///
    /// # Errors
    /// [`StorageError::Failed`].
    pub async fn line_at(&self, moment: Timestamp) -> Result<u64> {
        let later = |block: &LogBlock| block.at.is_none_or(|at| at < moment.0);
        let after = self.index.partition_point(later);
        let Some(before) = after.checked_sub(1) else {
            return Ok(self.index.first().map_or(0, |block| block.line));
        };
        let content = self.block(before).await?;
        let nth = content.times.iter().position(|at| *at >= moment.0);
        let block = &self.index[before];
        Ok(nth.map_or(block.end_line(), |nth| block.line + nth as u64))
    }

    /// What is in a block.
    ///
    /// # Errors
    /// [`StorageError::Failed`].
    pub async fn block(&self, at: usize) -> Result<BlockText> {
        if at + 1 == self.index.len()
            && let Some(open) = &self.open
        {
            return Ok(BlockText::clone(open));
        }
        let block = self.index[at];
        let compressed = self.compressed(block.place, u64::from(block.size)).await?;
        let read = move || BlockText::read(&block, &compressed);
        self.blocking(read).await
    }

    /// All blocks in their order, some of them at a time, worked on where that is in nobody's way.
    pub fn each<T: Send + 'static>(
        &self,
        work: impl FnMut(&LogBlock, &BlockText) -> T + Send + 'static,
    ) -> BoxStream<'static, Result<Vec<T>>> {
        let state = (self.clone(), 0_usize, work);
        stream::try_unfold(state, |(reader, from, work)| async move {
            if from >= reader.index.len() {
                return Ok(None);
            }
            let to = reader.together(from);
            let (done, work) = reader.work(from, to, work).await?;
            Ok(Some((done, (reader, to, work))))
        })
        .boxed()
    }

    async fn work<T, W>(&self, from: usize, to: usize, mut work: W) -> Result<(Vec<T>, W)>
    where
        T: Send + 'static,
        W: FnMut(&LogBlock, &BlockText) -> T + Send + 'static,
    {
        if let Some(open) = self.open.as_ref().filter(|_| to == self.index.len()) {
            let (open, block) = (Arc::clone(open), self.index[from]);
            return self.blocking(move || Ok((vec![work(&block, &open)], work))).await;
        }
        let blocks = self.index[from..to].to_vec();
        let (first, last) = (blocks[0], blocks[blocks.len() - 1]);
        let size = last.place + u64::from(last.size) - first.place;
        let compressed = self.compressed(first.place, size).await?;
        let work_on_all = move || {
            let each = blocks.iter().map(|block| {
                let at =
                    usize::try_from(block.place - first.place).map_err(std::io::Error::other)?;
                let piece = compressed.get(at..at + block.size as usize).unwrap_or_default();
                Ok(work(block, &BlockText::read(block, piece)?))
            });
            let done = each.collect::<std::io::Result<Vec<T>>>()?;
            Ok((done, work))
        };
        self.blocking(work_on_all).await
    }

    /// The end of the blocks that are read together with one; the block being written comes alone.
    fn together(&self, from: usize) -> usize {
        let written = self.index.len() - usize::from(self.open.is_some());
        let begin = self.index[from].place;
        let mut to = from + 1;
        while to < written {
            let (before, next) = (self.index[to - 1], self.index[to]);
            let adjoining = next.place == before.place + u64::from(before.size);
            if !adjoining || next.place + u64::from(next.size) - begin > TOGETHER {
                break;
            }
            to += 1;
        }
        to
    }

    /// The log from a byte on, a block after the other; what was left out or is lost is told in a line.
    pub fn text(&self, offset: u64) -> BoxStream<'static, Result<Bytes>> {
        let from = self.index.partition_point(|block| block.end_offset() <= offset);
        let state = (self.clone(), from);
        stream::try_unfold(state, move |(reader, at)| async move {
            let Some(block) = reader.index.get(at).copied() else {
                let is_told = at == reader.index.len() && reader.torn > 0;
                // Whoever has all that is there was told it before.
                let is_new = offset == 0 || offset < reader.bytes();
                let note = format!("\n[{} bytes of this log are lost]\n", reader.torn);
                return Ok((is_told && is_new).then(|| (Bytes::from(note), (reader, at + 1))));
            };
            let content = Bytes::from(reader.block(at).await?.text);
            let skipped =
                usize::try_from(offset.saturating_sub(block.offset)).unwrap_or(usize::MAX);
            let mut piece = content.slice(skipped.min(content.len())..);
            let before = at.checked_sub(1).map(|before| reader.index[before].end_offset());
            let missing = before.map_or(0, |end| block.offset - end.max(offset).min(block.offset));
            if missing > 0 {
                let note = format!("\n[{missing} bytes of this log were left out]\n");
                piece = Bytes::from([note.as_bytes(), &piece].concat());
            }
            Ok(Some((piece, (reader, at + 1))))
        })
        .boxed()
    }

    /// The compressed blocks, one after the other: what is kept of the log.
    pub(crate) fn stored(&self) -> BoxStream<'static, Result<Bytes>> {
        let state = (self.clone(), 0_usize);
        stream::try_unfold(state, |(reader, at)| async move {
            let Some(block) = reader.index.get(at).copied() else { return Ok(None) };
            let open = reader.open.clone().filter(|_| at + 1 == reader.index.len());
            let piece = match open {
                Some(open) if open.is_short() => {
                    Bytes::from(open.compress().map_err(|error| reader.failed(error))?)
                }
                Some(open) => Bytes::from(reader.blocking(move || open.compress()).await?),
                None => reader.compressed(block.place, u64::from(block.size)).await?,
            };
            Ok(Some((piece, (reader, at + 1))))
        })
        .boxed()
    }

    async fn compressed(&self, place: u64, size: u64) -> Result<Bytes> {
        let length = usize::try_from(size).map_err(|error| self.failed(error))?;
        match &self.blocks {
            Blocks::Memory(bytes) => {
                let from = usize::try_from(place).map_err(|error| self.failed(error))?;
                Ok(bytes.slice(from..from + length))
            }
            Blocks::File(file) => {
                let file = Arc::clone(file);
                let read = move || {
                    let mut bytes = vec![0; length];
                    file.read_exact_at(&mut bytes, place).map(|()| Bytes::from(bytes))
                };
                self.blocking(read).await
            }
            Blocks::Kept { storage, path } => {
                let range = Range { offset: place, length: Some(size) };
                let (_, content) = storage.read_range(path, range).await?;
                let whole =
                    content.try_fold(Vec::with_capacity(length), async |mut whole, piece| {
                        whole.extend_from_slice(&piece);
                        Ok(whole)
                    });
                Ok(whole.await?.into())
            }
        }
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
    ) -> Result<T> {
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|error| self.failed(error))?.map_err(|error| self.failed(error))
    }

    fn failed(&self, error: impl std::error::Error + Send + Sync + 'static) -> StorageError {
        let path = match &self.blocks {
            Blocks::Memory(_) | Blocks::File(_) => "log".to_owned(),
            Blocks::Kept { path, .. } => path.to_string(),
        };
        StorageError::Failed { path, source: error.into() }
    }
}

/// What follows of a line in other blocks.
#[derive(Debug, Default)]
struct Rest {
    before: u64,
    bytes: Vec<u8>,
}

/// A line as it is shown, and whether its middle was left out.
fn shown(line: &[u8], rest: &Rest) -> (String, bool) {
    let whole = [line, &rest.bytes].concat();
    let whole = whole.strip_suffix(b"\n").unwrap_or(&whole);
    let whole = whole.strip_suffix(b"\r").unwrap_or(whole);
    if rest.before == 0 && whole.len() <= LINE_BYTES {
        return (String::from_utf8_lossy(whole).into_owned(), false);
    }
    let half = LINE_BYTES / 2;
    let first = &whole[..half.min(line.len())];
    let last = &whole[whole.len() - half.min(whole.len() - first.len())..];
    let text = [String::from_utf8_lossy(first), MIDDLE.into(), String::from_utf8_lossy(last)];
    (text.concat(), true)
}
