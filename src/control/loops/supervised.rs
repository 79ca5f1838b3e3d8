//! Loops that a panic does not end: it is logged and counted, what the loop knew is made anew, and after
//! a pause it goes on.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::FutureExt;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::error::words;
use crate::known::own_failures::OwnFailures;
use crate::shared::{Shared, lock};

/// Panics of a loop follow each other when no more than this lies between them.
const SOUND: Duration = Duration::from_secs(60);

/// All loops of a server.
#[derive(Debug)]
pub(crate) struct Loops {
    shared: Arc<Shared>,
    tasks: TaskTracker,
    shutdown: CancellationToken,
    panics: Vec<Arc<Panics>>,
}

impl Loops {
    pub(crate) fn new(
        shared: Arc<Shared>,
        tasks: TaskTracker,
        shutdown: CancellationToken,
    ) -> Self {
        Self { shared, tasks, shutdown, panics: Vec::new() }
    }

    /// Starts a loop. `begin` makes it, at first and after each panic; its token is cancelled at
    /// shutdown, and after a panic for the sake of what the loop has begun.
    pub(crate) fn start<F>(
        &mut self,
        name: &'static str,
        begin: impl Fn(Arc<Shared>, CancellationToken) -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let panics = Arc::<Panics>::default();
        self.panics.push(Arc::clone(&panics));
        let (shared, shutdown) = (Arc::clone(&self.shared), self.shutdown.clone());
        self.tasks.spawn(async move {
            let begin = |stop| begin(Arc::clone(&shared), stop);
            run(name, begin, (panics.as_ref(), shared.own_failures.as_ref()), &shutdown).await;
        });
    }

    /// Whether all of them go on. A panic that was the only one of its loop for a while is over.
    pub(crate) fn are_well(&self) -> bool {
        self.panics.iter().all(|panics| !panics.go_on())
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

    /// Whether it panics again and again.
    fn go_on(&self) -> bool {
        lock(&self.0).is_some_and(|(at, in_a_row)| in_a_row > 1 && at.elapsed() < SOUND)
    }
}

/// Runs a loop until it ends by itself or is shut down.
pub(crate) async fn run<F: Future<Output = ()>>(
    name: &str,
    begin: impl Fn(CancellationToken) -> F,
    (panics, own_failures): (&Panics, &OwnFailures),
    shutdown: &CancellationToken,
) {
    loop {
        let stop = shutdown.child_token();
        let going = begin(stop.clone());
        let Err(panic) = caught(going).await else { return };
        stop.cancel();
        own_failures.note_panic();
        let in_a_row = panics.note();
        let pause = pause(in_a_row);
        tracing::error!(%panic, in_a_row, ?pause, "the loop {name} panicked; it begins anew");
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
        let stops = Mutex::new(Vec::new());
        let begin = |stop: CancellationToken| {
            lock(&stops).push(stop);
            async { assert!(lives.fetch_add(1, Ordering::SeqCst) > 0, "the first life ends here") }
        };
        run("test", begin, (&panics, &own_failures), &CancellationToken::new()).await;
        assert_eq!(lives.load(Ordering::SeqCst), 2);
        assert_eq!(own_failures.counts().panics, 1);
        let cancelled: Vec<bool> =
            lock(&stops).iter().map(CancellationToken::is_cancelled).collect();
        assert_eq!(cancelled, [true, false], "what the first one had begun is given up");
        assert!(!panics.go_on());
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
