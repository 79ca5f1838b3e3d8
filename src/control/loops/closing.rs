//! Closes nodes that start nothing: what fails for everybody is closed, not fed. A node is suspected when
//! several jobs in a row have failed to start there; whether it is the node or the jobs, a container of
//! ours tells. That is also how it is opened again.

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
use protocol::cluster::Closed;
use protocol::ids::{NodeName, UserName};
use tokio_util::sync::CancellationToken;

use crate::container::probe::probe;
use crate::known::cluster::Observation;
use crate::known::faults::Failed;
use crate::known::passes::{Passes, Rhythm};
use crate::records::audit::Note;
use crate::records::happened;
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
    let patience = PATIENCE.min(shared.rules.closed_nodes.tried_after);
    loop {
        let began = Instant::now();
        tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            () = try_all(&shared) => passes.ended(began),
        }
        if !shared.bells.closing.wait(patience, &shutdown).await {
            return;
        }
    }
}

/// Tries the nodes that are suspected or closed and whose time has come.
async fn try_all(shared: &Shared) {
    let mut tries = Vec::new();
    for (node, engine) in due(shared) {
        tries.push(try_one(shared, node, engine));
    }
    let mut tries = futures::stream::iter(tries).buffer_unordered(AT_ONCE);
    while let Some(()) = tries.next().await {}
}

/// Those of them that answer.
fn due(shared: &Shared) -> Vec<(NodeRecord, Arc<dyn Engine>)> {
    let (cluster, now) = (shared.cluster(), Instant::now());
    let suspects = shared.faults.suspects();
    let wanted = cluster.records().filter(|node| {
        let name = &node.settings.name;
        (node.closed.is_some() || suspects.contains(name)) && shared.faults.is_due(name, now)
    });
    let answering =
        wanted.filter_map(|node| match shared.observations().get(&node.settings.name)? {
            Observation::Answers { engine, .. } => Some((node.clone(), Arc::clone(engine))),
            Observation::Silent => None,
        });
    answering.collect()
}

async fn try_one(shared: &Shared, node: NodeRecord, engine: Arc<dyn Engine>) {
    let name = &node.settings.name;
    let earlier = node.closed.as_ref().map(|closed| closed.failures.as_slice()).unwrap_or_default();
    let images = shared.faults.images(name, earlier);
    let found = probe(shared, &node, engine.as_ref(), &images).await;
    let done = match (&found, &node.closed) {
        (Ok(()), Some(_)) => open(shared, name).await,
        (Err(error), None) => close(shared, name, error).await,
        (Ok(()), None) | (Err(_), Some(_)) => Ok(()),
    };
    // What is not stored is tried anew.
    if let Err(error) = done {
        tracing::error!(node = %name, %error, "whether it is closed cannot be stored");
        return;
    }
    let pause = shared.rules.closed_nodes.tried_after;
    match found {
        Ok(()) => shared.faults.found_well(name, pause, Instant::now()),
        Err(_) => shared.faults.found_broken(name, pause, Instant::now()),
    }
}

/// A node takes nothing new any more. Whose tasks it failed to start is told so.
async fn close(
    shared: &Shared,
    name: &NodeName,
    error: &EngineError,
) -> Result<(), database::Error> {
    let failed = shared.faults.failures(name);
    let failures = failed.iter().map(|failed| failed.failure.clone()).collect();
    let closed = Closed { since: now(), message: error.to_string(), failures };
    tracing::warn!(node = %name, %error, "it fails to start containers: it takes nothing new");
    let detail = format!("closed by itself: {}", closed.message);
    let entry = entry(name, detail);
    let close = async |t: &Transaction| {
        if database::nodes::close_for(t, name, &closed).await? {
            database::audit::insert(t, &entry).await?;
        }
        Ok(())
    };
    shared.write(close).await?;
    tell(shared, name, &failed).await;
    show(shared, name).await
}

/// A node takes tasks again, unless an administrator drains it.
async fn open(shared: &Shared, name: &NodeName) -> Result<(), database::Error> {
    tracing::info!(node = %name, "it starts containers again: it takes tasks");
    let entry = entry(name, "opened again by itself".to_owned());
    let open = async |t: &Transaction| {
        if database::nodes::open(t, name).await? {
            database::audit::insert(t, &entry).await?;
        }
        Ok(())
    };
    shared.write(open).await?;
    show(shared, name).await
}

/// Has everybody know what was stored.
async fn show(shared: &Shared, name: &NodeName) -> Result<(), database::Error> {
    shared.cluster.read_node(&shared.database, name).await?;
    shared.tell(Change::Node { name: name.clone() });
    shared.bells.schedule.ring();
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
async fn tell(shared: &Shared, name: &NodeName, failed: &[Failed]) {
    let message = format!("{name} takes nothing new, since it fails to start tasks");
    let event = |failed: &Failed| NewEvent {
        warning: true,
        ..happened::to_job(failed.job, now(), "node closed", message.as_str())
    };
    let events: Vec<NewEvent> = failed.iter().map(event).collect();
    for event in events.chunks(1) {
        let stored = shared.write(async |t| database::events::insert_many(t, event).await).await;
        if let Err(error) = stored {
            tracing::warn!(node = %name, %error, "a job is not told that its node is closed");
        }
    }
}
