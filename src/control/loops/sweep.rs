//! Forgets sessions and tokens that have ended and files that were never finished.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::known::passes::{Passes, Rhythm};
use crate::records::store::Store;
use crate::shared::Shared;
use crate::wake::now;

/// So often.
const EVERY: Duration = Duration::from_secs(3_600);
/// What has ended opens nothing, whether or not it is forgotten.
pub(crate) const RHYTHM: Rhythm = Rhythm::beside(Duration::from_secs(3 * 3_600));

/// Runs until shutdown.
pub(crate) async fn run(shared: Arc<Shared>, passes: Arc<Passes>, shutdown: CancellationToken) {
    passes.repeat(EVERY, &shutdown, || sweep(&shared.store)).await;
}

/// Says whether all of it could be done.
async fn sweep(store: &Store) -> bool {
    let forgotten = store.write(async |transaction| {
        database::sessions::delete_expired(transaction, now()).await?;
        database::tokens::delete_expired(transaction, now()).await
    });
    let forgotten = forgotten.await;
    if let Err(error) = &forgotten {
        tracing::warn!(%error, "ended sessions and tokens cannot be forgotten");
    }
    let removed = store.storage.sweep().await;
    if let Err(error) = &removed {
        tracing::warn!(%error, "files that were never finished cannot be removed");
    }
    forgotten.is_ok() && removed.is_ok()
}
