//! A file as `ls -l` shows it, which is how a server tells people of it.

use super::wire::Attributes;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// One line; users and groups are told by their numbers.
pub(super) fn line(name: &[u8], attributes: &Attributes, links: u64) -> Vec<u8> {
    let (user, group) = attributes.owner.unwrap_or_default();
    let size = attributes.size.unwrap_or_default();
    let permissions = permissions(attributes.permissions.unwrap_or_default());
    let (_, changed) = attributes.times.unwrap_or_default();
    let date = date(changed.into());
    let mut line =
        format!("{permissions} {links:>4} {user:<8} {group:<8} {size:>8} {date} ").into_bytes();
    line.extend_from_slice(name);
    line
}

fn permissions(mode: u32) -> String {
    let kind = match mode & 0o170_000 {
        0o040_000 => 'd',
        0o120_000 => 'l',
        0o140_000 => 's',
        0o060_000 => 'b',
        0o020_000 => 'c',
        0o010_000 => 'p',
        _ => '-',
    };
    let bits = "rwxrwxrwx".chars().enumerate();
    let bits = bits.map(|(place, bit)| if mode & (0o400 >> place) == 0 { '-' } else { bit });
    std::iter::once(kind).chain(bits).collect()
}

/// Month, day and year of seconds since 1970.
fn date(seconds: u64) -> String {
    let mut days = seconds / 86_400;
    let mut year = 1970;
    loop {
        let length = if is_leap(year) { 366 } else { 365 };
        if days < length {
            break;
        }
        days -= length;
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    for (month, length) in MONTHS.iter().zip(lengths) {
        if days < length {
            return format!("{month} {:>2}  {year}", days + 1);
        }
        days -= length;
    }
    String::new()
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_as_people_know_it() {
        let attributes = Attributes {
            size: Some(12),
            owner: Some((0, 7)),
            permissions: Some(0o040_751),
            times: Some((0, 1_709_164_800)),
        };
        assert_eq!(
            String::from_utf8(line(b"x y", &attributes, 2)).unwrap(),
            "drwxr-x--x    2 0        7              12 Feb 29  2024 x y"
        );
        assert_eq!(date(0), "Jan  1  1970");
        assert_eq!(date(1_735_689_599), "Dec 31  2024");
    }
}
