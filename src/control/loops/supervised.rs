//! Loops that nothing ends but the server's own end. A panic is logged and counted, what the loop knew is
//! made anew, and after a pause it goes on; so it does when a loop ends by itself.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::FutureExt;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::error::words;
use crate::known::own_failures::OwnFailures;
use crate::known::passes::{Passes, Rhythm};
use crate::lock::lock;
use crate::shared::Shared;

/// Panics of a loop follow each other when no more than this lies between them.
const SOUND: Duration = Duration::from_secs(60);

/// All loops of a server.
#[derive(Debug)]
pub(crate) struct Loops {
    shared: Arc<Shared>,
    tasks: TaskTracker,
    shutdown: CancellationToken,
    begun: Vec<Begun>,
}

/// What is known of one of them.
#[derive(Debug)]
struct Begun {
    name: &'static str,
    rhythm: Rhythm,
    at: Instant,
    panics: Arc<Panics>,
    passes: Arc<Passes>,
}

/// How a loop is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LoopState {
    pub(crate) name: &'static str,
    /// The server can take no work without it.
    pub(crate) needed: bool,
    /// What is wrong with it, if anything is.
    pub(crate) problem: Option<String>,
    /// How long ago its last pass ended well (or it was begun), and how long that may be; nothing of one
    /// that only does what it is asked to.
    pub(crate) age: Option<(Duration, Duration)>,
}

impl Loops {
    pub(crate) fn new(
        shared: Arc<Shared>,
        tasks: TaskTracker,
        shutdown: CancellationToken,
    ) -> Self {
        Self { shared, tasks, shutdown, begun: Vec::new() }
    }

    /// Starts a loop. `begin` makes it, at first and after each panic; it notes its passes, and its token
    /// is cancelled at shutdown, and after a panic for the sake of what the loop has begun.
    pub(crate) fn start<F>(
        &mut self,
        name: &'static str,
        rhythm: Rhythm,
        begin: impl Fn(Arc<Shared>, Arc<Passes>, CancellationToken) -> F + Send + Sync + 'static,
    ) -> Arc<Passes>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (panics, passes) = (Arc::<Panics>::default(), Arc::<Passes>::default());
        self.begun.push(Begun {
            name,
            rhythm,
            at: Instant::now(),
            panics: Arc::clone(&panics),
            passes: Arc::clone(&passes),
        });
        let (shared, shutdown) = (Arc::clone(&self.shared), self.shutdown.clone());
        let noted = Arc::clone(&passes);
        self.tasks.spawn(async move {
            let begin = |stop| begin(Arc::clone(&shared), Arc::clone(&noted), stop);
            run(name, begin, (panics.as_ref(), shared.counts.own_failures.as_ref()), &shutdown)
                .await;
        });
        passes
    }

    /// How each of them is.
    pub(crate) fn states(&self) -> impl Iterator<Item = LoopState> {
        let now = Instant::now();
        self.begun.iter().map(move |begun| begun.state(now))
    }
}

impl Begun {
    fn state(&self, now: Instant) -> LoopState {
        let last_ended = self.passes.last_ended();
        // A panic that was the only one of its loop for a while is over.
        let problem =
            self.panics.problem().or_else(|| self.rhythm.problem(self.at, last_ended, now));
        let age = now.saturating_duration_since(last_ended.unwrap_or(self.at));
        let age = self.rhythm.patience.map(|patience| (age, patience));
        LoopState { name: self.name, needed: self.rhythm.needed, problem, age }
    }
}

/// The panics of one loop: when the last one was, and how many have followed each other until then.
#[derive(Debug, Default)]
pub(crate) struct Panics(Mutex<Option<(Instant, u32)>>);

impl Panics {
    /// One more; says how many have followed each other.
    fn note(&self) -> u32 {
        let mut last = lock(&self.0);
        let recent = last.filter(|(at, _)| at.elapsed() < SOUND);
        let in_a_row = recent.map_or(0, |(_, in_a_row)| in_a_row).saturating_add(1);
        *last = Some((Instant::now(), in_a_row));
        in_a_row
    }

    /// What is wrong with a loop that has them.
    fn problem(&self) -> Option<String> {
        self.go_on().then(|| "it panics again and again".to_owned())
    }

    /// Whether it panics again and again.
    fn go_on(&self) -> bool {
        lock(&self.0).is_some_and(|(at, in_a_row)| in_a_row > 1 && at.elapsed() < SOUND)
    }
}

/// What goes on beside the loops for as long as its server does, and is as they are begun anew.
#[derive(Debug, Default)]
pub struct Steady {
    panics: Panics,
    own_failures: OwnFailures,
}

impl Steady {
    /// Runs it until `shutdown`. `begin` makes it, at first and whenever it broke off; its token is cancelled then,
    /// too.
    pub async fn run<F: Future<Output = ()>>(
        &self,
        name: &str,
        begin: impl Fn(CancellationToken) -> F,
        shutdown: &CancellationToken,
    ) {
        run(name, begin, (&self.panics, &self.own_failures), shutdown).await;
    }

    /// What is wrong with it, if anything is.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        self.panics.problem()
    }

    /// How often it broke off.
    #[must_use]
    pub fn panics(&self) -> u64 {
        self.own_failures.counts().panics
    }
}

/// Runs a loop until it is shut down.
pub(crate) async fn run<F: Future<Output = ()>>(
    name: &str,
    begin: impl Fn(CancellationToken) -> F,
    (panics, own_failures): (&Panics, &OwnFailures),
    shutdown: &CancellationToken,
) {
    loop {
        let stop = shutdown.child_token();
        let going = begin(stop.clone());
        let why = match caught(going).await {
            Ok(()) if shutdown.is_cancelled() => return,
            Ok(()) => "it ended by itself".to_owned(),
            Err(panic) => format!("it panicked: {panic}"),
        };
        stop.cancel();
        own_failures.note_panic();
        let in_a_row = panics.note();
        let pause = pause(in_a_row);
        tracing::error!(%why, in_a_row, ?pause, "the loop {name} broke off; it begins anew");
        tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// The pause after so many panics that have followed each other: doubling from a tenth of a second to
/// thirteen seconds.
fn pause(in_a_row: u32) -> Duration {
    Duration::from_millis(50 << in_a_row.min(8))
}

/// Does some work; of a panic its words are left. Nobody looks at what the work has left half done.
pub(crate) async fn caught<T>(work: impl Future<Output = T>) -> Result<T, String> {
    let done = AssertUnwindSafe(work).catch_unwind().await;
    done.map_err(|panic| words(panic.as_ref()).to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test]
    async fn a_loop_that_panics_begins_anew() {
        let (lives, panics, own_failures) =
            (AtomicU32::new(0), Panics::default(), OwnFailures::default());
        let (stops, shutdown) = (Mutex::new(Vec::new()), CancellationToken::new());
        let begin = |stop: CancellationToken| {
            lock(&stops).push(stop);
            let cancelled: Vec<bool> =
                lock(&stops).iter().map(CancellationToken::is_cancelled).collect();
            let (lives, shutdown) = (&lives, &shutdown);
            async move {
                assert!(lives.fetch_add(1, Ordering::SeqCst) > 0, "the first life ends here");
                assert_eq!(cancelled, [true, false], "what the first one had begun is given up");
                shutdown.cancel();
            }
        };
        run("test", begin, (&panics, &own_failures), &shutdown).await;
        assert_eq!(lives.load(Ordering::SeqCst), 2);
        assert_eq!(own_failures.counts().panics, 1);
        assert!(!panics.go_on());
    }

    #[tokio::test]
    async fn a_loop_that_ends_by_itself_begins_anew() {
        let (lives, panics, own_failures) =
            (AtomicU32::new(0), Panics::default(), OwnFailures::default());
        let shutdown = CancellationToken::new();
        let begin = |_stop: CancellationToken| {
            let (lives, shutdown) = (&lives, &shutdown);
            async move {
                if lives.fetch_add(1, Ordering::SeqCst) > 0 {
                    shutdown.cancel();
                }
            }
        };
        run("test", begin, (&panics, &own_failures), &shutdown).await;
        assert_eq!(lives.load(Ordering::SeqCst), 2);
        assert_eq!(own_failures.counts().panics, 1, "that is a fault of this program, too");
    }

    #[tokio::test]
    async fn what_is_steady_begins_anew_and_says_that_it_is_not_well() {
        let (steady, shutdown, lives) =
            (Steady::default(), CancellationToken::new(), AtomicU32::new(0));
        let begin = |_stop: CancellationToken| {
            let (lives, shutdown) = (&lives, &shutdown);
            async move {
                if lives.fetch_add(1, Ordering::SeqCst) == 2 {
                    shutdown.cancel();
                }
            }
        };
        assert_eq!(steady.problem(), None);
        steady.run("test", begin, &shutdown).await;
        assert_eq!((lives.load(Ordering::SeqCst), steady.panics()), (3, 2));
        assert!(steady.problem().is_some_and(|problem| problem.contains("again and again")));
    }

    async fn panics_twice(own_failures: &OwnFailures, shutdown: &CancellationToken) {
        if own_failures.counts().panics == 1 {
            shutdown.cancel();
        }
        panic!("again");
    }

    #[tokio::test]
    async fn a_loop_that_always_panics_ends_at_shutdown() {
        let (panics, own_failures) = (Panics::default(), OwnFailures::default());
        let shutdown = CancellationToken::new();
        let begin = |_stop: CancellationToken| panics_twice(&own_failures, &shutdown);
        run("test", begin, (&panics, &own_failures), &shutdown).await;
        assert_eq!(own_failures.counts().panics, 2);
        assert!(panics.go_on(), "it is not well");
    }

    #[tokio::test]
    async fn the_words_of_a_panic_are_left() {
        assert_eq!(caught(async { 1 }).await, Ok(1));
        let number = 3;
        let said: Result<(), String> = caught(async { panic!("not {number}") }).await;
        assert_eq!(said, Err("not 3".to_owned()));
    }

    #[test]
    fn pauses_grow_to_a_few_seconds() {
        let pauses = [1, 2, 8, u32::MAX].map(|in_a_row| pause(in_a_row).as_millis());
        assert_eq!(pauses, [100, 200, 12_800, 12_800]);
    }
}
