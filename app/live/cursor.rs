use api::changes::Mark;

/// Up to where in the stream of changes a page has come.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    last: Option<Mark>,
}

/// Where in the stream a change stands, seen from the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// It came before.
    Known,
    /// It comes next.
    Next,
    /// Others that came before it were missed.
    Missed,
}

impl Cursor {
    pub(super) fn at(mark: Option<Mark>) -> Self {
        Self { last: mark }
    }

    pub(super) fn mark(&self) -> Option<Mark> {
        self.last
    }

    pub(super) fn advance(&mut self, mark: Mark) -> Position {
        let Some(last) = self.last.replace(mark) else { return Position::Next };
        if last.run != mark.run || mark.number > last.number + 1 {
            return Position::Missed;
        }
        if mark.number == last.number + 1 {
            return Position::Next;
        }
        self.last = Some(last);
        Position::Known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(run: u32, number: u64) -> Mark {
        Mark { run, number }
    }

    #[test]
    fn what_comes_next_is_told_from_what_is_known_and_from_what_was_missed() {
        let mut cursor = Cursor::default();
        for (heard, expected) in [
            (mark(1, 5), Position::Next),
            (mark(1, 5), Position::Known),
            (mark(1, 3), Position::Known),
            (mark(1, 6), Position::Next),
            (mark(1, 8), Position::Missed),
            (mark(1, 9), Position::Next),
            (mark(2, 1), Position::Missed),
            (mark(2, 2), Position::Next),
        ] {
            assert_eq!(cursor.advance(heard), expected, "{heard}");
        }
        assert_eq!(cursor.mark(), Some(mark(2, 2)));
    }

    #[test]
    fn a_page_goes_on_from_where_it_was_rendered() {
        let mut cursor = Cursor::at(Some(mark(1, 5)));
        assert_eq!(cursor.advance(mark(1, 5)), Position::Known);
        assert_eq!(cursor.advance(mark(1, 6)), Position::Next);
    }
}
