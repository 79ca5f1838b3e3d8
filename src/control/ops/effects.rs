//! What a change would do, thought through on the scheduler's last look.

use std::time::Duration;

use api::queue::{Affected, Effect};
use api::{Error, ErrorCode, Result};
use protocol::ids::JobId;
use scheduler::Change;

use crate::known::jobs::KnownJobs;
use crate::known::queue::Queue;

/// So long one waits for others' changes to be thought through.
const PATIENCE: Duration = Duration::from_secs(10);
/// Jobs that are named.
const NAMED: usize = 12;

/// What a change would do.
pub(super) async fn of(jobs: &KnownJobs, change: Change) -> Result<Effect> {
    let effect = jobs.scheduler.think(change, PATIENCE).await?;
    let effect = effect.ok_or_else(|| {
        let message = "other changes are being thought through; ask again in a moment";
        Error::new(ErrorCode::UnavailableError, message)
    })?;
    jobs.ask(move |queue| view(&effect, queue)).await
}

fn view(effect: &scheduler::Effect, queue: &Queue) -> Effect {
    let scheduler::Effect { start, wait, preempted, loses_guarantee, displaced, impossible } =
        effect;
    let of = |jobs: &[JobId]| affected(jobs, queue);
    Effect {
        start: of(start),
        wait: of(wait),
        preempted: of(preempted),
        loses_guarantee: of(loses_guarantee),
        displaced: of(displaced),
        moved: Affected::default(),
        impossible: of(impossible),
        overpromised: Vec::new(),
    }
}

fn affected(jobs: &[JobId], queue: &Queue) -> Affected {
    let mut affected = Affected::default();
    for row in jobs.iter().filter_map(|job| queue.job(*job)).map(|job| &job.row) {
        *affected.counts.entry(row.virtual_cluster.clone()).or_default() += 1;
        if affected.jobs.len() < NAMED {
            affected.jobs.push(row.key.clone());
        }
    }
    affected.jobs.sort_unstable_by_key(ToString::to_string);
    affected
}
