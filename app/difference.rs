//! Which lines of a text are others than in the text that it was made from.

/// Pairs of lines that are compared at most, after all that both begin and end with.
const PAIRS: usize = 1 << 20;
/// Lines that are shown of a difference.
pub(crate) const SHOWN: usize = 200;

/// What is different.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Difference {
    /// These lines, in their order.
    Lines(Vec<Change>),
    /// More than is compared line by line.
    Much,
}

/// Lines that came in place of others; either may be none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// Where they stand, or stood, in the newer text, from 1.
    pub(crate) line: usize,
    pub(crate) removed: Vec<String>,
    pub(crate) added: Vec<String>,
}

impl Difference {
    /// What is different in the second text.
    pub(crate) fn between(before: &str, after: &str) -> Self {
        let (before, after): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
        let start = alike(before.iter(), after.iter());
        let (before, after) = (&before[start..], &after[start..]);
        let end = alike(before.iter().rev(), after.iter().rev());
        let (before, after) = (&before[..before.len() - end], &after[..after.len() - end]);
        match before.len().saturating_mul(after.len()) {
            0..=PAIRS => Self::Lines(changes(before, after, start + 1)),
            _more => Self::Much,
        }
    }

    /// How many lines differ, one in place of another counted once; `None`: many.
    pub(crate) fn count(&self) -> Option<usize> {
        match self {
            Self::Lines(changes) => Some(
                changes.iter().map(|change| change.removed.len().max(change.added.len())).sum(),
            ),
            Self::Much => None,
        }
    }

    /// The first so many lines of it, and how many more there are.
    pub(crate) fn first(&self, most: usize) -> (Vec<Change>, usize) {
        let Self::Lines(changes) = self else { return (Vec::new(), 0) };
        let all: usize =
            changes.iter().map(|change| change.removed.len() + change.added.len()).sum();
        let mut left = most;
        let mut take = |lines: &[String]| {
            let taken = lines.len().min(left);
            left -= taken;
            lines[..taken].to_vec()
        };
        let shown = changes.iter().map(|change| {
            let (removed, added) = (take(&change.removed), take(&change.added));
            Change { line: change.line, removed, added }
        });
        let shown = shown.filter(|change| !change.removed.is_empty() || !change.added.is_empty());
        (shown.collect(), all.saturating_sub(most))
    }
}

/// How many of the first are the same in both.
fn alike<T: PartialEq>(one: impl Iterator<Item = T>, other: impl Iterator<Item = T>) -> usize {
    one.zip(other).take_while(|(one, other)| one == other).count()
}

/// The changes along the longest row of lines that stay. The first line is this one of the text.
fn changes(before: &[&str], after: &[&str], first: usize) -> Vec<Change> {
    let at = |old: usize, new: usize| old * (after.len() + 1) + new;
    let mut staying = vec![0_u32; at(before.len(), after.len()) + 1];
    for old in (0..before.len()).rev() {
        for new in (0..after.len()).rev() {
            staying[at(old, new)] = match before[old] == after[new] {
                true => staying[at(old + 1, new + 1)] + 1,
                false => staying[at(old + 1, new)].max(staying[at(old, new + 1)]),
            };
        }
    }
    let (mut changes, mut change): (Vec<Change>, Option<Change>) = (Vec::new(), None);
    let (mut old, mut new) = (0, 0);
    while old < before.len() || new < after.len() {
        let both = old < before.len() && new < after.len();
        if both && before[old] == after[new] {
            changes.extend(change.take());
            (old, new) = (old + 1, new + 1);
            continue;
        }
        let empty = || Change { line: first + new, removed: Vec::new(), added: Vec::new() };
        let change = change.get_or_insert_with(empty);
        if new == after.len() || both && staying[at(old + 1, new)] >= staying[at(old, new + 1)] {
            change.removed.push(before[old].to_owned());
            old += 1;
        } else {
            change.added.push(after[new].to_owned());
            new += 1;
        }
    }
    changes.extend(change);
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: &str = "name: a\nimage: b\nroles:\n  worker:\n    gpu: 4\n    tasks: 1\n";

    fn change(line: usize, removed: &[&str], added: &[&str]) -> Change {
        let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        Change { line, removed: owned(removed), added: owned(added) }
    }

    fn between(after: &str) -> Vec<Change> {
        match Difference::between(JOB, after) {
            Difference::Lines(changes) => changes,
            Difference::Much => panic!("these are few"),
        }
    }

    #[test]
    fn the_same_text_differs_nowhere_whatever_ends_its_lines() {
        assert_eq!(between(JOB), []);
        assert_eq!(between(&JOB.replace('\n', "\r\n")), []);
        assert_eq!(Difference::between("", "").count(), Some(0));
    }

    #[test]
    fn lines_that_changed_came_or_went_are_told_with_their_place() {
        let edited = JOB.replace("name: a", "name: c").replace("gpu: 4", "gpu: 2");
        let changes =
            [change(1, &["name: a"], &["name: c"]), change(5, &["    gpu: 4"], &["    gpu: 2"])];
        assert_eq!(between(&edited), changes);
        assert_eq!(Difference::Lines(changes.to_vec()).count(), Some(2));
        let longer = JOB.replace("roles:\n", "# why\nroles:\n");
        assert_eq!(between(&longer), [change(3, &[], &["# why"])]);
        let shorter = JOB.replace("image: b\n", "");
        assert_eq!(between(&shorter), [change(2, &["image: b"], &[])]);
        assert_eq!(Difference::between("", "a\nb").count(), Some(2));
        assert_eq!(Difference::between("a\nb", "").count(), Some(2));
    }

    #[test]
    fn what_stays_between_changes_is_no_change() {
        let difference = Difference::between("a\nb\nc\nd\ne", "x\nb\ny\nz\nd\nw");
        let changes =
            [change(1, &["a"], &["x"]), change(3, &["c"], &["y", "z"]), change(6, &["e"], &["w"])];
        assert_eq!(difference, Difference::Lines(changes.to_vec()));
        assert_eq!(difference.count(), Some(4));
    }

    #[test]
    fn only_so_many_are_shown_and_the_rest_counted() {
        let difference = Difference::between("a\nb\nc", "x\nb\ny\nz");
        let (shown, more) = difference.first(3);
        assert_eq!(shown, [change(1, &["a"], &["x"]), change(3, &["c"], &[])]);
        assert_eq!(more, 2);
        assert_eq!(difference.first(9).1, 0);
    }

    #[test]
    fn texts_of_many_lines_are_compared_only_where_they_differ() {
        let lines = |mark: &str| (0..5_000).map(|n| format!("{mark}{n}\n")).collect::<String>();
        let text = lines("a");
        assert_eq!(Difference::between(&text, &text.replace("a2500\n", "b\n")).count(), Some(1));
        assert_eq!(Difference::between(&text, &lines("b")).count(), None);
    }
}
