use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long one attempt of a job may run, in whole seconds; at least one.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct TimeLimit(u32);

/// Units, the longest first.
const UNITS: [(char, u32); 4] = [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];

impl TimeLimit {
    /// The longest: a year.
    pub const LONGEST: Self = Self(365 * 86_400);
    /// What may be written, for people.
    pub const ALLOWED: &str = "seconds, or a text such as 2h 30m, of at most 365d";

    /// So many hours, one at least and [`Self::LONGEST`] at most.
    #[must_use]
    pub fn of_hours(hours: u32) -> Self {
        Self(hours.saturating_mul(3_600)).clamp(Self(3_600), Self::LONGEST)
    }

    /// So many seconds, where that is a limit.
    #[must_use]
    pub fn of_seconds(seconds: u32) -> Option<Self> {
        (1..=Self::LONGEST.0).contains(&seconds).then_some(Self(seconds))
    }

    /// In seconds.
    #[must_use]
    pub fn seconds(self) -> u32 {
        self.0
    }

    /// In milliseconds.
    #[must_use]
    pub fn millis(self) -> i64 {
        i64::from(self.0) * 1000
    }
}

/// The text is no time limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a time limit")]
pub struct NoLimit(String);

impl FromStr for TimeLimit {
    type Err = NoLimit;

    /// Reads seconds (`5400`) or amounts with units, the longest first (`1h 30m`).
    fn from_str(text: &str) -> Result<Self, NoLimit> {
        let refused = || NoLimit(crate::document::shorten(text));
        let seconds = match text.trim().parse::<u32>() {
            Ok(seconds) => Some(seconds),
            Err(_) => with_units(text),
        };
        seconds.and_then(Self::of_seconds).ok_or_else(refused)
    }
}

fn with_units(text: &str) -> Option<u32> {
    let (mut sum, mut number, mut units) = (0_u32, String::new(), UNITS.iter());
    for letter in text.chars().filter(|letter| *letter != ' ') {
        if letter.is_ascii_digit() {
            number.push(letter);
            continue;
        }
        let (_, seconds) = units.find(|(unit, _)| *unit == letter)?;
        sum = sum.checked_add(number.parse::<u32>().ok()?.checked_mul(*seconds)?)?;
        number.clear();
    }
    (number.is_empty() && sum > 0).then_some(sum)
}

impl fmt::Display for TimeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut left, mut gap) = (self.0, "");
        for (unit, seconds) in UNITS {
            if left >= seconds {
                write!(f, "{gap}{}{unit}", left / seconds)?;
                (left, gap) = (left % seconds, " ");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_amounts_with_units_are_read() {
        for (text, seconds, written) in [
            ("1", 1, "1s"),
            ("5400", 5_400, "1h 30m"),
            ("2h 30m", 9_000, "2h 30m"),
            ("2h30m", 9_000, "2h 30m"),
            (" 90s ", 90, "1m 30s"),
            ("1d 1s", 86_401, "1d 1s"),
            ("365d", 31_536_000, "365d"),
        ] {
            let limit: TimeLimit = text.parse().unwrap();
            assert_eq!((limit.millis(), limit.to_string().as_str()), (seconds * 1000, written));
            assert_eq!(written.parse(), Ok(limit));
        }
        let hours = [0, 1, 24, u32::MAX].map(|hours| TimeLimit::of_hours(hours).to_string());
        assert_eq!(hours, ["1h", "1h", "1d", "365d"]);
        for text in ["", "0", "-1", "2.5h", "1h 2", "m", "30m 2h", "1h 1h", "366d", "99999999999"] {
            assert!(text.parse::<TimeLimit>().is_err(), "{text}");
        }
    }
}
