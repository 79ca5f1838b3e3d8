//! What wakes the loops, and the clocks: the logical one, by which looks and actions are ordered, and the one on the wall.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use protocol::time::Timestamp;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// What wakes the loops. To wake one twice before it looks is the same as once.
#[derive(Debug, Default)]
pub(crate) struct Wakeups {
    pub(crate) schedule: Wakeup,
    pub(crate) jobs: Wakeup,
    pub(crate) nodes: Wakeup,
    pub(crate) heartbeats: Wakeup,
    pub(crate) images: Wakeup,
    pub(crate) leases: Wakeup,
    pub(crate) closing: Wakeup,
}

/// What wakes one loop.
#[derive(Debug, Default)]
pub(crate) struct Wakeup(Notify);

impl Wakeup {
    /// Wakes the loop, now or as soon as it waits again.
    pub(crate) fn wake(&self) {
        self.0.notify_one();
    }

    /// Waits to be woken, or for `patience`; false: shut down.
    pub(crate) async fn wait(&self, patience: Duration, shutdown: &CancellationToken) -> bool {
        tokio::select! {
            biased;
            () = shutdown.cancelled() => false,
            () = self.0.notified() => true,
            () = tokio::time::sleep(patience) => true,
        }
    }
}

/// Longest rest after a pass.
const LONGEST_REST: Duration = Duration::from_millis(100);

/// A pass that has moved so many jobs on is one of many,
const MANY: usize = 4;
/// and there is a rest of so long after it at least. A pass waits for the disk, however many jobs it is of,
/// and whoever else writes waits for the pass: the next one is to be of all that come meanwhile. Where a job
/// comes alone it goes on at once.
const GATHERING: Duration = Duration::from_millis(20);

/// Rests as long as the work that began then has taken: what happens meanwhile is looked at
/// together, and however much happens, half of the time is left to others.
pub(crate) async fn rest(began: Instant) {
    rest_after(began, 0).await;
}

/// The same after a pass that has moved so many jobs on.
pub(crate) async fn rest_after(began: Instant, moved: usize) {
    tokio::time::sleep(pause(began.elapsed(), moved)).await;
}

/// Does one after the other, and lets others have the thread in between, however many there are.
pub(crate) async fn one_by_one<T>(all: impl IntoIterator<Item = T>, mut act: impl FnMut(T)) {
    for one in all {
        act(one);
        tokio::task::coop::consume_budget().await;
    }
}

fn pause(took: Duration, moved: usize) -> Duration {
    let least = if moved < MANY { Duration::ZERO } else { GATHERING };
    took.clamp(least, LONGEST_REST)
}

/// Counts what happens: what carries a higher number happened later.
#[derive(Debug, Default)]
pub(crate) struct LogicalClock(AtomicU64);

impl LogicalClock {
    /// The number of what happened last.
    pub(crate) fn last(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    /// The number of what happens now.
    pub(crate) fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }
}

/// Finds out when somebody sets the wall clock: it then goes by more, or by less, than time has passed.
#[derive(Debug, Default)]
pub(crate) struct Steps(Option<(Instant, Timestamp)>);

/// Clocks that are led back to the right time gently do it in smaller steps, in milliseconds.
const SMALLEST_STEP: i64 = 2_000;

impl Steps {
    /// Reads both clocks: what the wall clock says, and by how many milliseconds it was set forward since
    /// they were read last; 0: it was not set.
    pub(crate) fn look(&mut self) -> (Timestamp, i64) {
        let instant = Instant::now();
        let at = now();
        // Who was kept from reading the other clock for long would take that for a step.
        let is_sound = instant.elapsed() < LONGEST_REST;
        match self.expected(instant) {
            Some(expected) if !is_sound => (expected, 0),
            Some(_) | None => (at, self.take(instant, at)),
        }
    }

    /// What the wall clock says then if nobody sets it.
    fn expected(&self, instant: Instant) -> Option<Timestamp> {
        let (last_instant, last) = self.0?;
        let passed = instant.duration_since(last_instant).as_millis();
        Some(last.plus_millis(i64::try_from(passed).unwrap_or(i64::MAX)))
    }

    fn take(&mut self, instant: Instant, at: Timestamp) -> i64 {
        let step = self.expected(instant).map_or(0, |expected| at.0 - expected.0);
        self.0 = Some((instant, at));
        if step.abs() < SMALLEST_STEP { 0 } else { step }
    }
}

/// The wall clock.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_alone_goes_on_at_once_and_many_wait_for_each_other() {
        for (took, moved, rests) in [
            (0, 0, 0),
            (2, MANY - 1, 2),
            (2, MANY, 20),
            (50, MANY, 50),
            (1_000, 0, 100),
            (1_000, 5_000, 100),
        ] {
            let rest = pause(Duration::from_millis(took), moved);
            assert_eq!(rest, Duration::from_millis(rests), "after {took} ms and {moved} jobs");
        }
    }

    #[tokio::test]
    async fn others_have_their_turns_while_thousands_are_begun() {
        let others = tokio::spawn(async {
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
        });
        let mut met = 0;
        one_by_one(0..5_000, |_| met += usize::from(others.is_finished())).await;
        assert!(met > 0, "they have come to their end meanwhile");
    }

    #[test]
    fn a_clock_that_is_set_is_told_from_time_that_passes() {
        const HOUR: i64 = 3_600_000;
        let mut steps = Steps::default();
        let (mut instant, mut at) = (Instant::now(), Timestamp(100 * HOUR));
        assert_eq!(steps.take(instant, at), 0, "nobody knows what it was before");
        for (seconds, set, step) in [
            (1, 0, 0),
            (3_600, 0, 0),
            (1, HOUR, HOUR),
            (1, 0, 0),
            (1, -HOUR, -HOUR),
            (60, 500, 0),
            (60, -500, 0),
        ] {
            instant += Duration::from_secs(seconds);
            at = at.plus_millis(i64::try_from(seconds).unwrap() * 1_000 + set);
            assert_eq!(steps.take(instant, at), step, "{seconds} s, set by {set}");
        }
    }
}
