//! What is read once at a start, beside everything else: nobody waits for it.

use std::sync::Arc;

use protocol::jobs::JobQuery;
use tokio_util::sync::CancellationToken;

use crate::records::store::Store;
use crate::shared::Shared;
use crate::wake::now;

/// Runs until it has read all, or until shutdown.
pub(crate) async fn run(shared: Arc<Shared>, shutdown: CancellationToken) {
    tokio::select! {
        biased;
        () = shutdown.cancelled() => {}
        () = look(&shared.store) => {}
    }
}

async fn look(store: &Store) {
    // Whoever asks for the first list finds what lists look at in memory.
    let any = JobQuery { limit: 1, ..JobQuery::default() };
    if let Err(error) = database::jobs::list(&store.database, &any, now()).await {
        tracing::warn!(%error, "lists of jobs read what they look at when somebody asks for one");
    }
    if let Err(error) = store.database.look_through().await {
        tracing::error!(%error, "stop the server and restore a backup before more is lost");
    }
}
