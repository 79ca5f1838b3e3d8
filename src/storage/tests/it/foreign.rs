//! Behind a WebHDFS server that is not ours.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use protocol::ids::{JobId, TaskKey, UserName};
use storage::stage::{Staging, tar_of_folder};
use storage::{EntryKind, LogLimits, LogSpool, Range, Storage, StorageError, StoragePath};

use crate::files::arrive_in_parts;
use crate::stage::peak_kilobytes;
use crate::{at, broken, names, pieces, text};

/// The server, in a folder of its own.
struct Foreign {
    process: Child,
    folder: tempfile::TempDir,
    storage: Storage,
}

impl Foreign {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut process = Command::new("node")
            .arg(installed().join("server.cjs"))
            .arg(folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the tests need Node.js");
        let mut port = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut port).unwrap();
        let root = format!("webhdfs://127.0.0.1:{}/berth/files", port.trim());
        let storage = Storage::open(&root).unwrap();
        Self { process, folder, storage }
    }

    fn on_disk(&self, path: &str) -> PathBuf {
        self.folder.path().join("berth/files").join(path)
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        let _ended_already = self.process.kill();
        let _ended = self.process.wait();
    }
}

/// The package's folder, installed once for all runs of the tests.
fn installed() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("foreign-webhdfs");
        std::fs::create_dir_all(&folder).unwrap();
        let lock = std::fs::read(source.join("package-lock.json")).unwrap();
        let same = std::fs::read(folder.join("installed")).is_ok_and(|known| known == lock);
        for name in ["package.json", "package-lock.json", "server.cjs"] {
            std::fs::copy(source.join(name), folder.join(name)).unwrap();
        }
        if !same {
            let mut npm = Command::new("npm");
            npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(&folder);
            let done = npm.output().expect("the tests need npm");
            let told = String::from_utf8_lossy(&done.stderr);
            assert!(done.status.success(), "the server's package cannot be installed: {told}");
            std::fs::write(folder.join("installed"), lock).unwrap();
        }
        folder
    })
}

const ODD: &str = "/alice/ü 作业?&#%.txt";

#[tokio::test]
async fn files_are_written_and_read_there() {
    let foreign = Foreign::start();
    let storage = &foreign.storage;
    let path = at(storage, ODD);
    assert!(matches!(storage.read(&path).await, Err(StorageError::NotFound { .. })));
    storage.create(&path, false, pieces(&["one ", "two"])).await.unwrap();
    let error = storage.create(&path, false, pieces(&["x"])).await.unwrap_err();
    assert!(matches!(error, StorageError::Exists { .. }), "{error:?}");
    storage.create(&path, true, pieces(&["0123", "456789"])).await.unwrap();
    storage.append(&path, pieces(&["ab", "c"])).await.unwrap();
    assert_eq!(text(storage, ODD).await, "0123456789abc");
    assert_eq!(std::fs::read_to_string(foreign.on_disk(&ODD[1..])).unwrap(), "0123456789abc");
    let range = Range { offset: 3, length: Some(4) };
    let (range, content) = storage.read_range(&path, range).await.unwrap();
    let content: Vec<Bytes> = content.try_collect().await.unwrap();
    assert_eq!((content.concat().as_slice(), range), (&b"3456"[..], 3..7));
    let error = storage.create(&path, true, broken()).await.unwrap_err();
    assert!(matches!(error, StorageError::Content { .. }), "{error:?}");
    assert_eq!(text(storage, ODD).await, "0123456789abc");
    let aside = foreign.on_disk(".berth/unfinished");
    assert_eq!(std::fs::read_dir(aside).unwrap().count(), 0, "nothing is left of what failed");
}

#[tokio::test]
async fn folders_are_looked_at_and_changed_there() {
    let foreign = Foreign::start();
    let storage = &foreign.storage;
    for path in ["/a/x", "/a/y", "/a/sub/z"] {
        storage.write(&at(storage, path), Bytes::from_static(b"1234")).await.unwrap();
    }
    assert_eq!(names(storage, "/a").await, ["sub", "x", "y"]);
    assert_eq!(names(storage, "/").await, ["a"], "Berth's own files are not listed");
    let page = storage.list(&at(storage, "/a"), Some("sub"), 1).await.unwrap();
    assert_eq!((page.entries[0].name.as_str(), page.more), ("x", true));
    let file = storage.stat(&at(storage, "/a/x")).await.unwrap();
    assert_eq!((file.kind, file.size, file.modified.is_some()), (EntryKind::File, 4, true));
    assert_eq!(storage.stat(&at(storage, "/a")).await.unwrap().kind, EntryKind::Folder);
    assert_eq!(storage.stat(&at(storage, "/")).await.unwrap().kind, EntryKind::Folder);
    let size = storage.measure(&at(storage, "/a"), 100).await.unwrap();
    assert_eq!((size.bytes, size.files, size.folders), (12, 3, 2));
}

#[tokio::test]
async fn files_and_folders_are_moved_and_removed_there() {
    let foreign = Foreign::start();
    let storage = &foreign.storage;
    for path in ["/a/x", "/a/y", "/a/sub/z"] {
        storage.write(&at(storage, path), Bytes::from_static(b"1234")).await.unwrap();
    }
    storage.create_folder(&at(storage, "/b/c")).await.unwrap();
    storage.create_folder(&at(storage, "/b/c")).await.unwrap();
    storage.rename(&at(storage, "/a/sub"), &at(storage, "/b/sub")).await.unwrap();
    let taken = storage.rename(&at(storage, "/a/x"), &at(storage, "/a/y")).await.unwrap_err();
    assert!(matches!(taken, StorageError::Exists { .. }), "{taken:?}");
    let full = storage.remove(&at(storage, "/b"), false).await.unwrap_err();
    assert!(matches!(full, StorageError::NotEmpty { .. }), "{full:?}");
    assert!(storage.remove(&at(storage, "/b"), true).await.unwrap());
    assert!(!storage.remove(&at(storage, "/b"), true).await.unwrap());
    assert!(storage.remove(&at(storage, "/a/x"), false).await.unwrap());
    assert_eq!(names(storage, "/a").await, ["y"]);
    let root = storage.remove(&at(storage, "/"), true).await.unwrap_err();
    assert!(matches!(root, StorageError::Path { .. }));
}

#[tokio::test]
async fn logs_and_claims_are_kept_there() {
    let foreign = Foreign::start();
    let storage = &foreign.storage;
    let key = TaskKey { job: JobId(1), attempt: 1, role: 0, index: 0, retry: 0 };
    let mut log = LogSpool::new(LogLimits::default(), None);
    log.push(b"hello\n", None).unwrap();
    storage.keep_log(&key, &log.reader()).await.unwrap();
    let kept = storage.kept_log(&key).await.unwrap().unwrap();
    assert_eq!(kept.window(0, 10).await.unwrap()[0].text, "hello");
    let folders = storage.log_folders().await.unwrap();
    assert_eq!(folders.iter().filter_map(StoragePath::name).collect::<Vec<_>>(), ["0"]);
    assert_eq!(storage.logs_in(&folders[0]).await.unwrap()[&JobId(1)].len(), 1);
    storage.forget_logs(JobId(1)).await.unwrap();
    assert!(storage.kept_log(&key).await.unwrap().is_none());
    storage.remove_log_folder(&folders[0]).await.unwrap();
    assert!(storage.log_folders().await.unwrap().is_empty());

    let (alice, bob) = (UserName::new("alice").unwrap(), UserName::new("bob").unwrap());
    let place = at(storage, "/Output/train");
    assert_eq!(storage.claim(&place, &alice).await.unwrap(), alice);
    assert_eq!(storage.claim(&place, &bob).await.unwrap(), alice);
    assert_eq!(storage.places_of(&alice).await.unwrap(), std::slice::from_ref(&place));
    assert!(storage.places_of(&bob).await.unwrap().is_empty());
    storage.release(&place).await.unwrap();
    assert_eq!(storage.owner(&place).await.unwrap(), None);
}

#[tokio::test]
async fn a_folder_is_staged_from_there() {
    let foreign = Foreign::start();
    let storage = &foreign.storage;
    storage.write(&at(storage, "/code/a.py"), Bytes::from_static(b"print()")).await.unwrap();
    let staging = Staging { below: "code".into(), limit: 100 };
    let archive = tar_of_folder(storage, &at(storage, "/code"), staging).await.unwrap();
    let archive: Vec<Bytes> = archive.try_collect().await.unwrap();
    let archive = archive.concat();
    let mut archive = tar::Archive::new(archive.as_slice());
    let entries = archive.entries().unwrap().map(Result::unwrap);
    let found: Vec<_> = entries.map(|entry| entry.path().unwrap().display().to_string()).collect();
    assert_eq!(found, ["code/", "code/a.py"]);
}

#[tokio::test]
async fn a_large_file_passes_through_little_memory() {
    const PIECES: usize = 200;
    let foreign = Foreign::start();
    let storage = &foreign.storage;
    let path = at(storage, "/alice/large");
    let piece = Bytes::from(vec![b'x'; 1024 * 1024]);
    let content = futures::stream::iter((0..PIECES).map(move |_| Ok(piece.clone()))).boxed();
    let before = peak_kilobytes();
    storage.create(&path, true, content).await.unwrap();
    let (_, mut content) = storage.read_range(&path, Range::default()).await.unwrap();
    let mut length = 0;
    while let Some(piece) = content.try_next().await.unwrap() {
        length += piece.len();
    }
    assert_eq!(length, PIECES * 1024 * 1024);
    let grown = peak_kilobytes() - before;
    assert!(grown < 64 * 1024, "{grown} kB more than before");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told() {
    let storage = Storage::open("webhdfs://127.0.0.1:1/x").unwrap();
    let error = storage.exists(&at(&storage, "/a")).await.unwrap_err();
    assert!(matches!(error, StorageError::Failed { .. }), "{error:?}");
    let error = storage.create_folder(&at(&storage, "/a")).await.unwrap_err();
    assert!(matches!(error, StorageError::Failed { .. }), "{error:?}");
}

#[tokio::test]
async fn files_arrive_there_in_parts() {
    let foreign = Foreign::start();
    arrive_in_parts(&foreign.storage).await;
    assert_eq!(std::fs::read(foreign.on_disk("alice/m")).unwrap(), b"x");
}
