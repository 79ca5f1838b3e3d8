//! Looks whether nodes have the storages by now that they were found to lack: the jobs that ask for them
//! wait for that, and are not tried until then. A container of ours tells.

use std::sync::Arc;
use std::time::{Duration, Instant};

use database::storages::Storage;
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
const PATIENCE: Duration = Duration::from_secs(5);
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
    let pause = PATIENCE.min(shared.settings.rules.closed_nodes.tried_after);
    passes.repeat(pause, &shutdown, || pass(&shared)).await;
}

/// Tries what is due. Says whether what is set up could be read.
async fn pass(shared: &Shared) -> bool {
    let cluster = shared.nodes.cluster();
    keep(shared, |node, _| cluster.node(node).is_some());
    let due = shared.nodes.lacking.due(Instant::now());
    if due.is_empty() {
        return true;
    }
    let stored = match database::storages::list(shared.store.database.read()).await {
        Ok(stored) => stored,
        Err(error) => {
            tracing::error!(%error, "what storages there are cannot be read; it is repeated");
            return false;
        }
    };
    let mut tries = Vec::new();
    for due in due {
        tries.push(try_one(shared, &stored, due));
    }
    let mut tries = futures::stream::iter(tries).buffer_unordered(AT_ONCE);
    while let Some((due, found)) = tries.next().await {
        conclude(shared, &due, &found);
    }
    true
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
        shared.live.bells.schedule.ring();
    }
}

async fn try_one(shared: &Shared, stored: &[Storage], due: Due) -> (Due, Found) {
    let found = look(shared, stored, &due).await;
    (due, found)
}

/// Whether a container of ours can have it there.
async fn look(shared: &Shared, stored: &[Storage], due: &Due) -> Found {
    let engine = match shared.nodes.observations().get(&due.node) {
        Some(Observation::Answers { engine, .. }) => Arc::clone(engine),
        Some(Observation::Silent) | None => return Found::Silence,
    };
    let cluster = shared.nodes.cluster();
    let mounted = storages::part(stored, &due.part);
    let (Some(node), Some(mounted)) = (cluster.node(&due.node), mounted) else {
        return Found::Nothing;
    };
    let mount = folders::mount(&shared.settings, node);
    let given = match storages::given(&shared.seal, mount, &[mounted]) {
        Ok(given) => given,
        Err(NotGiven::Exposed(_)) => return Found::Lack,
        Err(NotGiven::Sealed | NotGiven::Absent(_)) => return Found::Nothing,
    };
    match probe::gives(shared, node, engine.as_ref(), &due.image, given).await {
        Ok(()) => Found::Nothing,
        // It says nothing of the node: the next job that asks for it does.
        Err(error) if probe::is_of_image(&error) => Found::Nothing,
        Err(_) => Found::Lack,
    }
}
