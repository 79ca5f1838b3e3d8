//! The one owner of the queue: a thread of its own, so that a pass holds up none of the runtime's, and
//! whoever asks it something waits without one.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex as Lock};
use std::time::Duration;

use database::jobs::JobRow;
use protocol::exit::Exit;
use protocol::ids::JobId;
use protocol::time::Timestamp;
use protocol::trouble::{OwnTrouble, Trouble};
use scheduler::{Change, Effect};
use tokio::sync::{Mutex, mpsc, oneshot};

use super::published::Published;
use super::reasons::{Reason, Reasons};
use super::state::Queue;
use crate::error::words;
use crate::known::active::Active;
use crate::known::own_failures::OwnFailures;
use crate::known::runs::{self, Past};
use crate::lock::lock;
use crate::wake::now;

/// Questions that wait for their turn; who asks one more waits until there is room.
const WAITING: usize = 1_024;

/// After so many questions what is known is looked over, in builds that are not released.
const SELDOM: usize = 64;

type Question = Box<dyn FnOnce(&mut Queue) + Send>;

/// Reaches the owner, which ends once nobody can reach it any more.
#[derive(Debug)]
pub(crate) struct SchedulerHandle {
    questions: mpsc::Sender<Question>,
    /// What it knew after it was asked last.
    published: Arc<Lock<Arc<Published>>>,
    /// What it said last of why jobs wait.
    reasons: Arc<Reasons>,
    /// One change at a time is thought through: it costs two passes of the scheduler.
    thinking: Mutex<()>,
}

/// The owner panicked at a question. It knows nothing then until all was read anew.
#[derive(Debug, thiserror::Error)]
#[error("the scheduler panicked and begins anew")]
pub(crate) struct Unanswered;

impl OwnTrouble for Unanswered {
    fn answer(self) -> Trouble {
        tracing::error!(error = %self, "operation failed");
        Trouble::Ours
    }
}

impl SchedulerHandle {
    /// Starts the owner.
    pub(crate) fn start(mut past: Past, own_failures: Arc<OwnFailures>) -> std::io::Result<Self> {
        let (questions, asked) = mpsc::channel(WAITING);
        let thread = std::thread::Builder::new().name("scheduler".to_owned());
        let past_use = std::mem::take(&mut past.had);
        let queue = Queue::after(past, past_use);
        thread.spawn(move || own(queue, asked, &own_failures))?;
        Ok(Self {
            questions,
            published: Arc::default(),
            reasons: Arc::default(),
            thinking: Mutex::default(),
        })
    }

    /// Asks or tells the owner; it takes one after the other.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Queue) -> T + Send + 'static,
    ) -> Result<T, Unanswered> {
        let (answer, answered) = oneshot::channel();
        let published = Arc::clone(&self.published);
        let question = move |queue: &mut Queue| {
            let said = question(queue);
            // Before the answer: who has it finds what it speaks of.
            if let Some(known) = queue.published() {
                *lock(&published) = Arc::new(known);
            }
            let _nobody_waits = answer.send(said);
        };
        self.questions.send(Box::new(question)).await.map_err(|_ended| Unanswered)?;
        answered.await.map_err(|_panicked| Unanswered)
    }

    /// What the owner knew after it was asked last, whatever it does now.
    pub(crate) fn published(&self) -> Arc<Published> {
        Arc::clone(&lock(&self.published))
    }

    /// Whether it said lately of all of these jobs why they wait, or that they do not.
    pub(crate) fn told_lately(&self, jobs: &[JobId]) -> bool {
        self.reasons.are_known(jobs)
    }

    /// Why jobs wait, their places, and when they may start. Whoever looks waits for the owner for so long
    /// at most, and has then what it said a moment ago; of whom it has said nothing lately, nothing is said.
    pub(crate) async fn waiting(
        &self,
        jobs: Vec<JobId>,
        patience: Duration,
    ) -> HashMap<JobId, Reason> {
        if !self.reasons.hold(&jobs, self.published().as_of) {
            let (reasons, asked) = (Arc::clone(&self.reasons), jobs.clone());
            let asked = self.ask(move |queue| {
                let said = queue.waiting(&asked, now());
                reasons.note(&asked, said, queue.changes);
            });
            let _late_or_unanswered = tokio::time::timeout(patience, asked).await;
        }
        self.reasons.of(&jobs)
    }

    /// What a change would do, thought through on what is known now while the owner goes on. `None`:
    /// so long others' changes were being thought through.
    pub(crate) async fn think(
        &self,
        change: Change,
        patience: Duration,
    ) -> Result<Option<Effect>, Unanswered> {
        let turn = tokio::time::timeout(patience, self.thinking.lock()).await;
        let Ok(_one_at_a_time) = turn else { return Ok(None) };
        let snapshot = self.ask(|queue| queue.snapshot()).await?;
        let thought = tokio::task::spawn_blocking(move || snapshot.effect_of(&change, now()));
        thought.await.map(Some).map_err(|_panicked| Unanswered)
    }

    /// Tells the owner what it can do without: where very many wait for it, that is not said.
    pub(crate) fn tell(&self, news: impl FnOnce(&mut Queue) + Send + 'static) {
        let _too_many_wait = self.questions.try_send(Box::new(news));
    }

    /// Jobs have ended, each after so many milliseconds: all of a pass at once, since the owner is woken for it.
    pub(crate) fn note_ended<'a>(
        &self,
        ended: impl IntoIterator<Item = (&'a Active, &'a Exit, i64)>,
    ) {
        let runs = ended.into_iter().map(|(job, exit, ran_ms)| {
            let like = runs::like(&job.row, runs::image(&job.spec));
            (like, exit.cause.blame(), ran_ms)
        });
        let runs: Vec<_> = runs.collect();
        if runs.is_empty() {
            return;
        }
        self.tell(move |queue| {
            for (like, blame, ran_ms) in runs {
                queue.past.runs.learn(like, blame, ran_ms);
            }
            queue.learned = true;
        });
    }

    /// Jobs were given their first places then: all of a pass at once as well.
    pub(crate) fn note_waited<'a>(
        &self,
        jobs: impl IntoIterator<Item = &'a JobRow>,
        placed_at: Timestamp,
    ) {
        let waits = jobs.into_iter().map(|job| {
            let waited_ms = placed_at.since(job.submitted_at);
            (runs::like(job, None), job.key.name.clone(), waited_ms)
        });
        let waits: Vec<_> = waits.collect();
        if waits.is_empty() {
            return;
        }
        self.tell(move |queue| {
            for (like, name, waited_ms) in waits {
                queue.past.waits.record(&like, &name, waited_ms);
            }
        });
    }
}

/// Answers until nobody is left who could ask.
fn own(mut queue: Queue, mut asked: mpsc::Receiver<Question>, own_failures: &OwnFailures) {
    let mut answered = 0_usize;
    while let Some(question) = asked.blocking_recv() {
        answered += 1;
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| question(&mut queue))) {
            own_failures.note_panic();
            let panic = words(panic.as_ref());
            tracing::error!(panic, "the scheduler panicked; what it knew is read anew");
            // Nobody knows in the midst of what it was. How long others took, and what users have had,
            // is for estimates and their order alone.
            let past_use = queue.state.past_use().clone();
            queue = Queue::after(std::mem::take(&mut queue.past), past_use);
        }
        if cfg!(debug_assertions) && answered.is_multiple_of(SELDOM) {
            // Nobody is to go on who gives a GPU twice: this panic is the thread's end, and all tests'.
            queue.sanity_check();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use protocol::cluster::VirtualClusterSettings;
    use protocol::exit::Cause;
    use protocol::ids::VirtualClusterName;

    use super::*;
    use crate::known::cluster::Cluster;
    use crate::known::queue::News;
    use crate::known::queue::tests::{node, row, spec};

    /// A job that waits, and no other.
    fn waits(id: JobId) -> News {
        let spec = spec(1, 1);
        let row = row(id, &spec, Timestamp(5));
        News {
            whole: true,
            jobs: vec![Active { row: Arc::new(row), spec: Arc::new(spec) }],
            gone: BTreeSet::new(),
            attempts: HashMap::new(),
            gave_way: HashMap::new(),
            tasks: HashMap::new(),
            at: Timestamp(5),
        }
    }

    #[tokio::test]
    async fn who_looks_stands_in_no_line() {
        let scheduler = SchedulerHandle::start(Past::default(), Arc::default()).unwrap();
        assert_eq!(scheduler.published().oldest_waiting(), None, "nobody has looked yet");
        let within = VirtualClusterName::default();
        let cluster = Cluster::new([node("a")], vec![VirtualClusterSettings::new(within.clone())]);
        let job = JobId(7);
        scheduler.ask(move |queue| queue.take_in(waits(job), &cluster)).await.unwrap();
        let said = scheduler.waiting(vec![job], Duration::from_secs(60)).await;
        assert!(said.contains_key(&job), "{said:?}");

        let (go_on, held_up) = std::sync::mpsc::channel();
        scheduler.tell(move |_queue| held_up.recv().unwrap_or_default());
        let known = scheduler.published();
        assert_eq!(known.waiting_in(&within), 1);
        assert_eq!(known.oldest_waiting(), Some(Some(Timestamp(5))));
        // Of another one it would have to be asked.
        assert!(scheduler.told_lately(&[job]) && !scheduler.told_lately(&[job, JobId(8)]));
        let looked = scheduler.waiting(vec![job, JobId(8)], Duration::ZERO).await;
        assert_eq!(looked, said, "what was said a moment ago");

        go_on.send(()).unwrap();
        let ends = |queue: &mut Queue| {
            queue.forget(JobId(7));
            queue.unsay();
        };
        scheduler.ask(ends).await.unwrap();
        let known = scheduler.published();
        assert_eq!((known.waiting_in(&within), known.oldest_waiting()), (0, Some(None)));
        assert!(scheduler.waiting(vec![job], Duration::from_secs(60)).await.is_empty());
    }

    #[tokio::test]
    async fn what_a_pass_says_of_many_jobs_is_said_at_once() {
        let scheduler = SchedulerHandle::start(Past::default(), Arc::default()).unwrap();
        let (go_on, held_up) = std::sync::mpsc::channel();
        scheduler.tell(move |_queue| held_up.recv().unwrap_or_default());
        let spec = Arc::new(spec(1, 1));
        let many = i64::try_from(WAITING).unwrap() + 1;
        let jobs = (0..many).map(|id| row(JobId(id), &spec, Timestamp(0)));
        let jobs = jobs.map(|row| Active { row: Arc::new(row), spec: Arc::clone(&spec) });
        let jobs: Vec<_> = jobs.collect();
        let exit = Exit { code: Some(0), cause: Cause::Succeeded, evidence: Vec::new() };
        let before = WAITING - scheduler.questions.capacity();
        scheduler.note_waited(jobs.iter().map(|job| &*job.row), Timestamp(5_000));
        scheduler.note_ended(jobs.iter().map(|job| (job, &exit, 7)));
        scheduler.note_waited([], Timestamp(5_000));
        scheduler.note_ended([]);
        let told = WAITING - scheduler.questions.capacity() - before;
        assert!(told <= 2, "{told} questions");
        go_on.send(()).unwrap();
        assert!(scheduler.ask(|queue| queue.learned).await.unwrap());
    }

    #[tokio::test]
    async fn what_was_seen_before_a_panic_is_seen_until_all_is_read_anew() {
        let scheduler = SchedulerHandle::start(Past::default(), Arc::default()).unwrap();
        let within = VirtualClusterName::default();
        let cluster = Cluster::new([node("a")], vec![VirtualClusterSettings::new(within.clone())]);
        scheduler.ask(move |queue| queue.take_in(waits(JobId(7)), &cluster)).await.unwrap();
        scheduler.ask(panics).await.unwrap_err();
        assert!(scheduler.ask(|queue| queue.is_doubtful()).await.unwrap());
        assert_eq!(scheduler.published().waiting_in(&within), 1);
    }

    fn panics(queue: &mut Queue) {
        queue.doubtful = false;
        panic!("in the midst of something");
    }

    #[tokio::test]
    async fn an_owner_that_panics_answers_on_and_takes_nothing_for_granted() {
        let own_failures = Arc::<OwnFailures>::default();
        let scheduler = SchedulerHandle::start(Past::default(), Arc::clone(&own_failures));
        let scheduler = scheduler.unwrap();
        scheduler.ask(|queue| queue.doubtful = false).await.unwrap();
        assert!(!scheduler.ask(|queue| queue.is_doubtful()).await.unwrap());
        scheduler.ask(panics).await.unwrap_err();
        assert!(scheduler.ask(|queue| queue.is_doubtful()).await.unwrap());
        assert_eq!(own_failures.counts().panics, 1);
    }
}
