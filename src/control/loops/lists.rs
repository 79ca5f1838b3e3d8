//! Has read what lists of jobs look at, where many have come or changed: whoever looks next does not wait for it.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::known::passes::{Passes, Rhythm};
use crate::shared::Shared;

/// It is looked for so often.
const EVERY: Duration = Duration::from_millis(100);
/// Without it lists are as right, and the first after many changes is late.
pub(crate) const RHYTHM: Rhythm = Rhythm::beside(Duration::from_secs(900));

/// Runs until shutdown.
pub(crate) async fn run(shared: Arc<Shared>, passes: Arc<Passes>, shutdown: CancellationToken) {
    passes.repeat(EVERY, &shutdown, || refresh(&shared)).await;
}

/// Says whether it went well.
async fn refresh(shared: &Shared) -> bool {
    if shared.jobs.seen().oldest_waiting().is_none() {
        // After a start, jobs are read to go on first.
        return true;
    }
    let refreshed = database::jobs::refresh_lists(&shared.store.database).await;
    if let Err(error) = &refreshed {
        tracing::warn!(%error, "what lists of jobs look at cannot be read; it is tried again");
    }
    refreshed.is_ok()
}
