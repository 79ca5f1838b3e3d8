//! Moments and spans in words: plain arithmetic, the same on the server and in the browser.

use protocol::calendar;
use protocol::time::Timestamp;

/// A moment as `2026-03-01 14:05:09 UTC`.
pub(crate) fn utc(at: Timestamp) -> String {
    let (date, time) = date_and_time(at);
    format!("{date} {time} UTC")
}

/// A moment as `2026-03-01 15:05:09 (UTC+1)`, on clocks that are so many minutes ahead of UTC.
pub(crate) fn local(at: Timestamp, ahead: i32) -> String {
    let (date, time) = date_and_time(Timestamp(at.0 + i64::from(ahead) * 60_000));
    let sign = if ahead < 0 { '-' } else { '+' };
    let (hours, minutes) = (ahead.abs() / 60, ahead.abs() % 60);
    let minutes = if minutes > 0 { format!(":{minutes:02}") } else { String::new() };
    format!("{date} {time} (UTC{sign}{hours}{minutes})")
}

/// A moment as `2026-03-01T14:05:09Z`, for machines.
pub(crate) fn iso(at: Timestamp) -> String {
    let (date, time) = date_and_time(at);
    format!("{date}T{time}Z")
}

/// A moment as `2026-03-01T14:05:09.250Z`, to the millisecond: filters of jobs read it.
pub(crate) fn exact(at: Timestamp) -> String {
    let (date, time) = date_and_time(at);
    format!("{date}T{time}.{:03}Z", at.0.rem_euclid(1000))
}

fn date_and_time(at: Timestamp) -> (String, String) {
    let seconds = at.0.div_euclid(1000);
    let (year, month, day) = calendar::date(seconds.div_euclid(86_400));
    let rest = seconds.rem_euclid(86_400);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    (format!("{year:04}-{month:02}-{day:02}"), format!("{hour:02}:{minute:02}:{second:02}"))
}

/// A span cut to its two largest units; the languages put words to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Span {
    /// Below a minute.
    Seconds(i64),
    /// Minutes and seconds, below an hour.
    Minutes(i64, i64),
    /// Hours and minutes, below a day.
    Hours(i64, i64),
    /// Days and hours.
    Days(i64, i64),
}

impl Span {
    /// Cuts a span of milliseconds; negative spans count as none.
    pub(crate) fn of_millis(millis: i64) -> Self {
        let seconds = millis.max(0) / 1000;
        match seconds {
            0..60 => Span::Seconds(seconds),
            60..3600 => Span::Minutes(seconds / 60, seconds % 60),
            3600..86_400 => Span::Hours(seconds / 3600, seconds / 60 % 60),
            _more => Span::Days(seconds / 86_400, seconds / 3600 % 24),
        }
    }

    /// The same rounded up as far as anybody can tell beforehand: to 10 seconds, from a few minutes
    /// on to minutes, from an hour on to 10 minutes, from a day on to hours.
    pub(crate) fn roughly(millis: i64) -> Self {
        let seconds = millis.max(0) / 1000;
        let step = match seconds {
            0..60 => 10,
            60..3600 => 60,
            3600..86_400 => 600,
            _more => 3600,
        };
        Self::of_millis((seconds + step - 1) / step * step * 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_in_utc() {
        for (millis, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399_999, "2000-02-28 23:59:59 UTC"),
            (951_782_400_000, "2000-02-29 00:00:00 UTC"),
            (1_709_210_096_000, "2024-02-29 12:34:56 UTC"),
            (1_767_225_599_000, "2025-12-31 23:59:59 UTC"),
            (-1000, "1969-12-31 23:59:59 UTC"),
        ] {
            assert_eq!(utc(Timestamp(millis)), text);
        }
        assert_eq!(iso(Timestamp(0)), "1970-01-01T00:00:00Z");
        let exact = exact(Timestamp(1_772_373_909_025));
        assert_eq!(exact, "2026-03-01T14:05:09.025Z");
        let query = api::job_filter::read(&format!("ended:{exact}"), None).unwrap();
        let ended = query.ended_since.map(|since| since.at(Timestamp(0)));
        assert_eq!(ended, Some(Timestamp(1_772_373_909_025)));
    }

    #[test]
    fn moments_are_written_in_the_zone_of_who_reads_them() {
        let at = Timestamp(1_767_225_599_000);
        for (ahead, text) in [
            (0, "2025-12-31 23:59:59 (UTC+0)"),
            (480, "2026-01-01 07:59:59 (UTC+8)"),
            (345, "2026-01-01 05:44:59 (UTC+5:45)"),
            (-570, "2025-12-31 14:29:59 (UTC-9:30)"),
        ] {
            assert_eq!(local(at, ahead), text);
        }
    }

    #[test]
    fn spans_show_two_units() {
        for (millis, span) in [
            (-5, Span::Seconds(0)),
            (59_999, Span::Seconds(59)),
            (61_000, Span::Minutes(1, 1)),
            (7_980_000, Span::Hours(2, 13)),
            (90_000_000, Span::Days(1, 1)),
        ] {
            assert_eq!(Span::of_millis(millis), span);
        }
    }
}
