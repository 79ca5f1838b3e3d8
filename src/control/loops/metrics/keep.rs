//! Keeps what was measured.

use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use protocol::ids::NodeName;
use storage::StorageError;
use tokio_util::sync::CancellationToken;

use crate::known::metrics::{History, Part, ToKeep};
use crate::known::passes::Passes;
use crate::known::readings::Readings;
use crate::known::turns::seldom;
use crate::records::store::Store;
use crate::shared::Shared;
use crate::wake::now;

/// So many files are written at the same time: more of them would wait for each other within the file system.
const AT_ONCE: usize = 2;
/// And so many at the end, which is soon.
const LAST_AT_ONCE: usize = 8;
/// So long is written at the end, at most.
const LAST: Duration = Duration::from_secs(10);

/// Runs until shutdown; then keeps all.
pub(super) async fn run(shared: &Shared, passes: &Passes, shutdown: &CancellationToken) {
    loop {
        tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            () = tokio::time::sleep(shared.settings.rules.measured_every.0) => {}
        }
        let began = Instant::now();
        let running = super::running(shared);
        // What is measured more seldom is kept more seldom.
        let (times, at) = (seldom(shared.nodes.cluster().nodes.len()), now());
        let tasks = shared.readings.measured.to_keep(|key| running.contains(key), times, at);
        let nodes = shared.readings.measured_nodes.to_keep(|_| true, times, at);
        tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            all = keep(shared, AT_ONCE, tasks, nodes) => if all { passes.ended(began) },
        }
    }
    let tasks = shared.readings.measured.to_keep(|_| false, 1, now());
    let nodes = shared.readings.measured_nodes.to_keep(|_| false, 1, now());
    let all = keep(shared, LAST_AT_ONCE, tasks, nodes);
    if tokio::time::timeout(LAST, all).await.is_err() {
        tracing::warn!("what was measured of late cannot be kept in time");
    }
}

/// Says whether all of it is kept.
async fn keep(
    shared: &Shared,
    at_once: usize,
    tasks: Vec<ToKeep>,
    nodes: Vec<ToKeep<NodeName>>,
) -> bool {
    // Another server that leads meanwhile has measured for longer, and keeps that in the same place.
    if !shared.store.database.fencing_token().acts() {
        return false;
    }
    let mut writes: Vec<BoxFuture<'_, Result<(), StorageError>>> = Vec::new();
    for due in tasks {
        writes.push(task(&shared.store, &shared.readings, due).boxed());
    }
    for due in nodes {
        writes.push(node(shared, due).boxed());
    }
    let mut kept = futures::stream::iter(writes).buffer_unordered(at_once);
    while let Some(written) = kept.next().await {
        if let Err(error) = written {
            tracing::warn!(%error, "what was measured cannot be kept; it is tried again");
            return false;
        }
    }
    true
}

/// Adds to a task's file what it does not have yet.
async fn task(store: &Store, readings: &Readings, due: ToKeep) -> Result<(), StorageError> {
    let Some(part) = readings.measured.part(&due.key) else { return Ok(()) };
    let kept = store.storage.kept_metrics(&due.key).await?;
    store.storage.keep_metrics(&due.key, whole(&part, kept)).await?;
    readings.measured.kept(&due, &part, now());
    Ok(())
}

/// Adds to a node's file what it does not have yet; that of one that is gone goes, too.
async fn node(shared: &Shared, due: ToKeep<NodeName>) -> Result<(), StorageError> {
    let Some(part) = shared.readings.measured_nodes.part(&due.key) else { return Ok(()) };
    let is_there = shared.nodes.cluster().node(&due.key).is_some();
    if !is_there {
        shared.readings.measured_nodes.forget(&due.key);
        return shared.store.storage.forget_node_metrics(&due.key).await;
    }
    let kept = shared.store.storage.kept_node_metrics(&due.key).await?;
    shared.store.storage.keep_node_metrics(&due.key, whole(&part, kept)).await?;
    shared.readings.measured_nodes.kept(&due, &part, now());
    Ok(())
}

/// What is to be in the file that has this; nothing of it where it is damaged.
fn whole(part: &Part, kept: Option<Bytes>) -> Bytes {
    let kept = kept.and_then(|kept| History::from_bytes(&kept));
    part.onto(kept).to_bytes().into()
}
