//! Says which tasks of jobs with `isDebug` have failed and are only kept to be looked into. They
//! run as before, to the engine and to the records: what is said is for people.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use api::changes::Change;
use protocol::state::State;
use tokio_util::sync::CancellationToken;

use crate::container::guest::exit;
use crate::known::active::Active;
use crate::known::cluster::Observation;
use crate::known::jobs::KnownJobs;
use crate::known::passes::{Passes, Rhythm};
use crate::shared::Shared;

/// They are looked at so often.
const EVERY: Duration = Duration::from_secs(15);
/// What a task says about its end is read within so long.
const PATIENCE: Duration = Duration::from_secs(10);
/// Engines that hang may hold it up.
pub(crate) const RHYTHM: Rhythm = Rhythm::beside(Duration::from_secs(900));

/// Runs until shutdown.
pub(crate) async fn run(shared: Arc<Shared>, passes: Arc<Passes>, shutdown: CancellationToken) {
    loop {
        tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            () = tokio::time::sleep(EVERY) => {}
        }
        let began = Instant::now();
        let looked = tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            looked = look(&shared) => looked,
        };
        match looked {
            Ok(()) => passes.ended(began),
            Err(error) => {
                tracing::error!(%error, "kept tasks cannot be told from others; it is repeated");
            }
        }
    }
}

async fn look(shared: &Shared) -> Result<(), database::Error> {
    let mut silent = HashSet::new();
    for job in debugged(&shared.jobs).await {
        let tasks = database::tasks::of_job(shared.store.database.read(), job.row.id).await?;
        for task in tasks.into_iter().filter(|task| task.state == State::Running) {
            let node = &task.placement.node;
            if shared.jobs.progress().contains_key(&task.key) || silent.contains(node) {
                continue;
            }
            let engine = match shared.nodes.observations().get(node) {
                Some(Observation::Answers { engine, .. }) => Arc::clone(engine),
                Some(Observation::Silent) | None => continue,
            };
            let name = task.key.container_name(&shared.identity.installation);
            let said = tokio::time::timeout(PATIENCE, exit::said(engine.as_ref(), &name)).await;
            // Its other tasks would not answer either.
            let Ok(said) = said else {
                silent.insert(node.clone());
                continue;
            };
            // Where nothing has ended nothing is said.
            let Some(exit) = said.ok().flatten().filter(|exit| exit.code != 0) else { continue };
            shared.jobs.progress().insert(
                task.key,
                format!("failed with exit code {}: kept to be looked into", exit.code),
            );
            let (id, key) = (job.row.id, job.row.key.clone());
            shared.live.tell_pages(Change::Job { id, key, state: job.row.state });
        }
    }
    Ok(())
}

/// The jobs with `isDebug` that run.
async fn debugged(jobs: &KnownJobs) -> Vec<Active> {
    let asked = jobs.scheduler.ask(|queue| {
        let placed = queue.running().filter_map(|running| queue.job(running.job));
        let debugged = placed.filter(|job| job.spec.debug && job.row.state == State::Running);
        debugged.cloned().collect::<Vec<_>>()
    });
    // A scheduler that begins anew knows of none until it has read them.
    asked.await.unwrap_or_default()
}
