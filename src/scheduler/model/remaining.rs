//! How long a running job is there still.

use protocol::time::Timestamp;
use protocol::wait::Ground;

/// Of a job of which nothing is known but that it runs.
const SHORTEST_MS: i64 = 60_000;

/// When a job started, and how long it may run and is expected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Remaining {
    pub(crate) started_at: Timestamp,
    pub(crate) limit_ms: Option<i64>,
    pub(crate) expected_ms: Option<i64>,
}

impl Remaining {
    /// The longest that it is expected to run in all.
    pub(crate) fn runs_ms(self) -> Option<i64> {
        self.expected_ms.into_iter().chain(self.limit_ms).min()
    }

    /// When its limit is over.
    pub(crate) fn limit(self) -> Option<Timestamp> {
        self.limit_ms.map(|limit| self.started_at.plus_millis(limit))
    }

    /// When it is expected to end, and what that rests on.
    pub(crate) fn expected_end(self, now: Timestamp) -> (Timestamp, Ground) {
        let (limit, ran) = (self.limit(), now.since(self.started_at));
        let as_long_again = now.plus_millis(ran.max(SHORTEST_MS));
        let (end, ground) = match self.expected_ms {
            Some(expected) if expected > ran => {
                (self.started_at.plus_millis(expected), Ground::PastRuns)
            }
            Some(_) => (as_long_again, Ground::PastRuns),
            None if limit.is_some() => (Timestamp(i64::MAX), Ground::Limits),
            None => (as_long_again, Ground::Elapsed),
        };
        match limit {
            Some(limit) if limit <= end => (limit.max(now), Ground::Limits),
            Some(_) | None => (end, ground),
        }
    }
}
