//! Why jobs wait, as the owner of the queue said it last of those of whom somebody has asked.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use protocol::ids::JobId;
use protocol::wait::{Expected, Waiting};

use crate::lock::lock;

/// Why a job waits and its place, and when it may start.
pub(crate) type Reason = (Waiting, Option<Expected>);

/// For so long what was said may be said again, where the owner is busy.
const LATELY: Duration = Duration::from_secs(10);

/// For so long it is not asked again, unless anything changes: what is expected of others goes by the clock.
const MOMENT: Duration = Duration::from_secs(1);

/// When it is known of more jobs than these, what was said before that is forgotten.
const MOST: usize = 4_096;

#[derive(Debug, Default)]
pub(super) struct Reasons(Mutex<HashMap<JobId, Said>>);

#[derive(Debug)]
struct Said {
    at: Instant,
    /// After how many changes.
    as_of: u64,
    /// `None`: that it does not wait, as far as the owner knows.
    reason: Option<Reason>,
}

impl Reasons {
    /// Whether all that was said of these jobs is as after so many changes.
    pub(super) fn hold(&self, jobs: &[JobId], as_of: u64) -> bool {
        let known = lock(&self.0);
        let holds = |said: &Said| said.as_of == as_of && said.at.elapsed() < MOMENT;
        jobs.iter().all(|job| known.get(job).is_some_and(holds))
    }

    /// Whether something was said of all of these jobs lately.
    pub(super) fn are_known(&self, jobs: &[JobId]) -> bool {
        let known = lock(&self.0);
        let is_known = |said: &Said| said.at.elapsed() < LATELY;
        jobs.iter().all(|job| known.get(job).is_some_and(is_known))
    }

    /// This was just said of these jobs, after so many changes.
    pub(super) fn note(&self, jobs: &[JobId], mut said: HashMap<JobId, Reason>, as_of: u64) {
        let (at, mut known) = (Instant::now(), lock(&self.0));
        if known.len() > MOST {
            known.retain(|_, said| said.at.elapsed() < LATELY);
        }
        let of = |job: &JobId| (*job, Said { at, as_of, reason: said.remove(job) });
        known.extend(jobs.iter().map(of));
    }

    /// What was said of these jobs lately.
    pub(super) fn of(&self, jobs: &[JobId]) -> HashMap<JobId, Reason> {
        let known = lock(&self.0);
        let of = |job: &JobId| {
            let said = known.get(job).filter(|said| said.at.elapsed() < LATELY)?;
            Some((*job, said.reason.clone()?))
        };
        jobs.iter().filter_map(of).collect()
    }
}
