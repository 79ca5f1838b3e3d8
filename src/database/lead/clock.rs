//! The clock by which a lead is held.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The time since the machine was started, with that in which it slept: nobody can set it, and a server that
/// slept knows that others may have led meanwhile.
pub(super) fn now() -> Duration {
    Duration::try_from(clock_gettime(ClockId::Boottime)).unwrap_or(Duration::MAX)
}
