//! Forgets what is older than it is kept for: jobs that have ended, with all that is recorded of them;
//! their logs; events and entries of the audit log. What jobs have used is counted before.
//!
//! It goes on a little at a time and leaves others their turn in between. Nothing is noted of how far it
//! has come: what one sweep does not come to, the next one finds.

use std::sync::Arc;
use std::time::{Duration, Instant};

use api::changes::Change;
use database::jobs::JobRow;
use protocol::ids::JobId;
use protocol::jobs::{JobOrder, JobQuery, Retries};
use protocol::state::State;
use protocol::time::Timestamp;
use storage::StorageError;
use tokio_util::sync::CancellationToken;

use crate::container::forgotten;
use crate::known::counts::Counts;
use crate::known::nodes::KnownNodes;
use crate::known::passes::{Passes, Rhythm};
use crate::known::retention::Retention;
use crate::known::swept::{Old, SweptCounts};
use crate::records::store::Store;
use crate::records::{unseen, usage};
use crate::shared::Shared;
use crate::wake::now;

mod logs;

/// It is looked for so often.
const EVERY: Duration = Duration::from_secs(3_600);
/// What jobs have used is counted so often.
const COUNTED_EVERY: Duration = Duration::from_secs(60);
/// Jobs that are looked for at once.
const FOUND: u64 = 1_000;
/// Jobs of one transaction at most,
const JOBS: usize = 100;
/// and their tasks: each is some rows. A job of more is alone.
const TASKS: u32 = 2_000;
/// Rows of other tables of one transaction.
const ROWS: u64 = 500;
/// Others have the database for so many times as long as a part of the sweep has taken,
const TURNS: u32 = 4;
/// and at most so long before it goes on.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// All nodes are looked at within so long, or are waited for no longer.
const FIRST_LOOKS: Duration = Duration::from_secs(60);
/// One that did not answer at first may do so within so long: of what is on a silent node nobody knows that it is gone.
const FIRST_ANSWERS: Duration = Duration::from_secs(5);
/// It is seen so often whether they were.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// What fails one after the other takes so long at most: a storage that does not answer takes its time with each
/// of thousands, while what is damaged fails at once.
const FAILING: Duration = Duration::from_secs(300);
/// What is old is there a little longer without it, and a first sweep of very much takes hours.
pub(crate) const RHYTHM: Rhythm = Rhythm::beside(Duration::from_secs(24 * 3_600));

/// Runs until shutdown.
pub(crate) async fn run(shared: Arc<Shared>, passes: Arc<Passes>, shutdown: CancellationToken) {
    tokio::select! {
        biased;
        () = shutdown.cancelled() => return,
        () = first_looks(&shared.nodes) => {}
    }
    loop {
        let began = Instant::now();
        tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            all = sweep(&shared) => if all { passes.ended(began) },
        }
        tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            () = count_for(&shared, EVERY) => {}
        }
    }
}

/// Until the next sweep, counts what those jobs have used that end meanwhile: people look at it.
async fn count_for(shared: &Shared, span: Duration) {
    let until = Instant::now() + span;
    while Instant::now() < until {
        tokio::time::sleep(COUNTED_EVERY).await;
        if let Err(error) = count_uses(shared).await {
            tracing::warn!(%error, "what jobs have used is not counted; it is tried again");
        }
    }
}

/// Waits until all nodes were looked at: what is still there of jobs is known then.
async fn first_looks(nodes: &KnownNodes) {
    let are_done = || {
        let (cluster, seen) = (nodes.cluster(), nodes.observations());
        cluster.records().all(|node| seen.contains_key(&node.settings.name))
    };
    until(FIRST_LOOKS, are_done).await;
    until(FIRST_ANSWERS, || nodes.unseen().is_empty()).await;
}

/// Waits until something is so, for so long at most.
async fn until(longest: Duration, is_so: impl Fn() -> bool) {
    let looks = async {
        while !is_so() {
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    };
    let _so_or_late = tokio::time::timeout(longest, looks).await;
}

/// Why a part of a sweep failed.
#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Records(#[from] database::Error),
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error(transparent)]
    Folders(#[from] api::Error),
    #[error("{count} could not be done, among them {what}: {source}")]
    Partly { count: u64, what: String, source: Box<Failed> },
}

impl Failed {
    /// Whether what comes next would fail as well.
    fn is_everybodys(&self) -> bool {
        match self {
            Self::Records(error) => matches!(error, database::Error::Unavailable { .. }),
            Self::Storage(_) | Self::Folders(_) | Self::Partly { .. } => false,
        }
    }
}

/// What failed with some, while the others were done.
#[derive(Debug, Default)]
struct Failures {
    count: u64,
    first: Option<(String, Failed)>,
    /// How long what failed has taken since something was done.
    took: Duration,
}

impl Failures {
    fn note(&mut self, what: &impl ToString, error: Failed, took: Duration) {
        self.count += 1;
        self.first.get_or_insert_with(|| (what.to_string(), error));
        self.took += took;
    }

    /// Something was done.
    fn break_off(&mut self) {
        self.took = Duration::ZERO;
    }

    /// Whether the rest is left to the next sweep.
    fn are_enough(&self) -> bool {
        self.took >= FAILING
    }

    fn outcome(self) -> Result<(), Failed> {
        let Self { count, first, took: _ } = self;
        match first {
            None => Ok(()),
            Some((what, error)) => Err(Failed::Partly { count, what, source: Box::new(error) }),
        }
    }
}

/// One sweep. What fails in it holds up nothing else, and is tried again by the next one. Says whether all
/// of it could be done.
async fn sweep(shared: &Shared) -> bool {
    let mut all = true;
    let (at, before) = (now(), shared.counts.swept.counts());
    let Retention { jobs, logs, metrics, events, audit } = shared.settings.rules.retention;
    let kept = logs::Before { logs: logs.before(at), metrics: metrics.before(at) };
    for (what, done) in [
        ("what jobs have used is not counted", count_uses(shared).await),
        ("old jobs are not forgotten", forget_jobs(shared, jobs.before(at)).await),
        ("old logs are not removed", logs::remove(&shared.store, &shared.counts, kept).await),
        (
            "old events are not forgotten",
            forget_events(&shared.store, &shared.counts, events.before(at)).await,
        ),
        (
            "the audit log is not shortened",
            shorten_audit(&shared.store, &shared.counts, audit.before(at)).await,
        ),
    ] {
        if let Err(error) = done {
            all = false;
            tracing::error!(%error, "{what}; it is tried again in an hour");
        }
    }
    let SweptCounts { jobs, logs, events, audit } = shared.counts.swept.counts().since(before);
    if jobs + logs + events + audit > 0 {
        tracing::info!(jobs, logs, events, audit, "what was older than it is kept for is gone");
    }
    all
}

async fn count_uses(shared: &Shared) -> Result<(), Failed> {
    loop {
        let began = Instant::now();
        let found = database::usage::to_count(shared.store.database.read(), JOBS as u64).await?;
        if found.is_empty() {
            return Ok(());
        }
        let mut rows = database::jobs::readable_rows(shared.store.database.read(), &found).await?;
        // Nobody knows what has been used by a job that cannot be read.
        let is_read = |id: &JobId| rows.iter().any(|row| row.id == *id);
        let others: Vec<JobId> = found.into_iter().filter(|id| !is_read(id)).collect();
        rows.truncate(together(&rows));
        let used = usage::of(&shared.store, &shared.nodes, &shared.readings, &rows)
            .await?
            .and_nothing_of(others);
        shared.store.write(async |transaction| used.add(transaction).await).await?;
        pause(began).await;
    }
}

async fn forget_jobs(shared: &Shared, before: Option<Timestamp>) -> Result<(), Failed> {
    let Some(before) = before else { return Ok(()) };
    let (mut stay, mut failures, mut last) = (0, Failures::default(), None);
    loop {
        let Found { jobs, listed, is_last } = ended_before(&shared.store, before, stay).await?;
        let jobs = out_of_use(shared, jobs).await?;
        let mut gone = 0;
        let mut left = jobs.as_slice();
        while !left.is_empty() && !failures.are_enough() {
            let began = Instant::now();
            let (some, others) = left.split_at(together(left));
            gone += forget(shared, some, &mut failures).await?;
            left = others;
            pause(began).await;
        }
        if gone > 0 {
            last = jobs.into_iter().next_back();
        }
        if is_last || failures.are_enough() {
            break;
        }
        stay += listed.saturating_sub(gone);
    }
    // One word for all of them: lists are to be looked at again.
    if let Some(JobRow { id, key, state, .. }) = last {
        shared.live.tell_pages(Change::Job { id, key, state });
    }
    failures.outcome()
}

/// Forgets some jobs together, and where that fails, each by itself: one that cannot be forgotten holds up no
/// other. Says how many are gone.
async fn forget(shared: &Shared, jobs: &[JobRow], failures: &mut Failures) -> Result<u64, Failed> {
    if jobs.len() > 1 {
        let began = Instant::now();
        match forget_whole(shared, jobs).await {
            Err(error) if !error.is_everybodys() => {
                failures.took += began.elapsed();
                tracing::debug!(%error, "some jobs are not forgotten together: each by itself");
            }
            done => {
                failures.break_off();
                return done;
            }
        }
    }
    let mut gone = 0;
    for job in jobs {
        let began = Instant::now();
        match forget_whole(shared, std::slice::from_ref(job)).await {
            Ok(more) => {
                gone += more;
                failures.break_off();
            }
            Err(error) if error.is_everybodys() => return Err(error),
            Err(error) => {
                failures.note(&job.key, error, began.elapsed());
                if failures.are_enough() {
                    break;
                }
            }
        }
    }
    Ok(gone)
}

/// Forgets all of these jobs, or none of them.
async fn forget_whole(shared: &Shared, jobs: &[JobRow]) -> Result<u64, Failed> {
    let ids: Vec<JobId> = jobs.iter().map(|job| job.id).collect();
    forgotten::remove(&shared.store, &shared.containers.outputs, jobs).await?;
    let removed = shared
        .store
        .write(async |transaction| database::jobs::remove_many(transaction, &ids).await);
    let removed = removed.await?.len() as u64;
    shared.counts.swept.note(Old::Jobs, removed);
    Ok(removed)
}

/// Some of the jobs that ended before a moment.
struct Found {
    /// The earliest first, as far as they can be read.
    jobs: Vec<JobRow>,
    /// How many were looked through.
    listed: u64,
    /// No other one ended before.
    is_last: bool,
}

/// Those that ended before then, but for so many of the earliest.
async fn ended_before(
    store: &Store,
    before: Timestamp,
    offset: u64,
) -> Result<Found, database::Error> {
    let query = JobQuery {
        states: State::ALL.into_iter().filter(|state| state.is_final()).collect(),
        order: JobOrder::Completed,
        ascending: true,
        offset,
        limit: FOUND,
        ..JobQuery::default()
    };
    let (mut jobs, total) = database::jobs::list(&store.database, &query, now()).await?;
    let listed = total.saturating_sub(offset).min(FOUND);
    let are_later = |job: &JobRow| job.completed_at.is_some_and(|ended| ended >= before);
    let is_last = listed < FOUND || jobs.last().is_some_and(are_later);
    jobs.retain(|job| job.completed_at.is_some_and(|ended| ended < before));
    Ok(Found { jobs, listed, is_last })
}

/// Those of which no container is there any more, nor may be where nobody can look: what has no record is
/// nobody's after the next start.
async fn out_of_use(
    shared: &Shared,
    mut jobs: Vec<JobRow>,
) -> Result<Vec<JobRow>, database::Error> {
    let there = shared.nodes.observations().jobs();
    jobs.retain(|job| !there.contains(&job.id));
    let ids: Vec<JobId> = jobs.iter().map(|job| job.id).collect();
    let unseen = unseen::of(&shared.store, &shared.nodes, &ids).await?;
    jobs.retain(|job| !unseen.contains_key(&job.id));
    Ok(jobs)
}

/// How many of the first of these jobs make one transaction.
fn together(jobs: &[JobRow]) -> usize {
    let mut tasks = 0_u32;
    let fits = |job: &&JobRow| {
        let Retries { user, platform } = job.retries;
        let attempts = user.saturating_add(platform).saturating_add(1);
        tasks = tasks.saturating_add(job.tasks.saturating_mul(attempts));
        tasks <= TASKS
    };
    jobs.iter().take(JOBS).take_while(fits).count().max(1).min(jobs.len())
}

async fn forget_events(
    store: &Store,
    counts: &Counts,
    before: Option<Timestamp>,
) -> Result<(), Failed> {
    let Some(before) = before else { return Ok(()) };
    loop {
        let began = Instant::now();
        let gone = store.write(async |t| database::events::prune(t, before, ROWS).await).await?;
        if gone == 0 {
            return Ok(());
        }
        counts.swept.note(Old::Events, gone);
        pause(began).await;
    }
}

async fn shorten_audit(
    store: &Store,
    counts: &Counts,
    before: Option<Timestamp>,
) -> Result<(), Failed> {
    let Some(before) = before else { return Ok(()) };
    loop {
        let began = Instant::now();
        let gone = store.write(async |t| database::audit::prune(t, before, ROWS).await).await?;
        if gone == 0 {
            return Ok(());
        }
        counts.swept.note(Old::Audit, gone);
        pause(began).await;
    }
}

/// Leaves others their turn after a part that began then.
async fn pause(began: Instant) {
    tokio::time::sleep((began.elapsed() * TURNS).min(LONGEST_PAUSE)).await;
}

#[cfg(test)]
mod tests {
    use protocol::spec::{Dialect, JobSpec};

    use super::*;
    use crate::known::queue::tests::row;

    fn job(tasks: u32, retries: u32) -> JobRow {
        let spec = JobSpec::plain("train".parse().unwrap(), Dialect::Pai, Vec::new());
        let retries = Retries { user: retries, platform: 0 };
        JobRow { tasks, retries, ..row(JobId(1), &spec, Timestamp(0)) }
    }

    #[test]
    fn a_storage_that_is_down_is_not_asked_for_each_of_thousands() {
        let failed = || Failed::Storage(StorageError::NotFound { path: "1.log".to_owned() });
        let mut failures = Failures::default();
        for job in 0..1_000 {
            failures.note(&job, failed(), Duration::from_millis(5));
        }
        assert!(!failures.are_enough(), "what is damaged fails at once and holds up nothing");
        failures.break_off();
        for job in 0..4 {
            failures.note(&job, failed(), Duration::from_secs(60));
        }
        assert!(!failures.are_enough());
        failures.break_off();
        for job in 0..5 {
            assert!(!failures.are_enough(), "it was done in between: {job}");
            failures.note(&job, failed(), Duration::from_secs(60));
        }
        assert!(failures.are_enough());
        let Err(Failed::Partly { count, what, .. }) = failures.outcome() else { panic!() };
        assert_eq!((count, what.as_str()), (1_009, "0"));
    }

    #[test]
    fn a_transaction_is_small_and_large_jobs_are_alone() {
        let of = |jobs: &[(u32, u32)]| {
            let jobs: Vec<JobRow> = jobs.iter().map(|(tasks, more)| job(*tasks, *more)).collect();
            together(&jobs)
        };
        assert_eq!(of(&[]), 0);
        assert_eq!(of(&[(1, 0); 3]), 3);
        assert_eq!(of(&[(1, 0); 300]), JOBS);
        assert_eq!(of(&[(1_000, 0), (1_000, 0), (1, 0)]), 2);
        assert_eq!(of(&[(100, 18), (200, 0)]), 1, "each attempt has its tasks");
        assert_eq!(of(&[(u32::MAX, u32::MAX - 1), (1, 0)]), 1);
    }
}
