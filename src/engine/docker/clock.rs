use protocol::calendar;
use protocol::time::Timestamp;

/// Seconds and nanoseconds since 1970 of an RFC 3339 text, as engines write moments.
pub(super) fn parse(text: &str) -> Option<(i64, u32)> {
    let (date, rest) = text.split_once('T')?;
    let mut date = date.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let zone_at = rest.find(['Z', '+', '-'])?;
    let (time, zone) = rest.split_at(zone_at);
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let mut time = time.split(':').map(|part| part.parse::<i64>().ok());
    let (hour, minute, second) = (time.next()??, time.next()??, time.next()??);
    let nanos = format!("{fraction:0<9}").get(..9)?.parse().ok()?;
    let days = calendar::days(year, month, day);
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second;
    Some((seconds - offset(zone)?, nanos))
}

/// Milliseconds of an RFC 3339 text; `None` also for the year 1, which engines write for "never".
pub(super) fn timestamp(text: &str) -> Option<Timestamp> {
    let (seconds, nanos) = parse(text)?;
    (seconds > 0).then(|| Timestamp(seconds * 1000 + i64::from(nanos / 1_000_000)))
}

fn offset(zone: &str) -> Option<i64> {
    if zone == "Z" {
        return Some(0);
    }
    let (sign, rest) = zone.split_at(1);
    let (hours, minutes) = rest.split_once(':')?;
    let seconds = hours.parse::<i64>().ok()? * 3600 + minutes.parse::<i64>().ok()? * 60;
    Some(if sign == "-" { -seconds } else { seconds })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read() {
        assert_eq!(parse("1970-01-01T00:00:00Z"), Some((0, 0)));
        assert_eq!(parse("2000-02-29T12:00:00.5Z"), Some((951_825_600, 500_000_000)));
        assert_eq!(
            parse("2026-11-21T08:46:13.123456789+08:00"),
            Some((1_795_221_973, 123_456_789))
        );
        assert_eq!(timestamp("2026-11-21T00:46:13.1239Z"), Some(Timestamp(1_795_221_973_123)));
        assert_eq!(timestamp("0001-01-01T00:00:00Z"), None);
        for bad in ["", "yesterday", "2026-11-21", "2026-11-21T00:46Z", "2026-11-21T00:46:13"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
