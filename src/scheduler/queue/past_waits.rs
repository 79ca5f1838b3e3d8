//! How long jobs have waited that had to, to say how long the next one will.

use std::collections::{HashMap, VecDeque};

use protocol::amount::Amount;
use protocol::ids::{JobName, UserName, VirtualClusterName};
use protocol::time::Timestamp;
use protocol::wait::{Expected, Ground, Likeness};

use crate::queue::like::{Like, stem};

/// Waits that are remembered in all.
const REMEMBERED: usize = 4_000;
/// With fewer of its like a job is compared with more.
const ENOUGH: usize = 4;
/// Who waited less did not have to.
const HAD_TO_MS: i64 = 1_000;

/// Past waits, in milliseconds.
#[derive(Debug, Clone, Default)]
pub struct PastWaits {
    /// The oldest first, each with whose it was.
    all: VecDeque<[Group; 5]>,
    /// By what makes waits alike.
    of: HashMap<Group, Waits>,
}

/// Those of one group.
#[derive(Debug, Clone, Default)]
struct Waits {
    /// The oldest first.
    as_they_came: VecDeque<i64>,
    /// The same, the shortest first: of each job of a long list it is asked which were longer.
    by_length: Vec<i64>,
}

impl Waits {
    fn add(&mut self, wait: i64) {
        self.as_they_came.push_back(wait);
        self.by_length.insert(self.by_length.partition_point(|other| *other < wait), wait);
    }

    fn forget_oldest(&mut self) {
        if let Some(wait) = self.as_they_came.pop_front() {
            self.by_length.remove(self.by_length.partition_point(|other| *other < wait));
        }
    }

    fn longer(&self, than: i64) -> &[i64] {
        &self.by_length[self.by_length.partition_point(|wait| *wait <= than)..]
    }
}

/// Jobs that are alike.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Group {
    Name(VirtualClusterName, UserName, String),
    Owner(VirtualClusterName, UserName),
    Size(VirtualClusterName, Amount),
    VirtualCluster(VirtualClusterName),
    Everything,
}

impl Group {
    /// All that a job is in, those that say the most of it first.
    fn all(like: &Like, name: &JobName) -> [Self; 5] {
        let (within, user) = (like.virtual_cluster.clone(), like.user.clone());
        [
            Self::Name(within.clone(), user.clone(), stem(name.as_str()).to_owned()),
            Self::Owner(within.clone(), user),
            Self::Size(within.clone(), like.gpus),
            Self::VirtualCluster(within),
            Self::Everything,
        ]
    }

    fn likeness(&self) -> Likeness {
        match self {
            Self::Name(..) => Likeness::Name,
            Self::Owner(..) => Likeness::Owner,
            Self::Size(..) => Likeness::Size,
            Self::VirtualCluster(_) => Likeness::VirtualCluster,
            Self::Everything => Likeness::Everything,
        }
    }
}

impl PastWaits {
    /// A job has started after so long.
    pub fn record(&mut self, like: &Like, name: &JobName, waited_ms: i64) {
        if waited_ms < HAD_TO_MS {
            return;
        }
        let groups = Group::all(like, name);
        for group in &groups {
            self.of.entry(group.clone()).or_default().add(waited_ms);
        }
        self.all.push_back(groups);
        if self.all.len() > REMEMBERED {
            self.forget_oldest();
        }
    }

    /// Groups hold their waits in the order of all, so the oldest is the first of each of its own.
    fn forget_oldest(&mut self) {
        for group in self.all.pop_front().into_iter().flatten() {
            if let Some(waits) = self.of.get_mut(&group) {
                waits.forget_oldest();
                if waits.as_they_came.is_empty() {
                    self.of.remove(&group);
                }
            }
        }
    }

    /// When a job that waits since then starts: when the middle half of those like it did that had
    /// waited as long. `None`: there was nothing like it.
    #[must_use]
    pub fn expect(
        &self,
        like: &Like,
        name: &JobName,
        since: Timestamp,
        now: Timestamp,
    ) -> Option<Expected> {
        let waited = now.since(since).max(0);
        let range = |group: &Group| {
            let longer = self.of.get(group)?.longer(waited);
            if longer.len() < ENOUGH {
                return None;
            }
            let runs = u32::try_from(longer.len()).unwrap_or(u32::MAX);
            let at = |quarter: usize| since.plus_millis(longer[(longer.len() - 1) * quarter / 4]);
            let ground = Ground::PastWaits { like: group.likeness(), runs };
            Some(Expected { earliest: at(1), latest: Some(at(3)), ground })
        };
        Group::all(like, name).iter().find_map(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    fn like(within: &str, user: &str, gpus: u64) -> Like {
        Like {
            virtual_cluster: within.parse().unwrap(),
            user: user.parse().unwrap(),
            gpus: Amount::whole(gpus),
            name: None,
            image: None,
        }
    }

    fn waits(of: &[(&str, &str, u64, &str, i64)]) -> PastWaits {
        let mut past = PastWaits::default();
        for (within, user, gpus, name, minutes) in of {
            past.record(&like(within, user, *gpus), &name.parse().unwrap(), minutes * MINUTE);
        }
        past
    }

    /// From and to in minutes from its submission, and the ground.
    fn range(
        past: &PastWaits,
        asked: (&str, &str, u64, &str),
        waited: i64,
    ) -> Option<(i64, i64, Likeness, u32)> {
        let (within, user, gpus, name) = asked;
        let (since, now) = (Timestamp(0), Timestamp(waited * MINUTE));
        let name = name.parse().unwrap();
        let Expected { earliest, latest, ground } =
            past.expect(&like(within, user, gpus), &name, since, now)?;
        let Ground::PastWaits { like, runs } = ground else { panic!("another ground") };
        Some((earliest.0 / MINUTE, latest.unwrap().0 / MINUTE, like, runs))
    }

    #[test]
    fn the_closest_likeness_that_says_enough_is_the_ground() {
        let mut all: Vec<_> = (1..=5).map(|n| ("nlp", "ada", 8, "bert-1", n * 10)).collect();
        all.extend((1..=5).map(|n| ("nlp", "ada", 1, "eval", n)));
        all.extend((1..=5).map(|n| ("nlp", "bob", 4, "gpt", 100 + n)));
        all.extend((1..=5).map(|n| ("cv", "bob", 2, "yolo", 200 + n)));
        let past = waits(&all);
        let of = |asked| range(&past, asked, 0);
        assert_eq!(of(("nlp", "ada", 8, "bert-2_1a2b3c")), of(("nlp", "ada", 8, "bert-7")));
        assert_eq!(of(("nlp", "ada", 8, "bert-20261122")), Some((20, 40, Likeness::Name, 5)));
        assert_eq!(of(("nlp", "ada", 2, "new")), Some((3, 20, Likeness::Owner, 10)));
        assert_eq!(of(("nlp", "eve", 4, "new")), Some((102, 104, Likeness::Size, 5)));
        assert_eq!(of(("nlp", "eve", 3, "new")), Some((4, 101, Likeness::VirtualCluster, 15)));
        assert_eq!(of(("new", "eve", 3, "new")), Some((5, 105, Likeness::Everything, 20)));
        assert_eq!(range(&PastWaits::default(), ("nlp", "ada", 8, "bert"), 0), None);
    }

    #[test]
    fn who_waits_long_already_is_compared_with_those_who_did() {
        let past = waits(&(1..=9).map(|n| ("nlp", "ada", 8, "bert", n * 10)).collect::<Vec<_>>());
        let asked = ("nlp", "ada", 8, "bert");
        assert_eq!(range(&past, asked, 0), Some((30, 70, Likeness::Name, 9)));
        assert_eq!(range(&past, asked, 45), Some((60, 80, Likeness::Name, 5)));
        assert_eq!(range(&past, asked, 95), None, "nobody waited so long");
    }

    #[test]
    fn the_longer_ones_are_found_whatever_was_forgotten() {
        let mut waits = Waits::default();
        let lengths = [5, 3, 9, 3, 7, 1, 9, 4];
        for (came, wait) in lengths.into_iter().enumerate() {
            waits.add(wait);
            if came >= 4 {
                waits.forget_oldest();
            }
            let kept = &lengths[came.saturating_sub(3)..=came];
            for than in 0..10 {
                let mut longer: Vec<i64> = kept.iter().copied().filter(|w| *w > than).collect();
                longer.sort_unstable();
                assert_eq!(waits.longer(than), longer, "{kept:?}, than {than}");
            }
        }
    }

    #[test]
    fn what_is_remembered_is_bounded_and_who_did_not_wait_is_not_counted() {
        let mut past = PastWaits::default();
        let name = |n: usize| format!("job{}", char::from(b'a' + (n % 26) as u8)).parse().unwrap();
        for n in 0..REMEMBERED + 100 {
            past.record(&like("nlp", "ada", 1), &name(n), MINUTE);
            past.record(&like("nlp", "ada", 1), &name(n), HAD_TO_MS - 1);
        }
        assert_eq!(past.all.len(), REMEMBERED);
        assert_eq!(past.of[&Group::Everything].as_they_came.len(), REMEMBERED);
        let named = past.of.iter().filter(|(group, _)| matches!(group, Group::Name(..)));
        assert_eq!(named.map(|(_, waits)| waits.by_length.len()).sum::<usize>(), REMEMBERED);
    }
}
