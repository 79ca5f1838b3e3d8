//! What is known of jobs that have not ended.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use protocol::ids::TaskKey;

use super::active::ActiveJobs;
use super::leases::Leases;
use super::queue::{Queue, SchedulerHandle};
use crate::lock::lock;

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

    /// Asks the scheduler for somebody.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Queue) -> T + Send + 'static,
    ) -> api::Result<T> {
        Ok(self.scheduler.ask(question).await?)
    }

    pub(crate) fn progress(&self) -> MutexGuard<'_, HashMap<TaskKey, String>> {
        lock(&self.progress)
    }
}
