//! Takes over what an engine sends of a log, so that nothing is missing or twice when it is asked
//! again.

use std::sync::Arc;

use engine::{EngineError, LogChunk};
use futures::StreamExt;
use futures::stream::BoxStream;
use protocol::time::Timestamp;

use super::held::Spool;
use crate::lock::lock;

/// So many pieces are taken together, if they are there.
const TOGETHER: usize = 512;
/// So many bytes are taken in less time than it takes to hand them to another thread.
const AT_ONCE: usize = 16 * 1024;

/// How far an engine's log was taken. It is asked for from a second on, so that is how it is counted.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// The latest second in which something was written.
    second: Option<i64>,
    /// So many bytes were written in it, or are behind it.
    bytes: u64,
}

impl Place {
    /// From when on the engine is to send it.
    pub(super) fn moment(&self) -> Option<Timestamp> {
        self.second.map(|second| Timestamp(second * 1000))
    }

    /// What is new of a piece. `known`: so many bytes are sent once more.
    fn news(&mut self, chunk: &mut LogChunk, known: &mut u64) {
        let second = chunk.at.map(|at| at.0.div_euclid(1000));
        if second > self.second {
            (self.second, self.bytes, *known) = (second, 0, 0);
        }
        let again = (*known).min(chunk.bytes.len() as u64);
        *known -= again;
        chunk.bytes = chunk.bytes.slice(usize::try_from(again).unwrap_or(0)..);
        if second >= self.second {
            self.bytes += chunk.bytes.len() as u64;
        }
    }
}

/// Takes a stream to its end.
pub(super) async fn take(
    spool: &Arc<Spool>,
    chunks: BoxStream<'static, engine::Result<LogChunk>>,
    place: &mut Place,
) -> engine::Result<()> {
    let mut known = place.bytes;
    let mut together = chunks.ready_chunks(TOGETHER);
    while let Some(some) = together.next().await {
        let mut pieces = Vec::with_capacity(some.len());
        let mut failed = Ok(());
        for chunk in some {
            match chunk {
                Ok(mut chunk) => {
                    place.news(&mut chunk, &mut known);
                    pieces.push(chunk);
                }
                Err(error) => failed = Err(error),
            }
        }
        if let Err(error) = push(spool, pieces).await {
            *place = Place::default();
            spool.restart();
            return Err(EngineError::Failed(error.to_string()));
        }
        failed?;
    }
    Ok(())
}

async fn push(spool: &Arc<Spool>, pieces: Vec<LogChunk>) -> std::io::Result<()> {
    let size: usize = pieces.iter().map(|piece| piece.bytes.len()).sum();
    if size <= AT_ONCE {
        return push_all(spool, &pieces);
    }
    let spool = Arc::clone(spool);
    let work = tokio::task::spawn_blocking(move || push_all(&spool, &pieces));
    work.await.map_err(std::io::Error::other)?
}

/// Who reads meanwhile waits for one piece at most.
fn push_all(spool: &Spool, pieces: &[LogChunk]) -> std::io::Result<()> {
    for piece in pieces {
        lock(&spool.log).push(&piece.bytes, piece.at)?;
    }
    let bytes = lock(&spool.log).bytes();
    spool.reach(|reached| reached.bytes = bytes);
    Ok(())
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use engine::Stream;

    use super::*;

    fn chunk(at: i64, text: &'static str) -> LogChunk {
        LogChunk { stream: Stream::Out, bytes: Bytes::from(text), at: Some(Timestamp(at)) }
    }

    fn read(place: &mut Place, chunks: &[(i64, &'static str)]) -> String {
        let mut known = place.bytes;
        let mut news = String::new();
        for (at, text) in chunks {
            let mut chunk = chunk(*at, text);
            place.news(&mut chunk, &mut known);
            news.push_str(std::str::from_utf8(&chunk.bytes).unwrap());
        }
        news
    }

    #[test]
    fn what_is_sent_again_is_taken_once() {
        let mut place = Place::default();
        let log = [(1_100, "a\n"), (2_100, "b\n"), (2_900, "c\n"), (2_950, "d\n"), (5_000, "e\n")];
        assert_eq!(read(&mut place, &log[..3]), "a\nb\nc\n");
        assert_eq!(place.moment(), Some(Timestamp(2_000)));
        assert_eq!(read(&mut place, &log[1..4]), "d\n");
        assert_eq!(read(&mut place, &log[1..]), "e\n");
        assert_eq!(read(&mut place, &log[4..]), "");
        assert_eq!(read(&mut place, &[(9_000, "f\n")]), "f\n", "what was lost in between is lost");
    }
}
