//! The lives of a cluster's database: one for each start of its server.

use std::fmt;
use std::str::FromStr;

use crate::ids::InvalidName;

/// One life. Its number grows with each start. Its mark is drawn by chance, so that two lives are told
/// apart that went on from one backup and count alike.
///
/// The default is the time before lives were counted: what was made then says nothing of any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Epoch {
    number: u32,
    mark: u32,
}

impl Epoch {
    /// Of what says something that is no epoch: it is that of nothing that a database gave.
    const UNREADABLE: Self = Self { number: u32::MAX, mark: u32::MAX };

    /// The life that follows this one.
    #[must_use]
    pub fn next(self, mark: u32) -> Self {
        Self { number: self.number.saturating_add(1), mark }
    }

    /// Whether it is of before lives were counted.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Self::default()
    }

    /// As a label has it, if there is one that says anything.
    #[must_use]
    pub fn of_label(label: Option<&str>) -> Self {
        let label = label.filter(|text| !text.is_empty());
        label.map_or(Self::default(), |text| text.parse().unwrap_or(Self::UNREADABLE))
    }

    /// The label that says it; what is of before lives were counted has none.
    #[must_use]
    pub fn label(self) -> Option<String> {
        (!self.is_none()).then(|| self.to_string())
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{:08x}", self.number, self.mark)
    }
}

impl FromStr for Epoch {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let read = || {
            let (number, mark) = text.split_once('-')?;
            Some(Self { number: number.parse().ok()?, mark: u32::from_str_radix(mark, 16).ok()? })
        };
        read().ok_or_else(|| InvalidName {
            what: "epoch",
            value: text.to_owned(),
            allowed: "a number and a mark, as 12-9f3ac1d2",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_is_read_as_it_is_written() {
        let first = Epoch::default().next(0x9f);
        assert_eq!(first.to_string(), "1-0000009f");
        assert_eq!("1-0000009f".parse::<Epoch>().unwrap(), first);
        assert_eq!(Epoch::of_label(first.label().as_deref()), first);
        assert!(first.next(0) > first);
    }

    #[test]
    fn what_says_nothing_is_of_before_and_what_is_no_epoch_of_nothing_known() {
        assert_eq!(Epoch::of_label(None), Epoch::default());
        assert_eq!(Epoch::of_label(Some("")), Epoch::default());
        assert_eq!(Epoch::default().label(), None);
        for text in ["7", "x-1", "1-x", "-"] {
            let odd = Epoch::of_label(Some(text));
            assert!(!odd.is_none() && odd == Epoch::UNREADABLE, "{text}");
        }
    }

    #[test]
    fn lives_that_went_on_from_one_backup_are_two() {
        let backup = Epoch::default().next(1);
        assert_ne!(backup.next(2), backup.next(3));
    }
}
