//! Containers that no active task has: their logs are kept, and they are removed.

use std::sync::Arc;
use std::time::Instant;

use engine::Engine;
use protocol::ids::{NodeName, TaskKey};
use tokio::sync::Notify;

use super::act::Acts;
use super::cases::Cases;
use super::outcome::Outcome;
use super::turns::{Turn, Turns};
use crate::known::cluster::Observation;
use crate::shared::Shared;

pub(super) async fn tidy(
    shared: &Arc<Shared>,
    acts: &Acts,
    cases: &mut Cases,
    whole: bool,
) -> Result<(), database::Error> {
    let left = left(shared, acts, cases);
    if left.is_empty() {
        return Ok(());
    }
    let keys: Vec<TaskKey> = left.iter().map(|left| left.key).collect();
    let recorded = database::tasks::recorded(shared.store.database.read(), &keys).await?;
    for Left { key, node, engine, look, runs } in left {
        let state = recorded.get(&key);
        // Nothing that runs is taken away on the word of memory alone.
        if !whole && state.is_some_and(|state| !state.is_final()) {
            tracing::warn!(?key, "a task has not ended that was thought to have: all is read anew");
            cases.doubt();
            continue;
        }
        let shared = Arc::clone(shared);
        let ran = state.is_some();
        let (tidying, untidy) = (Arc::clone(&acts.tidying), Arc::clone(&acts.untidy));
        acts.tidy(key, move || async move {
            let of_node = (&node, &*engine, &*tidying);
            let done = keep_and_remove(&shared, of_node, &key, (ran, runs)).await;
            if matches!(done, Outcome::Failed(_)) {
                untidy.failed(node, Instant::now());
            } else {
                untidy.succeeded(&node);
            }
            look.notify_one();
            done
        });
    }
    Ok(())
}

/// A container that no active task has.
struct Left {
    key: TaskKey,
    node: NodeName,
    engine: Arc<dyn Engine>,
    look: Arc<Notify>,
    /// It was seen to run.
    runs: bool,
}

/// Those that are to be removed now; those that are being saved, and those of nodes where that has
/// just failed, are left for later, and those of jobs that cannot be read where they are.
fn left(shared: &Shared, acts: &Acts, cases: &Cases) -> Vec<Left> {
    let (held, damage, now) =
        (shared.containers.images.held(), shared.jobs.active.damage(), Instant::now());
    let stays = |key: &TaskKey| held.contains(key) || damage.jobs().contains(&key.job);
    let left = cases.left().filter(|(key, _)| !stays(key));
    let left = left.filter(|(_, node)| !acts.untidy.rests(node, now));
    let left = left.filter_map(|(key, node)| match cases.seen().get(node)? {
        Observation::Answers { engine, looked, look, containers, .. }
            if !acts.pending(&key, *looked) =>
        {
            let (engine, look) = (Arc::clone(engine), Arc::clone(look));
            let runs = containers.get(&key).is_some_and(|container| container.status.is_running());
            Some(Left { key, node: node.clone(), engine, look, runs })
        }
        Observation::Answers { .. } | Observation::Silent => None,
    });
    left.collect()
}

/// Keeps the log of a task that ran, then removes its container. Done twice it comes to the same.
async fn keep_and_remove(
    shared: &Shared,
    (node, engine, tidying): (&NodeName, &dyn Engine, &Turns),
    key: &TaskKey,
    (ran, runs): (bool, bool),
) -> Outcome {
    let name = key.container_name(&shared.identity.installation);
    if !ran {
        tracing::warn!(%name, "no job owns this container; it is removed");
    } else {
        // Whoever follows it has it whole in a moment, and takes nobody's turn meanwhile.
        shared.spools.settled(key).await;
        let turn = tidying.take(node).await;
        if let Err(error) = keep_log(shared, engine, key, turn).await {
            return Outcome::Failed(format!("the log of {name} cannot be kept: {error}"));
        }
    }
    shared.spools.forget(key);
    if runs {
        shared.nodes.unkilled.told(node, *key, Instant::now());
    }
    engine.remove(&name).await.into()
}

async fn keep_log(
    shared: &Shared,
    engine: &dyn Engine,
    key: &TaskKey,
    turn: Turn,
) -> Result<(), String> {
    let log = match shared.spools.whole(&shared.identity, engine, key).await {
        Ok(log) => log,
        Err(engine::EngineError::NoContainer(_)) => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    // A short one waits for the disk alone, and the more of them wait together the fewer times they do.
    let _turn = (!log.is_short()).then_some(turn);
    shared.store.storage.keep_log(key, &log).await.map_err(|error| error.to_string())
}
