//! The order in which people look for names: `a100-2` comes before `a100-10`.

use std::cmp::Ordering;

/// A piece of a name. Numbers come before texts, shorter numbers before longer ones.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Run<'a> {
    /// Digits: how many there are after leading zeros, and these.
    Number(usize, &'a [u8]),
    Text(&'a [u8]),
}

fn runs(name: &str) -> impl Iterator<Item = Run<'_>> {
    let runs = name.as_bytes().chunk_by(|one, next| one.is_ascii_digit() == next.is_ascii_digit());
    runs.map(|run| {
        if !run.iter().all(u8::is_ascii_digit) {
            return Run::Text(run);
        }
        let zeros = run.iter().take_while(|digit| **digit == b'0').count();
        Run::Number(run.len() - zeros, &run[zeros..])
    })
}

/// Compares two names: digits by the number they make, however long it is, all else by letters.
/// Only equal names are equal.
#[must_use]
pub fn natural(one: &str, other: &str) -> Ordering {
    runs(one).cmp(runs(other)).then_with(|| one.cmp(other))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_in_names_count() {
        let sorted = [
            "",
            "2",
            "10",
            "a",
            "a100-1",
            "a100-2",
            "a100-02b",
            "a100-9",
            "a100-010",
            "a100-10",
            "a100-99999999999999999999999999",
            "a100-100000000000000000000000000",
            "a200-1",
            "b",
            "机架2",
            "机架10",
        ];
        let mut names = sorted;
        names.reverse();
        names.sort_by(|one, other| natural(one, other));
        assert_eq!(names, sorted);
    }

    proptest! {
        #[test]
        fn it_is_an_order(names in prop::array::uniform3("[a0-2-]{0,6}")) {
            let [a, b, c] = &names;
            prop_assert_eq!(natural(a, b), natural(b, a).reverse());
            prop_assert_eq!(natural(a, b) == Ordering::Equal, a == b);
            if natural(a, b).is_le() && natural(b, c).is_le() {
                prop_assert!(natural(a, c).is_le());
            }
        }
    }
}
