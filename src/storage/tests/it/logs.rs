use protocol::ids::{JobId, TaskKey};
use storage::{KeptLog, LogLimits, LogPart, StorageError};

use crate::open;

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
