//! Kept logs: compressed, and limited in size by leaving out the middle.

use std::collections::VecDeque;
use std::io::{Read, Write};

use bytes::Bytes;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use futures::StreamExt;
use futures::stream::BoxStream;
use protocol::ids::TaskKey;

use crate::path::OWN_FOLDER;
use crate::{Error, Result, Storage};

/// So many bytes of a log's beginning are kept.
const HEAD: usize = 1024 * 1024;
/// So many bytes of its end are kept.
const TAIL: usize = 15 * 1024 * 1024;

impl Storage {
    /// Keeps a task's log. Kept twice, the later one stays.
    ///
    /// # Errors
    /// [`Error::Failed`] when the log breaks off or cannot be stored; nothing is stored then.
    pub async fn keep_log(
        &self,
        task: &TaskKey,
        mut log: BoxStream<'static, std::result::Result<Bytes, String>>,
    ) -> Result<()> {
        let path = path_of(task);
        let mut kept = Kept::new(HEAD, TAIL);
        while let Some(chunk) = log.next().await {
            kept.push(&chunk.map_err(|message| Error::of(&path, message))?);
        }
        let packed = tokio::task::spawn_blocking(move || pack(&kept.finish()));
        let packed = packed.await.map_err(|error| Error::of(&path, error))?;
        let packed = packed.map_err(|error| Error::of(&path, error))?;
        let written = self.operator.write(&path, packed).await;
        written.map(|_| ()).map_err(|error| Error::of(&path, error))
    }

    /// A task's kept log; `None`: none was kept.
    ///
    /// # Errors
    /// [`Error::Failed`] when it cannot be read.
    pub async fn kept_log(&self, task: &TaskKey) -> Result<Option<Bytes>> {
        let path = path_of(task);
        let packed = match self.operator.read(&path).await {
            Ok(packed) => packed.to_bytes(),
            Err(error) if error.kind() == opendal::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::of(&path, error)),
        };
        let log = tokio::task::spawn_blocking(move || {
            let mut log = Vec::new();
            GzDecoder::new(packed.as_ref()).read_to_end(&mut log).map(|_| log)
        });
        let log = log.await.map_err(|error| Error::of(&path, error))?;
        log.map(|log| Some(Bytes::from(log))).map_err(|error| Error::of(&path, error))
    }
}

fn path_of(task: &TaskKey) -> String {
    let TaskKey { job, attempt, role, index, retry } = task;
    format!("{OWN_FOLDER}/logs/{job}/{attempt}-{role}-{index}-{retry}.gz")
}

fn pack(log: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(log)?;
    encoder.finish()
}

/// The beginning and the end of what is pushed.
struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    head_limit: usize,
    tail_limit: usize,
    left_out: u64,
}

impl Kept {
    fn new(head_limit: usize, tail_limit: usize) -> Self {
        Self { head: Vec::new(), tail: VecDeque::new(), head_limit, tail_limit, left_out: 0 }
    }

    fn push(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(bytes.len().min(self.head_limit - self.head.len()));
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let excess = self.tail.len().saturating_sub(self.tail_limit);
        self.tail.drain(..excess);
        self.left_out += excess as u64;
    }

    fn finish(mut self) -> Vec<u8> {
        if self.left_out > 0 {
            let note = format!("\n[... {} bytes of the log were not kept ...]\n", self.left_out);
            self.head.extend_from_slice(note.as_bytes());
        }
        self.head.extend(self.tail);
        self.head
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_long_log_is_left_out_and_counted() {
        let mut kept = Kept::new(4, 6);
        for piece in [b"abc".as_slice(), b"def", b"ghijklmnop", b"qrst"] {
            kept.push(piece);
        }
        let text = String::from_utf8(kept.finish()).unwrap();
        assert_eq!(text, "abcd\n[... 10 bytes of the log were not kept ...]\nopqrst");
    }

    #[test]
    fn a_short_log_is_kept_whole() {
        let mut kept = Kept::new(4, 6);
        kept.push(b"abcdefghij");
        assert_eq!(kept.finish(), b"abcdefghij");
    }
}
