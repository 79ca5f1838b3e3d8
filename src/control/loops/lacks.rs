//! Looks whether nodes have the storages by now that they were found to lack: the jobs that ask for them
//! wait for that, and are not tried until then. A container of ours tells.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use protocol::ids::NodeName;
use tokio_util::sync::CancellationToken;

use crate::container::storages::{self, NotGiven};
use crate::container::{folders, probe};
use crate::known::cluster::Observation;
use crate::known::lacks::{Due, Part};
use crate::known::passes::{Passes, Rhythm};
use crate::shared::Shared;

/// It is looked so often whether something may be tried again.
const EVERY: Duration = Duration::from_secs(5);
/// So many are tried at the same time.
const AT_ONCE: usize = 16;
/// What waits for a storage begins a little later without it.
pub(crate) const RHYTHM: Rhythm = Rhythm::beside(Duration::from_secs(1_800));

/// What a try of ours has found.
enum Found {
    /// It is there, or nobody can tell any more: who asks for it tries anew.
    Nothing,
    /// It still lacks it.
    Lack,
    /// Its node does not answer.
    Silence,
}

/// Runs until shutdown.
pub(crate) async fn run(shared: Arc<Shared>, passes: Arc<Passes>, shutdown: CancellationToken) {
    let pause = EVERY.min(shared.settings.rules.closed_nodes.tried_after);
    passes.repeat(pause, &shutdown, || pass(&shared)).await;
}

/// Tries what is due. Says whether what that takes could be read.
async fn pass(shared: &Shared) -> bool {
    let cluster = shared.nodes.cluster();
    keep(shared, |node, _| cluster.node(node).is_some());
    let due = shared.nodes.lacking.due(Instant::now());
    if due.is_empty() {
        return true;
    }
    let mut tries = Vec::new();
    for due in due {
        tries.push(try_one(shared, due));
    }
    let mut tries = futures::stream::iter(tries).buffer_unordered(AT_ONCE);
    let mut all = true;
    while let Some((due, found)) = tries.next().await {
        match found {
            Ok(found) => conclude(shared, &due, &found),
            Err(error) => {
                all = false;
                tracing::error!(%error, "what storages there are cannot be read; it is repeated");
            }
        }
    }
    all
}

fn conclude(shared: &Shared, due: &Due, found: &Found) {
    match found {
        Found::Nothing => {
            tracing::info!(node = %due.node, storage = %due.part.storage, "it may be there by now");
            keep(shared, |node, part| (node, part) != (&due.node, &due.part));
        }
        Found::Lack => {
            let pause = shared.settings.rules.closed_nodes.tried_after;
            shared.nodes.lacking.still(due, pause, Instant::now());
        }
        Found::Silence => {}
    }
}

/// Forgets all else, of which the scheduler is told.
fn keep(shared: &Shared, is_kept: impl Fn(&NodeName, &Part) -> bool) {
    if shared.nodes.lacking.keep(is_kept) {
        shared.live.wakeups.schedule.wake();
    }
}

async fn try_one(shared: &Shared, due: Due) -> (Due, api::Result<Found>) {
    let found = look(shared, &due).await;
    (due, found)
}

/// Whether a container of ours can have it there, as one of whoever asked for it.
async fn look(shared: &Shared, due: &Due) -> api::Result<Found> {
    let engine = match shared.nodes.observations().get(&due.node) {
        Some(Observation::Answers { engine, .. }) => Arc::clone(engine),
        Some(Observation::Silent) | None => return Ok(Found::Silence),
    };
    let Due { node, part, asked } = due;
    let cluster = shared.nodes.cluster();
    let mounted = storages::part(&shared.store, &shared.people, part, &asked.user).await?;
    let (Some(node), Some(mounted)) = (cluster.node(node), mounted) else {
        return Ok(Found::Nothing);
    };
    let mount = folders::mount(&shared.settings, node);
    let given = match storages::given(&shared.seal, mount, &[mounted]) {
        Ok(given) => given,
        Err(NotGiven::Exposed(_)) => return Ok(Found::Lack),
        Err(NotGiven::Sealed | NotGiven::Absent(_)) => return Ok(Found::Nothing),
    };
    Ok(match probe::gives(shared, node, engine.as_ref(), &asked.image, given).await {
        Ok(()) => Found::Nothing,
        // It says nothing of the node: the next job that asks for it does.
        Err(error) if probe::is_of_image(&error) => Found::Nothing,
        Err(_) => Found::Lack,
    })
}
