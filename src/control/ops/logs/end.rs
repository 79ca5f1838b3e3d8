//! The end of a running container's log, without reading the rest of it.

use api::logs::LogText;
use engine::{Engine, LogRequest};
use futures::StreamExt;

use super::position::Position;
use crate::logs::end::LogEnd;

/// Lines are taken for so long, until they are seen.
const LINE: u64 = 1_024;

/// Reads at most `limit` bytes of the end, from the beginning of a line. The engine is asked for some
/// last lines, and for more when they were short.
pub(super) async fn read(
    engine: &dyn Engine,
    name: &str,
    limit: u64,
    complete: bool,
) -> engine::Result<LogText> {
    // A line has a byte at least.
    let most = u32::try_from(limit.max(1)).unwrap_or(u32::MAX);
    let mut lines = u32::try_from(limit / LINE + 2).unwrap_or(most).min(most);
    loop {
        let request =
            LogRequest { tail_lines: Some(lines), stamped: true, ..LogRequest::default() };
        let seen = Seen::read(engine, name, request, limit).await?;
        if seen.pieces < u64::from(lines) {
            let end = Position { since: None, bytes: seen.end.given };
            return Ok(seen.text(end, limit, complete));
        }
        if seen.end.given >= limit || lines == most {
            return from_a_moment(engine, name, seen, limit, complete).await;
        }
        let average = (seen.end.given / seen.pieces.max(1)).max(1);
        lines = u32::try_from(limit / average * 2 + 2).unwrap_or(most).clamp(lines, most);
        lines = lines.saturating_mul(2).min(most);
    }
}

/// There is more before it. What follows is counted from the last line's second on; a second of which
/// the beginning was not seen is read once more.
async fn from_a_moment(
    engine: &dyn Engine,
    name: &str,
    mut seen: Seen,
    limit: u64,
    complete: bool,
) -> engine::Result<LogText> {
    if seen.first_second == seen.second {
        let since = Position { since: seen.second, bytes: 0 }.moment();
        let request = LogRequest { since, stamped: true, ..LogRequest::default() };
        seen = Seen::read(engine, name, request, limit).await?;
    }
    let end = Position { since: seen.second, bytes: seen.in_second };
    Ok(seen.text(end, limit, complete))
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
    async fn read(
        engine: &dyn Engine,
        name: &str,
        request: LogRequest,
        limit: u64,
    ) -> engine::Result<Self> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let first = request.since.map(|since| since.0.div_euclid(1000));
        let mut seen = Self {
            end: LogEnd::new(limit),
            pieces: 0,
            first_second: None,
            second: first,
            in_second: 0,
        };
        let mut chunks = engine.logs(name, request).await?;
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk?;
            let second = chunk.at.map(|at| at.0.div_euclid(1000));
            seen.first_second = seen.first_second.or(second);
            if first.is_none() && second > seen.second {
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

    fn text(self, end: Position, limit: u64, complete: bool) -> LogText {
        let cut = self.end.given > limit;
        let bytes = self.end.into_bytes();
        let newline = bytes.iter().position(|byte| *byte == b'\n').filter(|_| cut);
        let start = newline.map_or(0, |newline| newline + 1);
        let end = end.number();
        LogText {
            text: String::from_utf8_lossy(&bytes[start..]).into_owned(),
            offset: end.saturating_sub((bytes.len() - start) as u64),
            end,
            complete,
        }
    }
}
