//! What is measured of a loop's passes.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use protocol::time::Timestamp;

use crate::shared::lock;
use crate::wake::now;

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

/// The passes of a loop that ended well; readiness and metrics are told from them.
#[derive(Debug, Default)]
pub(crate) struct Passes(Mutex<(Timestamp, PassTimes)>);

impl Passes {
    /// A pass that began then has just ended well.
    pub(crate) fn ended(&self, began: Instant) {
        let last = began.elapsed();
        let (at, times) = &mut *lock(&self.0);
        *at = now();
        *times = PassTimes { count: times.count + 1, total: times.total + last, last };
    }

    /// When the last one ended.
    pub(crate) fn last_ended(&self) -> Timestamp {
        lock(&self.0).0
    }

    pub(crate) fn times(&self) -> PassTimes {
        lock(&self.0).1
    }
}
