//! What is at hand of the logs of all tasks together: lines in the order of time, without gaps.

use api::logs::{TaskLine, Together, TogetherAsk, TogetherPlace};

/// So many lines are in the page at most.
const MOST: usize = 1_000;
/// Whoever follows reads so many lines at a time. Where more have come meanwhile than that, he goes on at the
/// end.
const NEWS: u32 = 500;

/// A piece of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Piece {
    pub(crate) lines: Vec<TaskLine>,
    pub(crate) tasks: Vec<String>,
    first: Vec<u64>,
    next: Vec<u64>,
    /// So many lines come after it, as far as is known.
    behind: u64,
    bytes: u64,
    complete: bool,
    lost: u32,
    torn: u32,
    /// Its end is not where the logs' end was when it was read: its reader went to another place.
    away: bool,
    skipped: u64,
}

impl Piece {
    /// A piece that ends with the logs.
    pub(crate) fn at_end(read: Together) -> Self {
        let Together { tasks, lines, first, next, behind, bytes, complete, lost, torn, .. } = read;
        let (away, skipped) = (false, 0);
        Self { lines, tasks, first, next, behind, bytes, complete, lost, torn, away, skipped }
    }

    /// A piece that begins somewhere.
    pub(crate) fn anywhere(read: Together) -> Self {
        let piece = Self::at_end(read);
        Self { away: piece.behind > 0, ..piece }
    }

    /// Whether nothing comes after it, now or later.
    pub(crate) fn is_complete(&self) -> bool {
        self.complete
    }

    /// Of how many tasks the logs are lost.
    pub(crate) fn lost(&self) -> u64 {
        u64::from(self.lost)
    }

    /// Of how many tasks the ends of their logs are.
    pub(crate) fn torn(&self) -> u64 {
        u64::from(self.torn)
    }

    /// Whether its reader went away from the end.
    pub(crate) fn is_away(&self) -> bool {
        self.away
    }

    /// Whether there is something before it.
    pub(crate) fn has_earlier(&self) -> bool {
        self.first.iter().any(|first| *first > 0)
    }

    /// How many lines were passed over before it, since they came faster than they could be shown.
    pub(crate) fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The lines before it.
    pub(crate) fn before(&self) -> TogetherPlace {
        TogetherPlace::Before(self.first.clone())
    }

    /// The lines after it.
    pub(crate) fn after(&self) -> TogetherPlace {
        TogetherPlace::From(self.next.clone())
    }

    /// What is asked for by whoever follows: what is there after it, else what comes, and the end of all, where
    /// too much has come. `None`: nothing comes any more.
    pub(crate) fn news(&self) -> Option<TogetherAsk> {
        if self.complete {
            return None;
        }
        if self.behind > u64::from(NEWS) {
            return Some(TogetherAsk { place: TogetherPlace::End, count: NEWS, after: None });
        }
        let after = (self.behind == 0).then_some(self.bytes);
        Some(TogetherAsk { place: self.after(), count: NEWS, after })
    }

    /// Takes the answer to it; whether there is more, to be asked for at once.
    pub(crate) fn follow(&mut self, asked: &TogetherPlace, read: Together) -> bool {
        let more = read.behind > 0 && !read.lines.is_empty();
        match asked {
            TogetherPlace::End => self.jump(read),
            TogetherPlace::From(next) if *next == self.next => self.append(read),
            // Whoever has asked for other lines meanwhile has them.
            TogetherPlace::From(_) | TogetherPlace::Before(_) | TogetherPlace::Time(_) => {}
        }
        more
    }

    /// Goes on at the end, past what comes in between.
    fn jump(&mut self, read: Together) {
        let passed = read.first.iter().zip(&self.next);
        let skipped = passed.map(|(first, next)| first.saturating_sub(*next)).sum();
        *self = Self { skipped, ..Self::at_end(read) };
    }

    /// Takes the answer to what its reader asked for, unless it does not fit any more: another answer was faster.
    pub(crate) fn take(&mut self, asked: &TogetherPlace, read: Together) {
        match asked {
            TogetherPlace::End => *self = Self::at_end(read),
            TogetherPlace::Time(_) => *self = Self::anywhere(read),
            TogetherPlace::From(next) if *next == self.next => self.append(read),
            TogetherPlace::Before(first) if *first == self.first => self.prepend(read),
            TogetherPlace::From(_) | TogetherPlace::Before(_) => {}
        }
    }

    /// Takes what comes after it. Lines at its beginning are let go where it becomes too long.
    fn append(&mut self, read: Together) {
        self.lines.extend(read.lines);
        let surplus = self.lines.len().saturating_sub(MOST);
        for line in self.lines.drain(..surplus) {
            if let Some(first) = self.first.get_mut(line.task as usize) {
                *first = line.line.number;
            }
        }
        if surplus > 0 {
            self.skipped = 0;
        }
        // A log that is read from its beginning again has reached less for a while: nothing comes twice.
        let reached = |(at, next): (usize, u64)| next.max(self.next.get(at).copied().unwrap_or(0));
        self.next = read.next.into_iter().enumerate().map(reached).collect();
        (self.tasks, self.bytes) = (read.tasks, read.bytes);
        self.first.resize(self.next.len(), 0);
        (self.behind, self.complete) = (read.behind, read.complete);
        (self.lost, self.torn) = (read.lost, read.torn);
        self.away &= self.behind > 0;
    }

    /// Takes what comes before it. Lines at its end are let go where it becomes too long.
    fn prepend(&mut self, read: Together) {
        self.skipped = self.skipped.saturating_sub(read.lines.len() as u64);
        self.lines.splice(0..0, read.lines);
        self.first = read.first;
        let kept = self.lines.len().min(MOST);
        for line in self.lines.drain(kept..).rev() {
            if let Some(next) = self.next.get_mut(line.task as usize) {
                *next = line.line.number.saturating_sub(1);
            }
            self.behind += 1;
            (self.away, self.complete) = (true, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use api::logs::LogLine;
    use protocol::time::Timestamp;

    use super::*;

    /// The lines with these numbers of a task that has written so many.
    fn read(numbers: std::ops::Range<u64>, written: u64) -> Together {
        let line = |number| LogLine { number, at: None, text: String::new(), cut: false };
        Together {
            tasks: vec!["main-0".to_owned()],
            first: vec![numbers.start - 1],
            next: vec![numbers.end - 1],
            behind: written - (numbers.end - 1),
            lines: numbers.map(|number| TaskLine { task: 0, line: line(number) }).collect(),
            bytes: written * 10,
            ..Together::default()
        }
    }

    fn ends(piece: &Piece) -> (u64, u64) {
        let number = |line: Option<&TaskLine>| line.map_or(0, |line| line.line.number);
        (number(piece.lines.first()), number(piece.lines.last()))
    }

    #[test]
    fn a_piece_has_no_gaps_and_an_end() {
        let mut piece = Piece::at_end(read(5_000..5_200, 5_199));
        for from in (5_200..7_000).step_by(200) {
            piece.append(read(from..from + 200, from + 199));
        }
        assert_eq!((piece.lines.len(), ends(&piece)), (MOST, (6_000, 6_999)));
        assert_eq!(piece.first, [5_999]);
        for from in [5_800, 5_600, 5_400, 5_200, 5_000] {
            piece.prepend(read(from..from + 200, 6_999));
        }
        assert_eq!((piece.lines.len(), ends(&piece)), (MOST, (5_000, 5_999)));
        assert!(piece.is_away() && piece.has_earlier());
    }

    #[test]
    fn what_was_let_go_at_the_end_comes_again() {
        let mut piece = Piece::at_end(Together { complete: true, ..read(1_001..2_001, 2_000) });
        assert!(piece.is_complete() && piece.news().is_none());
        piece.prepend(read(601..1_001, 2_000));
        assert_eq!((ends(&piece), piece.behind), ((601, 1_600), 400));
        assert!(!piece.is_complete(), "there is more");
        assert_eq!(piece.after(), TogetherPlace::From(vec![1_600]));
        piece.append(read(1_601..1_801, 2_000));
        assert!(piece.is_away() && !piece.is_complete());
        piece.append(Together { complete: true, ..read(1_801..2_001, 2_000) });
        assert_eq!(ends(&piece), (1_001, 2_000));
        assert!(!piece.is_away() && piece.is_complete());
    }

    #[test]
    fn who_follows_a_loud_log_is_never_far_behind() {
        let mut piece = Piece::at_end(read(1..101, 100));
        let quiet = piece.news().unwrap();
        assert_eq!((quiet.place, quiet.after), (TogetherPlace::From(vec![100]), Some(1_000)));
        // A second later there are more lines than are read at a time: the rest is asked for at once.
        let place = TogetherPlace::From(vec![100]);
        assert!(piece.follow(&place, read(101..601, 900)));
        let rest = piece.news().unwrap();
        assert_eq!((rest.place, rest.after), (TogetherPlace::From(vec![600]), None));
        assert!(!piece.follow(&TogetherPlace::From(vec![600]), read(601..901, 900)));
        assert_eq!((ends(&piece), piece.skipped()), ((1, 900), 0));
        // Where there are very many he goes on at the end, and it is said how many that leaves out.
        assert!(piece.follow(&TogetherPlace::From(vec![900]), read(901..1_401, 1_000_000)));
        assert_eq!(piece.news().unwrap().place, TogetherPlace::End);
        assert!(!piece.follow(&TogetherPlace::End, read(999_501..1_000_001, 1_000_000)));
        assert_eq!((ends(&piece), piece.skipped()), ((999_501, 1_000_000), 998_100));
        assert!(!piece.is_away(), "it is the end");
        // They are those before it.
        assert_eq!(piece.before(), TogetherPlace::Before(vec![999_500]));
        piece.prepend(read(999_301..999_501, 1_000_000));
        assert_eq!(piece.skipped(), 997_900);
    }

    #[test]
    fn lines_of_a_log_that_is_read_anew_do_not_come_twice() {
        let mut piece = Piece::at_end(read(1..101, 100));
        let place = TogetherPlace::From(vec![100]);
        // Another server has read half of it so far.
        let half = Together { first: vec![50], next: vec![50], ..Together::default() };
        assert!(!piece.follow(&place, half));
        assert_eq!(piece.after(), place);
    }

    #[test]
    fn news_that_come_too_late_are_none() {
        let mut piece = Piece::anywhere(read(1..201, 1_000));
        assert!(piece.is_away());
        piece.follow(&TogetherPlace::From(vec![999]), read(1_000..1_001, 1_000));
        assert_eq!(ends(&piece), (1, 200));
    }

    #[test]
    fn what_was_asked_for_twice_comes_once() {
        let mut piece = Piece::anywhere(read(401..601, 1_000));
        let (before, after) = (piece.before(), piece.after());
        for _ in 0..2 {
            piece.take(&after, read(601..801, 1_000));
            piece.take(&before, read(201..401, 1_000));
        }
        assert_eq!((piece.lines.len(), ends(&piece)), (600, (201, 800)));
        // Earlier lines that come after a moment that was gone to meanwhile are not before it.
        let before = piece.before();
        piece.take(&TogetherPlace::Time(Timestamp(0)), read(601..801, 1_000));
        piece.take(&before, read(1..201, 1_000));
        assert_eq!((piece.lines.len(), ends(&piece)), (200, (601, 800)));
        assert!(piece.is_away());
        piece.take(&TogetherPlace::End, read(801..1_001, 1_000));
        assert_eq!(ends(&piece), (801, 1_000));
        assert!(!piece.is_away());
    }
}
