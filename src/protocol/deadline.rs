use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::calendar;
use crate::time::Timestamp;

/// A moment by which a job is to have ended, as RFC 3339 writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Deadline(Timestamp);

impl Deadline {
    /// What may be written, for people.
    pub const ALLOWED: &str = "a moment such as 2026-12-01T08:00:00Z or 2026-12-01T16:00:00+08:00";

    /// When that is.
    #[must_use]
    pub fn at(self) -> Timestamp {
        self.0
    }
}

/// The text is no moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a moment")]
pub struct NoDeadline(String);

impl FromStr for Deadline {
    type Err = NoDeadline;

    /// Reads a date, a time and how far that is from UTC (RFC 3339, 5.6). Less than a millisecond is nothing.
    fn from_str(text: &str) -> Result<Self, NoDeadline> {
        let millis = moment(text.trim());
        let millis = millis.ok_or_else(|| NoDeadline(crate::document::shorten(text)))?;
        Ok(Self(Timestamp(millis)))
    }
}

/// Milliseconds since 1970 of `2026-12-01T08:00:00Z`.
fn moment(text: &str) -> Option<i64> {
    let (date, rest) = (text.get(..10)?, text.get(11..)?);
    let (time, rest) = (rest.get(..8)?, rest.get(8..)?);
    if !matches!(text.as_bytes()[10], b'T' | b't' | b' ') {
        return None;
    }
    let [year, month, day] = parts(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = parts(time, ':', [2, 2, 2])?;
    let is_moment = (1..=12).contains(&month)
        && (1..=calendar::days_of(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if !is_moment {
        return None;
    }
    let zone_at = rest.find(|c: char| c != '.' && !c.is_ascii_digit())?;
    let (fraction, zone) = rest.split_at(zone_at);
    let days = calendar::days(year, month, day);
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second;
    Some((seconds - offset(zone)?) * 1000 + millis(fraction)?)
}

/// Numbers of so many digits with a sign between them.
fn parts(text: &str, between: char, digits: [usize; 3]) -> Option<[i64; 3]> {
    let mut parts = text.split(between);
    let mut numbers = [0; 3];
    for (number, digits) in numbers.iter_mut().zip(digits) {
        *number = self::number(parts.next()?, digits)?;
    }
    parts.next().is_none().then_some(numbers)
}

fn number(text: &str, digits: usize) -> Option<i64> {
    let plain = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| plain)
}

/// `.25` in milliseconds; nothing at all is none.
fn millis(fraction: &str) -> Option<i64> {
    if fraction.is_empty() {
        return Some(0);
    }
    let digits = fraction.strip_prefix('.')?;
    number(digits, digits.len())?;
    format!("{digits:0<3}").get(..3)?.parse().ok()
}

/// `Z` or `+08:00` in seconds.
fn offset(zone: &str) -> Option<i64> {
    if matches!(zone, "Z" | "z") {
        return Some(0);
    }
    let (sign, rest) = (zone.get(..1)?, zone.get(1..)?);
    let (hours, minutes) = rest.split_once(':')?;
    let (hours, minutes) = (number(hours, 2)?, number(minutes, 2)?);
    let seconds = (hours < 24 && minutes < 60).then_some(hours * 3_600 + minutes * 60)?;
    match sign {
        "+" => Some(seconds),
        "-" => Some(-seconds),
        _ => None,
    }
}

/// In UTC.
impl fmt::Display for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, millis) = (self.0.0.div_euclid(1000), self.0.0.rem_euclid(1000));
        let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let (year, month, day) = calendar::date(days);
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if millis > 0 {
            write!(f, ".{millis:03}")?;
        }
        write!(f, "Z")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_and_written_in_utc() {
        for (text, millis, written) in [
            ("1970-01-01T00:00:00Z", 0, "1970-01-01T00:00:00Z"),
            ("2000-02-29T12:00:00.5Z", 951_825_600_500, "2000-02-29T12:00:00.500Z"),
            ("2026-12-01t08:00:00z", 1_796_112_000_000, "2026-12-01T08:00:00Z"),
            (" 2026-12-01 16:00:00+08:00 ", 1_796_112_000_000, "2026-12-01T08:00:00Z"),
            ("2026-11-30T23:30:00.0009-08:30", 1_796_112_000_000, "2026-12-01T08:00:00Z"),
            ("2100-03-01T00:00:00Z", 4_107_542_400_000, "2100-03-01T00:00:00Z"),
            ("9999-12-31T23:59:59Z", 253_402_300_799_000, "9999-12-31T23:59:59Z"),
        ] {
            let deadline: Deadline = text.parse().unwrap();
            assert_eq!((deadline.at().0, deadline.to_string().as_str()), (millis, written));
            assert_eq!(written.parse(), Ok(deadline));
        }
        for text in [
            "",
            "tomorrow",
            "2026-12-01",
            "2026-12-01T08:00Z",
            "2026-12-01T08:00:00",
            "2026-12-01T08:00:00.Z",
            "2026-12-01T08:00:00+8:00",
            "2026-12-01T08:00:00+0800",
            "2026-12-01T08:00:00 Z",
            "2026-12-01x08:00:00Z",
            "2026-02-29T08:00:00Z",
            "2026-13-01T08:00:00Z",
            "2026-12-00T08:00:00Z",
            "2026-12-01T24:00:00Z",
            "+026-12-01T08:00:00Z",
            "１２３４-12-01T08:00:00Z",
            "1796112000",
        ] {
            assert!(text.parse::<Deadline>().is_err(), "{text}");
        }
    }
}
