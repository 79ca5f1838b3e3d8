use bytes::Bytes;
use futures::TryStreamExt;
use proptest::prelude::*;
use protocol::ids::{JobId, TaskKey};
use protocol::time::Timestamp;
use storage::{LogLimits, LogReader, LogSpool, StorageError, StoragePath};

use crate::open;

/// Blocks so small that everything happens at their ends.
const TINY: LogLimits = LogLimits { head: 1 << 40, tail: 1 << 40, block: 16 };

fn task(job: i64) -> TaskKey {
    TaskKey { job: JobId(job), attempt: 1, role: 0, index: 3, retry: 0 }
}

async fn lines(log: &LogReader, from: u64, count: usize) -> Vec<String> {
    let window = log.window(from, count).await.unwrap();
    for (nth, line) in window.iter().enumerate() {
        assert_eq!(line.number, from + nth as u64, "numbers follow each other");
    }
    window.into_iter().map(|line| line.text).collect()
}

async fn text(log: &LogReader, offset: u64) -> Vec<u8> {
    let pieces: Vec<_> = log.text(offset).try_collect().await.unwrap();
    pieces.concat()
}

fn spool(limits: LogLimits, text: &[u8], path: Option<std::path::PathBuf>) -> LogSpool {
    let mut spool = LogSpool::new(limits, path);
    for (nth, piece) in text.chunks(7).enumerate() {
        spool.push(piece, Some(Timestamp(1_000 + nth as i64))).unwrap();
    }
    spool
}

#[tokio::test]
async fn a_long_log_is_kept_and_read_anywhere() {
    let (folder, storage) = open();
    assert!(storage.kept_log(&task(1)).await.unwrap().is_none());
    let file = folder.path().join("spool/1");
    let mut log = LogSpool::new(LogLimits::default(), Some(file.clone()));
    for number in 0..200_000_u32 {
        let at = Timestamp(1_795_221_973_000 + i64::from(number) * 10);
        log.push(format!("line {number} of a program\n").as_bytes(), Some(at)).unwrap();
    }
    assert!(std::fs::metadata(&file).unwrap().len() < log.bytes() / 3, "it is compressed");
    let running = log.reader();
    storage.keep_log(&task(1), &running).await.unwrap();
    let kept = storage.kept_log(&task(1)).await.unwrap().unwrap();
    for log in [&running, &kept] {
        assert_eq!((log.lines(), log.left_out()), (200_000, None));
        assert_eq!(lines(log, 0, 2).await, ["line 0 of a program", "line 1 of a program"]);
        assert_eq!(lines(log, 123_456, 1).await, ["line 123456 of a program"]);
        assert_eq!(lines(log, 199_999, 9).await, ["line 199999 of a program"]);
        assert!(lines(log, 200_000, 9).await.is_empty());
        assert_eq!(lines(log, 4_000, 5_000).await.len(), 5_000, "over the ends of blocks");
        let moment = Timestamp(1_795_221_973_000 + 77_777 * 10 - 3);
        assert_eq!(log.line_at(moment).await.unwrap(), 77_777);
        let line = log.window(77_777, 1).await.unwrap().remove(0);
        assert_eq!(line.at, Some(Timestamp(1_795_221_973_000 + 77_777 * 10)));
        assert_eq!(text(log, log.bytes() - 7).await, b"rogram\n");
        let counted: Vec<_> = log.each(|block, _| block.lines).try_collect().await.unwrap();
        assert_eq!(counted.concat().iter().sum::<u32>(), 200_000);
    }
    assert_eq!(text(&running, 0).await, text(&kept, 0).await);
    drop(log);
    assert!(!file.exists());
    assert_eq!(lines(&running, 9, 1).await, ["line 9 of a program"], "who reads it still can");
    assert!(storage.resolve("/.berth/logs/0/1-a1-r0-t3-n0.log").is_err());
}

#[tokio::test]
async fn lines_of_all_sorts_have_their_numbers() {
    let huge = "x".repeat(100_000);
    let said =
        format!("one\r\n\n10%\r20%\r100%\n\u{1b}[31mred\u{1b}[0m\n船坞 日志\n{huge}end\nlast");
    assert_eq!(lines(&spool(TINY, said.as_bytes(), None).reader(), 6, 1).await, ["last"]);
    let spool = spool(LogLimits { block: 1_000, ..TINY }, said.as_bytes(), None);
    let log = spool.reader();
    let read = lines(&log, 0, 100).await;
    assert_eq!(read[..2], ["one", ""]);
    assert_eq!(read[2], "10%\r20%\r100%");
    assert_eq!(read[3..5], ["\u{1b}[31mred\u{1b}[0m", "船坞 日志"]);
    assert!(read[5].len() < 20_000 && read[5].starts_with("xxx") && read[5].ends_with("end"));
    assert!(log.window(5, 1).await.unwrap()[0].cut);
    assert_eq!(read[6..], ["last"]);
    assert_eq!(lines(&log, 4, 1).await, ["船坞 日志"]);
    assert_eq!(lines(&log, 6, 1).await, ["last"]);
    assert_eq!(text(&log, 0).await, said.as_bytes());

    let nothing = LogSpool::new(TINY, None).reader();
    assert!(nothing.lines() == 0 && lines(&nothing, 0, 10).await.is_empty());
    assert_eq!(nothing.line_at(Timestamp(5)).await.unwrap(), 0);
}

#[tokio::test]
async fn a_flood_keeps_its_beginning_and_its_end() {
    let limits = LogLimits { head: 40, tail: 60, block: 20 };
    let said: String = (0..1_000).map(|number| format!("line {number:04}\n")).collect();
    let (folder, storage) = open();
    for path in [None, Some(folder.path().join("spool"))] {
        let spool = spool(limits, said.as_bytes(), path);
        let log = spool.reader();
        storage.keep_log(&task(2), &log).await.unwrap();
        for log in [log, storage.kept_log(&task(2)).await.unwrap().unwrap()] {
            assert_eq!(log.lines(), 1_000, "all are counted");
            let (first, after) = log.left_out().unwrap();
            assert!((4..6).contains(&first) && (990..997).contains(&after), "{first} {after}");
            assert_eq!(lines(&log, 0, 1).await, ["line 0000"]);
            assert_eq!(lines(&log, 998, 5).await, ["line 0998", "line 0999"]);
            let around = log.window(first, 2).await.unwrap();
            assert_eq!(around[0].number, after, "what is left out is skipped");
            assert_eq!(around[0].text, format!("line {after:04}"));
            let whole = String::from_utf8(text(&log, 0).await).unwrap();
            assert!(whole.starts_with("line 0000\n") && whole.ends_with("line 0999\n"));
            assert!(whole.contains(" bytes of this log were left out]\n") && whole.len() < 250);
        }
    }
}

#[tokio::test]
async fn a_damaged_log_is_told() {
    let (folder, storage) = open();
    storage.keep_log(&task(3), &LogSpool::new(TINY, None).reader()).await.unwrap();
    assert_eq!(storage.kept_log(&task(3)).await.unwrap().unwrap().lines(), 0);
    let file = folder.path().join("files/.berth/logs/0/3-a1-r0-t3-n0.log");
    for damaged in ["no log", "berthlog\u{1}\u{1}\u{1}\u{1}", "berthlog\u{9}\0\0\0abcdefghi"] {
        std::fs::write(&file, damaged).unwrap();
        assert!(matches!(storage.kept_log(&task(3)).await, Err(StorageError::Failed { .. })));
    }
}

/// As after a crash of the storage, or on a disk that lies.
#[tokio::test]
async fn of_a_torn_log_what_is_there_is_read_and_what_is_lost_is_told() {
    let (folder, storage) = open();
    let said: String = (0..200_000).map(|number| format!("line {number:06}\n")).collect();
    let spool = spool(LogLimits::default(), said.as_bytes(), None);
    storage.keep_log(&task(8), &spool.reader()).await.unwrap();
    let file = folder.path().join("files/.berth/logs/0/8-a1-r0-t3-n0.log");
    let whole = storage.kept_log(&task(8)).await.unwrap().unwrap();
    assert_eq!(whole.torn(), 0);
    let size = std::fs::metadata(&file).unwrap().len();
    for left in [size - 1, size / 2] {
        std::fs::File::options().write(true).open(&file).unwrap().set_len(left).unwrap();
        let log = storage.kept_log(&task(8)).await.unwrap().unwrap();
        assert!(log.torn() > 0 && log.lines() > 0 && log.lines() < 200_000, "{left}");
        assert_eq!(log.bytes() + log.torn(), said.len() as u64);
        assert_eq!(lines(&log, 7, 1).await, ["line 000007"]);
        assert_eq!(lines(&log, log.lines() - 1, 9).await.len(), 1);
        let read = String::from_utf8(text(&log, 0).await).unwrap();
        let note = format!("\n[{} bytes of this log are lost]\n", log.torn());
        let there = usize::try_from(log.bytes()).unwrap();
        assert_eq!(read, [&said[..there], &note].concat());
        assert!(text(&log, log.bytes()).await.is_empty(), "it is told once");
    }
    std::fs::File::options().write(true).open(&file).unwrap().set_len(5).unwrap();
    assert!(storage.kept_log(&task(8)).await.is_err(), "nothing says what was there");
}

#[tokio::test]
async fn logs_that_were_kept_without_an_index_are_read() {
    use std::io::Write;
    let (folder, storage) = open();
    let file = folder.path().join("files/.berth/logs/0/4-a1-r0-t3-n0.gz");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all("old\nlog\n".repeat(10_000).as_bytes()).unwrap();
    std::fs::write(&file, encoder.finish().unwrap()).unwrap();
    let log = storage.kept_log(&task(4)).await.unwrap().unwrap();
    assert_eq!(log.lines(), 20_000);
    assert_eq!(lines(&log, 19_998, 5).await, ["old", "log"]);
    assert_eq!(log.window(7, 1).await.unwrap()[0].at, None);
}

proptest! {
    #[test]
    fn any_window_is_as_the_text_says(
        // None is longer than a block: of such a one the middle may be left out.
        said in prop::collection::vec("[a-z\r\u{4e00}]{0,5}\n", 0..60),
        last in "[a-z\u{4e00}]{0,5}",
        from in 0_u64..70,
        count in 0_usize..20,
    ) {
        let said = said.concat() + &last;
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let log = spool(TINY, said.as_bytes(), None).reader();
        let all: Vec<&str> = said.split_inclusive('\n').collect();
        let wanted = all.iter().skip(from as usize).take(count);
        let wanted: Vec<_> = wanted
            .map(|line| line.strip_suffix('\n').unwrap_or(line))
            .map(|line| line.strip_suffix('\r').unwrap_or(line))
            .collect();
        prop_assert_eq!(log.lines(), all.len() as u64);
        prop_assert_eq!(runtime.block_on(lines(&log, from, count)), wanted);
        prop_assert_eq!(runtime.block_on(text(&log, 0)), said.as_bytes());
    }
}

#[tokio::test]
async fn what_was_measured_of_a_node_is_kept_until_it_is_forgotten() {
    let (_folder, storage) = open();
    let node = "gpu-1".parse().unwrap();
    assert_eq!(storage.kept_node_metrics(&node).await.unwrap(), None);
    storage.keep_node_metrics(&node, Bytes::from_static(b"before")).await.unwrap();
    storage.keep_node_metrics(&node, Bytes::from_static(b"measured")).await.unwrap();
    assert_eq!(storage.kept_node_metrics(&node).await.unwrap().unwrap(), "measured");
    for _again in 0..2 {
        storage.forget_node_metrics(&node).await.unwrap();
    }
    assert_eq!(storage.kept_node_metrics(&node).await.unwrap(), None);
}

#[tokio::test]
async fn old_logs_are_found_and_removed() {
    let (folder, storage) = open();
    assert!(storage.log_folders().await.unwrap().is_empty());
    storage.forget_logs(JobId(1)).await.unwrap();
    for job in [1, 2, 11, 999, 1_000, 12_345] {
        storage.keep_log(&task(job), &LogSpool::new(TINY, None).reader()).await.unwrap();
    }
    let again = TaskKey { retry: 1, ..task(1) };
    storage.keep_log(&again, &LogSpool::new(TINY, None).reader()).await.unwrap();
    let gzip = folder.path().join("files/.berth/logs/0/1-a0-r0-t0-n0.gz");
    std::fs::write(gzip, "as it was kept once").unwrap();
    storage.keep_metrics(&task(1), Bytes::from_static(b"measured")).await.unwrap();

    let folders = storage.log_folders().await.unwrap();
    let names: Vec<_> = folders.iter().filter_map(StoragePath::name).collect();
    assert_eq!(names, ["0", "1", "12"]);
    let logs = storage.logs_in(&folders[0]).await.unwrap();
    let counts: Vec<_> = logs.iter().map(|(job, logs)| (job.0, logs.len())).collect();
    assert_eq!(counts, [(1, 4), (2, 1), (11, 1), (999, 1)]);
    assert_eq!(logs[&JobId(1)].iter().filter(|file| file.is_of_metrics()).count(), 1);
    assert_eq!(storage.kept_metrics(&task(1)).await.unwrap().unwrap(), "measured");
    storage.forget_logs(JobId(1)).await.unwrap();
    assert!(storage.kept_log(&task(1)).await.unwrap().is_none());
    assert_eq!(storage.kept_metrics(&task(1)).await.unwrap(), None);
    assert!(storage.kept_log(&task(11)).await.unwrap().is_some(), "it only begins alike");

    storage.forget_logs(JobId(1_000)).await.unwrap();
    for folder in &folders {
        storage.remove_log_folder(folder).await.unwrap();
    }
    let left = storage.log_folders().await.unwrap();
    assert_eq!(left, [folders[0].clone(), folders[2].clone()]);
    storage.keep_log(&task(1_000), &LogSpool::new(TINY, None).reader()).await.unwrap();
    assert!(storage.kept_log(&task(1_000)).await.unwrap().is_some(), "its folder is made again");
}
