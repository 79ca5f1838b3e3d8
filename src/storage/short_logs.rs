//! Short logs that are kept at the same time are one file with several names: the disk is waited
//! for once for all of them. The file is a mark, how long its list is, the list of the logs by their
//! names, and the logs, each as if it were alone.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use crate::error::{Result, failed};
use crate::folder::Folder;
use crate::path::StoragePath;

/// A log of at most so many bytes, as it is kept, is short.
pub(crate) const SHORT: usize = 4 * 1024;
/// So many are in a file at most,
const TOGETHER: usize = 64;
/// and so many bytes of them with what the list says of each: all of it is read at once.
const LARGEST: usize = 48 * 1024;
/// What the list says of one, at most.
const ENTRY: usize = 128;
/// Where several wait, others are waited for so long: the disk is not asked for each handful. One that comes
/// alone is kept at once.
const GATHERING: Duration = Duration::from_millis(20);
/// What such a file begins with.
const MARK: &[u8; 8] = b"berthlgs";
/// The mark and the length of the list.
const PREFIX: usize = MARK.len() + 4;

/// Short logs that wait to be kept.
#[derive(Debug, Default)]
pub(crate) struct ShortLogs {
    waiting: Mutex<Vec<Waiting>>,
    /// One file is written at a time; whatever comes meanwhile is in the next one.
    writing: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Waiting {
    path: StoragePath,
    log: Bytes,
    kept: oneshot::Sender<Result<()>>,
}

/// Where a log is among those of a file, from the end of the list on.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    #[serde(rename = "n")]
    name: String,
    #[serde(rename = "o")]
    offset: usize,
    #[serde(rename = "s")]
    size: usize,
}

impl ShortLogs {
    /// Keeps a short log; when this returns, it is durable.
    pub(crate) async fn keep(&self, folder: &Folder, path: StoragePath, log: Bytes) -> Result<()> {
        let (tell, mut kept) = oneshot::channel();
        self.waiting().push(Waiting { path: path.clone(), log, kept: tell });
        let gone = |error: oneshot::error::RecvError| failed(&path, error);
        // Whoever is let in writes for all that wait by then.
        let turn = tokio::select! {
            biased;
            done = &mut kept => return done.map_err(gone)?,
            turn = self.writing.lock() => turn,
        };
        if self.waiting().len() > 1 {
            tokio::time::sleep(GATHERING).await;
        }
        let together = self.next();
        write(folder, together).await;
        drop(turn);
        kept.await.map_err(gone)?
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Vec<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> Vec<Waiting> {
        let mut waiting = self.waiting();
        let mut bytes = 0;
        let fits = waiting.iter().take(TOGETHER).take_while(|one| {
            bytes += one.log.len() + ENTRY;
            bytes <= LARGEST
        });
        let count = fits.count();
        waiting.drain(..count).collect()
    }
}

async fn write(folder: &Folder, together: Vec<Waiting>) {
    let named = match together.len() {
        0 | 1 => Ok(Vec::new()),
        _ => {
            let paths = together.iter().map(|one| one.path.clone()).collect();
            folder.put_as(paths, file(&together)).await
        }
    };
    let mut named = named.map(Vec::into_iter);
    for Waiting { path, log, kept } in together {
        let done = match named.as_mut().map(|named| named.next() == Some(true)) {
            Ok(true) => Ok(()),
            // It is alone, or its name was taken: it has a file of its own.
            Ok(false) => folder.put(&path, true, log).await,
            Err(error) => Err(failed(&path, error.to_string())),
        };
        let _nobody_waits = kept.send(done);
    }
}

fn file(together: &[Waiting]) -> Bytes {
    let mut offset = 0;
    let entries = together.iter().map(|one| {
        let entry = Entry { name: name(&one.path), offset, size: one.log.len() };
        offset += one.log.len();
        entry
    });
    let entries: Vec<Entry> = entries.collect();
    let list = serde_json::to_vec(&entries).expect("names and numbers are written as JSON");
    let length = u32::try_from(list.len()).expect("the list of a few logs is short");
    let mut file = [MARK.as_slice(), &length.to_le_bytes(), &list].concat();
    together.iter().for_each(|one| file.extend_from_slice(&one.log));
    file.into()
}

/// Which part of a file is the log of this path, where it is a file of several.
pub(crate) fn part(file: &[u8], path: &StoragePath) -> std::io::Result<Option<Range<usize>>> {
    let Some(rest) = file.strip_prefix(MARK) else { return Ok(None) };
    let length = rest.first_chunk::<4>().map(|length| u32::from_le_bytes(*length) as usize);
    let end = PREFIX + length.ok_or_else(damaged)?;
    let list = file.get(PREFIX..end).ok_or_else(damaged)?;
    let entries: Vec<Entry> = serde_json::from_slice(list)?;
    let name = name(path);
    let entry = entries.iter().find(|entry| entry.name == name).ok_or_else(damaged)?;
    let part = end.checked_add(entry.offset).and_then(|begin| {
        let part = begin..begin.checked_add(entry.size)?;
        (part.end <= file.len()).then_some(part)
    });
    part.map(Some).ok_or_else(damaged)
}

fn name(path: &StoragePath) -> String {
    path.name().unwrap_or_default().to_owned()
}

fn damaged() -> std::io::Error {
    std::io::Error::other("the kept log is damaged")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use futures::FutureExt;
    use futures::future::join_all;

    use super::*;

    fn path(number: usize) -> StoragePath {
        StoragePath::own(&format!("logs/0/{number}.log"))
    }

    fn log(number: usize) -> Bytes {
        format!("the log of {number}").into()
    }

    #[tokio::test]
    async fn short_logs_that_are_kept_together_are_written_once() {
        let root = tempfile::tempdir().unwrap();
        let (folder, logs) = (Folder::open(root.path()).unwrap(), ShortLogs::default());
        let file = |number: usize| root.path().join(format!(".berth/logs/0/{number}.log"));
        std::fs::create_dir_all(root.path().join(".berth/logs/0")).unwrap();
        std::fs::write(file(3), "it was kept before").unwrap();

        let turn = logs.writing.lock().await;
        let keep = |number| logs.keep(&folder, path(number), log(number)).boxed();
        let mut keeping: Vec<_> = (0..=TOGETHER).map(keep).collect();
        assert!(keeping.iter_mut().all(|one| one.now_or_never().is_none()));
        drop(turn);
        join_all(keeping).await.into_iter().for_each(|kept| kept.unwrap());

        for number in 0..=TOGETHER {
            let bytes = std::fs::read(file(number)).unwrap();
            let part = part(&bytes, &path(number)).unwrap();
            assert_eq!(bytes[part.unwrap_or(0..bytes.len())], log(number));
        }
        let names = |number: usize| std::fs::metadata(file(number)).unwrap().nlink();
        assert_eq!(names(0), TOGETHER as u64 - 1, "all but one of the first that waited");
        assert_eq!([names(3), names(TOGETHER)], [1, 1], "one was there, one came last");
    }

    #[tokio::test]
    async fn no_file_of_logs_is_larger_than_what_is_read_at_once() {
        let root = tempfile::tempdir().unwrap();
        let (folder, logs) = (Folder::open(root.path()).unwrap(), ShortLogs::default());
        let log = Bytes::from(vec![b'a'; SHORT]);
        let keeping = (0..TOGETHER).map(|number| logs.keep(&folder, path(number), log.clone()));
        join_all(keeping).await.into_iter().for_each(|kept| kept.unwrap());
        for number in 0..TOGETHER {
            let file = root.path().join(format!(".berth/logs/0/{number}.log"));
            let bytes = std::fs::read(file).unwrap();
            let part = part(&bytes, &path(number)).unwrap().unwrap_or(0..bytes.len());
            assert_eq!(bytes[part], log, "{number}");
            assert!(bytes.len() <= LARGEST, "{} bytes", bytes.len());
        }
    }

    #[test]
    fn a_damaged_file_of_logs_is_told() {
        let (kept, _nobody) = oneshot::channel();
        let whole = file(&[Waiting { path: path(1), log: log(1), kept }]);
        assert_eq!(whole[part(&whole, &path(1)).unwrap().unwrap()], log(1));
        assert!(part(&whole, &path(2)).is_err(), "another one's");
        for end in MARK.len()..whole.len() {
            assert!(part(&whole[..end], &path(1)).is_err(), "{end}");
        }
        assert!(part(b"berthlog", &path(1)).unwrap().is_none(), "a log by itself");
    }
}
