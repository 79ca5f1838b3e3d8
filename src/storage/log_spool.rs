//! A log while it is read from an engine: its last block in memory, the others in a file of this
//! machine once they are many. It never holds more than its limits.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use protocol::time::Timestamp;

use crate::log_blocks::{LogBlock, OpenBlock};
use crate::log_reader::{Blocks, LogReader};

/// So many compressed bytes are held in memory before there is a file.
const IN_MEMORY: usize = 64 * 1024;

/// How much of a log is held, and in which pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogLimits {
    /// Bytes of its beginning.
    pub head: u64,
    /// Bytes of its end.
    pub tail: u64,
    /// Bytes of a block.
    pub block: usize,
}

impl Default for LogLimits {
    /// 16 MB and 240 MB, as much as an engine has of a container: compressed, a tenth of it.
    fn default() -> Self {
        Self { head: 16_000_000, tail: 240_000_000, block: 256 * 1024 }
    }
}

/// A log while it is read from an engine.
#[derive(Debug)]
pub struct LogSpool {
    limits: LogLimits,
    /// Where the file is to be; `None`: all stays in memory.
    path: Option<PathBuf>,
    index: Vec<LogBlock>,
    open: OpenBlock,
    written: Written,
    /// How much of what was written belongs to no block any more.
    dead: u64,
}

#[derive(Debug)]
enum Written {
    Memory(Vec<u8>),
    File { file: Arc<File>, end: u64 },
}

impl LogSpool {
    /// An empty log.
    #[must_use]
    pub fn new(limits: LogLimits, path: Option<PathBuf>) -> Self {
        Self {
            limits,
            path,
            index: Vec::new(),
            open: OpenBlock::default(),
            written: Written::Memory(Vec::new()),
            dead: 0,
        }
    }

    /// Adds what was written next.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn push(&mut self, mut bytes: &[u8], at: Option<Timestamp>) -> io::Result<()> {
        while !bytes.is_empty() {
            let taken = self.open.push(bytes, at, self.limits.block);
            bytes = &bytes[taken..];
            if self.open.is_full(self.limits.block) {
                self.close()?;
                self.leave_out()?;
            }
        }
        Ok(())
    }

    /// How many bytes the log has so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let open = self.open.block().map(|block| block.end_offset());
        open.or_else(|| self.index.last().map(LogBlock::end_offset)).unwrap_or(0)
    }

    /// The log as it is now, to be read.
    #[must_use]
    pub fn reader(&self) -> LogReader {
        let mut index = self.index.clone();
        let open = self.open.block().map(|block| {
            index.push(block);
            Arc::new(self.open.content())
        });
        let blocks = match &self.written {
            Written::Memory(bytes) => Blocks::Memory(Bytes::copy_from_slice(bytes)),
            Written::File { file, .. } => Blocks::File(Arc::clone(file)),
        };
        LogReader::new(index, blocks, open)
    }

    fn close(&mut self) -> io::Result<()> {
        let Some((block, content)) = self.open.close() else { return Ok(()) };
        let compressed = content.compress()?;
        let size = u32::try_from(compressed.len()).map_err(io::Error::other)?;
        let place = self.written.append(&compressed)?;
        self.index.push(LogBlock { place, size, ..block });
        self.spill()
    }

    /// Goes on in a file.
    fn spill(&mut self) -> io::Result<()> {
        let (Written::Memory(bytes), Some(path)) = (&self.written, &self.path) else {
            return Ok(());
        };
        if bytes.len() < IN_MEMORY {
            return Ok(());
        }
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut written = Written::File { file: Arc::new(create(path)?), end: 0 };
        written.append(bytes)?;
        self.written = written;
        Ok(())
    }

    /// Leaves out what is between the beginning and the end that are held.
    fn leave_out(&mut self) -> io::Result<()> {
        let head = self.limits.head;
        let first = self.index.partition_point(|block| block.end_offset() <= head);
        let tail = self.bytes().saturating_sub(self.limits.tail);
        let last = self.index.partition_point(|block| block.end_offset() <= tail);
        if first >= last {
            return Ok(());
        }
        let left_out = self.index.drain(first..last).map(|block| u64::from(block.size));
        self.dead += left_out.sum::<u64>();
        let alive: u64 = self.index.iter().map(|block| u64::from(block.size)).sum();
        if self.dead > alive { self.compact() } else { Ok(()) }
    }

    /// Writes anew what still belongs to a block. Who reads goes on with the file as it was.
    fn compact(&mut self) -> io::Result<()> {
        let mut fresh = match &self.path {
            Some(path) if matches!(self.written, Written::File { .. }) => {
                std::fs::remove_file(path)?;
                Written::File { file: Arc::new(create(path)?), end: 0 }
            }
            Some(_) | None => Written::Memory(Vec::new()),
        };
        for block in &mut self.index {
            let compressed = self.written.read(block)?;
            block.place = fresh.append(&compressed)?;
        }
        (self.written, self.dead) = (fresh, 0);
        Ok(())
    }
}

impl Drop for LogSpool {
    fn drop(&mut self) {
        if let (Written::File { .. }, Some(path)) = (&self.written, &self.path) {
            let _swept_at_the_next_start = std::fs::remove_file(path);
        }
    }
}

impl Written {
    fn append(&mut self, bytes: &[u8]) -> io::Result<u64> {
        match self {
            Self::Memory(memory) => {
                let place = memory.len() as u64;
                memory.extend_from_slice(bytes);
                Ok(place)
            }
            Self::File { file, end } => {
                let place = *end;
                file.write_all_at(bytes, place)?;
                *end += bytes.len() as u64;
                Ok(place)
            }
        }
    }

    fn read(&self, block: &LogBlock) -> io::Result<Vec<u8>> {
        match self {
            Self::Memory(memory) => {
                let place = usize::try_from(block.place).map_err(io::Error::other)?;
                Ok(memory[place..place + block.size as usize].to_vec())
            }
            Self::File { file, .. } => {
                let mut bytes = vec![0; block.size as usize];
                file.read_exact_at(&mut bytes, block.place)?;
                Ok(bytes)
            }
        }
    }
}

/// A new file, which nobody else may read.
fn create(path: &std::path::Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = std::fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(true).mode(0o600).open(path)
}
