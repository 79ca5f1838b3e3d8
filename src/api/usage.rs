//! What is used, by day. It outlives the jobs.

mod report;

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use protocol::amount::Amount;
use protocol::ids::{GpuType, GroupName, UserName, VirtualClusterName};
use protocol::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::error::{Error, ErrorCode, Result};
use crate::job_filter;
pub use report::{UsageBy, UsageReport, UsageSum, csv};

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;
/// Days that are told at once.
const MOST: i64 = 366;

/// A day of UTC, counted from 1970-01-01; on the wire it is written `2026-11-21`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct Day(pub i64);

impl Day {
    /// The day of a moment.
    #[must_use]
    pub fn of(at: Timestamp) -> Self {
        Self(at.0.div_euclid(DAY))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match OffsetDateTime::from_unix_timestamp(self.0.saturating_mul(DAY / 1_000)) {
            Ok(at) => write!(f, "{:04}-{:02}-{:02}", at.year(), u8::from(at.month()), at.day()),
            // No calendar goes so far.
            Err(_) => self.0.fmt(f),
        }
    }
}

/// This text is no [`Day`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no day: write it as 2026-11-21")]
pub struct InvalidDay(String);

impl FromStr for Day {
    type Err = InvalidDay;

    fn from_str(text: &str) -> std::result::Result<Self, InvalidDay> {
        job_filter::day(text).map(Self).ok_or_else(|| InvalidDay(text.to_owned()))
    }
}

impl TryFrom<String> for Day {
    type Error = InvalidDay;

    fn try_from(text: String) -> std::result::Result<Self, InvalidDay> {
        text.parse()
    }
}

impl From<Day> for String {
    fn from(day: Day) -> String {
        day.to_string()
    }
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UsageQuery {
    /// The first day; none: a month before the last one.
    pub from: Option<Day>,
    /// The last day; none: today.
    pub until: Option<Day>,
    /// Whose use; none: one's own, and everybody's for administrators.
    pub username: Option<UserName>,
}

impl UsageQuery {
    /// So many days are told when nobody says which.
    pub const USUAL_DAYS: i64 = 31;

    /// The days that are asked for.
    ///
    /// # Errors
    /// When they are more than are told at once.
    pub fn days(&self, now: Timestamp) -> Result<RangeInclusive<Day>> {
        let until = self.until.unwrap_or(Day::of(now));
        let from = self.from.unwrap_or(Day(until.0 - Self::USUAL_DAYS + 1));
        if until.0 - from.0 >= MOST {
            let message =
                format!("from {from} until {until}: at most {MOST} days are told at once");
            return Err(Error::new(ErrorCode::InvalidParametersError, message));
        }
        Ok(from..=until)
    }
}

/// What somebody used on a day. A job is counted once it has ended, its GPUs on the days on which it
/// had them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageOfDay {
    /// When.
    pub day: Day,
    /// Who.
    pub username: UserName,
    /// Where.
    pub virtual_cluster: VirtualClusterName,
    /// On which GPUs; `None`: on none, or on those of a node that was removed before.
    pub gpu_type: Option<GpuType>,
    /// Jobs that ended that day, each among those of the type of which it had most.
    pub jobs: u64,
    /// Seconds of one GPU.
    pub gpu_seconds: u64,
    /// Those of them in which the GPU was busy, as far as that was measured.
    #[serde(default)]
    pub used_gpu_seconds: u64,
    /// Those in which it was measured.
    #[serde(default)]
    pub measured_gpu_seconds: u64,
    /// Those that attempts held which gave way to others.
    #[serde(default)]
    pub preempted_gpu_seconds: u64,
    /// Those that attempts held which failed, whoever's fault that was.
    #[serde(default)]
    pub wasted_gpu_seconds: u64,
    /// For how many seconds the jobs that ended have waited.
    #[serde(default)]
    pub queue_seconds: u64,
    /// What the GPUs cost, where a price is set for their type.
    #[serde(default)]
    pub cost: Option<Amount>,
    /// The groups in which the user is now.
    #[serde(default)]
    pub groups: Vec<GroupName>,
    /// Seconds of one GPU for which the jobs wanted it, from when they were submitted until they ended.
    #[serde(default)]
    pub asked_gpu_seconds: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_written_as_people_write_them() {
        for (day, text) in [(0, "1970-01-01"), (20_778, "2026-11-21"), (11_016, "2000-02-29")] {
            assert_eq!((Day(day).to_string().as_str(), text.parse()), (text, Ok(Day(day))));
        }
        assert_eq!(Day::of(Timestamp(DAY - 1)), Day(0));
        for bad in ["", "today", "2026-02-30", "21.11.2026"] {
            assert!(bad.parse::<Day>().unwrap_err().to_string().contains("2026-11-21"), "{bad}");
        }
    }

    #[test]
    fn a_month_is_told_unless_somebody_asks_for_more_and_never_more_than_a_year() {
        let now = Timestamp(20_778 * DAY + 5);
        let asked = |from: Option<i64>, until: Option<i64>| {
            let query = UsageQuery { from: from.map(Day), until: until.map(Day), username: None };
            query.days(now)
        };
        assert_eq!(asked(None, None), Ok(Day(20_748)..=Day(20_778)));
        assert_eq!(asked(None, Some(40)), Ok(Day(10)..=Day(40)));
        assert_eq!(asked(Some(20_413), None), Ok(Day(20_413)..=Day(20_778)));
        let refused = asked(Some(20_412), None).unwrap_err();
        assert!(refused.message.starts_with("from 2025-11-20 until 2026-11-21: at most 366 days"));
    }
}
