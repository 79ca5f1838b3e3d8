//! Watches the nodes: one watcher a node keeps in touch with its engine and looks at its
//! containers; the loop itself starts and ends the watchers as nodes come and go.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol::cluster::NodeSettings;
use protocol::ids::NodeName;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::container::endpoint::endpoint;
use crate::known::cluster::Cluster;
use crate::known::passes::{Passes, Rhythm};
use crate::loops::supervised::{self, Panics};
use crate::shared::Shared;

mod gpus;
mod leftovers;
mod sorting;
mod watcher;

use watcher::Watcher;

/// All is looked at so often, whatever wakes the loop.
const WHOLE: Duration = Duration::from_secs(60);
/// And read anew so often: who changes a node has it read back.
const READ: Duration = Duration::from_secs(300);
/// Without watchers nothing is known of any node.
pub(crate) const RHYTHM: Rhythm = Rhythm::needed(Duration::from_secs(120));

/// Watchers by node, with the settings each was started for.
type Watchers = HashMap<NodeName, (Arc<NodeSettings>, CancellationToken, JoinHandle<()>)>;

/// Runs until shutdown; then ends all watchers.
pub(crate) async fn run(shared: Arc<Shared>, passes: Arc<Passes>, shutdown: CancellationToken) {
    let (mut watchers, mut read) = (Watchers::new(), Instant::now());
    loop {
        let began = Instant::now();
        reconcile(&shared, &shared.nodes.cluster(), &mut watchers, &shutdown).await;
        passes.ended(began);
        if !shared.live.wakeups.nodes.wait(WHOLE, &shutdown).await {
            break;
        }
        if read.elapsed() >= READ {
            read = Instant::now();
            match shared.nodes.cluster.read_all(&shared.store.database).await {
                Ok(()) => shared.live.wakeups.schedule.wake(),
                Err(error) => tracing::error!(%error, "the nodes cannot be read; trying again"),
            }
        }
    }
    for (_, (_, stop, watcher)) in watchers {
        stop.cancel();
        let _ended = watcher.await;
    }
}

/// Ends watchers of nodes that are gone or changed, starts those that lack.
async fn reconcile(
    shared: &Arc<Shared>,
    cluster: &Cluster,
    watchers: &mut Watchers,
    shutdown: &CancellationToken,
) {
    let current = |name: &NodeName, settings: &NodeSettings| {
        let portal = &shared.settings.of_nodes.portal;
        cluster.node(name).is_some_and(|node| {
            // To find out about a node's network takes longer than to see that nothing is new.
            node.settings == *settings
                || same_engine(&node.settings, settings)
                    && portal.network(&node.settings) == portal.network(settings)
        })
    };
    let outdated: Vec<NodeName> = watchers
        .iter()
        .filter(|(name, (settings, _, watcher))| !current(name, settings) || watcher.is_finished())
        .map(|(name, _)| name.clone())
        .collect();
    for name in &outdated {
        if let Some((settings, stop, watcher)) = watchers.remove(name) {
            stop.cancel();
            let _ended = watcher.await;
            shared.nodes.observations().remove(name);
            if cluster.node(name).is_none_or(|node| node.settings.endpoint != settings.endpoint) {
                shared.nodes.engines.forget(name);
            }
            if cluster.node(name).is_none() {
                shared.nodes.heartbeats.forget(name);
                shared.nodes.quarantine.forget(name);
                shared.counts.engine_calls.forget(name);
            }
        }
    }
    for node in &cluster.nodes {
        watchers.entry(node.settings.name.clone()).or_insert_with(|| {
            let (settings, stop) = (Arc::new(node.settings.clone()), shutdown.child_token());
            let is_new = outdated.contains(&settings.name);
            let watching = watch(Arc::clone(shared), Arc::clone(&settings), is_new, stop.clone());
            (settings, stop, tokio::spawn(watching))
        });
    }
}

/// Watches a node until stopped; a watcher that panics is followed by another one. Where another engine answers than
/// before (`is_new`), it has other GPUs than are known.
async fn watch(
    shared: Arc<Shared>,
    settings: Arc<NodeSettings>,
    is_new: bool,
    stop: CancellationToken,
) {
    let name = format!("watcher of {}", settings.name);
    let begin = |stop| {
        let cluster = shared.nodes.cluster();
        let known = cluster.node(&settings.name).filter(|_| !is_new);
        let gpus = known.and_then(|node| node.observed.as_ref()?.gpus.clone());
        let options = endpoint(&shared, &settings);
        let mut watcher =
            Watcher::new(Arc::clone(&shared), settings.name.clone(), options, gpus, stop);
        // In one place: ten thousand of them wait for most of the time.
        Box::pin(async move { watcher.run().await })
    };
    let panics = Panics::default();
    supervised::run(&name, begin, (&panics, shared.counts.own_failures.as_ref()), &stop).await;
}

/// Whether the two name the same engine, so that its watcher can stay.
fn same_engine(a: &NodeSettings, b: &NodeSettings) -> bool {
    a.endpoint == b.endpoint && a.gpu_runtime == b.gpu_runtime
}
