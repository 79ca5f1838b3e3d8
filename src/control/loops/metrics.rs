//! Measures what running tasks and their GPUs use, and keeps that beside their logs: now and then, and
//! when they have ended.

mod ask;
mod idle;
mod keep;
mod node;
mod rule;

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use engine::ContainerStatus;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use protocol::ids::{NodeName, TaskKey};
use protocol::time::Timestamp;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::known::cluster::Observation;
use crate::known::containers::Containers;
use crate::known::passes::{Passes, Rhythm};
use crate::known::settings::Settings;
use crate::known::turns::{part_of, seldom};
use crate::shared::Shared;
use node::Node;

/// A storage that is slow may hold it up for so long.
const LONGEST: Duration = Duration::from_secs(900);

/// Where there is time for it, the nodes are measured in so many parts one after the other: of thousands not all at
/// once, and of very many in as many times more parts as each is looked after more seldom.
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
    let number = if every < PARTED { 1 } else { PARTS };
    let mut times = tokio::time::interval(every / number);
    times.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut parts = VecDeque::new();
    loop {
        tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            Some(answered) = asked.next() => {
                silent.remove(&answered);
            }
            _ = times.tick() => {
                if parts.is_empty() {
                    let nodes = shared.nodes.observations();
                    parts = in_parts(nodes.keys(), number * seldom(nodes.len()));
                }
                for node in to_measure(shared, &parts.pop_front().unwrap_or_default()) {
                    if silent.insert(node.name.clone()) {
                        asked.push(node.measure(shared).boxed());
                    }
                }
            }
        }
    }
}

/// All nodes in so many parts, of which each is gone through once; none where there are no nodes yet.
fn in_parts<'a>(nodes: impl Iterator<Item = &'a NodeName>, number: u32) -> VecDeque<Vec<NodeName>> {
    let mut parts: VecDeque<Vec<NodeName>> = (0..number).map(|_| Vec::new()).collect();
    for node in nodes {
        if let Some(part) = parts.get_mut(part_of(node, number) as usize) {
            part.push(node.clone());
        }
    }
    if parts.iter().all(Vec::is_empty) {
        parts.clear();
    }
    parts
}

/// Those of these nodes that answer, on which something runs or whose GPUs are told of; none where nothing is to be
/// measured.
fn to_measure(shared: &Shared, nodes: &[NodeName]) -> Vec<Node> {
    if shared.settings.rules.unmeasured {
        return Vec::new();
    }
    let cluster = shared.nodes.cluster();
    let observations = shared.nodes.observations();
    let nodes = nodes.iter().filter_map(|name| match observations.get(name)? {
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
fn running_of(containers: &Containers) -> impl Iterator<Item = (TaskKey, Timestamp)> + '_ {
    containers.iter().filter_map(|container| match container.status {
        ContainerStatus::Running { started_at } => Some((container.key, started_at)),
        ContainerStatus::Created | ContainerStatus::Exited { .. } => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_node_is_in_one_of_the_parts() {
        let mut nodes: Vec<NodeName> =
            (0..1_000).map(|number| format!("node-{number}").parse().unwrap()).collect();
        for number in [1, PARTS] {
            let parts = in_parts(nodes.iter(), number);
            assert_eq!(parts.len(), number as usize);
            assert!(parts.iter().all(|part| !part.is_empty()));
            let mut all: Vec<NodeName> = parts.into_iter().flatten().collect();
            all.sort();
            nodes.sort();
            assert_eq!(all, nodes);
        }
        assert!(in_parts([].iter(), PARTS).is_empty(), "it is looked again at the next turn");
    }
}
