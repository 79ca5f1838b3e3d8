//! Jobs whose launch is put off since something of this server's own has failed. That is nobody's
//! try: all tasks of the job wait for the same moment, later after each failure in a row.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use protocol::ids::JobId;

use crate::known::own_failures::Ours;
use crate::lock::lock;

/// The attempts of jobs that are put off, and those that were and have not been launched since.
#[derive(Debug, Default)]
pub(crate) struct Backoffs(Mutex<HashMap<(JobId, u32), Backoff>>);

#[derive(Debug)]
struct Backoff {
    ours: Ours,
    /// So often in a row.
    failures: u32,
    until: Instant,
}

impl Backoffs {
    /// What an attempt waits for, if it is put off.
    pub(crate) fn waits(&self, attempt: (JobId, u32), now: Instant) -> Option<Ours> {
        let all = lock(&self.0);
        all.get(&attempt).filter(|backoff| now < backoff.until).map(|backoff| backoff.ours)
    }

    /// Puts an attempt off and says for how long. `None`: it is put off already, since many of its
    /// tasks meet the same failure at the same time.
    pub(crate) fn failed(
        &self,
        attempt: (JobId, u32),
        ours: Ours,
        now: Instant,
    ) -> Option<Duration> {
        let mut all = lock(&self.0);
        let last = all.get(&attempt);
        if last.is_some_and(|last| now < last.until) {
            return None;
        }
        let failures = last.map_or(0, |last| last.failures).saturating_add(1);
        let pause = pause_after(failures);
        all.insert(attempt, Backoff { ours, failures, until: now + pause });
        Some(pause)
    }

    /// A task of it was launched: the next failure is the first one again. What was begun before the
    /// last failure says nothing.
    pub(crate) fn succeeded(&self, attempt: (JobId, u32), now: Instant) {
        let mut all = lock(&self.0);
        if all.get(&attempt).is_some_and(|last| last.until <= now) {
            all.remove(&attempt);
        }
    }

    /// Forgets all attempts but the current ones of jobs that go on.
    pub(crate) fn forget_all_but(&self, is_current: impl Fn(JobId, u32) -> bool) {
        lock(&self.0).retain(|(job, attempt), _| is_current(*job, *attempt));
    }
}

/// The pause after so many failures in a row: doubling from one second to half a minute.
pub(crate) fn pause_after(failures: u32) -> Duration {
    Duration::from_millis(500 << failures.min(6))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ATTEMPT: (JobId, u32) = (JobId(1), 0);

    #[test]
    fn a_job_is_put_off_for_longer_after_each_failure_in_a_row() {
        let backoffs = Backoffs::default();
        let mut now = Instant::now();
        for seconds in [1, 2, 4, 8, 16, 32, 32] {
            assert_eq!(backoffs.waits(ATTEMPT, now), None);
            let pause = Duration::from_secs(seconds);
            assert_eq!(backoffs.failed(ATTEMPT, Ours::Records, now), Some(pause));
            // Its other tasks meet the same failure.
            assert_eq!(backoffs.failed(ATTEMPT, Ours::Storage, now), None);
            backoffs.succeeded(ATTEMPT, now);
            assert_eq!(backoffs.waits(ATTEMPT, now), Some(Ours::Records));
            assert_eq!(backoffs.waits((JobId(2), 0), now), None, "others go on");
            now += pause;
        }
        backoffs.succeeded(ATTEMPT, now);
        let first = backoffs.failed(ATTEMPT, Ours::Storage, now);
        assert_eq!(first, Some(Duration::from_secs(1)), "it went on in between");
    }

    #[test]
    fn nothing_is_kept_of_jobs_that_have_ended() {
        let backoffs = Backoffs::default();
        let now = Instant::now();
        for job in 1..=3 {
            backoffs.failed((JobId(job), 0), Ours::Key, now);
        }
        backoffs.forget_all_but(|job, attempt| [(1, 0), (2, 1)].contains(&(job.0, attempt)));
        let waits = |job| backoffs.waits((JobId(job), 0), now).is_some();
        assert_eq!([1, 2, 3].map(waits), [true, false, false]);
    }
}
