//! What a change would do, thought through on the scheduler's last look.

use std::sync::Arc;
use std::time::Duration;

use api::queue::{Affected, Effect};
use api::{Error, ErrorCode, Result};
use protocol::ids::JobId;
use scheduler::Change;

use crate::error::internal;
use crate::known::queue::Queue;
use crate::shared::Shared;
use crate::wake::now;

/// So long one waits for others' changes to be thought through.
const PATIENCE: Duration = Duration::from_secs(10);
/// Jobs that are named.
const NAMED: usize = 12;

/// What a change would do. It costs two passes of the scheduler, so there is one at a time.
pub(super) async fn of(shared: &Arc<Shared>, change: Change) -> Result<Effect> {
    let turn = tokio::time::timeout(PATIENCE, shared.scheduler.thinking.lock()).await;
    let _one_at_a_time = turn.map_err(|_elapsed| {
        let message = "other changes are being thought through; ask again in a moment";
        Error::new(ErrorCode::UnavailableError, message)
    })?;
    let snapshot = shared.ask(|queue| queue.snapshot()).await?;
    let thought = tokio::task::spawn_blocking(move || snapshot.effect_of(&change, now()));
    let effect = thought.await.map_err(internal)?;
    shared.ask(move |queue| view(&effect, queue)).await
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
