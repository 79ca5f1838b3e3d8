//! The lines of a log that come with its page: few enough for the page to be there at once.

use api::logs::{LogPlace, LogWindow};

/// So many bytes of them at most, unless one alone is longer.
const MOST: usize = 24_000;

/// Leaves out what is farthest from the place that is looked at. In the browser it is read when it is seen.
pub(crate) fn nearest(place: LogPlace, window: &mut LogWindow) {
    let lines = &mut window.lines;
    let place = match place {
        LogPlace::End => lines.len(),
        LogPlace::From(_) | LogPlace::Time(_) => 0,
        LogPlace::Around(number) => lines.partition_point(|line| line.number < number),
    };
    let place = place.min(lines.len().saturating_sub(1));
    let mut by_distance: Vec<usize> = (0..lines.len()).collect();
    by_distance.sort_by_key(|line| line.abs_diff(place));
    let mut size = 0;
    let fits = |line: &&usize| {
        size += lines[**line].text.len();
        size <= MOST || **line == place
    };
    let kept: Vec<usize> = by_distance.iter().take_while(fits).copied().collect();
    let Some((first, last)) = kept.iter().min().zip(kept.iter().max()) else { return };
    lines.truncate(last + 1);
    lines.drain(..first);
}

#[cfg(test)]
mod tests {
    use api::logs::LogLine;

    use super::*;

    fn left(place: LogPlace, lengths: &[usize]) -> Vec<u64> {
        let line = |(number, length): (u64, &usize)| LogLine {
            number,
            at: None,
            text: "x".repeat(*length),
            cut: false,
        };
        let lines = (1..).zip(lengths).map(line).collect();
        let mut window = LogWindow { lines, ..LogWindow::default() };
        nearest(place, &mut window);
        window.lines.iter().map(|line| line.number).collect()
    }

    #[test]
    fn short_lines_all_come() {
        let all: Vec<u64> = (1..=120).collect();
        for place in [LogPlace::End, LogPlace::From(1), LogPlace::Around(60)] {
            assert_eq!(left(place, &[100; 120]), all, "{place:?}");
        }
        assert!(left(LogPlace::End, &[]).is_empty());
    }

    #[test]
    fn of_long_lines_those_come_that_are_looked_at() {
        let lengths = [10_000; 9];
        assert_eq!(left(LogPlace::End, &lengths), [8, 9]);
        assert_eq!(left(LogPlace::From(1), &lengths), [1, 2]);
        assert_eq!(left(LogPlace::Around(5), &lengths), [4, 5]);
        assert_eq!(left(LogPlace::Around(99), &lengths), [8, 9]);
        assert_eq!(
            left(LogPlace::Around(2), &[9, 90_000, 9]),
            [2],
            "one comes, however long it is"
        );
    }
}
