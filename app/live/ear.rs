use api::changes::Mark;

/// Up to where a page has heard of what changes.
#[derive(Debug, Default)]
pub(super) struct Ear {
    last: Option<Mark>,
}

/// What a change is to who hears it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// It was heard before.
    Known,
    /// It comes next.
    Next,
    /// Others that came before it were missed.
    Gap,
}

impl Ear {
    pub(super) fn at(mark: Option<Mark>) -> Self {
        Self { last: mark }
    }

    pub(super) fn mark(&self) -> Option<Mark> {
        self.last
    }

    pub(super) fn hear(&mut self, mark: Mark) -> Heard {
        let Some(last) = self.last.replace(mark) else { return Heard::Next };
        if last.run != mark.run || mark.number > last.number + 1 {
            return Heard::Gap;
        }
        if mark.number == last.number + 1 {
            return Heard::Next;
        }
        self.last = Some(last);
        Heard::Known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(run: u32, number: u64) -> Mark {
        Mark { run, number }
    }

    #[test]
    fn what_comes_next_is_told_from_what_is_known_and_from_gaps() {
        let mut ear = Ear::default();
        for (heard, expected) in [
            (mark(1, 5), Heard::Next),
            (mark(1, 5), Heard::Known),
            (mark(1, 3), Heard::Known),
            (mark(1, 6), Heard::Next),
            (mark(1, 8), Heard::Gap),
            (mark(1, 9), Heard::Next),
            (mark(2, 1), Heard::Gap),
            (mark(2, 2), Heard::Next),
        ] {
            assert_eq!(ear.hear(heard), expected, "{heard}");
        }
        assert_eq!(ear.mark(), Some(mark(2, 2)));
    }

    #[test]
    fn a_page_goes_on_from_where_it_was_rendered() {
        let mut ear = Ear::at(Some(mark(1, 5)));
        assert_eq!(ear.hear(mark(1, 5)), Heard::Known);
        assert_eq!(ear.hear(mark(1, 6)), Heard::Next);
    }
}
