//! Containers that no active task has: their logs are kept, and they are removed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use engine::Engine;
use protocol::ids::{NodeName, TaskKey};
use tokio::sync::Notify;

use super::act::{Acts, Outcome, outcome};
use crate::known::cluster::Observation;
use crate::shared::Shared;

pub(super) async fn tidy(
    shared: &Arc<Shared>,
    acts: &Acts,
    observations: &HashMap<NodeName, Observation>,
    active: &HashSet<TaskKey>,
) -> Result<(), database::Error> {
    let left = left(shared, acts, observations, active);
    if left.is_empty() {
        return Ok(());
    }
    let keys: Vec<TaskKey> = left.iter().map(|left| left.key).collect();
    let recorded = database::tasks::recorded(shared.database.read(), &keys).await?;
    for Left { key, engine, look } in left {
        let shared = Arc::clone(shared);
        let ran = recorded.contains(&key);
        let permits = Arc::clone(&acts.tidying);
        acts.tidy(key, move || async move {
            let _permit = permits.acquire().await;
            let done = keep_and_remove(&shared, engine.as_ref(), &key, ran).await;
            look.notify_one();
            done
        });
    }
    Ok(())
}

/// A container that no active task has; those that are being saved are left for later.
struct Left {
    key: TaskKey,
    engine: Arc<dyn Engine>,
    look: Arc<Notify>,
}

fn left(
    shared: &Shared,
    acts: &Acts,
    observations: &HashMap<NodeName, Observation>,
    active: &HashSet<TaskKey>,
) -> Vec<Left> {
    let mut left = Vec::new();
    let held = shared.images.held().clone();
    for observation in observations.values() {
        let Observation::Answers { engine, looked, containers, look, .. } = observation else {
            continue;
        };
        let keys = containers.keys().filter(|key| !active.contains(key) && !held.contains(key));
        left.extend(keys.filter(|key| !acts.pending(key, *looked)).map(|key| Left {
            key: *key,
            engine: Arc::clone(engine),
            look: Arc::clone(look),
        }));
    }
    left
}

/// Keeps the log of a task that ran, then removes its container. Done twice it comes to the same.
async fn keep_and_remove(
    shared: &Shared,
    engine: &dyn Engine,
    key: &TaskKey,
    ran: bool,
) -> Outcome {
    let name = key.container_name(&shared.installation);
    if !ran {
        tracing::warn!(%name, "no job owns this container; it is removed");
    } else if let Err(error) = keep_log(shared, engine, key).await {
        return Outcome::Failed(format!("the log of {name} cannot be kept: {error}"));
    }
    shared.spools.forget(key);
    outcome(engine.remove(&name).await)
}

async fn keep_log(shared: &Shared, engine: &dyn Engine, key: &TaskKey) -> Result<(), String> {
    let log = match shared.spools.whole(shared, engine, key).await {
        Ok(log) => log,
        Err(engine::EngineError::NoContainer(_)) => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    shared.storage.keep_log(key, &log).await.map_err(|error| error.to_string())
}
