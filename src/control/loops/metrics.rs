//! Measures what running tasks and their GPUs use, and keeps that beside their logs: now and then, and
//! when they have ended.

mod ask;
mod idle;
mod keep;
mod node;
mod rule;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use engine::{Container, ContainerStatus};
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use protocol::ids::{NodeName, TaskKey};
use protocol::time::Timestamp;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::known::cluster::Observation;
use crate::known::passes::{Passes, Rhythm};
use crate::known::settings::Settings;
use crate::known::turns::part_of;
use crate::shared::Shared;
use node::Node;

/// A storage that is slow may hold it up for so long.
const LONGEST: Duration = Duration::from_secs(900);

/// Where there is time for it, the nodes are measured in so many parts one after the other: of thousands not all at once.
const PARTS: u32 = 20;
const PARTED: Duration = Duration::from_secs(5);

/// Nothing waits for what was measured.
pub(crate) fn rhythm(settings: &Settings) -> Rhythm {
    Rhythm::beside(settings.rules.measured_every.0.saturating_add(LONGEST))
}

/// Runs until shutdown. A pass is that what was due is kept: who measures waits for nobody.
pub(crate) async fn run(shared: Arc<Shared>, passes: Arc<Passes>, shutdown: CancellationToken) {
    tokio::join!(
        measure(&shared, &shutdown),
        ask::run(&shared, &shutdown),
        rule::run(&shared, &shutdown),
        keep::run(&shared, &passes, &shutdown),
    );
}

/// Each node is asked for itself: one that has not answered since the last time is not asked again, and
/// nobody waits for it.
async fn measure(shared: &Shared, shutdown: &CancellationToken) {
    let mut asked = FuturesUnordered::<BoxFuture<'_, NodeName>>::new();
    let mut silent = HashSet::new();
    let every = shared.settings.rules.measured_every.0;
    let parts = if every < PARTED { 1 } else { PARTS };
    let mut times = tokio::time::interval(every / parts);
    times.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut turns = (0..parts).cycle();
    loop {
        tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            Some(answered) = asked.next() => {
                silent.remove(&answered);
            }
            _ = times.tick() => {
                let part = turns.next().map(|turn| (turn, parts));
                for node in to_measure(shared, part) {
                    if silent.insert(node.name.clone()) {
                        asked.push(node.measure(shared).boxed());
                    }
                }
            }
        }
    }
}

/// Nodes that answer, on which something runs or whose GPUs are told of; none where nothing is to be measured. Of some
/// parts of all nodes only one, if that is said.
fn to_measure(shared: &Shared, part: Option<(u32, u32)>) -> Vec<Node> {
    if shared.settings.rules.unmeasured {
        return Vec::new();
    }
    let cluster = shared.nodes.cluster();
    let observations = shared.nodes.observations();
    let wanted = observations
        .iter()
        .filter(|(name, _)| part.is_none_or(|(turn, parts)| part_of(name, parts) == turn));
    let nodes = wanted.filter_map(|(name, observation)| match observation {
        Observation::Answers { engine, containers, .. } => {
            let running: Vec<_> = running_of(containers).collect();
            let record = cluster.node(name);
            let exporter = record.and_then(|record| record.settings.metrics.clone());
            if running.is_empty() && exporter.is_none() {
                return None;
            }
            let asked = record.is_some_and(ask::is_asked);
            Some(Node { name: name.clone(), engine: Arc::clone(engine), running, exporter, asked })
        }
        Observation::Silent => None,
    });
    nodes.collect()
}

/// The tasks that are seen to run and are measured.
fn running(shared: &Shared) -> HashSet<TaskKey> {
    if shared.settings.rules.unmeasured {
        return HashSet::new();
    }
    let observations = shared.nodes.observations();
    let containers = observations.values().filter_map(|observation| match observation {
        Observation::Answers { containers, .. } => Some(running_of(containers)),
        Observation::Silent => None,
    });
    containers.flatten().map(|(key, _)| key).collect()
}

/// Those of a node's tasks that run, and since when.
fn running_of(
    containers: &HashMap<TaskKey, Container>,
) -> impl Iterator<Item = (TaskKey, Timestamp)> + '_ {
    containers.values().filter_map(|container| match container.status {
        ContainerStatus::Running { started_at } => Some((container.key, started_at)),
        ContainerStatus::Created | ContainerStatus::Exited { .. } => None,
    })
}
