//! Logs that are old, or of jobs that are there no more, and what was measured of their tasks.

use std::collections::HashMap;
use std::time::Instant;

use protocol::ids::JobId;
use protocol::time::Timestamp;
use storage::StoragePath;

use super::{Failed, Failures, pause};
use crate::known::counts::Counts;
use crate::known::swept::Old;
use crate::records::store::Store;

/// What is of jobs that ended before these moments goes; none: nothing does.
#[derive(Debug, Clone, Copy)]
pub(super) struct Before {
    /// Logs.
    pub(super) logs: Option<Timestamp>,
    /// What was measured.
    pub(super) metrics: Option<Timestamp>,
}

impl Before {
    fn of(self, file: &StoragePath) -> Option<Timestamp> {
        if file.is_of_metrics() { self.metrics } else { self.logs }
    }
}

/// Removes the logs of jobs that ended before then, and of those that are gone: so none is left behind
/// wherever somebody was stopped who forgot a job, or kept a log of one that was being forgotten.
pub(super) async fn remove(store: &Store, counts: &Counts, before: Before) -> Result<(), Failed> {
    let mut failures = Failures::default();
    for folder in store.storage.log_folders().await? {
        let began = Instant::now();
        match of_folder(store, counts, (&folder, before), &mut failures).await {
            Err(error) if error.is_everybodys() => return Err(error),
            // It holds up no other one.
            Err(error) => failures.note(&folder, error, began.elapsed()),
            Ok(()) => {}
        }
        if failures.are_enough() {
            break;
        }
        pause(began).await;
    }
    failures.outcome()
}

async fn of_folder(
    store: &Store,
    counts: &Counts,
    (folder, before): (&StoragePath, Before),
    failures: &mut Failures,
) -> Result<(), Failed> {
    // They are read before the records: a job whose log is there was stored before it.
    let logs = store.storage.logs_in(folder).await?;
    let jobs: Vec<JobId> = logs.keys().copied().collect();
    let known = Known {
        ends: database::jobs::ends(store.database.read(), &jobs).await?,
        given_last: database::jobs::given_last(store.database.read()).await?,
    };
    let mut all_go = true;
    for (job, files) in logs {
        for file in files {
            if known.keeps(job, before.of(&file)) {
                all_go = false;
                continue;
            }
            let began = Instant::now();
            match store.storage.remove(&file, false).await {
                Ok(is_gone) => {
                    failures.break_off();
                    if is_gone && !file.is_of_metrics() {
                        counts.swept.note(Old::Logs, 1);
                    }
                }
                Err(error) => {
                    all_go = false;
                    failures.note(&file, error.into(), began.elapsed());
                    if failures.are_enough() {
                        return Ok(());
                    }
                }
            }
        }
    }
    if all_go {
        store.storage.remove_log_folder(folder).await?;
    }
    Ok(())
}

/// What the records say of some jobs.
struct Known {
    /// Those that are stored, and when each has ended.
    ends: HashMap<JobId, Option<Timestamp>>,
    /// The last number that a job was given, whether that is stored or not.
    given_last: Option<JobId>,
}

impl Known {
    fn keeps(&self, job: JobId, before: Option<Timestamp>) -> bool {
        match self.ends.get(&job) {
            Some(Some(ended)) => before.is_none_or(|before| *ended >= before),
            Some(None) => true,
            // One of a number that was never given is not from these records: they may be an older
            // copy, and whoever finds that out wants the logs.
            None => self.given_last.is_none_or(|last| job > last),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_stay_of_jobs_that_go_on_that_ended_of_late_and_that_nobody_knows() {
        let ends = [(1, Some(10)), (2, Some(20)), (3, None)];
        let ends = ends.map(|(job, ended)| (JobId(job), ended.map(Timestamp)));
        let known = Known { ends: HashMap::from(ends), given_last: Some(JobId(5)) };
        let kept = |known: &Known, before: Option<i64>| {
            let kept = (1..=6).filter(|job| known.keeps(JobId(*job), before.map(Timestamp)));
            kept.collect::<Vec<_>>()
        };
        assert_eq!(kept(&known, Some(20)), [2, 3, 6]);
        assert_eq!(kept(&known, None), [1, 2, 3, 6], "the fourth and fifth job are gone");
        let all_gone = Known { ends: HashMap::new(), given_last: Some(JobId(5)) };
        assert_eq!(kept(&all_gone, None), [6], "all five were forgotten");
        let lost = Known { ends: HashMap::new(), given_last: None };
        assert_eq!(kept(&lost, Some(20)), [1, 2, 3, 4, 5, 6], "there are no records at all");
    }
}
