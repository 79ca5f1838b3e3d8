//! What GPUs do on nodes of which no exporter tells: their drivers are asked, in a short-lived container.
//! That costs more than to ask an exporter, so it is done more seldom, and only where something runs.

use std::collections::HashMap;

use database::nodes::NodeRecord;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use protocol::ids::NodeName;
use protocol::time::Timestamp;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use super::node::Node;
use super::to_measure;
use crate::known::capacity::capacity;
use crate::known::readings::Readings;
use crate::shared::Shared;
use crate::wake::now;

/// A node is asked again after so long, in milliseconds.
const AGAIN: i64 = 60_000;
/// One that has failed to answer is left alone for so long, in milliseconds: a driver that hangs may keep
/// the container that asks it.
const LATER: i64 = 600_000;
/// So many are asked at the same time.
const MOST: usize = 16;

/// Whether its driver is asked what its GPUs do.
pub(super) fn is_asked(record: &NodeRecord) -> bool {
    let settings = &record.settings;
    settings.gpu_runtime.finds_gpus()
        && settings.metrics.is_none()
        && !capacity(record).gpus.is_empty()
}

/// Runs until shutdown. An engine limits by itself for how long it asks, and nobody waits for it.
pub(super) async fn run(shared: &Shared, shutdown: &CancellationToken) {
    let mut asking = FuturesUnordered::<BoxFuture<'_, (NodeName, bool)>>::new();
    let mut turns = Turns::default();
    let mut times = tokio::time::interval(shared.settings.rules.measured_every.0);
    times.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            Some((node, answered)) = asking.next() => turns.ended(node, answered, now()),
            _ = times.tick() => {
                let at = now();
                turns.forget_past(at);
                let cluster = shared.nodes.cluster();
                let nodes = cluster.records().filter(|record| is_asked(record));
                let nodes: Vec<NodeName> =
                    nodes.map(|record| record.settings.name.clone()).collect();
                for node in to_measure(shared, &nodes) {
                    let is_due = !node.running.is_empty() && asking.len() < MOST;
                    if is_due && turns.begin(&node.name, at) {
                        asking.push(ask(node, &shared.readings).boxed());
                    }
                }
            }
        }
    }
}

/// Whether it answered.
async fn ask(node: Node, readings: &Readings) -> (NodeName, bool) {
    let told = node.engine.ask_gpus().await;
    let answered = told.is_ok();
    match told {
        Ok(gpus) => readings.asked_gpus.note(&node.name, now(), gpus),
        Err(error) => {
            tracing::debug!(node = %node.name, %error, "its driver does not tell what its GPUs do");
        }
    }
    (node.name, answered)
}

/// Until when nodes are left alone.
#[derive(Debug, Default)]
struct Turns(HashMap<NodeName, Timestamp>);

impl Turns {
    /// Whether it is this node's turn; then it is asked until that has ended.
    fn begin(&mut self, node: &NodeName, at: Timestamp) -> bool {
        let is_due = self.0.get(node).is_none_or(|until| *until <= at);
        if is_due {
            self.0.insert(node.clone(), Timestamp(i64::MAX));
        }
        is_due
    }

    /// Whose time has come is not remembered.
    fn forget_past(&mut self, at: Timestamp) {
        self.0.retain(|_, until| *until > at);
    }

    fn ended(&mut self, node: NodeName, answered: bool, at: Timestamp) {
        let rest = if answered { AGAIN } else { LATER };
        self.0.insert(node, Timestamp(at.0 + rest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_asked_once_at_a_time_and_left_alone_when_it_does_not_answer() {
        let (one, other): (NodeName, NodeName) = ("a".parse().unwrap(), "b".parse().unwrap());
        let mut turns = Turns::default();
        assert!(turns.begin(&one, Timestamp(0)));
        assert!(!turns.begin(&one, Timestamp(LATER)), "it is being asked");
        assert!(turns.begin(&other, Timestamp(LATER)), "nobody waits for it");
        turns.ended(one.clone(), true, Timestamp(0));
        turns.ended(other.clone(), false, Timestamp(0));
        assert!(!turns.begin(&one, Timestamp(AGAIN - 1)));
        assert!(turns.begin(&one, Timestamp(AGAIN)) && !turns.begin(&other, Timestamp(AGAIN)));
        assert!(turns.begin(&other, Timestamp(LATER)));
        turns.ended(one, true, Timestamp(LATER));
        turns.forget_past(Timestamp(LATER));
        assert_eq!(turns.0.len(), 2);
        turns.forget_past(Timestamp(LATER + AGAIN));
        assert_eq!(turns.0.len(), 1, "the other one is still being asked");
    }
}
