//! The storage on a real folder.

use std::os::unix::fs::symlink;

use bytes::Bytes;
use protocol::ids::{JobId, TaskKey};
use storage::{KeptLog, LogLimits, LogPart, Storage, StorageError};

fn open() -> (tempfile::TempDir, Storage) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let root = format!("file://{}", folder.path().join("files").display());
    let storage = Storage::open(&root).expect("it is made");
    assert_eq!(storage.uri(), root);
    (folder, storage)
}

#[test]
fn other_places_are_refused() {
    for (root, reason) in [
        ("hdfs://n:9000", "not supported"),
        ("webhdfs://n:9870", "not supported"),
        ("relative", "absolute"),
        ("file://relative", "absolute"),
        ("/proc/nowhere", ""),
    ] {
        let error = Storage::open(root).unwrap_err();
        assert!(matches!(&error, StorageError::Root { .. }), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[tokio::test]
async fn files_are_written_and_read() {
    let (_folder, storage) = open();
    let path = storage.resolve(&format!("{}/alice/data/a.txt", storage.uri())).unwrap();
    assert!(!storage.exists(&path).await.unwrap());
    assert!(matches!(storage.read(&path).await, Err(StorageError::NotFound { .. })));
    storage.write(&path, Bytes::from_static(b"one")).await.unwrap();
    storage.write(&path, Bytes::from_static(b"three")).await.unwrap();
    assert_eq!(storage.read(&path).await.unwrap(), "three");
    let folder = storage.resolve("/alice").unwrap();
    assert!(storage.exists(&folder).await.unwrap());
    assert!(storage.exists(&storage.resolve("/").unwrap()).await.unwrap());
}

#[tokio::test]
async fn folders_are_measured() {
    let (_folder, storage) = open();
    for (path, size) in [("/code/a", 100), ("/code/b/c", 50), ("/other", 1000)] {
        let path = storage.resolve(path).unwrap();
        storage.write(&path, Bytes::from(vec![b'x'; size])).await.unwrap();
    }
    let code = storage.resolve("/code").unwrap();
    assert_eq!(storage.folder_size(&code, 150).await.unwrap(), 150);
    let error = storage.folder_size(&code, 149).await.unwrap_err();
    assert!(matches!(error, StorageError::TooLarge { limit: 149, .. }), "{error}");
    let file = storage.resolve("/other").unwrap();
    assert_eq!(storage.folder_size(&file, 1000).await.unwrap(), 1000);
    assert!(matches!(storage.folder_size(&file, 10).await, Err(StorageError::TooLarge { .. })));
    let none = storage.resolve("/none").unwrap();
    assert!(matches!(storage.folder_size(&none, 10).await, Err(StorageError::NotFound { .. })));
    storage.create_folder(&none).await.unwrap();
    storage.create_folder(&none).await.unwrap();
    assert_eq!(storage.folder_size(&none, 10).await.unwrap(), 0);
}

#[tokio::test]
async fn links_do_not_lead_out() {
    let (folder, storage) = open();
    let inside = folder.path().join("files");
    std::fs::write(folder.path().join("secret"), "s").unwrap();
    symlink(folder.path(), inside.join("out")).unwrap();
    symlink(folder.path().join("secret"), inside.join("file")).unwrap();
    symlink("nowhere", inside.join("dangling")).unwrap();
    symlink(inside.join(".berth"), inside.join("own")).unwrap();
    for text in ["/out/secret", "/out", "/file", "/dangling", "/own/logs", "/out/new"] {
        let path = storage.resolve(text).unwrap();
        let refused = |error: StorageError| matches!(error, StorageError::Path { .. });
        assert!(refused(storage.read(&path).await.unwrap_err()), "{text}");
        assert!(refused(storage.exists(&path).await.unwrap_err()), "{text}");
        assert!(refused(storage.write(&path, Bytes::new()).await.unwrap_err()), "{text}");
        assert!(refused(storage.create_folder(&path).await.unwrap_err()), "{text}");
        assert!(refused(storage.folder_size(&path, 10).await.unwrap_err()), "{text}");
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("secret")).unwrap(), "s");
    // One that stays inside is an ordinary way.
    std::fs::create_dir(inside.join("real")).unwrap();
    symlink("real", inside.join("alias")).unwrap();
    let path = storage.resolve("/alias/a").unwrap();
    storage.write(&path, Bytes::from_static(b"x")).await.unwrap();
    assert_eq!(std::fs::read_to_string(inside.join("real/a")).unwrap(), "x");
}

fn task(job: i64) -> TaskKey {
    TaskKey { job: JobId(job), attempt: 1, role: 0, index: 3, retry: 0 }
}

#[tokio::test]
async fn logs_are_kept_by_task() {
    let (folder, storage) = open();
    let all = LogPart::From { offset: 0, limit: u64::MAX };
    assert_eq!(storage.read_log(&task(1), all).await.unwrap(), None);
    let mut log = KeptLog::new(LogLimits::default());
    for number in 0..20_000 {
        log.push(format!("line {number}\n").as_bytes());
    }
    storage.keep_log(&task(1), log).await.unwrap();

    let whole = storage.read_log(&task(1), all).await.unwrap().unwrap();
    assert!(whole.bytes.starts_with(b"line 0\nline 1\n") && whole.bytes.ends_with(b"19999\n"));
    assert_eq!((whole.offset, whole.total), (0, whole.bytes.len() as u64));
    let part = LogPart::From { offset: 7, limit: 6 };
    assert_eq!(storage.read_log(&task(1), part).await.unwrap().unwrap().bytes, "line 1");
    let past = LogPart::From { offset: 1 << 40, limit: 6 };
    assert_eq!(storage.read_log(&task(1), past).await.unwrap().unwrap().bytes, "");
    let tail = storage.read_log(&task(1), LogPart::Tail { bytes: 14 }).await.unwrap().unwrap();
    assert_eq!(tail.bytes, "line 19999\n", "cut at a line");
    assert_eq!(tail.offset + 11, tail.total);
    let more = LogPart::Tail { bytes: 1 << 40 };
    assert_eq!(storage.read_log(&task(1), more).await.unwrap().unwrap().bytes, whole.bytes);

    let file = folder.path().join("files/.berth/logs/0/1-a1-r0-t3-n0.gz");
    assert!(std::fs::metadata(&file).unwrap().len() < whole.total / 3, "it is compressed");
    assert!(storage.resolve("/.berth/logs/0/1-a1-r0-t3-n0.gz").is_err());
}

#[tokio::test]
async fn a_flood_keeps_its_beginning_and_its_end() {
    let (_folder, storage) = open();
    let limits = LogLimits { head: 10, tail: 6 };
    for pieces in [&["0123456789abcdefghijUVWXYZ"][..], &["01234", "56789abc", "defghijU", "VWXYZ"]]
    {
        let mut log = KeptLog::new(limits);
        pieces.iter().for_each(|piece| log.push(piece.as_bytes()));
        storage.keep_log(&task(2), log).await.unwrap();
        let all = LogPart::From { offset: 0, limit: u64::MAX };
        let kept = storage.read_log(&task(2), all).await.unwrap().unwrap().bytes;
        assert_eq!(kept, "0123456789\n[10 bytes of this log were left out]\nUVWXYZ");
    }
}

#[tokio::test]
async fn a_damaged_log_is_told() {
    let (folder, storage) = open();
    storage.keep_log(&task(3), KeptLog::new(LogLimits::default())).await.unwrap();
    let file = folder.path().join("files/.berth/logs/0/3-a1-r0-t3-n0.gz");
    std::fs::write(file, "no gzip").unwrap();
    let read = storage.read_log(&task(3), LogPart::Tail { bytes: 10 }).await;
    assert!(matches!(read, Err(StorageError::Failed { .. })));
}
