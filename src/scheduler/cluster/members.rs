//! Some of many numbers.

/// Which of the numbers 0, 1, 2, … are in it. To go through them costs no more than they are.
#[derive(Debug, Default, Clone)]
pub(crate) struct Members {
    all: Vec<u32>,
    /// By number: where it is among all.
    at: Vec<u32>,
}

/// Where numbers are that are not in it.
const NOWHERE: u32 = u32::MAX;

impl Members {
    /// Puts in a number that is not in it.
    pub(crate) fn insert(&mut self, number: u32) {
        let place = number as usize;
        if self.at.len() <= place {
            self.at.resize(place + 1, NOWHERE);
        }
        debug_assert_eq!(self.at[place], NOWHERE, "it is not in it yet");
        self.at[place] = u32::try_from(self.all.len()).unwrap_or(NOWHERE);
        self.all.push(number);
    }

    /// Takes out a number that is in it: the last comes to its place.
    pub(crate) fn remove(&mut self, number: u32) {
        let place = std::mem::replace(&mut self.at[number as usize], NOWHERE);
        self.all.swap_remove(place as usize);
        if let Some(moved) = self.all.get(place as usize) {
            self.at[*moved as usize] = place;
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        self.all.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_put_in_is_in_it_until_it_is_taken_out(
            numbers in prop::collection::vec(0..20_u32, 0..100),
        ) {
            let (mut members, mut model) = (Members::default(), BTreeSet::new());
            for number in numbers {
                match model.remove(&number) {
                    true => members.remove(number),
                    false => {
                        model.insert(number);
                        members.insert(number);
                    }
                }
                let mut all: Vec<_> = members.iter().collect();
                all.sort_unstable();
                prop_assert!(all.iter().eq(&model));
            }
        }
    }
}
