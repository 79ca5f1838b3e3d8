//! What an installation decides about accounts, jobs and nodes.

use std::time::Duration;

use api::{Error, ErrorCode, Result};
use protocol::time::Timestamp;
use protocol::words::counted;

use crate::known::half_life::HalfLife;
use crate::known::retention::Retention;
use crate::wake::now;

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// What an installation decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rules {
    /// How long tokens may live.
    pub tokens: TokenRules,
    /// Whether job files, commands and what happened to jobs are for their owners and
    /// administrators only.
    pub private_jobs: bool,
    /// For how long what is over is remembered.
    pub retention: Retention,
    /// When nodes are closed that fail what they are to do.
    pub closed_nodes: ClosedNodes,
    /// How often is measured what tasks use.
    pub measured_every: MeasuredEvery,
    /// Whether nothing is measured of what runs, and so nothing told of GPUs that do nothing.
    pub unmeasured: bool,
    /// For how long it counts between the users of a virtual cluster what they have had.
    pub half_life: HalfLife,
    /// What time it is for those whose GPUs do nothing.
    pub clock: Clock,
}

/// What says what time it is where rules count in minutes and hours: whoever tries them has a faster one.
#[derive(Debug, Clone, Copy)]
pub struct Clock(pub fn() -> Timestamp);

impl Clock {
    pub(crate) fn now(self) -> Timestamp {
        (self.0)()
    }
}

/// The wall clock.
impl Default for Clock {
    fn default() -> Self {
        Self(now)
    }
}

impl PartialEq for Clock {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::fn_addr_eq(self.0, other.0)
    }
}

impl Eq for Clock {}

/// When nodes are closed that fail what they are to do, and how they come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClosedNodes {
    /// So long after one was closed it is tried for the first time; the pauses then double.
    pub tried_after: Duration,
    /// One is closed when a container has not ended there though it was told to for so long.
    pub unkilled_after: Duration,
}

impl Default for ClosedNodes {
    fn default() -> Self {
        Self { tried_after: Duration::from_secs(30), unkilled_after: Duration::from_secs(300) }
    }
}

/// How often is measured what tasks use; what is kept of it has steps of ten seconds at least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeasuredEvery(pub Duration);

impl Default for MeasuredEvery {
    fn default() -> Self {
        Self(Duration::from_secs(10))
    }
}

/// How long tokens may live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenRules {
    /// The longest life of a token, in days.
    pub longest_days: u32,
    /// Whether a token may live until it is revoked.
    pub without_end: bool,
}

impl Default for TokenRules {
    fn default() -> Self {
        Self { longest_days: 90, without_end: false }
    }
}

impl TokenRules {
    /// The last moment of a token that is made now; `None`: it needs no end.
    pub(crate) fn latest(self, now: Timestamp) -> Option<Timestamp> {
        (!self.without_end).then(|| now.plus_millis(i64::from(self.longest_days) * DAY))
    }

    /// When a token ends of which so many seconds of life are asked for.
    pub(crate) fn end(self, now: Timestamp, seconds: Option<u64>) -> Result<Option<Timestamp>> {
        let latest = self.latest(now);
        let Some(seconds) = seconds else { return Ok(latest) };
        let millis = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000);
        let end = Timestamp(now.0.saturating_add(millis));
        if latest.is_some_and(|latest| end > latest) {
            let days = counted(self.longest_days, "day");
            let message = format!("a token lives at most {days} here");
            return Err(Error::new(ErrorCode::InvalidParametersError, message));
        }
        Ok(Some(end))
    }
}

/// What tasks may write into their containers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContainerDisk {
    /// The most bytes that one may write, unless it asks for more disk.
    pub most: u64,
    /// How often that is measured: an engine looks at every file for it.
    pub measured_every: Duration,
}

impl Default for ContainerDisk {
    fn default() -> Self {
        Self { most: 200_000_000_000, measured_every: Duration::from_secs(60) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_live_no_longer_than_the_rules_say() {
        let now = Timestamp(5);
        let rules = TokenRules::default();
        let end = |rules: TokenRules, days: Option<u64>| {
            rules.end(now, days.map(|days| days * 86_400)).ok().map(|end| end.map(|at| at.0))
        };
        assert_eq!(end(rules, None), Some(Some(5 + 90 * DAY)));
        assert_eq!(end(rules, Some(90)), Some(Some(5 + 90 * DAY)));
        assert_eq!(end(rules, Some(91)), None);
        assert_eq!(rules.end(now, Some(u64::MAX)).ok(), None);
        let eternal = TokenRules { without_end: true, ..rules };
        assert_eq!(end(eternal, None), Some(None));
        assert_eq!(end(eternal, Some(400)), Some(Some(5 + 400 * DAY)));
    }
}
