//! Measures what running tasks write into their containers: the disk beneath is everybody's. The
//! jobs' loop ends those that take more than they may.

use std::collections::HashMap;
use std::sync::Arc;

use engine::Engine;
use futures::StreamExt;
use protocol::ids::{NodeName, TaskKey};
use tokio_util::sync::CancellationToken;

use crate::known::cluster::Observation;
use crate::shared::Shared;

/// So many nodes are asked at the same time.
const AT_ONCE: usize = 16;

/// Runs until shutdown.
pub(crate) async fn run(shared: Arc<Shared>, shutdown: CancellationToken) {
    loop {
        tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            () = measure(&shared) => {}
        }
        tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            () = tokio::time::sleep(shared.of_nodes.container_disk.measured_every) => {}
        }
    }
}

async fn measure(shared: &Shared) {
    let mut asked = Vec::new();
    for (node, engine) in with_running_tasks(shared) {
        asked.push(written(shared, node, engine));
    }
    let mut answers = futures::stream::iter(asked).buffer_unordered(AT_ONCE);
    while let Some(written) = answers.next().await {
        shared.note_written(written);
        shared.bells.jobs.ring();
    }
}

async fn written(
    shared: &Shared,
    node: NodeName,
    engine: Arc<dyn Engine>,
) -> HashMap<TaskKey, u64> {
    let mut written = engine.written(&shared.installation).await.unwrap_or_else(|error| {
        tracing::warn!(%node, %error, "what its tasks have written cannot be measured");
        HashMap::new()
    });
    // They may be called as tasks of ours are.
    let held = shared.quarantine.keys(&node);
    written.retain(|task, _| !held.contains(task));
    written
}

fn with_running_tasks(shared: &Shared) -> Vec<(NodeName, Arc<dyn Engine>)> {
    let observations = shared.observations();
    let busy = observations.iter().filter_map(|(node, observation)| match observation {
        Observation::Answers { engine, containers, .. } if !containers.is_empty() => {
            Some((node.clone(), Arc::clone(engine)))
        }
        Observation::Answers { .. } | Observation::Silent => None,
    });
    busy.collect()
}
