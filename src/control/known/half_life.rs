//! After which time what users have had of GPUs counts half as much.

use std::fmt;
use std::str::FromStr;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

/// Milliseconds of an hour.
const HOUR: i64 = 3_600_000;
/// Hours of what people write, the longest first.
const UNITS: [(char, u32); 3] = [('w', 7 * 24), ('d', 24), ('h', 1)];
/// The longest, in hours.
const LONGEST: u32 = 365 * 24;

/// After so many hours what users have had of a virtual cluster's GPUs counts half as much between them;
/// 0: only what they hold counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HalfLife(u32);

impl HalfLife {
    /// What may be written, for people.
    pub const ALLOWED: &str =
        "hours, days or weeks from 1h to 365d, as \"36h\", \"7d\" or \"4w\", or \"0\"";

    /// In milliseconds.
    pub(crate) fn millis(self) -> i64 {
        i64::from(self.0) * HOUR
    }
}

impl Default for HalfLife {
    /// A week.
    fn default() -> Self {
        Self(7 * 24)
    }
}

/// The text says no such time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not allowed; allowed are {allowed}", allowed = HalfLife::ALLOWED)]
pub struct NoHalfLife(String);

impl FromStr for HalfLife {
    type Err = NoHalfLife;

    fn from_str(text: &str) -> Result<Self, NoHalfLife> {
        if text == "0" {
            return Ok(Self(0));
        }
        let hours = UNITS.iter().find_map(|(unit, hours)| {
            text.strip_suffix(*unit)?.parse::<u32>().ok()?.checked_mul(*hours)
        });
        let hours = hours.filter(|hours| (1..=LONGEST).contains(hours));
        hours.map(Self).ok_or_else(|| NoHalfLife(text.to_owned()))
    }
}

impl fmt::Display for HalfLife {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0");
        }
        let whole = UNITS.iter().find(|(_, hours)| self.0.is_multiple_of(*hours));
        let (unit, hours) = whole.unwrap_or(&('h', 1));
        write!(f, "{}{unit}", self.0 / hours)
    }
}

impl<'de> Deserialize<'de> for HalfLife {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

/// Reads it, and says of everything else what is allowed.
struct Reader;

impl Visitor<'_> for Reader {
    type Value = HalfLife;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HalfLife::ALLOWED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<HalfLife, E> {
        text.parse().map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_days_and_weeks_are_read_and_written() {
        for (text, hours, written) in [
            ("0", 0, "0"),
            ("1h", 1, "1h"),
            ("36h", 36, "36h"),
            ("48h", 48, "2d"),
            ("7d", 168, "1w"),
            ("365d", 8_760, "365d"),
        ] {
            let half_life: HalfLife = text.parse().unwrap();
            assert_eq!(half_life.millis(), hours * HOUR, "{text}");
            assert_eq!(half_life.to_string(), written);
        }
        for text in ["", "7", "0d", "-1d", "1.5h", "366d", "53w", "7 d", "forever", "9999999999h"] {
            let error = text.parse::<HalfLife>().unwrap_err().to_string();
            assert!(error.contains("36h") && error.contains(text), "{error}");
        }
        assert_eq!(HalfLife::default().to_string(), "1w");
    }
}
