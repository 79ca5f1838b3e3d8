//! What is known of jobs that have not ended.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use protocol::ids::{JobId, TaskKey};
use protocol::time::Timestamp;

use super::active::ActiveJobs;
use super::leases::Leases;
use super::queue::{Published, Reader, Reason, SchedulerHandle};
use crate::lock::lock;

/// Who looks at a list waits so long for what its jobs wait for, where there is something to show that was so a
/// moment ago. Without optimisation a pass takes many times as long.
const MOMENT: Duration = Duration::from_millis(if cfg!(debug_assertions) { 2_000 } else { 10 });

/// And so long where there is nothing to show: a list without reasons says less than one that is late.
const LONGEST: Duration = Duration::from_secs(2);

/// Whoever waits for less than this, in milliseconds, may not have been looked at by anybody yet: he is told of without
/// a reason rather than late.
const NEW: i64 = 1_000;

/// Jobs that have not ended, and who decides when they start.
#[derive(Debug)]
pub(crate) struct KnownJobs {
    pub(crate) active: ActiveJobs,
    /// The owner of the queue.
    pub(crate) scheduler: SchedulerHandle,
    /// How long tasks run on without a word from this server.
    pub(crate) leases: Leases,
    /// What preparing tasks are doing, for people to read.
    progress: Mutex<HashMap<TaskKey, String>>,
}

impl KnownJobs {
    pub(crate) fn new(scheduler: SchedulerHandle, leases: Leases) -> Self {
        Self { active: ActiveJobs::default(), scheduler, leases, progress: Mutex::default() }
    }

    /// Asks the scheduler for somebody, who waits until it has time. What can be seen of it without, its
    /// [lists](Self::seen) say.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Reader<'_>) -> T + Send + 'static,
    ) -> api::Result<T> {
        Ok(self.scheduler.ask(move |queue| question(&mut Reader::of(queue))).await?)
    }

    /// What is held and how many wait, as the scheduler knew it a moment ago: nobody waits for it.
    pub(crate) fn seen(&self) -> Arc<Published> {
        self.scheduler.published()
    }

    /// Why jobs wait that were submitted then, their places, and when they may start: now, or a moment ago.
    pub(crate) async fn waiting(
        &self,
        jobs: &[(JobId, Timestamp)],
        now: Timestamp,
    ) -> HashMap<JobId, Reason> {
        let older = jobs.iter().filter(|(_, submitted_at)| now.since(*submitted_at) >= NEW);
        let older: Vec<JobId> = older.map(|(job, _)| *job).collect();
        let patience = if self.scheduler.told_lately(&older) { MOMENT } else { LONGEST };
        self.scheduler.waiting(jobs.iter().map(|(job, _)| *job).collect(), patience).await
    }

    pub(crate) fn progress(&self) -> MutexGuard<'_, HashMap<TaskKey, String>> {
        lock(&self.progress)
    }
}
