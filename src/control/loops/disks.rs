//! Measures what running tasks write into their containers: the disk beneath is everybody's. The
//! jobs' loop ends those that take more than they may. And looks how much room that disk has.

mod room;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::Engine;
use futures::StreamExt;
use protocol::ids::{NodeName, TaskKey};
use tokio_util::sync::CancellationToken;

use crate::known::cluster::Observation;
use crate::known::identity::Identity;
use crate::known::nodes::KnownNodes;
use crate::known::passes::{Passes, Rhythm};
use crate::known::settings::Settings;
use crate::shared::Shared;

/// So many nodes are asked at the same time.
const AT_ONCE: usize = 16;
/// One pass over thousands of nodes, some of which hang, takes no longer.
const LONGEST: Duration = Duration::from_secs(3_600);

/// Tasks that take too much are found a little later without it.
pub(crate) fn rhythm(settings: &Settings) -> Rhythm {
    Rhythm::beside(settings.of_nodes.container_disk.measured_every.saturating_add(LONGEST))
}

/// Runs until shutdown.
pub(crate) async fn run(shared: Arc<Shared>, passes: Arc<Passes>, shutdown: CancellationToken) {
    tokio::join!(measure_all(&shared, &passes, &shutdown), room::run(&shared, &shutdown));
}

async fn measure_all(shared: &Shared, passes: &Passes, shutdown: &CancellationToken) {
    loop {
        let began = Instant::now();
        tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            () = measure(shared) => passes.ended(began),
        }
        tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            () = tokio::time::sleep(shared.settings.of_nodes.container_disk.measured_every) => {}
        }
    }
}

async fn measure(shared: &Shared) {
    let mut asked = Vec::new();
    for (node, engine) in with_running_tasks(&shared.nodes) {
        asked.push(written(&shared.identity, &shared.nodes, node, engine));
    }
    let mut answers = futures::stream::iter(asked).buffer_unordered(AT_ONCE);
    while let Some(written) = answers.next().await {
        let most = shared.settings.of_nodes.container_disk.most;
        for task in shared.readings.note_written(written, most) {
            shared.live.look_at(task);
        }
        shared.live.wakeups.jobs.wake();
    }
}

async fn written(
    identity: &Identity,
    nodes: &KnownNodes,
    node: NodeName,
    engine: Arc<dyn Engine>,
) -> HashMap<TaskKey, u64> {
    let mut written = engine.written(&identity.installation).await.unwrap_or_else(|error| {
        tracing::warn!(%node, %error, "what its tasks have written cannot be measured");
        HashMap::new()
    });
    // They may be called as tasks of ours are.
    let held = nodes.quarantine.keys(&node);
    written.retain(|task, _| !held.contains(task));
    written
}

fn with_running_tasks(nodes: &KnownNodes) -> Vec<(NodeName, Arc<dyn Engine>)> {
    let observations = nodes.observations();
    let busy = observations.iter().filter_map(|(node, observation)| match observation {
        Observation::Answers { engine, containers, .. } if !containers.is_empty() => {
            Some((node.clone(), Arc::clone(engine)))
        }
        Observation::Answers { .. } | Observation::Silent => None,
    });
    busy.collect()
}
