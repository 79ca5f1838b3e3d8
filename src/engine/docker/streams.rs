use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bollard::Docker;
use bollard::container::LogOutput;
use bollard::query_parameters::{EventsOptions, LogsOptions};
use bytes::Bytes;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use protocol::time::Timestamp;

use super::cache::Cache;
use super::clock;
use super::connection::{CALL, Connection, HEARTBEAT, WORK};
use super::failure::{classify, silent};
use crate::filling::CLUSTER_LABEL;
use crate::model::{EngineError, LogChunk, LogRequest, Result, Stream};

/// A stream that says nothing for so long is asked whether its engine is still there.
const QUIET: Duration = Duration::from_secs(20);
/// A log that is followed ends when it says nothing for so long: its engine may be there, and the
/// line to it dead all the same. Who follows it asks anew.
const SILENT: Duration = Duration::from_secs(15 * 60);

/// Wakes for the containers of a cluster. What happens from this call on is in it: the engine is
/// asked for its clock first, and remembers its events for those who come a little later.
///
/// Docker tells of an event a moment before its list of containers shows it (20.10), so what was
/// known of the container is forgotten: the list then asks for it by itself, which is up to date.
pub(super) async fn changes(
    connection: &Connection,
    cache: &Arc<Cache>,
    cluster: &str,
) -> Result<BoxStream<'static, Result<()>>> {
    let now = connection
        .call(HEARTBEAT, |docker| async move { docker.info().await })
        .await
        .map_err(|error| classify(error, ""))?
        .system_time;
    let since = now.as_deref().and_then(clock::parse).map(|(s, ns)| format!("{s}.{ns:09}"));
    let filter = |name: &str, values: &[&str]| {
        (name.to_owned(), values.iter().map(|value| (*value).to_owned()).collect())
    };
    let label = format!("{CLUSTER_LABEL}={cluster}");
    let filters = HashMap::from([
        filter("type", &["container"]),
        filter("label", &[&label]),
        filter("event", &["create", "start", "die", "oom", "destroy", "pause", "unpause"]),
    ]);
    let docker = connection.docker(CALL)?;
    let cache = Arc::clone(cache);
    let events = docker
        .events(Some(EventsOptions { since, until: None, filters: Some(filters) }))
        .map_ok(move |event| {
            if let Some(id) = event.actor.and_then(|actor| actor.id) {
                cache.forget_status(&id);
            }
        })
        .map_err(|error| classify(error, ""));
    Ok(watched(events.boxed(), docker))
}

pub(super) fn logs(
    connection: &Connection,
    name: &str,
    request: LogRequest,
) -> Result<BoxStream<'static, Result<LogChunk>>> {
    let (since, stamped) = (request.since, request.stamped);
    let options = LogsOptions {
        follow: request.follow,
        stdout: true,
        stderr: true,
        // Whole seconds here; the rest is compared below, by the time before each message.
        since: since.map_or(0, |since| i32::try_from(since.0.div_euclid(1000)).unwrap_or(0)),
        timestamps: since.is_some() || stamped,
        tail: request.tail_lines.map_or_else(|| "all".to_owned(), |lines| lines.to_string()),
        ..Default::default()
    };
    let docker = connection.docker(CALL)?;
    let subject = name.to_owned();
    let messages = docker
        .logs(name, Some(options))
        .map_ok(chunk)
        .map_err(move |error| classify(error, &subject))
        .boxed();
    let messages = if request.follow {
        limited(watched(messages, docker), SILENT, None)
    } else {
        moving(messages, WORK)
    };
    let messages = messages.try_filter_map(move |chunk| async move {
        Ok(match (since, stamped) {
            (None, false) => Some(chunk),
            (since, _) => unstamped(chunk, since),
        })
    });
    Ok(messages.boxed())
}

pub(super) fn chunk(output: LogOutput) -> LogChunk {
    match output {
        LogOutput::StdErr { message } => LogChunk { stream: Stream::Err, bytes: message, at: None },
        LogOutput::StdOut { message }
        | LogOutput::StdIn { message }
        | LogOutput::Console { message } => {
            LogChunk { stream: Stream::Out, bytes: message, at: None }
        }
    }
}

/// Takes the time off a message; `None` when it was written before `since`.
fn unstamped(chunk: LogChunk, since: Option<Timestamp>) -> Option<LogChunk> {
    let Some(space) = chunk.bytes.iter().position(|byte| *byte == b' ') else { return Some(chunk) };
    let stamp = std::str::from_utf8(&chunk.bytes[..space]).ok().and_then(clock::timestamp);
    let bytes: Bytes = match stamp {
        Some(written) if since.is_some_and(|since| written < since) => return None,
        Some(_) => chunk.bytes.slice(space + 1..),
        None => chunk.bytes,
    };
    Some(LogChunk { stream: chunk.stream, bytes, at: stamp })
}

/// Ends a stream whose engine is gone without a word, as after a cut line.
fn watched<T: Send + 'static>(
    items: BoxStream<'static, Result<T>>,
    docker: Docker,
) -> BoxStream<'static, Result<T>> {
    stream::unfold(Some((items, docker)), |state| async move {
        let (mut items, docker) = state?;
        loop {
            match tokio::time::timeout(QUIET, items.next()).await {
                Ok(Some(Ok(item))) => return Some((Ok(item), Some((items, docker)))),
                Ok(Some(Err(error))) => return Some((Err(error), None)),
                Ok(None) => return None,
                Err(_) => match tokio::time::timeout(HEARTBEAT, docker.ping()).await {
                    Ok(Ok(_)) => {}
                    Ok(Err(error)) => return Some((Err(classify(error, "")), None)),
                    Err(_) => return Some((Err(silent(HEARTBEAT)), None)),
                },
            }
        }
    })
    .boxed()
}

/// A stream of what is there already: it fails when it is silent for too long, and ends with its first
/// failure. That its engine answers other calls says nothing of this line.
pub(super) fn moving<T: Send + 'static>(
    items: BoxStream<'static, Result<T>>,
    wait: Duration,
) -> BoxStream<'static, Result<T>> {
    limited(items, wait, Some(silent(wait)))
}

/// The same, with what comes last when it is silent for too long.
fn limited<T: Send + 'static>(
    items: BoxStream<'static, Result<T>>,
    wait: Duration,
    last: Option<EngineError>,
) -> BoxStream<'static, Result<T>> {
    stream::unfold(Some((items, last)), move |state| async move {
        let (mut items, last) = state?;
        match tokio::time::timeout(wait, items.next()).await {
            Ok(Some(Ok(item))) => Some((Ok(item), Some((items, last)))),
            Ok(Some(Err(error))) => Some((Err(error), None)),
            Ok(None) => None,
            Err(_) => last.map(|error| (Err(error), None)),
        }
    })
    .boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_and_silence() -> BoxStream<'static, Result<u32>> {
        stream::iter([Ok(1), Ok(2)]).chain(stream::pending()).boxed()
    }

    #[tokio::test]
    async fn what_is_to_move_fails_when_it_does_not() {
        let wait = Duration::from_millis(20);
        let taken: Vec<_> = moving(two_and_silence(), wait).collect().await;
        assert!(matches!(taken.as_slice(), [Ok(1), Ok(2), Err(EngineError::Unreachable(_))]));
        let failed = stream::iter([Err(EngineError::Failed("busy".to_owned())), Ok(3)]).boxed();
        let taken: Vec<Result<u32>> = moving(failed, wait).collect().await;
        assert!(matches!(taken.as_slice(), [Err(EngineError::Failed(_))]), "{taken:?}");
    }

    #[tokio::test]
    async fn what_is_followed_ends_when_it_is_silent() {
        let wait = Duration::from_millis(20);
        let taken: Vec<_> = limited(two_and_silence(), wait, None).collect().await;
        assert!(matches!(taken.as_slice(), [Ok(1), Ok(2)]), "{taken:?}");
    }

    #[test]
    fn messages_are_cut_by_their_time() {
        let message = |text: &'static str| LogChunk {
            stream: Stream::Out,
            bytes: Bytes::from_static(text.as_bytes()),
            at: None,
        };
        let since = Timestamp(1_795_221_973_500);
        let old = message("2026-11-21T00:46:13.499999999Z old\n");
        assert_eq!(unstamped(old, Some(since)), None);
        let new = message("2026-11-21T00:46:13.500000000Z new line\n");
        let at = Some(since);
        assert_eq!(unstamped(new, at), Some(LogChunk { at, ..message("new line\n") }));
        let bare = message("no stamp\n");
        assert_eq!(unstamped(bare.clone(), at), Some(bare));
    }
}
