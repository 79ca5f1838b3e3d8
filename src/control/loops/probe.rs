//! Looks whether what the server stands on does what it is for, when somebody asks. The looking is a
//! loop's own: whoever asks waits only so long, however long it hangs, and leaves nothing half done.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::known::passes::Passes;
use crate::records::store::Store;
use crate::shared::Shared;
use crate::wake::Wakeup;

/// Who asks waits so long for an answer.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// An answer is told again for so long: however many ask, there is one look at a time and a pause after.
const FRESH: Duration = Duration::from_secs(1);
/// Where nobody asks it looks so often.
const BY_ITSELF: Duration = Duration::from_secs(3_600);

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ground {
    /// What is written into the database can be read there.
    Database,
    /// The storage has its root.
    Storage,
}

/// Asks its loop.
#[derive(Debug)]
pub(crate) struct Probe {
    ground: Ground,
    asked: Wakeup,
    answer: watch::Sender<Option<Answer>>,
}

#[derive(Debug, Clone)]
struct Answer {
    at: Instant,
    problem: Option<String>,
}

impl Probe {
    pub(crate) fn of(ground: Ground) -> Self {
        Self { ground, asked: Wakeup::default(), answer: watch::Sender::new(None) }
    }

    /// What is wrong with it, if anything is.
    pub(crate) async fn problem(&self) -> Option<String> {
        let mut answers = self.answer.subscribe();
        let known = answers.borrow_and_update().clone();
        if let Some(known) = known.filter(|known| known.at.elapsed() < FRESH) {
            return known.problem;
        }
        self.asked.wake();
        match tokio::time::timeout(PATIENCE, answers.changed()).await {
            Ok(Ok(())) => answers.borrow().as_ref().and_then(|answer| answer.problem.clone()),
            Ok(Err(_)) | Err(_) => Some(format!("no answer within {} s", PATIENCE.as_secs_f64())),
        }
    }

    fn found(&self, problem: Option<String>) {
        let answer = Answer { at: Instant::now(), problem: problem.clone() };
        let before = self.answer.send_replace(Some(answer)).and_then(|before| before.problem);
        match problem {
            Some(problem) if before.as_ref() != Some(&problem) => {
                tracing::error!(ground = ?self.ground, %problem, "the server is not well");
            }
            None if before.is_some() => {
                tracing::info!(ground = ?self.ground, "the server is well again");
            }
            Some(_) | None => {}
        }
    }
}

/// Runs until shutdown.
pub(crate) async fn run(
    shared: Arc<Shared>,
    probe: Arc<Probe>,
    passes: Arc<Passes>,
    shutdown: CancellationToken,
) {
    while probe.asked.wait(BY_ITSELF, &shutdown).await {
        let began = Instant::now();
        tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            problem = look(&shared.store, probe.ground) => probe.found(problem),
        }
        passes.ended(began);
    }
}

/// Everybody may read the words: they tell nothing of what is inside.
async fn look(store: &Store, ground: Ground) -> Option<String> {
    match ground {
        Ground::Database => {
            let error = store.database.ping().await.err()?;
            tracing::debug!(%error, "the database does not do what it is for");
            Some("nothing can be written there and read back".to_owned())
        }
        Ground::Storage => {
            let root = store.storage.resolve("/");
            let there = async { store.storage.exists(&root?).await };
            match there.await {
                Ok(true) => None,
                Ok(false) => Some("its folder is not there".to_owned()),
                Err(error) => {
                    tracing::debug!(%error, "the storage does not do what it is for");
                    Some("it does not answer as it should".to_owned())
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_asks_what_hangs_is_told_so() {
        let probe = Probe::of(Ground::Database);
        assert_eq!(probe.problem().await.as_deref(), Some("no answer within 1.5 s"));
    }

    #[tokio::test]
    async fn one_answer_is_for_all_who_ask() {
        let probe = Probe::of(Ground::Storage);
        let (one, other, ()) = tokio::join!(probe.problem(), probe.problem(), async {
            tokio::task::yield_now().await;
            probe.found(Some("away".to_owned()));
        });
        assert_eq!((one.as_deref(), other.as_deref()), (Some("away"), Some("away")));
        probe.found(None);
        assert_eq!(probe.problem().await, None, "what was found just now is told at once");
    }
}
