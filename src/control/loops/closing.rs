//! Closes nodes that start nothing: what fails for everybody is closed, not fed. A node is suspected when
//! several jobs in a row have failed to start there; whether it is the node or the jobs, a container of
//! ours tells. That is also how it is opened again. Nodes are closed as well on which a container does not
//! end, whatever is done to it, until it is gone.

use std::sync::Arc;
use std::time::{Duration, Instant};

use api::Actor;
use api::audit::AuditAction;
use api::changes::Change;
use database::Transaction;
use database::audit::NewEntry;
use database::events::NewEvent;
use database::nodes::NodeRecord;
use engine::{Engine, EngineError};
use futures::StreamExt;
use protocol::cluster::{Closed, ClosedCause};
use protocol::ids::{JobId, NodeName, TaskKey, UserName};
use tokio_util::sync::CancellationToken;

use crate::container::probe::probe;
use crate::known::cluster::Observation;
use crate::known::identity::Identity;
use crate::known::nodes::KnownNodes;
use crate::known::passes::{Passes, Rhythm};
use crate::records::audit::Note;
use crate::records::happened;
use crate::records::store::Store;
use crate::shared::Shared;
use crate::wake::now;

/// Closed nodes are looked at so often, whether one may be tried again.
const PATIENCE: Duration = Duration::from_secs(5);
/// So many nodes are tried at the same time.
const AT_ONCE: usize = 16;
/// Nodes that start nothing are closed, and opened, a little later without it.
pub(crate) const RHYTHM: Rhythm = Rhythm::beside(Duration::from_secs(1_800));

/// Runs until shutdown.
pub(crate) async fn run(shared: Arc<Shared>, passes: Arc<Passes>, shutdown: CancellationToken) {
    let patience = PATIENCE.min(shared.settings.rules.closed_nodes.tried_after);
    loop {
        let began = Instant::now();
        tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            () = pass(&shared) => passes.ended(began),
        }
        if !shared.live.wakeups.closing.wait(patience, &shutdown).await {
            return;
        }
    }
}

async fn pass(shared: &Shared) {
    look_for_unkilled(shared).await;
    try_all(shared).await;
}

/// Closes the nodes on which containers do not end, and opens those again where they have.
async fn look_for_unkilled(shared: &Shared) {
    shared.nodes.unkilled.keep(|node, key| may_run(&shared.nodes, node, key));
    // Who opens a node has said before that he knows of them.
    let cluster = shared.nodes.cluster();
    let unkilled = shared.nodes.unkilled.after(shared.settings.rules.closed_nodes.unkilled_after);
    for node in cluster.records() {
        let name = &node.settings.name;
        let done = match (&node.closed, unkilled.get(name)) {
            (None, Some(containers)) => close_for_unkilled(shared, name, containers).await,
            (Some(closed), None) if are_gone(&shared.identity, &shared.nodes, name, closed) => {
                open(shared, name).await
            }
            (Some(_), Some(_) | None) | (None, None) => Ok(()),
        };
        // What is not stored is done anew.
        if let Err(error) = done {
            tracing::error!(node = %name, %error, "whether it is closed cannot be stored");
        }
    }
}

/// Whether a container runs on a node, or may: nothing is seen of a silent one.
fn may_run(nodes: &KnownNodes, node: &NodeName, key: &TaskKey) -> bool {
    match nodes.observations().get(node) {
        Some(Observation::Answers { containers, .. }) => {
            containers.get(key).is_some_and(|container| container.status.is_running())
        }
        Some(Observation::Silent) => true,
        None => false,
    }
}

/// Whether none of the containers runs any more for which a node was closed.
fn are_gone(identity: &Identity, nodes: &KnownNodes, node: &NodeName, closed: &Closed) -> bool {
    let observations = nodes.observations();
    let Some(Observation::Answers { containers, .. }) = observations.get(node) else {
        return false;
    };
    let mut running = containers.iter().filter(|container| container.status.is_running());
    let is_one = |key: &TaskKey| {
        let name = key.container_name(&identity.installation);
        closed.containers.contains(&name)
    };
    closed.cause == ClosedCause::Unkilled && !running.any(|container| is_one(&container.key))
}

/// Tries the nodes that are suspected or closed and whose time has come.
async fn try_all(shared: &Shared) {
    let mut tries = Vec::new();
    for (node, engine) in due(&shared.nodes) {
        tries.push(try_one(shared, node, engine));
    }
    let mut tries = futures::stream::iter(tries).buffer_unordered(AT_ONCE);
    while let Some(()) = tries.next().await {}
}

/// Those of them that answer. What was closed for what does not end there starts all the same, which says
/// nothing.
fn due(nodes: &KnownNodes) -> Vec<(NodeRecord, Arc<dyn Engine>)> {
    let (cluster, now) = (nodes.cluster(), Instant::now());
    let suspects = nodes.faults.suspects();
    let wanted = cluster.records().filter(|node| {
        let name = &node.settings.name;
        let is_wanted = match &node.closed {
            Some(closed) => closed.cause == ClosedCause::StartsNothing,
            None => suspects.contains(name),
        };
        is_wanted && nodes.faults.is_due(name, now)
    });
    let answering =
        wanted.filter_map(|node| match nodes.observations().get(&node.settings.name)? {
            Observation::Answers { engine, .. } => Some((node.clone(), Arc::clone(engine))),
            Observation::Silent => None,
        });
    answering.collect()
}

async fn try_one(shared: &Shared, node: NodeRecord, engine: Arc<dyn Engine>) {
    let name = &node.settings.name;
    let earlier = node.closed.as_ref().map(|closed| closed.failures.as_slice()).unwrap_or_default();
    let images = shared.nodes.faults.images(name, earlier);
    let found = probe(shared, &node, engine.as_ref(), &images).await;
    let done = match (&found, &node.closed) {
        (Ok(()), Some(_)) => open(shared, name).await,
        (Err(error), None) => close_for_starts(shared, name, error).await,
        (Ok(()), None) | (Err(_), Some(_)) => Ok(()),
    };
    // What is not stored is tried anew.
    if let Err(error) = done {
        tracing::error!(node = %name, %error, "whether it is closed cannot be stored");
        return;
    }
    let pause = shared.settings.rules.closed_nodes.tried_after;
    match found {
        Ok(()) => shared.nodes.faults.found_well(name, pause, Instant::now()),
        Err(_) => shared.nodes.faults.found_broken(name, pause, Instant::now()),
    }
}

/// A node starts nothing. Whose tasks it failed to start is told so.
async fn close_for_starts(
    shared: &Shared,
    name: &NodeName,
    error: &EngineError,
) -> Result<(), database::Error> {
    let failed = shared.nodes.faults.failures(name);
    let closed = Closed {
        since: now(),
        cause: ClosedCause::StartsNothing,
        message: error.to_string(),
        failures: failed.iter().map(|failed| failed.failure.clone()).collect(),
        containers: Vec::new(),
    };
    let message = format!("{name} takes nothing new, since it fails to start tasks");
    close(&shared.store, name, &closed).await?;
    let jobs: Vec<JobId> = failed.iter().map(|failed| failed.job).collect();
    tell(&shared.store, name, &jobs, &message).await;
    show(shared, name).await
}

/// Containers do not end on a node. Whose they are is told so.
async fn close_for_unkilled(
    shared: &Shared,
    name: &NodeName,
    keys: &[TaskKey],
) -> Result<(), database::Error> {
    let containers: Vec<String> =
        keys.iter().map(|key| key.container_name(&shared.identity.installation)).collect();
    let closed = Closed {
        since: now(),
        cause: ClosedCause::Unkilled,
        message: format!("{} cannot be killed", containers.join(", ")),
        failures: Vec::new(),
        containers,
    };
    let message =
        format!("{name} takes nothing new, since a task of this job cannot be killed there");
    close(&shared.store, name, &closed).await?;
    // They are in order.
    let mut jobs: Vec<JobId> = keys.iter().map(|key| key.job).collect();
    jobs.dedup();
    tell(&shared.store, name, &jobs, &message).await;
    show(shared, name).await
}

/// A node takes nothing new any more.
async fn close(store: &Store, name: &NodeName, closed: &Closed) -> Result<(), database::Error> {
    tracing::warn!(node = %name, message = %closed.message, "it is closed: it takes nothing new");
    let detail = format!("closed by itself: {}", closed.message);
    let entry = entry(name, detail);
    let close = async |t: &Transaction| {
        if database::nodes::close_for(t, name, closed).await? {
            database::audit::insert(t, &entry).await?;
        }
        Ok(())
    };
    store.write(close).await
}

/// A node takes tasks again, unless an administrator drains it.
async fn open(shared: &Shared, name: &NodeName) -> Result<(), database::Error> {
    tracing::info!(node = %name, "it is opened again: it takes tasks");
    let entry = entry(name, "opened again by itself".to_owned());
    let open = async |t: &Transaction| {
        if database::nodes::open(t, name).await? {
            database::audit::insert(t, &entry).await?;
        }
        Ok(())
    };
    shared.store.write(open).await?;
    show(shared, name).await
}

/// Has everybody know what was stored.
async fn show(shared: &Shared, name: &NodeName) -> Result<(), database::Error> {
    shared.nodes.cluster.read_node(&shared.store.database, name).await?;
    shared.live.tell(Change::Node { name: name.clone() });
    shared.live.wakeups.schedule.wake();
    Ok(())
}

/// What the server does by itself is written down as the system's doing.
fn entry(name: &NodeName, detail: String) -> NewEntry {
    let user = UserName::new("system").expect("the word is a valid user name");
    let note =
        Note { action: AuditAction::NodeDrained, object: name.to_string(), detail, address: None };
    note.by(&Actor { user, admin: true })
}

/// Tells in the jobs' events that it is the node. A job may be gone: nothing depends on it.
async fn tell(store: &Store, name: &NodeName, jobs: &[JobId], message: &str) {
    let event = |job: &JobId| NewEvent {
        warning: true,
        ..happened::to_job(*job, now(), "node closed", message)
    };
    let events: Vec<NewEvent> = jobs.iter().map(event).collect();
    for event in events.chunks(1) {
        let stored = store.write(async |t| database::events::insert_many(t, event).await).await;
        if let Err(error) = stored {
            tracing::warn!(node = %name, %error, "a job is not told that its node is closed");
        }
    }
}
