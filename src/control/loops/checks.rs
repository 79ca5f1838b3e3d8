//! Has nodes on which nothing runs go through the checks that are due there. Each node is looked after for
//! itself: a check may take an hour, and no other node waits for it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::{ContainerStatus, Engine};
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use protocol::ids::NodeName;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::container::checks;
use crate::known::cluster::{Cluster, Observation};
use crate::known::nodes::KnownNodes;
use crate::known::passes::{Passes, Rhythm};
use crate::known::settings::Settings;
use crate::records::health;
use crate::shared::Shared;
use crate::wake::now;

/// It is looked so often what is due.
const PATIENCE: Duration = Duration::from_secs(5);
/// Checks are made a little later without it.
pub(crate) const RHYTHM: Rhythm = Rhythm::beside(Duration::from_secs(300));

/// Runs until shutdown.
pub(crate) async fn run(shared: Arc<Shared>, passes: Arc<Passes>, shutdown: CancellationToken) {
    let mut under_way = FuturesUnordered::<BoxFuture<'_, NodeName>>::new();
    let mut checked = HashSet::new();
    let mut times = tokio::time::interval(PATIENCE);
    times.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            Some(done) = under_way.next() => {
                checked.remove(&done);
            }
            _ = times.tick() => {
                let began = Instant::now();
                forget(&shared).await;
                for (node, engine) in free(&shared.settings, &shared.nodes) {
                    if checked.insert(node.clone()) {
                        under_way.push(check(&shared, node, engine).boxed());
                    }
                }
                passes.ended(began);
            }
        }
    }
}

/// Has a free node go through what is due, and gives its name back.
async fn check(shared: &Shared, name: NodeName, engine: Arc<dyn Engine>) -> NodeName {
    let cluster = shared.nodes.cluster();
    if let Some(node) = cluster.node(&name) {
        checks::when_free(shared, node, engine.as_ref()).await;
        shared.nodes.checks.is_free(&name);
    }
    name
}

/// The nodes that answer and on which nothing runs; of the others it is noted that something does.
fn free(settings: &Settings, nodes: &KnownNodes) -> HashMap<NodeName, Arc<dyn Engine>> {
    let mut free = HashMap::new();
    if settings.of_nodes.checks.is_empty() {
        return free;
    }
    for (name, observation) in nodes.observations().iter() {
        match observation {
            Observation::Answers { engine, containers, .. } => {
                let runs = |status: &ContainerStatus| match status {
                    ContainerStatus::Running { .. } => true,
                    ContainerStatus::Created | ContainerStatus::Exited { .. } => false,
                };
                if containers.iter().any(|container| runs(&container.status)) {
                    nodes.checks.is_busy(name);
                } else {
                    free.insert(name.clone(), Arc::clone(engine));
                }
            }
            Observation::Silent => {}
        }
    }
    free
}

/// What is not looked after any more: nodes that are gone, and what checks have said that nobody makes.
async fn forget(shared: &Shared) {
    let cluster = shared.nodes.cluster();
    shared.nodes.checks.keep(|name| cluster.node(name).is_some());
    let is_made =
        |name: &str| shared.settings.of_nodes.checks.iter().any(|check| check.name == name);
    let at = now();
    for name in ailing(&cluster) {
        let changed = health::change(
            &shared.store,
            &shared.live,
            &shared.jobs,
            &shared.nodes,
            name,
            |known| known.with_checks(is_made, at),
        )
        .await;
        if let Err(error) = changed {
            tracing::error!(node = %name, %error, "what a check said that is gone cannot be forgotten");
        }
    }
}

fn ailing(cluster: &Cluster) -> impl Iterator<Item = &NodeName> {
    let ailing = cluster.records().filter(|node| !node.health.ailments.is_empty());
    ailing.map(|node| &node.settings.name)
}
