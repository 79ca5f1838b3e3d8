//! Stores what the watchers see of the nodes' engines: what is new at once, for all nodes of which
//! something is new in one transaction; that the others still answer, rarely.

use std::sync::Arc;
use std::time::{Duration, Instant};

use api::changes::Change;
use protocol::time::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::known::nodes::KnownNodes;
use crate::known::passes::{Passes, Rhythm};
use crate::records::store::Store;
use crate::shared::Shared;
use crate::wake::{now, rest};

/// What could not be stored is tried again so often.
const PATIENCE: Duration = Duration::from_secs(5);
/// When nodes last answered is stored so often, and at the end. It is for people to read of a node that
/// was silent since before the server started.
const SIGNS_OF_LIFE: Duration = Duration::from_secs(600);
/// Signs of life stored by one transaction, so that nobody waits long behind those of thousands.
const AT_ONCE: usize = 250;
/// What is seen of nodes is worth nothing before it is stored.
pub(crate) const RHYTHM: Rhythm = Rhythm::needed(Duration::from_secs(60));

/// Runs until shutdown.
pub(crate) async fn run(shared: Arc<Shared>, passes: Arc<Passes>, shutdown: CancellationToken) {
    let (mut stored, mut since) = (Instant::now(), Timestamp(0));
    loop {
        let began = Instant::now();
        if store_news(&shared).await {
            passes.ended(began);
        }
        if stored.elapsed() >= SIGNS_OF_LIFE {
            let until = now();
            store_signs_of_life(&shared.store, &shared.nodes, since).await;
            (stored, since) = (began, until);
        }
        rest(began).await;
        if !shared.live.wakeups.heartbeats.wait(PATIENCE, &shutdown).await {
            break;
        }
    }
    store_signs_of_life(&shared.store, &shared.nodes, since).await;
}

/// Who looks at nodes is told of them once it is stored. Says whether all of it is.
async fn store_news(shared: &Shared) -> bool {
    let news = shared.nodes.heartbeats.take_news();
    if news.is_empty() {
        return true;
    }
    let stored = shared.store.write(async |t| database::nodes::set_observed(t, &news).await).await;
    if let Err(error) = stored {
        tracing::error!(%error, nodes = news.len(), "cannot store what is seen; trying again");
        return false;
    }
    shared.nodes.cluster.show_seen(&news).await;
    shared.nodes.heartbeats.stored();
    news.into_iter().for_each(|(name, _)| shared.live.tell(Change::Node { name }));
    shared.live.wakeups.schedule.wake();
    true
}

async fn store_signs_of_life(store: &Store, nodes: &KnownNodes, since: Timestamp) {
    for signs in nodes.heartbeats.answered_since(since).chunks(AT_ONCE) {
        let stored = store.write(async |t| database::nodes::set_last_seen(t, signs).await).await;
        if let Err(error) = stored {
            tracing::error!(%error, "cannot store when nodes last answered");
            return;
        }
    }
}
