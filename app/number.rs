//! Amounts as the pages write them: the unit after a thin space, figures grouped in threes.

use std::collections::BTreeMap;

use protocol::amount::Amount;
use protocol::cluster::{GroupWeights, Places, Shape};
use protocol::ids::GpuType;
use protocol::spec::TopologyLevel;

/// A count with thin spaces between groups of three figures.
pub(crate) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    grouped
}

/// A text with its large whole numbers grouped, and with ranges as `0-9` that do not end lines.
pub(crate) fn readable(text: &str) -> String {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || "._".contains(letter);
    let mut readable = String::with_capacity(text.len());
    for word in text.split_inclusive(|letter: char| !is_word(letter)) {
        let (word, end) =
            word.split_at(word.trim_end_matches(|letter: char| !is_word(letter)).len());
        match word.parse() {
            Ok(number) if word.len() > 4 => readable.push_str(&count(number)),
            Ok(_) | Err(_) => readable.push_str(word),
        }
        readable.push_str(end);
        if end == "-" && word.len() == 1 {
            readable.push('\u{2060}');
        }
    }
    readable
}

/// An amount with as many decimals as it needs.
pub(crate) fn amount(value: Amount) -> String {
    let text = value.to_string();
    let decimals = text.split_once('.').map_or(String::new(), |(_, part)| format!(".{part}"));
    format!("{}{decimals}", count(value.floor()))
}

/// An amount with two decimals, so that those of a column stand beneath each other.
pub(crate) fn hundredths(value: Amount) -> String {
    let hundredths = value.milli().saturating_add(5) / 10;
    format!("{}.{:02}", count(hundredths / 100), hundredths % 100)
}

/// An amount with as many decimals as it needs, given in thousandths.
pub(crate) fn thousandths(milli: u64) -> String {
    amount(Amount::from_milli(milli))
}

/// The GPUs of a task by index, and the part that it has where it shares one: `0 (0.25)`.
pub(crate) fn held_gpus(indices: &[u32], part: Option<Amount>) -> String {
    let indices = indices.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    part.map_or_else(|| indices.clone(), |part| format!("{indices} ({part})"))
}

/// Memory given in MiB, in GiB from one GiB on, with one decimal where it is not whole; none is none of
/// what there is elsewhere, in GiB.
pub(crate) fn memory(mebibytes: u64) -> String {
    if (1..1024).contains(&mebibytes) {
        return format!("{mebibytes}\u{202f}MiB");
    }
    let tenths = (mebibytes * 10 + 512) / 1024;
    if tenths.is_multiple_of(10) || tenths >= 1000 {
        format!("{}\u{202f}GiB", count((tenths + 5) / 10))
    } else {
        format!("{}.{}\u{202f}GiB", tenths / 10, tenths % 10)
    }
}

/// Disk given in GiB.
pub(crate) fn disk(gibibytes: u64) -> String {
    format!("{}\u{202f}GiB", count(gibibytes))
}

/// Bytes, in the unit that reads best.
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut unit = 0;
    let mut tenths = u128::from(bytes) * 10;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths = (tenths + 512) / 1024;
        unit += 1;
    }
    if unit == 0 || tenths >= 1000 || tenths.is_multiple_of(10) {
        let whole = u64::try_from((tenths + 5) / 10).unwrap_or(u64::MAX);
        return format!("{}\u{202f}{}", count(whole), UNITS[unit]);
    }
    format!("{}.{}\u{202f}{}", tenths / 10, tenths % 10, UNITS[unit])
}

/// A part of a whole in percent, 0 to 100, to the nearest; nothing of nothing is 0.
pub(crate) fn percent(part: u64, whole: u64) -> u64 {
    (part * 100 + whole / 2).checked_div(whole).unwrap_or(0).min(100)
}

/// How far something is in percent: 100 is done, and nothing before.
pub(crate) fn percent_done(part: u64, whole: u64) -> u64 {
    (part * 100).checked_div(whole).unwrap_or(0).min(100)
}

/// GPU hours with two decimals, given in seconds: many jobs are short.
pub(crate) fn gpu_hours(seconds: u64) -> String {
    format!("{:.2}\u{202f}h", seconds as f64 / 3_600.0)
}

/// GPU counts as the forms write them.
pub(crate) fn gpus_text<'a>(counts: impl Iterator<Item = (&'a GpuType, u64)>) -> String {
    counts.map(|(kind, count)| format!("{kind}={count}")).collect::<Vec<_>>().join(", ")
}

/// Groups of GPUs as the forms write them.
pub(crate) fn shapes_text(shapes: &[Shape]) -> String {
    let text = |Shape { gpu_type, gpus, count }: &Shape| format!("{gpu_type} {gpus}x{count}");
    shapes.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// Places as the forms write them.
pub(crate) fn places_text(places: &Places) -> String {
    let of_level = |(level, names): (&TopologyLevel, &Vec<String>)| {
        names.iter().map(|name| format!("{level}={name}")).collect::<Vec<_>>()
    };
    places.iter().flat_map(of_level).collect::<Vec<_>>().join(", ")
}

/// Groups with their weights, as forms have them: `nlp=1, vision=2`.
pub(crate) fn group_weights(weights: &GroupWeights) -> String {
    let each = weights.iter().map(|(group, weight)| format!("{group}={weight}"));
    each.collect::<Vec<_>>().join(", ")
}

/// As how many GPUs one of each type counts: `A100 × 2.5, V100 × 0.5`.
pub(crate) fn weights(weights: &BTreeMap<GpuType, Amount>) -> String {
    let each = weights.iter().map(|(of, weight)| format!("{of} × {weight}"));
    each.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
    }

    #[test]
    fn what_is_allowed_can_be_read() {
        for (text, read) in [
            (
                "a whole number from 100 to 1099511627776",
                "a whole number from 100 to 1 099 511 627 776",
            ),
            ("1024 to 65535, or 0.25", "1024 to 65 535, or 0.25"),
            ("整数，100 至 65536", "整数，100 至 65 536"),
            ("v100000, 1.100000", "v100000, 1.100000"),
            ("1 to 255 of A-Z 0-9 - . _ ~", "1 to 255 of A-|Z 0-|9 - . _ ~"),
            ("-rf a-b", "-rf a-|b"),
        ] {
            assert_eq!(readable(text).replace('\u{202f}', " ").replace('\u{2060}', "|"), read);
        }
    }

    #[test]
    fn parts_of_gpus_have_decimals() {
        assert_eq!(amount(Amount::whole(1234)), "1\u{202f}234");
        assert_eq!(thousandths(1_500), "1.5");
        assert_eq!(thousandths(250), "0.25");
        let column =
            [0, 2_200, 4_476, 1_234_995].map(|milli| hundredths(Amount::from_milli(milli)));
        assert_eq!(column, ["0.00", "2.20", "4.48", "1\u{202f}235.00"]);
        assert_eq!(held_gpus(&[1, 3], None), "1, 3");
        let of = [("A100".parse().unwrap(), Amount::from_milli(2_500))];
        assert_eq!(weights(&of.into()), "A100 × 2.5");
        assert_eq!(held_gpus(&[3], Some(Amount::from_milli(250))), "3 (0.25)");
    }

    #[test]
    fn memory_takes_the_unit_that_reads_best() {
        assert_eq!(memory(0), "0\u{202f}GiB");
        assert_eq!(memory(512), "512\u{202f}MiB");
        assert_eq!(memory(2048), "2\u{202f}GiB");
        assert_eq!(memory(2560), "2.5\u{202f}GiB");
        assert_eq!(memory(1_048_576), "1\u{202f}024\u{202f}GiB");
        assert_eq!(memory(183_450), "179\u{202f}GiB");
    }

    #[test]
    fn bytes_take_the_unit_that_reads_best() {
        for (bytes, text) in [
            (0, "0\u{202f}B"),
            (1023, "1\u{202f}023\u{202f}B"),
            (1024, "1\u{202f}KiB"),
            (1536, "1.5\u{202f}KiB"),
            (5 * 1024 * 1024 * 1024, "5\u{202f}GiB"),
            (u64::MAX, "16\u{202f}777\u{202f}216\u{202f}TiB"),
        ] {
            assert_eq!(super::bytes(bytes), text);
        }
    }

    #[test]
    fn parts_stay_between_nothing_and_all() {
        assert_eq!(percent(1, 0), 0);
        assert_eq!(percent(1, 3), 33);
        assert_eq!(percent(9, 3), 100);
    }

    #[test]
    fn parts_are_rounded_and_what_is_not_done_is_not_all() {
        assert_eq!((percent(858, 10_000), percent(846, 10_000)), (9, 8));
        assert_eq!((percent(1, 8), percent(3, 8), percent(1, 2)), (13, 38, 50));
        assert_eq!((percent(999, 1000), percent_done(999, 1000)), (100, 99));
        assert_eq!((percent_done(3, 3), percent_done(1, 0), percent_done(9, 3)), (100, 0, 100));
    }
}
