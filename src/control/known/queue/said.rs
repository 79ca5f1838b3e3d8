//! Why jobs wait, remembered until anything changes.

use std::collections::{BTreeSet, HashMap};

use protocol::ids::JobId;
use protocol::time::Timestamp;
use protocol::wait::Waiting;
use scheduler::Places;

/// What was said since the last change.
#[derive(Debug, Default)]
pub(super) struct Said {
    of: HashMap<JobId, Waiting>,
    /// As of the moment at which somebody asked first: places are of one order, and whoever asks of others is told
    /// theirs at once.
    places: Option<Places>,
}

impl Said {
    /// Has it said of these jobs, as far as it was not.
    pub(super) fn of(&mut self, state: &mut scheduler::State, jobs: &[JobId], now: Timestamp) {
        let others = jobs.iter().copied().filter(|job| !self.of.contains_key(job));
        let others: BTreeSet<JobId> = others.collect();
        if others.is_empty() {
            return;
        }
        let places = self.places.get_or_insert_with(|| state.places(now));
        self.of.extend(state.waiting_of(&others, places));
    }

    /// What was said of a job.
    pub(super) fn get(&self, job: JobId) -> Option<&Waiting> {
        self.of.get(&job)
    }
}
