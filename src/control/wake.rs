//! What wakes the loops, and the moments by which looks and actions are ordered.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use protocol::time::Timestamp;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The loops' bells. Ringing one twice before it is heard is the same as once.
#[derive(Debug, Default)]
pub(crate) struct Bells {
    pub(crate) schedule: Bell,
    pub(crate) jobs: Bell,
    pub(crate) nodes: Bell,
    pub(crate) sightings: Bell,
    pub(crate) images: Bell,
    pub(crate) directories: Bell,
}

/// One loop's bell.
#[derive(Debug, Default)]
pub(crate) struct Bell(Notify);

impl Bell {
    /// Wakes the loop, now or as soon as it waits again.
    pub(crate) fn ring(&self) {
        self.0.notify_one();
    }

    /// Waits for the bell or for `patience`; false: shut down.
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

/// Rests as long as the work that began then has taken: what happens meanwhile is looked at
/// together, and however much happens, half of the time is left to others.
pub(crate) async fn rest(began: Instant) {
    tokio::time::sleep(began.elapsed().min(LONGEST_REST)).await;
}

/// Counts moments: what carries a higher number happened later.
#[derive(Debug, Default)]
pub(crate) struct Moments(AtomicU64);

impl Moments {
    /// The latest moment.
    pub(crate) fn last(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    /// The next moment.
    pub(crate) fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }
}

/// The wall clock.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
