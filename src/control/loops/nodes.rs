//! Watches the nodes: one watcher a node keeps in touch with its engine and looks at its
//! containers; the loop itself starts and ends the watchers as nodes come and go.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use protocol::cluster::NodeSettings;
use protocol::ids::NodeName;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::container::endpoint::endpoint;
use crate::known::cluster::Cluster;
use crate::known::refresh;
use crate::shared::Shared;

mod watcher;

/// The list of nodes is looked at so often even when nothing rings.
const PATIENCE: Duration = Duration::from_secs(10);

/// Watchers by node, with the settings each was started for.
type Watchers = HashMap<NodeName, (NodeSettings, CancellationToken, JoinHandle<()>)>;

/// Runs until shutdown; then ends all watchers.
pub(crate) async fn run(shared: Arc<Shared>, shutdown: CancellationToken) {
    let mut watchers = Watchers::new();
    loop {
        match refresh::all(&shared).await {
            Ok(()) => {
                reconcile(&shared, &shared.cluster(), &mut watchers, &shutdown).await;
                shared.bells.schedule.ring();
            }
            Err(error) => tracing::error!(%error, "the nodes cannot be read; trying again"),
        }
        if !shared.bells.nodes.wait(PATIENCE, &shutdown).await {
            break;
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
        let portal = &shared.of_nodes.portal;
        cluster.node(name).is_some_and(|node| {
            same_engine(&node.settings, settings)
                && portal.network(&node.settings) == portal.network(settings)
        })
    };
    let outdated: Vec<NodeName> = watchers
        .iter()
        .filter(|(name, (settings, _, watcher))| !current(name, settings) || watcher.is_finished())
        .map(|(name, _)| name.clone())
        .collect();
    for name in outdated {
        if let Some((_, stop, watcher)) = watchers.remove(&name) {
            stop.cancel();
            let _ended = watcher.await;
            shared.observations().remove(&name);
        }
    }
    for node in &cluster.nodes {
        watchers.entry(node.settings.name.clone()).or_insert_with(|| {
            let stop = shutdown.child_token();
            let options = endpoint(shared, &node.settings);
            let watcher = watcher::Watcher::new(
                Arc::clone(shared),
                node.settings.name.clone(),
                options,
                stop.clone(),
            );
            (node.settings.clone(), stop, tokio::spawn(watcher.run()))
        });
    }
}

/// Whether the two name the same engine, so that its watcher can stay.
fn same_engine(a: &NodeSettings, b: &NodeSettings) -> bool {
    a.endpoint == b.endpoint && a.gpu_runtime == b.gpu_runtime
}
