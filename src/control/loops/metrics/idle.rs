//! Jobs are told of GPUs that they hold and that do nothing.

use database::events::NewEvent;
use database::tasks::Task;
use protocol::ids::{NodeName, TaskKey};
use protocol::time::Timestamp;

use crate::records::happened;
use crate::shared::Shared;

/// Tells the jobs of tasks that run on a node.
pub(super) async fn tell(
    shared: &Shared,
    node: &NodeName,
    running: &[(TaskKey, Timestamp)],
    at: Timestamp,
) {
    let mut events = Vec::new();
    for (key, _) in running {
        let gpus = shared.readings.measured.idle_to_tell(key, at);
        if gpus.is_empty() {
            continue;
        }
        match database::tasks::get(shared.store.database.read(), key).await {
            Ok(Some(task)) => events.extend(gpus.iter().map(|gpu| event(&task, node, *gpu, at))),
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, ?key, "its job cannot be told of idle GPUs"),
        }
    }
    if events.is_empty() {
        return;
    }
    match shared.store.write(async |t| database::events::insert_many(t, &events).await).await {
        Ok(()) => {
            let jobs = events.iter().filter_map(|event| event.job).collect();
            happened::show(&shared.live, &shared.jobs, jobs).await;
        }
        Err(error) => tracing::warn!(%error, %node, "jobs cannot be told of idle GPUs"),
    }
}

fn event(task: &Task, node: &NodeName, gpu: u32, at: Timestamp) -> NewEvent {
    let words = format!(
        "{}-{}: GPU {gpu} of {node} has done nothing for a quarter of an hour",
        task.role_name, task.placement.index
    );
    let event = happened::to_job(task.key.job, at, "gpu idle", words);
    NewEvent { attempt: Some(task.key.attempt), warning: true, ..event }
}
