//! What becomes of a leader, when and for how long: drawn by chance, and drawn again alike from the same seed.

use std::time::Duration;

use crate::bench::faults::line::Way;
use crate::bench::random::Random;

/// The longest pause before a change: the one before is over or not.
const LONGEST_PAUSE: Duration = Duration::from_millis(3_000);
/// The longest that a leader stays away when another one leads already.
const LONGEST_ABSENCE: Duration = Duration::from_millis(4_000);

/// What is done to the leader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// SIGKILL.
    Killed,
    /// SIGSTOP until another one leads, which is longer than it may be silent.
    Frozen,
    /// SIGTERM, as for an upgrade.
    Ended,
    /// Its lines to the database and to all engines are so.
    CutOff(Way),
    /// It still reaches the engines.
    CutFromDatabase(Way),
}

/// All of them, each as often as the others.
const ALL: [How; 7] = [
    How::Killed,
    How::Frozen,
    How::Ended,
    How::CutOff(Way::Cut),
    How::CutOff(Way::Silent),
    How::CutFromDatabase(Way::Cut),
    How::CutFromDatabase(Way::Silent),
];

/// What they are called in the table.
pub(super) const NAMES: [&str; 5] =
    ["killed", "frozen", "ended", "cut_off", "cut_off_from_the_database"];

impl How {
    pub(super) fn name(self) -> &'static str {
        let [killed, frozen, ended, cut_off, cut_from_database] = NAMES;
        match self {
            Self::Killed => killed,
            Self::Frozen => frozen,
            Self::Ended => ended,
            Self::CutOff(_) => cut_off,
            Self::CutFromDatabase(_) => cut_from_database,
        }
    }
}

/// One change of the leader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Change {
    /// After so long.
    pub(super) pause: Duration,
    pub(super) how: How,
    /// It comes again so long after another one leads.
    pub(super) absence: Duration,
}

impl Change {
    pub(super) fn draw(random: &mut Random) -> Self {
        let drawn = usize::try_from(random.below(ALL.len() as u64)).unwrap_or(0);
        Self {
            pause: random.time(LONGEST_PAUSE),
            how: ALL[drawn],
            absence: random.time(LONGEST_ABSENCE),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn changes(seed: u64) -> Vec<Change> {
        let mut random = Random::new(seed);
        (0..100).map(|_| Change::draw(&mut random)).collect()
    }

    #[test]
    fn changes_come_again_with_their_seed_and_all_of_them_come() {
        assert_eq!(changes(7), changes(7));
        assert_ne!(changes(7), changes(8));
        let names: BTreeSet<_> = changes(7).iter().map(|change| change.how.name()).collect();
        assert_eq!(names, BTreeSet::from(NAMES));
        let silent = |way| changes(7).iter().any(|change| change.how == How::CutOff(way));
        assert!(silent(Way::Silent) && silent(Way::Cut));
    }
}
