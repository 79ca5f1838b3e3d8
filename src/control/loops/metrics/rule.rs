//! What virtual clusters' rules say of jobs whose GPUs do nothing: they are warned, and then stopped.

use database::events::NewEvent;
use protocol::cluster::IdleRule;
use protocol::ids::{JobId, VirtualClusterName};
use protocol::notifications::Occasion;
use protocol::time::Timestamp;
use protocol::words::counted;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::known::idling::{Holder, ToWarn};
use crate::known::queue::{Queue, Unanswered};
use crate::records::{happened, notices};
use crate::shared::Shared;

/// Each GPU is measured some times between two looks.
const TIMES: u32 = 3;

/// Why a look failed.
#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Records(#[from] database::Error),
    #[error(transparent)]
    Scheduler(#[from] Unanswered),
}

/// Runs until shutdown.
pub(super) async fn run(shared: &Shared, shutdown: &CancellationToken) {
    let mut times =
        tokio::time::interval(shared.settings.rules.measured_every.0.saturating_mul(TIMES));
    times.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            _ = times.tick() => {
                if let Err(error) = look(shared, shared.settings.rules.clock.now()).await {
                    tracing::warn!(%error, "idle GPUs are not looked at; that is tried again");
                }
            }
        }
    }
}

async fn look(shared: &Shared, at: Timestamp) -> Result<(), Failed> {
    if shared.settings.rules.unmeasured {
        return Ok(());
    }
    let holders = shared.jobs.scheduler.ask(|queue| holders(queue)).await?;
    let kept =
        database::kept_jobs::of_jobs(shared.store.database.read(), &shared.readings.idle.long(at))
            .await?;
    let peaks = shared.readings.measured.take_peaks();
    let cluster = shared.nodes.cluster();
    let rule_of = |name: &VirtualClusterName| {
        cluster.virtual_cluster(name).and_then(|settings| settings.idle)
    };
    let to_warn = shared.readings.idle.look(holders, &peaks, rule_of, &kept, at);
    if shared.readings.idle.stops_any() {
        shared.live.wakeups.schedule.wake();
    }
    if to_warn.is_empty() {
        return Ok(());
    }
    let events: Vec<NewEvent> = to_warn.iter().map(|job| warning(job, at)).collect();
    let jobs: Vec<JobId> = to_warn.iter().map(|job| job.job).collect();
    let keys = shared.jobs.scheduler.ask(move |queue| {
        jobs.iter().filter_map(|job| queue.key(*job).cloned()).collect::<Vec<_>>()
    });
    let keys = keys.await?;
    let told = keys.iter().flat_map(|key| {
        let told = (Occasion::Idle, "its GPUs do nothing".to_owned());
        notices::of_job(&shared.outbound, (key, None), told, at)
    });
    let told: Vec<_> = told.collect();
    let write = async |t: &database::Transaction| {
        database::events::insert_many(t, &events).await?;
        database::notifications::put(t, &told).await
    };
    shared.store.write(write).await?;
    happened::show(&shared.live, &shared.jobs, to_warn.iter().map(|job| job.job).collect()).await;
    Ok(())
}

/// The jobs that hold GPUs and go on.
fn holders(queue: &Queue) -> Vec<Holder> {
    let running = queue.running().filter(|running| !running.stopping);
    let holders = running.filter_map(|running| {
        let gpus: usize = running.tasks.iter().map(|(task, _)| task.gpus.len()).sum();
        let row = &queue.job(running.job)?.row;
        (gpus > 0).then(|| Holder {
            job: running.job,
            key: row.key.clone(),
            virtual_cluster: running.virtual_cluster.clone(),
            attempt: row.attempt.unwrap_or(0),
            gpus: u32::try_from(gpus).unwrap_or(u32::MAX),
            placed_at: running.started_at,
        })
    });
    holders.collect()
}

fn warning(job: &ToWarn, at: Timestamp) -> NewEvent {
    let IdleRule { minutes, stop_after, .. } = job.rule;
    let idle = counted(minutes, "minute");
    let words = match stop_after.map(|after| counted(after, "minute")) {
        Some(after) => format!(
            "its GPUs did nothing for {idle}: it is stopped in {after} unless somebody keeps it"
        ),
        None => format!("its GPUs did nothing for {idle}"),
    };
    let event = happened::to_job(job.job, at, "idle", words);
    NewEvent { attempt: Some(job.attempt), warning: true, ..event }
}
