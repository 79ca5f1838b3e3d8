//! What is known of the loops' passes: how long they took, and when one ended well for the last time.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::lock::lock;

/// How long a loop's passes took; those that failed do not count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PassTimes {
    /// Passes since the start.
    pub count: u64,
    /// All of them together.
    pub total: Duration,
    /// The last one.
    pub last: Duration,
}

/// The passes of a loop that ended well; readiness and metrics are told from them. No clock that
/// somebody sets has a part in it.
#[derive(Debug, Default)]
pub(crate) struct Passes(Mutex<(Option<Instant>, PassTimes)>);

impl Passes {
    /// A pass that began then has just ended well.
    pub(crate) fn ended(&self, began: Instant) {
        let last = began.elapsed();
        let (at, times) = &mut *lock(&self.0);
        *at = Some(Instant::now());
        *times = PassTimes { count: times.count + 1, total: times.total + last, last };
    }

    /// Makes one pass after the other, with as long a pause between them, until shutdown. A pass says
    /// whether it ended well.
    pub(crate) async fn repeat<F: Future<Output = bool>>(
        &self,
        pause: Duration,
        shutdown: &CancellationToken,
        mut pass: impl FnMut() -> F,
    ) {
        loop {
            let began = Instant::now();
            tokio::select! {
                biased;
                () = shutdown.cancelled() => return,
                well = pass() => if well { self.ended(began) },
            }
            tokio::select! {
                biased;
                () = shutdown.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// When the last one ended; `None`: none has.
    pub(crate) fn last_ended(&self) -> Option<Instant> {
        lock(&self.0).0
    }

    pub(crate) fn times(&self) -> PassTimes {
        lock(&self.0).1
    }
}

/// What is expected of a loop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rhythm {
    /// A pass ends well at least so often, or the loop is not well; `None`: it does something only when
    /// it is asked to.
    pub(crate) patience: Option<Duration>,
    /// The server can take no work without it.
    pub(crate) needed: bool,
}

impl Rhythm {
    /// Of a loop without which no job goes on.
    pub(crate) const fn needed(patience: Duration) -> Self {
        Self { patience: Some(patience), needed: true }
    }

    /// Of a loop that others can do without for a while.
    pub(crate) const fn beside(patience: Duration) -> Self {
        Self { patience: Some(patience), needed: false }
    }

    /// Of a loop that waits until somebody asks.
    pub(crate) const fn when_asked() -> Self {
        Self { patience: None, needed: false }
    }

    /// What is wrong now with a loop that was begun then and whose last pass ended then.
    pub(crate) fn problem(
        self,
        begun: Instant,
        last_ended: Option<Instant>,
        now: Instant,
    ) -> Option<String> {
        let since = now.saturating_duration_since(last_ended.unwrap_or(begun));
        match self.patience {
            Some(patience) if since > patience => {
                Some(format!("no pass has ended well for {} s", since.as_secs()))
            }
            Some(_) if self.needed && last_ended.is_none() => {
                Some("its first pass has not ended yet".to_owned())
            }
            Some(_) | None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_that_does_not_pass_is_not_well() {
        let long_ago = Instant::now();
        let now = long_ago + Duration::from_secs(100);
        let minute = Duration::from_secs(60);
        for (rhythm, begun, last_ended, said) in [
            (Rhythm::needed(minute), now, None, Some("its first pass")),
            (Rhythm::needed(minute), long_ago, Some(now), None),
            (Rhythm::needed(minute), long_ago, Some(long_ago), Some("for 100 s")),
            (Rhythm::needed(minute), long_ago, None, Some("for 100 s")),
            (Rhythm::beside(minute), now, None, None),
            (Rhythm::beside(minute), long_ago, None, Some("for 100 s")),
            (Rhythm::when_asked(), long_ago, None, None),
        ] {
            let problem = rhythm.problem(begun, last_ended, now);
            assert_eq!(problem.is_some(), said.is_some(), "{rhythm:?}: {problem:?}");
            assert!(problem.unwrap_or_default().contains(said.unwrap_or_default()));
        }
    }

    #[test]
    fn passes_are_counted_and_the_last_one_is_known() {
        let passes = Passes::default();
        assert_eq!((passes.last_ended(), passes.times().count), (None, 0));
        let began = Instant::now();
        passes.ended(began);
        passes.ended(began);
        assert!(passes.last_ended().unwrap() >= began);
        assert_eq!(passes.times().count, 2);
    }
}
