//! The one owner of the queue: a thread of its own, so that a pass holds up none of the runtime's, and
//! whoever asks it something waits without one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use database::jobs::JobRow;
use protocol::exit::Exit;
use protocol::time::Timestamp;
use protocol::trouble::{OwnTrouble, Trouble};
use scheduler::{Change, Effect};
use tokio::sync::{Mutex, mpsc, oneshot};

use super::Queue;
use crate::error::words;
use crate::known::active::Active;
use crate::known::own_failures::OwnFailures;
use crate::known::runs::{self, Past};
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
        Ok(Self { questions, thinking: Mutex::default() })
    }

    /// Asks or tells the owner; it takes one after the other.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Queue) -> T + Send + 'static,
    ) -> Result<T, Unanswered> {
        let (answer, answered) = oneshot::channel();
        let question = move |queue: &mut Queue| {
            let _nobody_waits = answer.send(question(queue));
        };
        self.questions.send(Box::new(question)).await.map_err(|_ended| Unanswered)?;
        answered.await.map_err(|_panicked| Unanswered)
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

    /// A job has ended after so many milliseconds.
    pub(crate) fn note_ended(&self, job: &Active, exit: &Exit, ran_ms: i64) {
        let like = runs::like(&job.row, runs::image(&job.spec));
        let blame = exit.cause.blame();
        self.tell(move |queue| queue.past.runs.learn(like, blame, ran_ms));
    }

    /// A job was given its first place then.
    pub(crate) fn note_waited(&self, job: &JobRow, placed_at: Timestamp) {
        let waited_ms = placed_at.since(job.submitted_at);
        let (like, name) = (runs::like(job, None), job.key.name.clone());
        self.tell(move |queue| queue.past.waits.record(&like, &name, waited_ms));
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
    use super::*;

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
