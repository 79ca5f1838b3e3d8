//! Until when a job is to have ended, and from when on it has to start soon for that.

use protocol::time::Timestamp;

/// Beside what a run is expected to take, one part in so many of it is to be left until the deadline.
const MARGIN: i64 = 4;
/// And so long at least.
const SHORTEST_MARGIN_MS: i64 = 600_000;

/// When a job has to start soon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Urgency {
    /// From then on its deadline is endangered.
    pub from: Timestamp,
    /// If it starts later it is not expected to end in time: then nothing can be done for it.
    pub latest_start: Timestamp,
}

impl Urgency {
    /// Of a job with this deadline that is expected to run so long.
    #[must_use]
    pub fn of(deadline: Timestamp, expected_ms: i64) -> Self {
        let expected = expected_ms.max(0);
        let latest_start = deadline.plus_millis(-expected);
        let margin = (expected / MARGIN).max(SHORTEST_MARGIN_MS);
        Self { from: latest_start.plus_millis(-margin), latest_start }
    }

    /// Whether the job has to start soon, and still can in time.
    #[must_use]
    pub fn is_now(self, now: Timestamp) -> bool {
        (self.from..=self.latest_start).contains(&now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    #[test]
    fn a_quarter_of_the_run_is_to_be_left_and_ten_minutes_at_least() {
        let of = |expected| Urgency::of(Timestamp(100 * HOUR), expected);
        let hours = |urgency: Urgency| (urgency.from.0 / HOUR, urgency.latest_start.0 / HOUR);
        assert_eq!(hours(of(8 * HOUR)), (90, 92));
        assert_eq!(hours(of(72 * HOUR)), (10, 28), "beyond a day as well");
        let short = of(60_000);
        assert_eq!(short.latest_start.since(short.from), 600_000);
        let whole_day = of(24 * HOUR);
        assert!(!whole_day.is_now(Timestamp(70 * HOUR - 1)));
        assert!(whole_day.is_now(Timestamp(70 * HOUR)) && whole_day.is_now(Timestamp(76 * HOUR)));
        assert!(!whole_day.is_now(Timestamp(76 * HOUR + 1)), "it is too late");
    }
}
