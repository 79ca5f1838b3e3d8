//! Containers that no active task has: their logs are kept, and they are removed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use engine::{Engine, LogRequest};
use futures::StreamExt;
use protocol::ids::{NodeName, TaskKey};
use storage::{KeptLog, LogLimits};

use super::act::{Acts, Outcome, outcome};
use crate::cluster::Observation;
use crate::shared::Shared;

pub(super) fn tidy(
    shared: &Arc<Shared>,
    acts: &Acts,
    observations: &HashMap<NodeName, Observation>,
    active: &HashSet<TaskKey>,
) {
    for observation in observations.values() {
        let Observation::Answers { engine, looked, containers, look, .. } = observation else {
            continue;
        };
        let left = containers.keys().filter(|key| !active.contains(key));
        for key in left.filter(|key| !acts.pending(key, *looked)) {
            let (shared, engine, key) = (Arc::clone(shared), Arc::clone(engine), *key);
            let look = Arc::clone(look);
            acts.tidy(key, move || async move {
                let done = keep_and_remove(&shared, engine.as_ref(), &key).await;
                look.notify_one();
                done
            });
        }
    }
}

/// Keeps the log of a task that ran, then removes its container. Done twice it comes to the same.
async fn keep_and_remove(shared: &Shared, engine: &dyn Engine, key: &TaskKey) -> Outcome {
    let name = key.container_name(&shared.installation);
    match database::tasks::get(shared.database.read(), key).await {
        Ok(Some(_)) => {
            if let Err(error) = keep_log(shared, engine, key, &name).await {
                return Outcome::Failed(format!("the log of {name} cannot be kept: {error}"));
            }
        }
        Ok(None) => tracing::warn!(%name, "no job owns this container; it is removed"),
        Err(error) => return Outcome::Failed(error.to_string()),
    }
    outcome(engine.remove(&name).await)
}

async fn keep_log(
    shared: &Shared,
    engine: &dyn Engine,
    key: &TaskKey,
    name: &str,
) -> Result<(), String> {
    let request = LogRequest { follow: false, since: None, tail_lines: None };
    let mut chunks = match engine.logs(name, request).await {
        Ok(chunks) => chunks,
        Err(engine::EngineError::NoContainer(_)) => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    let mut log = KeptLog::new(LogLimits::default());
    while let Some(chunk) = chunks.next().await {
        log.push(&chunk.map_err(|error| error.to_string())?.bytes);
    }
    shared.storage.keep_log(key, log).await.map_err(|error| error.to_string())
}
