//! Carries placed jobs through their life: compares what is recorded with what is seen, has
//! `lifecycle` decide, records the decision and then acts.
//!
//! What is recorded and seen of them is kept between the passes, and a pass looks at those only of
//! which it was told something, or whose time has come. Everything is read anew now and then, and
//! whenever it is in doubt.

use std::sync::Arc;
use std::time::{Duration, Instant};

use database::Transaction;
use lifecycle::model::{Action, Decision};
use protocol::ids::JobId;
use protocol::time::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::container::launch::backoff;
use crate::known::dirty::Dirty;
use crate::known::jobs::KnownJobs;
use crate::known::own_failures::Ours;
use crate::known::passes::{Passes, Rhythm};
use crate::known::queue::Queue;
use crate::shared::Shared;
use crate::wake::{Steps, one_by_one, rest_after};

mod act;
mod case;
mod cases;
mod ended;
mod finish;
mod lease;
mod memory;
mod observe;
mod outcome;
mod pauses;
mod read;
mod record;
mod settle;
mod tidy;
mod turns;
mod unseen;
mod writes;

use act::Acts;
use case::Case;
use cases::Cases;
use observe::Beside;
use writes::Writes;

/// Jobs whose time has come are looked for so often even when nothing wakes the loop.
const PATIENCE: Duration = Duration::from_secs(1);
/// Everything is read anew so often, whatever was told. Whatever is in doubt is read at once; of tens of thousands that
/// run to read all takes longer than all else that is done for them.
const WHOLE: Duration = Duration::from_secs(300);
/// The longest pause after a pass that failed, whatever wakes the loop meanwhile.
const LONGEST_PAUSE: Duration = Duration::from_secs(8);
/// Without it no job goes on.
pub(crate) const RHYTHM: Rhythm = Rhythm::needed(Duration::from_secs(30));

/// Runs until shutdown; actions under way are given up, the next server goes on with them.
pub(crate) async fn run(shared: Arc<Shared>, passes: Arc<Passes>, shutdown: CancellationToken) {
    let acts = Acts::new(Arc::clone(&shared), shutdown.child_token());
    let (cases, steps) = (Cases::default(), Steps::default());
    let mut kept = Loop { shared, acts, cases, steps, set_by: 0 };
    let mut read = Instant::now();
    let mut failures = 0;
    loop {
        let began = Instant::now();
        let dirty = kept.shared.live.take_dirty();
        let (at, set_by) = kept.steps.look();
        kept.set_by += set_by;
        let doubt = dirty.doubt || kept.cases.is_doubtful() || kept.set_by != 0;
        let whole = doubt || read.elapsed() >= WHOLE;
        let moved = match kept.pass(dirty, whole, at).await {
            Ok(moved) => {
                failures = 0;
                read = if whole { began } else { read };
                passes.ended(began);
                moved
            }
            Err(error) => {
                failures += 1;
                kept.cases.doubt();
                failed(&kept.shared, &error, failures, &shutdown).await;
                0
            }
        };
        rest_after(began, moved).await;
        if !kept.shared.live.wakeups.jobs.wait(PATIENCE, &shutdown).await {
            break;
        }
    }
    kept.acts.end().await;
}

/// The records failed: that is noted, and they are left alone for a while.
async fn failed(
    shared: &Shared,
    error: &database::Error,
    failures: u32,
    shutdown: &CancellationToken,
) {
    shared.counts.own_failures.note(Ours::Records);
    shared.jobs.active.look_after(&shared.store.database, error).await;
    let pause = backoff::pause_after(failures).min(LONGEST_PAUSE);
    tracing::error!(%error, failures, ?pause, "a pass over the jobs failed; it is repeated");
    tokio::select! {
        biased;
        () = shutdown.cancelled() => {}
        () = tokio::time::sleep(pause) => {}
    }
}

/// What is kept between the passes.
struct Loop {
    shared: Arc<Shared>,
    acts: Acts,
    cases: Cases,
    steps: Steps,
    /// By so many milliseconds the clock was set since that was stored.
    set_by: i64,
}

impl Loop {
    /// `at` is what the clock says since it was looked at whether it was set. Says of how many jobs
    /// anything was decided.
    async fn pass(
        &mut self,
        dirty: Dirty,
        whole: bool,
        at: Timestamp,
    ) -> Result<usize, database::Error> {
        self.follow_clock().await?;
        self.take_in(dirty, whole).await?;
        self.cases.wake_due(at);
        self.watch_leases();
        self.cases.awake().for_each(|case| tell_pauses(&self.shared.jobs, case, at));
        let decided = self.decide(at);
        let moved = decided.len();
        self.carry_out(decided, at).await?;
        tidy::tidy(&self.shared, &self.acts, &mut self.cases, whole).await?;
        Ok(moved)
    }

    /// How long attempts may run is counted in the time that passes, whatever becomes of the clock by
    /// which their beginnings are recorded.
    async fn follow_clock(&mut self) -> Result<(), database::Error> {
        let millis = self.set_by;
        if millis == 0 {
            return Ok(());
        }
        tracing::warn!(
            seconds = millis / 1_000,
            "the clock was set: what runs is no older for that"
        );
        let set = async |t: &Transaction| database::attempts::clock_was_set(t, millis).await;
        self.shared.store.write(set).await?;
        self.set_by = 0;
        // Jobs may wait for a moment that has moved. A scheduler that gives no answer begins anew.
        let _unanswered = self.shared.jobs.scheduler.ask(Queue::doubt).await;
        self.shared.live.wakeups.schedule.wake();
        Ok(())
    }

    /// Takes in what is seen and what is recorded: all of it, or what is other than before.
    async fn take_in(&mut self, dirty: Dirty, whole: bool) -> Result<(), database::Error> {
        let shared = &self.shared;
        // What is seen is read before what is recorded: a container of a task that is not in the
        // records then cannot be one whose placement was stored in between.
        if whole {
            let seen = shared.nodes.observations().all();
            self.cases.begin_anew(seen, read::all(&shared.store, &shared.jobs).await?);
            self.acts.forget_all_but(&self.cases);
        } else {
            let news = shared.nodes.observations().news();
            news.into_iter().for_each(|(node, observation)| self.cases.see(&node, observation));
            if !dirty.stored.is_empty() {
                let stored: Vec<JobId> = dirty.stored.into_iter().collect();
                self.cases.take_in(&stored, read::of(&shared.store, &shared.jobs, &stored).await?);
            }
        }
        dirty.look.iter().for_each(|task| self.cases.look_at(task));
        self.cases.set_cluster(&shared.nodes.cluster());
        self.cases.take_over(&dirty.look).iter().for_each(|task| self.acts.forget(task));
        self.acts.forget_attempts_but(|job, attempt| self.cases.is_current(job, attempt));
        Ok(())
    }

    /// What may be there of tasks with a lease is noted before anything is decided of them.
    fn watch_leases(&self) {
        let Self { shared, cases, .. } = self;
        let at_once = |case: &&Case| lease::watch(&shared.jobs.leases, case, cases.seen());
        // All of them are noted.
        if cases.awake().filter(at_once).count() > 0 {
            shared.live.wakeups.leases.wake();
        }
    }

    fn decide(&mut self, now: Timestamp) -> Vec<(JobId, Decision)> {
        let cluster = self.shared.nodes.cluster();
        self.cases.decide(Beside {
            memory: &self.acts.memory,
            cluster: &cluster,
            written: &|task| self.shared.readings.written(task),
            most_written: self.shared.settings.of_nodes.container_disk.most,
            lease: &|task| self.shared.jobs.leases.wait(task),
            now,
            instant: Instant::now(),
        })
    }

    /// Records what was decided, and then does it.
    async fn carry_out(
        &mut self,
        decided: Vec<(JobId, Decision)>,
        at: Timestamp,
    ) -> Result<(), database::Error> {
        let of_case = |(job, decision)| Some((self.cases.get(job)?, decision));
        let decided: Vec<(&Case, Decision)> = decided.into_iter().filter_map(of_case).collect();
        let writes = Writes::of(&decided, self.cases.seen(), self.shared.identity.epoch);
        if !record::record(&self.shared, &decided, &writes, at).await? {
            // Some were not as they were thought to be: nothing is done to any of them before they
            // are read.
            self.shared.live.note_stored(decided.iter().map(|(case, _)| case.id()));
            self.shared.live.wakeups.jobs.wake();
            return Ok(());
        }
        let mut actions: Vec<(&Case, &Action)> = Vec::new();
        for (case, decision) in &decided {
            actions.extend(decision.actions.iter().map(|action| (*case, action)));
        }
        one_by_one(actions, |(case, action)| perform(&self.acts, case, action)).await;
        self.shared.live.note_stored(writes.again.iter().map(|task| task.key.job));
        self.cases.apply(&writes);
        Ok(())
    }
}

/// Says of tasks that wait for their next run that they do.
fn tell_pauses(jobs: &KnownJobs, case: &Case, now: Timestamp) {
    for (task, at) in case.run_again(now) {
        let seconds = (at.since(now) + 999) / 1000;
        let said = format!("it failed; it is run again in {seconds} s");
        jobs.progress().insert(task.key, said);
    }
}

fn perform(acts: &Acts, case: &Case, action: &Action) {
    let (Action::Launch(key)
    | Action::Stop(key)
    | Action::LetFinish(key, _)
    | Action::Discard(key)
    | Action::Explain(key)) = action;
    let Some(task) = case.task(key).filter(|task| task.key == *key) else { return };
    match action {
        Action::Launch(_) => acts.launch(case, task),
        Action::Stop(_) => acts.stop(task),
        Action::LetFinish(_, grace) => acts.let_finish(task, *grace),
        Action::Discard(_) => acts.discard(task),
        Action::Explain(_) => acts.explain(&case.job, task),
    }
}
