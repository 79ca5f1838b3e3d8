//! For how long what is over is remembered.

use std::fmt;
use std::str::FromStr;

use protocol::time::Timestamp;
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;
/// Days of what people write, the longest first.
const UNITS: [(char, u32); 3] = [('y', 365), ('w', 7), ('d', 1)];
/// The longest that is not for ever, in days.
const LONGEST: u32 = 100 * 365;

/// For how long something is remembered; what is longer is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kept {
    /// For so many days.
    Days(u32),
    /// It is not forgotten.
    Forever,
}

impl Kept {
    /// What may be written, for people.
    pub const ALLOWED: &str =
        "days, weeks or years from 1d to 100y, as \"90d\", \"26w\" or \"5y\", or \"forever\"";

    /// What is over since before then is forgotten; `None`: nothing is.
    pub(crate) fn before(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Days(days) => Some(now.plus_millis(-i64::from(days) * DAY)),
            Self::Forever => None,
        }
    }
}

/// The text says no such time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not allowed; allowed are {allowed}", allowed = Kept::ALLOWED)]
pub struct NotKept(String);

impl FromStr for Kept {
    type Err = NotKept;

    fn from_str(text: &str) -> Result<Self, NotKept> {
        if text == "forever" {
            return Ok(Self::Forever);
        }
        let days = UNITS.iter().find_map(|(unit, days)| {
            text.strip_suffix(*unit)?.parse::<u32>().ok()?.checked_mul(*days)
        });
        let days = days.filter(|days| (1..=LONGEST).contains(days));
        days.map(Self::Days).ok_or_else(|| NotKept(text.to_owned()))
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Days(all) = self else { return f.write_str("forever") };
        let whole = UNITS.iter().find(|(_, days)| all % days == 0);
        let (unit, days) = whole.unwrap_or(&('d', 1));
        write!(f, "{}{unit}", all / days)
    }
}

impl<'de> Deserialize<'de> for Kept {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

/// Reads it, and says of everything else what is allowed.
struct Reader;

impl Visitor<'_> for Reader {
    type Value = Kept;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Kept::ALLOWED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Kept, E> {
        text.parse().map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
    }
}

/// For how long what is over is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Jobs, with all that is recorded of them, from their end on.
    pub jobs: Kept,
    /// Their logs, from the jobs' end on.
    pub logs: Kept,
    /// What was measured of their tasks, likewise.
    pub metrics: Kept,
    /// What happened to jobs and to the cluster.
    pub events: Kept,
    /// The audit log.
    pub audit: Kept,
}

impl Default for Retention {
    /// Records for years, logs for months.
    fn default() -> Self {
        Self {
            jobs: Kept::Days(5 * 365),
            logs: Kept::Days(26 * 7),
            metrics: Kept::Days(26 * 7),
            events: Kept::Days(365),
            audit: Kept::Days(5 * 365),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_weeks_and_years_are_read_and_written() {
        for (text, days, written) in [
            ("1d", 1, "1d"),
            ("90d", 90, "90d"),
            ("14d", 14, "2w"),
            ("26w", 182, "26w"),
            ("5y", 1_825, "5y"),
            ("100y", 36_500, "100y"),
        ] {
            let kept: Kept = text.parse().unwrap();
            assert_eq!((kept, kept.to_string().as_str()), (Kept::Days(days), written));
            assert_eq!(written.parse(), Ok(kept));
        }
        assert_eq!("forever".parse(), Ok(Kept::Forever));
        assert_eq!(Kept::Forever.to_string(), "forever");
        let wrong =
            ["", "0d", "-1d", "90", "1.5y", "3m", "101y", "99999999999d", "d", "1d 1w", "never"];
        for text in wrong {
            let refused = text.parse::<Kept>().unwrap_err().to_string();
            assert!(refused.contains("\"26w\"") && refused.contains("forever"), "{refused}");
        }
    }

    #[test]
    fn what_is_kept_longer_is_greater_and_begins_earlier() {
        assert!(Kept::Days(2) < Kept::Days(3) && Kept::Days(u32::MAX) < Kept::Forever);
        let now = Timestamp(10 * DAY + 5);
        assert_eq!(Kept::Days(3).before(now), Some(Timestamp(7 * DAY + 5)));
        assert_eq!(Kept::Forever.before(now), None);
        let Retention { jobs, logs, metrics, events, .. } = Retention::default();
        assert!([logs, metrics, events].iter().all(|kept| *kept <= jobs), "they go with it");
    }
}
