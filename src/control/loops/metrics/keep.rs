//! Keeps what was measured.

use std::time::{Duration, Instant};

use futures::StreamExt;
use storage::StorageError;
use tokio_util::sync::CancellationToken;

use crate::known::metrics::{History, ToKeep};
use crate::known::passes::Passes;
use crate::shared::Shared;
use crate::wake::now;

/// So many files are written at the same time.
const AT_ONCE: usize = 8;
/// So long is written at the end, at most.
const LAST: Duration = Duration::from_secs(10);

/// Runs until shutdown; then keeps all.
pub(super) async fn run(shared: &Shared, passes: &Passes, shutdown: &CancellationToken) {
    loop {
        tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            () = tokio::time::sleep(shared.rules.measured_every.0) => {}
        }
        let began = Instant::now();
        let running = super::running(shared);
        let due = shared.measured.to_keep(|key| running.contains(key), now());
        tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            all = keep(shared, due) => if all { passes.ended(began) },
        }
    }
    let all = shared.measured.to_keep(|_| false, now());
    if tokio::time::timeout(LAST, keep(shared, all)).await.is_err() {
        tracing::warn!("what was measured of late cannot be kept in time");
    }
}

/// Says whether all of it is kept.
async fn keep(shared: &Shared, due: Vec<ToKeep>) -> bool {
    // Another server that leads meanwhile has measured for longer, and keeps that in the same place.
    if !shared.database.mandate().acts() {
        return false;
    }
    let mut writes = Vec::new();
    for due in due {
        writes.push(write(shared, due));
    }
    let mut kept = futures::stream::iter(writes).buffer_unordered(AT_ONCE);
    while let Some(failure) = kept.next().await {
        if let Some(error) = failure {
            tracing::warn!(%error, "what was measured cannot be kept; it is tried again");
            return false;
        }
    }
    true
}

/// Adds to a task's file what it does not have yet.
async fn write(shared: &Shared, due: ToKeep) -> Option<StorageError> {
    let part = shared.measured.part(&due.key)?;
    let kept = match shared.storage.kept_metrics(&due.key).await {
        Ok(kept) => kept,
        Err(error) => return Some(error),
    };
    let history = part.onto(kept.and_then(|kept| History::from_bytes(&kept)));
    let kept = shared.storage.keep_metrics(&due.key, history.to_bytes().into()).await;
    if kept.is_ok() {
        shared.measured.kept(&due, &part, now());
    }
    kept.err()
}
