//! Reads a container's log until it has ended, whatever happens to its engine in between.

use std::sync::Arc;
use std::time::Duration;

use engine::{ContainerStatus, EngineError, LogRequest};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use protocol::ids::{NodeName, TaskKey};

use super::held::{End, Spool};
use super::take::{Place, take};
use crate::known::identity::Identity;
use crate::known::nodes::KnownNodes;
use crate::logs::engines::engine_of;
use crate::shared::Shared;

/// A log that nobody has asked for in so long is given up.
const IDLE: Duration = Duration::from_secs(15 * 60);
/// After a failure, and after an engine's stream has ended before its container, it is gone on after
/// so long.
const AGAIN: Duration = Duration::from_millis(500);
/// Who follows a log may hear nothing more of it, although it goes on: Docker loses its place when a
/// log is carried over to its next file quickly. So it is asked anew once its container is known to have
/// ended, after so long a silence,
const QUIET: Duration = Duration::from_secs(10);
/// and after twice as long each time there was nothing new, up to this: it looks through its files.
const LONGEST_QUIET: Duration = Duration::from_secs(300);

/// Runs until the log is whole, its container is gone, or it is let go.
pub(super) async fn run(shared: Arc<Shared>, spool: Arc<Spool>, task: (TaskKey, NodeName)) {
    let mut place = Place::default();
    let end = tokio::select! {
        biased;
        () = spool.stop.cancelled() => End::Gone,
        () = until_idle(&spool) => End::Gone,
        end = read(&shared.identity, &shared.nodes, &spool, &task, &mut place) => end,
    };
    spool.reach(|reached| reached.end = Some(end));
}

async fn until_idle(spool: &Spool) {
    loop {
        tokio::time::sleep(IDLE.saturating_sub(spool.idle())).await;
        if spool.idle() >= IDLE {
            return;
        }
    }
}

async fn read(
    identity: &Identity,
    nodes: &KnownNodes,
    spool: &Arc<Spool>,
    task: &(TaskKey, NodeName),
    place: &mut Place,
) -> End {
    let mut quiet = QUIET;
    loop {
        match pass(identity, nodes, spool, task, (&mut *place, &mut quiet)).await {
            Ok(Some(end)) => return end,
            Ok(None) => {}
            Err(EngineError::NoContainer(_)) => return End::Gone,
            Err(_) => tokio::time::sleep(AGAIN).await,
        }
    }
}

/// First what was written until now, then what comes, and after the end what is left. Whether the
/// container has ended is asked first: what was written before that is then all read.
async fn pass(
    identity: &Identity,
    nodes: &KnownNodes,
    spool: &Arc<Spool>,
    (key, node): &(TaskKey, NodeName),
    (place, quiet): (&mut Place, &mut Duration),
) -> engine::Result<Option<End>> {
    let engine = engine_of(nodes, node)?;
    let name = key.container_name(&identity.installation);
    let Some(container) = engine.inspect(&name).await? else { return Ok(Some(End::Gone)) };
    let ended = match container.status {
        ContainerStatus::Created => {
            spool.reach(|reached| reached.present = true);
            tokio::time::sleep(AGAIN).await;
            return Ok(None);
        }
        ContainerStatus::Running { .. } => false,
        ContainerStatus::Exited { .. } => true,
    };
    let follow = spool.reached().present && !ended;
    let since = place.moment();
    let request = LogRequest { follow, since, stamped: true, ..LogRequest::default() };
    let chunks = engine.logs(&name, request).await?;
    if !follow {
        take(spool, chunks, place).await?;
        spool.reach(|reached| reached.present = true);
        return Ok(ended.then_some(End::Whole));
    }
    let before = spool.reached().bytes;
    let until_ended = chunks.take_until(spool.ended.clone().cancelled_owned()).boxed();
    take(spool, until_quiet(until_ended, *quiet), place).await?;
    let nothing_new = spool.reached().bytes == before;
    *quiet = if nothing_new { (*quiet * 2).min(LONGEST_QUIET) } else { QUIET };
    tokio::time::sleep(AGAIN).await;
    Ok(None)
}

/// What comes until nothing has come for so long.
fn until_quiet<T: Send + 'static>(
    chunks: BoxStream<'static, T>,
    quiet: Duration,
) -> BoxStream<'static, T> {
    let next = move |mut chunks: BoxStream<'static, T>| async move {
        let next = tokio::time::timeout(quiet, chunks.next()).await.ok().flatten()?;
        Some((next, chunks))
    };
    stream::unfold(chunks, next).boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_hears_nothing_asks_anew() {
        let words = stream::iter(["one", "two"]).chain(stream::pending()).boxed();
        let heard: Vec<_> = until_quiet(words, Duration::from_millis(1)).collect().await;
        assert_eq!(heard, ["one", "two"]);
    }
}
