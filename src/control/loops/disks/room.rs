//! How much room nodes have beneath their containers: one that has little is the last choice, one that has none
//! takes nothing new until there is some.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::{DiskRoom, Engine};
use futures::StreamExt;
use protocol::ids::NodeName;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use super::AT_ONCE;
use crate::known::cluster::Observation;
use crate::known::nodes::KnownNodes;
use crate::records::health;
use crate::shared::Shared;
use crate::wake::now;

/// A node is asked again after so long.
const AGAIN: Duration = Duration::from_secs(600);
/// It may take so long to answer: longer than its engine gives the containers that ask, which it removes then.
const PATIENCE: Duration = Duration::from_secs(500);
/// So many are asked before it is looked anew which are due.
const MOST: usize = 64;

/// Runs until shutdown.
pub(super) async fn run(shared: &Shared, shutdown: &CancellationToken) {
    let mut asked = HashMap::new();
    let mut times = tokio::time::interval(shared.settings.rules.measured_every.0);
    times.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            _ = times.tick() => {}
        }
        tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            () = look(shared, &mut asked) => {}
        }
    }
}

/// Asks those that answer and were not asked for long.
async fn look(shared: &Shared, asked: &mut HashMap<NodeName, Instant>) {
    asked.retain(|_, at| at.elapsed() < AGAIN);
    let mut due = Vec::new();
    for (name, engine) in answering(&shared.nodes) {
        if due.len() < MOST && !asked.contains_key(&name) {
            asked.insert(name.clone(), Instant::now());
            due.push(ask(shared, name, engine));
        }
    }
    let mut answers = futures::stream::iter(due).buffer_unordered(AT_ONCE);
    while answers.next().await.is_some() {}
}

fn answering(known_nodes: &KnownNodes) -> Vec<(NodeName, Arc<dyn Engine>)> {
    let observations = known_nodes.observations();
    let nodes = observations.iter().filter_map(|(node, observation)| match observation {
        Observation::Answers { engine, .. } => Some((node.clone(), Arc::clone(engine))),
        Observation::Silent => None,
    });
    nodes.collect()
}

async fn ask(shared: &Shared, name: NodeName, engine: Arc<dyn Engine>) {
    match tokio::time::timeout(PATIENCE, engine.disk_room()).await {
        Ok(Ok(Some(DiskRoom { free, all }))) => {
            let at = now();
            let change = health::change(
                &shared.store,
                &shared.live,
                &shared.jobs,
                &shared.nodes,
                &name,
                |known| known.disk_seen((free, all), at),
            );
            if let Err(error) = change.await {
                tracing::error!(node = %name, %error, "how full its disk is cannot be stored");
            }
        }
        Ok(Ok(None)) => {}
        Ok(Err(error)) => tracing::debug!(node = %name, %error, "it does not tell of its disk"),
        Err(_) => tracing::debug!(node = %name, "it does not tell of its disk in time"),
    }
}
