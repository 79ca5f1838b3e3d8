//! Why jobs wait, remembered until anything changes.

use std::collections::{BTreeSet, HashMap};

use protocol::ids::JobId;
use protocol::time::Timestamp;
use protocol::wait::Waiting;

/// Where somebody asked of others so often since the last change, it is said of all at once.
const TIMES: u32 = 8;

/// What was said since the last change. Of some it is said much sooner than of all, and where jobs come and go by
/// the hundred a second it is asked for seldom more than once before the next change.
#[derive(Debug, Default)]
pub(super) struct Said {
    of: HashMap<JobId, Waiting>,
    times: u32,
    /// All of it is as of the moment at which somebody asked first: places are of one order.
    at: Option<Timestamp>,
}

impl Said {
    /// Has it said of these jobs, as far as it was not.
    pub(super) fn of(&mut self, state: &mut scheduler::State, jobs: &[JobId], now: Timestamp) {
        if self.times > TIMES {
            return;
        }
        let others = jobs.iter().copied().filter(|job| !self.of.contains_key(job));
        let others: BTreeSet<JobId> = others.collect();
        if others.is_empty() {
            return;
        }
        self.times += 1;
        let now = *self.at.get_or_insert(now);
        let said =
            if self.times > TIMES { state.waiting(now) } else { state.waiting_of(&others, now) };
        self.of.extend(said);
    }

    /// What was said of a job.
    pub(super) fn get(&self, job: JobId) -> Option<&Waiting> {
        self.of.get(&job)
    }
}
