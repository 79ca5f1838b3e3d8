//! The storage on a real folder, and behind a WebHDFS server that is not ours.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

mod abuse;
mod files;
mod foreign;
mod logs;
mod owners;
mod places;
mod stage;
mod swaps;

use bytes::Bytes;
use futures::StreamExt;
use storage::{Content, Storage, StoragePath};

/// A storage in a folder of its own.
fn open() -> (tempfile::TempDir, Storage) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let root = format!("file://{}", folder.path().join("files").display());
    let storage = Storage::open(&root).expect("it is made");
    assert_eq!(storage.uri(), root);
    (folder, storage)
}

fn at(storage: &Storage, path: &str) -> StoragePath {
    storage.resolve(path).unwrap_or_else(|error| panic!("{error}"))
}

/// What is to be written, in pieces.
fn pieces(pieces: &[&'static str]) -> Content {
    let pieces: Vec<_> =
        pieces.iter().map(|piece| Ok(Bytes::from_static(piece.as_bytes()))).collect();
    futures::stream::iter(pieces).boxed()
}

/// A piece, and then the sender is gone.
fn broken() -> Content {
    let gone = || Err(std::io::Error::other("the sender is gone").into());
    futures::stream::iter([Ok(Bytes::from_static(b"half")), gone()]).boxed()
}

async fn text(storage: &Storage, path: &str) -> String {
    let content = storage.read(&at(storage, path)).await.unwrap();
    String::from_utf8(content.into()).unwrap()
}

async fn names(storage: &Storage, path: &str) -> Vec<String> {
    let page = storage.list(&at(storage, path), None, 100).await.unwrap();
    assert!(!page.more);
    page.entries.into_iter().map(|entry| entry.name).collect()
}
