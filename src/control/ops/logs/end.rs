//! The end of a running container's log, without reading the rest of it.

use api::logs::LogText;
use engine::{LogChunk, LogRequest};
use futures::StreamExt;
use futures::stream::BoxStream;

use super::position::Position;
use crate::logs::end::LogEnd;

/// Lines are taken for so long, until they are seen.
const LINE: u64 = 1_024;
/// So many times as many lines are asked for where they did not reach back far enough.
const MORE: u32 = 4;

/// What an engine sends of a log.
pub(super) type Chunks = BoxStream<'static, engine::Result<LogChunk>>;

/// Reads at most `limit` bytes of the end, from the beginning of a line. The engine is asked for some
/// last lines, and for more when they were short.
pub(super) async fn read<F>(
    ask: impl Fn(LogRequest) -> F,
    limit: u64,
    complete: bool,
) -> engine::Result<LogText>
where
    F: Future<Output = engine::Result<Chunks>>,
{
    // A line has a byte at least.
    let most = u32::try_from(limit.max(1)).unwrap_or(u32::MAX);
    let mut lines = u32::try_from(limit / LINE + 2).unwrap_or(most).min(most);
    loop {
        let seen = Seen::read(ask(last(lines)).await?, limit).await?;
        if seen.is_whole(lines) || seen.end.given >= limit || lines == most {
            return placed(ask, seen, (lines, limit, complete)).await;
        }
        let average = (seen.end.given / seen.pieces.max(1)).max(1);
        lines = u32::try_from(limit / average * 2 + 2).unwrap_or(most).clamp(lines, most);
        lines = lines.saturating_mul(2).min(most);
    }
}

/// Reads so many last lines, at most `limit` bytes of them. Where in the log they are is not found out:
/// that can take a look at much more of it.
pub(super) async fn read_lines<F>(
    ask: impl Fn(LogRequest) -> F,
    lines: u32,
    limit: u64,
) -> engine::Result<String>
where
    F: Future<Output = engine::Result<Chunks>>,
{
    let seen = Seen::read(ask(last(lines)).await?, limit).await?;
    Ok(String::from_utf8_lossy(&seen.into_bytes(limit)).into_owned())
}

fn last(lines: u32) -> LogRequest {
    LogRequest { tail_lines: Some(lines), stamped: true, ..LogRequest::default() }
}

/// What follows is counted from the last line's second on, or from the beginning of a log that was seen
/// whole. A second of which the beginning was not seen is read with ever more of the last lines: to find
/// it by its time an engine looks through all that was written before.
async fn placed<F>(
    ask: impl Fn(LogRequest) -> F,
    mut seen: Seen,
    (mut lines, limit, complete): (u32, u64, bool),
) -> engine::Result<LogText>
where
    F: Future<Output = engine::Result<Chunks>>,
{
    while !seen.is_whole(lines) && seen.first_second == seen.second && lines < u32::MAX {
        lines = lines.saturating_mul(MORE);
        seen = Seen::read(ask(last(lines)).await?, limit).await?;
    }
    let end = match seen.is_whole(lines) {
        true => Position { since: None, bytes: seen.end.given },
        false => Position { since: seen.second, bytes: seen.in_second },
    };
    let end = end.number();
    let bytes = seen.into_bytes(limit);
    let offset = end.saturating_sub(bytes.len() as u64);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(LogText { text, offset, end, complete, lost: false })
}

/// What was read.
struct Seen {
    end: LogEnd,
    pieces: u64,
    first_second: Option<i64>,
    /// The latest second, and how much was written in it or after that.
    second: Option<i64>,
    in_second: u64,
}

impl Seen {
    async fn read(mut chunks: Chunks, limit: u64) -> engine::Result<Self> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let end = LogEnd::new(limit);
        let mut seen = Self { end, pieces: 0, first_second: None, second: None, in_second: 0 };
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk?;
            let second = chunk.at.map(|at| at.0.div_euclid(1000));
            seen.first_second = seen.first_second.or(second);
            if second > seen.second {
                (seen.second, seen.in_second) = (second, 0);
            }
            if second >= seen.second {
                seen.in_second += chunk.bytes.len() as u64;
            }
            seen.end.push(&chunk.bytes);
            seen.pieces += 1;
        }
        Ok(seen)
    }

    /// Whether it is all of the log, where so many lines were asked for.
    fn is_whole(&self, lines: u32) -> bool {
        self.pieces < u64::from(lines)
    }

    /// The last bytes of it, from the beginning of a line.
    fn into_bytes(self, limit: u64) -> Vec<u8> {
        let cut = self.end.given > limit;
        let mut bytes = self.end.into_bytes();
        let newline = bytes.iter().position(|byte| *byte == b'\n').filter(|_| cut);
        bytes.split_off(newline.map_or(0, |newline| newline + 1))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use bytes::Bytes;
    use engine::Stream;
    use futures::stream;
    use protocol::time::Timestamp;

    use super::*;

    const LINES: u32 = 100_000;
    /// So many are written in each second.
    const A_SECOND: u32 = 20_000;
    const SECOND: i64 = 1_795_221_970;

    /// A log that notes how it is asked for, for so many last lines and from when on.
    struct Log(Mutex<Vec<LogRequest>>);

    impl Log {
        fn new() -> Self {
            Self(Mutex::default())
        }

        async fn ask(&self, request: LogRequest) -> engine::Result<Chunks> {
            self.0.lock().unwrap().push(request);
            let lines = request.tail_lines.unwrap_or(LINES).min(LINES);
            let line = |number: u32| {
                let bytes = Bytes::from(format!("line {number:06}\n"));
                let second = SECOND + i64::from(number / A_SECOND);
                Ok(LogChunk { stream: Stream::Out, bytes, at: Some(Timestamp(second * 1000)) })
            };
            Ok(stream::iter((LINES - lines..LINES).map(line)).boxed())
        }

        /// The lines it was asked for; from a moment on it never was.
        fn asked(&self) -> Vec<u32> {
            let requests = self.0.lock().unwrap();
            assert!(requests.iter().all(|request| request.since.is_none()), "{requests:?}");
            requests.iter().filter_map(|request| request.tail_lines).collect()
        }
    }

    #[tokio::test]
    async fn the_end_of_a_log_that_is_written_quickly_is_placed_without_what_is_older() {
        let log = Log::new();
        let read = read(|request| log.ask(request), 30, false).await.unwrap();
        assert_eq!(read.text, "line 099998\nline 099999\n");
        let second = Some(SECOND + i64::from(LINES / A_SECOND) - 1);
        let end = Position { since: second, bytes: u64::from(A_SECOND) * 12 };
        assert_eq!((read.end, read.offset), (end.number(), end.number() - 24));
        let most = log.asked().into_iter().max().unwrap();
        assert!(most > A_SECOND && most <= A_SECOND * MORE, "{most} lines");
    }

    #[tokio::test]
    async fn a_log_that_was_seen_whole_is_counted_from_its_beginning() {
        let log = Log::new();
        let read = read(|request| log.ask(request), 10_000_000, true).await.unwrap();
        assert_eq!((read.offset, read.end), (0, u64::from(LINES) * 12));
        assert!(read.complete && read.text.starts_with("line 000000\n"));
    }

    #[tokio::test]
    async fn last_lines_are_asked_for_once() {
        let log = Log::new();
        let lines = read_lines(|request| log.ask(request), 3, 1_000).await.unwrap();
        assert_eq!(lines, "line 099997\nline 099998\nline 099999\n");
        assert_eq!(log.asked(), [3]);
        let lines = read_lines(|request| log.ask(request), 100, 30).await.unwrap();
        assert_eq!(lines, "line 099998\nline 099999\n", "so many bytes at most");
    }
}
