//! A queue between a connection and whoever takes its data slowly: little of it in memory, the rest
//! in a file.
//!
//! A connection carries many channels, and it must never wait for one of them: the window
//! adjustments and the output that the others, or the same one, wait for come by it too. Nor may
//! memory grow with what a program is sent and does not read. Only when the file would grow beyond
//! all bounds the connection is made to wait.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use rustix::fs::{FallocateFlags, fallocate};
use tokio::sync::Notify;

/// Bytes kept in memory.
const MEMORY: usize = 256 << 10;

/// Bytes kept in the file.
const DISK: u64 = 1 << 30;

/// Bytes read from the file at once.
const CHUNK: u64 = 64 << 10;

/// Read bytes after which the file gives back what it needs no more.
const HOLE: u64 = 16 << 20;

/// The queue; a clone is the same one. One pushes, another takes.
#[derive(Debug, Clone)]
pub(crate) struct Spool {
    state: Arc<Mutex<State>>,
    filled: Arc<Notify>,
    emptied: Arc<Notify>,
}

#[derive(Debug)]
struct State {
    folder: PathBuf,
    memory: VecDeque<Bytes>,
    in_memory: usize,
    file: Option<File>,
    /// Up to where the file has been written, read and given back.
    written: u64,
    read: u64,
    freed: u64,
    ended: bool,
}

impl Spool {
    /// An empty one, whose file would lie in this folder.
    pub(crate) fn new(folder: &Path) -> Self {
        let state = State {
            folder: folder.to_owned(),
            memory: VecDeque::new(),
            in_memory: 0,
            file: None,
            written: 0,
            read: 0,
            freed: 0,
            ended: false,
        };
        Self { state: Arc::new(Mutex::new(state)), filled: Arc::default(), emptied: Arc::default() }
    }

    /// Adds data; waits only when even the file is full.
    pub(crate) async fn push(&self, data: Bytes) {
        if data.is_empty() {
            return;
        }
        loop {
            let pushed = self.lock().push(&data);
            if pushed {
                return self.filled.notify_one();
            }
            self.emptied.notified().await;
        }
    }

    /// Nothing comes any more.
    pub(crate) fn end(&self) {
        self.lock().ended = true;
        self.filled.notify_one();
    }

    /// The next data; `None`: the end.
    pub(crate) async fn take(&self) -> io::Result<Option<Bytes>> {
        loop {
            let (taken, ended) = {
                let mut state = self.lock();
                (state.take()?, state.ended)
            };
            if taken.is_some() || ended {
                self.emptied.notify_one();
                return Ok(taken);
            }
            self.filled.notified().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whether there was room for it.
    fn push(&mut self, data: &Bytes) -> bool {
        let in_file = self.written > self.read;
        if !in_file && (self.in_memory == 0 || self.in_memory + data.len() <= MEMORY) {
            self.in_memory += data.len();
            self.memory.push_back(data.clone());
            return true;
        }
        self.written - self.read < DISK && self.append(data).is_ok()
    }

    fn append(&mut self, data: &[u8]) -> io::Result<()> {
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert(nameless(&self.folder)?),
        };
        file.write_all_at(data, self.written)?;
        self.written += data.len() as u64;
        Ok(())
    }

    fn take(&mut self) -> io::Result<Option<Bytes>> {
        if let Some(data) = self.memory.pop_front() {
            self.in_memory -= data.len();
            return Ok(Some(data));
        }
        let Some(file) = &self.file else { return Ok(None) };
        let left = (self.written - self.read).min(CHUNK);
        if left == 0 {
            return Ok(None);
        }
        let mut data = vec![0; usize::try_from(left).unwrap_or_default()];
        file.read_exact_at(&mut data, self.read)?;
        self.read += left;
        self.give_back();
        Ok(Some(data.into()))
    }

    /// Lets go of the part of the file that has been read; all of it when there is no other.
    fn give_back(&mut self) {
        let Some(file) = &self.file else { return };
        if self.read == self.written {
            self.file = None;
            (self.written, self.read, self.freed) = (0, 0, 0);
        } else if self.read - self.freed >= HOLE {
            let mode = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            // A file system that cannot do it keeps the whole until the end.
            let _ = fallocate(file, mode, self.freed, self.read - self.freed);
            self.freed = self.read;
        }
    }
}

/// A file that is gone when it is closed.
fn nameless(folder: &Path) -> io::Result<File> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = folder.join(format!("spool-{}-{number}", std::process::id()));
    let file =
        OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    fs::remove_file(&path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(test);
    }

    fn block(number: usize) -> Bytes {
        vec![u8::try_from(number % 251).unwrap(); 30_000].into()
    }

    #[test]
    fn data_come_out_as_they_went_in_also_through_the_file() {
        let folder = tempfile::tempdir().unwrap();
        run(async {
            let spool = Spool::new(folder.path());
            let mut expected = Vec::new();
            let mut found = Vec::new();
            for round in 0..3 {
                for number in 0..1000 {
                    spool.push(block(number + round)).await;
                    expected.extend_from_slice(&block(number + round));
                    if number % 3 == 0 {
                        found.extend_from_slice(&spool.take().await.unwrap().unwrap());
                    }
                }
                assert!(spool.lock().in_memory <= MEMORY);
                while found.len() < expected.len() {
                    found.extend_from_slice(&spool.take().await.unwrap().unwrap());
                }
                assert!(spool.lock().file.is_none(), "an empty file is let go");
            }
            spool.end();
            assert_eq!(spool.take().await.unwrap(), None);
            assert!(expected == found);
        });
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn without_a_file_whoever_pushes_waits() {
        run(async {
            let spool = Spool::new(Path::new("/nowhere"));
            let other = spool.clone();
            let pushed = tokio::spawn(async move {
                for number in 0..20 {
                    other.push(block(number)).await;
                }
                other.end();
            });
            for number in 0..20 {
                assert_eq!(spool.take().await.unwrap(), Some(block(number)));
            }
            assert_eq!(spool.take().await.unwrap(), None);
            pushed.await.unwrap();
        });
    }
}
