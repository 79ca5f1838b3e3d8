//! Lets tasks with a lease run on: talks to each of them again and again. Whether a lease is over is the
//! jobs' loop's to say.

use std::sync::Arc;
use std::time::{Duration, Instant};

use api::changes::Change;
use protocol::state::State;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::container::lease;
use crate::known::jobs::KnownJobs;
use crate::known::leases::{Leased, News};
use crate::known::live::Live;
use crate::known::passes::{Passes, Rhythm};
use crate::loops::supervised::caught;
use crate::shared::Shared;

/// Those whose turn has come are looked for so often even when nothing wakes the loop.
const PATIENCE: Duration = Duration::from_millis(500);
/// Without it tasks with a lease end.
pub(crate) const RHYTHM: Rhythm = Rhythm::needed(Duration::from_secs(30));

/// Runs until shutdown; conversations under way are broken off, and the next server begins them anew.
pub(crate) async fn run(shared: Arc<Shared>, passes: Arc<Passes>, shutdown: CancellationToken) {
    let talks = TaskTracker::new();
    shared.jobs.leases.begin_anew();
    loop {
        let began = Instant::now();
        for task in shared.jobs.leases.due() {
            talks.spawn(talk(Arc::clone(&shared), task, shutdown.clone()));
        }
        passes.ended(began);
        if !shared.live.wakeups.leases.wait(PATIENCE, &shutdown).await {
            break;
        }
    }
    talks.close();
    talks.wait().await;
}

async fn talk(shared: Arc<Shared>, task: Leased, shutdown: CancellationToken) {
    let renewed = tokio::select! {
        biased;
        () = shutdown.cancelled() => return,
        renewed = caught(lease::renew(&shared, &task)) => renewed,
    };
    let failure = match renewed {
        Ok(Ok(())) => None,
        Ok(Err(failure)) => Some(failure.to_string()),
        Err(panic) => {
            shared.counts.own_failures.note_panic();
            Some(format!("this server panicked: {panic}"))
        }
    };
    let news = shared.jobs.leases.done(&task.key, failure.is_none());
    tell(&shared.live, &shared.jobs, &task, news, &failure.unwrap_or_default());
}

fn tell(live: &Live, jobs: &KnownJobs, task: &Leased, news: Option<News>, failure: &str) {
    let Leased { key, epoch: _, job, node, address, port } = task;
    match news {
        None => return,
        Some(News::First) => {
            if jobs.progress().remove(key).is_none() {
                return;
            }
        }
        Some(News::Unheard) => {
            tracing::warn!(?key, %job, %node, failure, "a task's lease cannot begin");
            let said = format!(
                "waiting: the server cannot reach it at {address}, port {port}, which its lease needs"
            );
            jobs.progress().insert(*key, said);
        }
        Some(News::Silent(silent)) => {
            tracing::warn!(?key, %job, %node, failure, ?silent, "nothing is heard of a task");
            return;
        }
    }
    live.tell_pages(Change::Job { id: key.job, key: job.clone(), state: State::Running });
}
