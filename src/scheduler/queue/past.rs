//! How long a user's jobs of a kind have run, to expect how long the next one will.

use std::collections::{BTreeMap, HashMap, VecDeque};

use protocol::amount::Amount;
use protocol::exit::Blame;
use protocol::ids::{UserName, VirtualClusterName};

use crate::queue::like::{Like, repository, stem};

/// A run is forgotten once its like have run so many times as long since: however many short ones
/// come after a long one, they cost as much time to hide it. So at most that many of about one
/// length are kept, and of runs from a second to a year a few hundred.
const REMEMBERED: i64 = 16;
/// The latest of them that say how long the next one runs.
const LATEST: usize = 16;
/// Who ran less than one part in so many of the longest says nothing of how long such jobs run: it
/// was a try.
const TRIES: i64 = 10;
/// What ran shorter counts as this.
const SHORTEST_MS: i64 = 1_000;
/// With fewer runs of the user's own, those of all in the virtual cluster count.
const ENOUGH: usize = 3;
/// The names and images of so many of the last runs count at least.
const KINDS: usize = 4_000;

/// Past runs. Times are in milliseconds.
#[derive(Debug, Clone, Default)]
pub struct PastRuns {
    of_user: BTreeMap<(VirtualClusterName, UserName, Amount), Runs>,
    of_cluster: BTreeMap<(VirtualClusterName, Amount), Runs>,
    of_kinds: Kinds,
}

/// Jobs of a user and of one size that say more of each other than that.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Kind {
    virtual_cluster: VirtualClusterName,
    user: UserName,
    gpus: Amount,
    by: By,
}

/// By what.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum By {
    Image(String),
    Name(String),
}

impl Kind {
    /// Those that a job is of, what says most of it last.
    fn all(like: &Like) -> impl Iterator<Item = Self> {
        let image = like.image.as_deref().map(|image| By::Image(repository(image).to_owned()));
        let name = like.name.as_ref().map(|name| By::Name(stem(name.as_str()).to_owned()));
        let (virtual_cluster, user) = (like.virtual_cluster.clone(), like.user.clone());
        let gpus = like.gpus;
        let of = move |by| Self {
            virtual_cluster: virtual_cluster.clone(),
            user: user.clone(),
            gpus,
            by,
        };
        [image, name].into_iter().flatten().map(of)
    }
}

/// Runs of kinds of jobs. Whoever names each job anew makes ever more of them: those that had no run for
/// longest are forgotten.
#[derive(Debug, Clone, Default)]
struct Kinds {
    /// Runs in all.
    recorded: u64,
    /// Each with the number of its latest.
    of: HashMap<Kind, (u64, Runs)>,
}

impl Kinds {
    fn remember(&mut self, kind: Kind, ran_ms: i64) {
        self.recorded += 1;
        let (latest, runs) = self.of.entry(kind).or_default();
        *latest = self.recorded;
        runs.remember(ran_ms);
        if self.of.len() > 2 * KINDS {
            let since = self.recorded.saturating_sub(KINDS as u64);
            self.of.retain(|_, (latest, _)| *latest > since);
        }
    }
}

impl PastRuns {
    /// A job like this has run so long, to its end.
    pub fn record(&mut self, like: Like, ran_ms: i64) {
        for kind in Kind::all(&like) {
            self.of_kinds.remember(kind, ran_ms);
        }
        let Like { virtual_cluster: cluster, user, gpus, .. } = like;
        let own = (cluster.clone(), user, gpus);
        self.of_user.entry(own).or_default().remember(ran_ms);
        self.of_cluster.entry((cluster, gpus)).or_default().remember(ran_ms);
    }

    /// A job like this has ended after so long, and that is to blame for it.
    ///
    /// What failed, or was stopped by a person, its limit or for idling, had run longer: it says that such jobs
    /// run at least so long. What the platform ended says nothing, since its clocks may have been at fault as well.
    pub fn learn(&mut self, like: Like, blame: Blame, ran_ms: i64) {
        match blame {
            Blame::None => self.record(like, ran_ms),
            Blame::User | Blame::Stop => self.record_at_least(like, ran_ms),
            Blame::Platform => {}
        }
    }

    /// A job like this would have run longer than so long: that says nothing where so much was expected anyhow, or
    /// nothing is known yet.
    fn record_at_least(&mut self, like: Like, ran_ms: i64) {
        if self.expect(like.clone(), None).is_some_and(|expected| ran_ms > expected) {
            self.record(like, ran_ms);
        }
    }

    /// How long a job like this is expected to run; `None`: nothing like it ran yet.
    ///
    /// The last runs count most: each one back four fifths as much. Those of its image say more of it than
    /// others of its owner, and those of its name still more. That it is short they only say once they
    /// have run together for as long as was expected without them: a name costs nothing.
    #[must_use]
    pub fn expect(&self, like: Like, limit_ms: Option<i64>) -> Option<i64> {
        let kinds = Kind::all(&like).filter_map(|kind| self.of_kinds.of.get(&kind));
        let kinds: Vec<&Runs> = kinds.map(|(_, runs)| runs).collect();
        let Like { virtual_cluster: cluster, user, gpus, .. } = like;
        let own = self.of_user.get(&(cluster.clone(), user, gpus));
        let own = own.filter(|runs| runs.kept.len() >= ENOUGH);
        let runs = own.or_else(|| self.of_cluster.get(&(cluster, gpus)))?;
        let closer = |expected: i64, of: &Runs| of.rather_than(expected).unwrap_or(expected);
        let expected = kinds.into_iter().fold(runs.weighed()?, closer);
        Some(limit_ms.map_or(expected, |limit| expected.min(limit)))
    }
}

/// Runs that are alike.
#[derive(Debug, Clone, Default)]
struct Runs {
    /// How long all of them took, also those that are forgotten.
    took: i64,
    /// Those that count, the latest last, with what all had taken when each was over.
    kept: VecDeque<(i64, i64)>,
}

impl Runs {
    /// Adds the latest run and forgets those that it outdates.
    fn remember(&mut self, ran_ms: i64) {
        let ran = ran_ms.max(SHORTEST_MS);
        self.took = self.took.saturating_add(ran);
        let took = self.took;
        self.kept.push_back((ran, took));
        self.kept.retain(|(ran, then)| took - then < ran.saturating_mul(REMEMBERED));
    }

    /// What they say of one of them of which so much is expected without: nothing while they are few, and
    /// that it is shorter only if they took as long in all.
    fn rather_than(&self, expected: i64) -> Option<i64> {
        let own = self.weighed().filter(|_| self.kept.len() >= ENOUGH)?;
        (own >= expected || self.took >= expected).then_some(own)
    }

    /// The mean of logarithms, so that one very long run among others does not hide them.
    fn weighed(&self) -> Option<i64> {
        let tried = self.kept.iter().map(|(ran, _)| *ran).max()? / TRIES;
        let (mut sum, mut weights, mut weight) = (0.0, 0.0, 1.0);
        let latest = self.kept.iter().rev().map(|(ran, _)| *ran);
        for ran in latest.filter(|ran| *ran >= tried).take(LATEST) {
            sum += weight * (ran as f64 + 1000.0).ln();
            weights += weight;
            weight *= 0.8;
        }
        Some((f64::exp(sum / weights) - 1000.0).max(0.0) as i64)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::properties::events::cases;
    use crate::story::job;

    const HOUR: i64 = 3_600_000;

    fn like() -> Like {
        Like::from(&job(1).gpus(8, &[]).request)
    }

    /// A job of that name and image.
    fn called(name: &str, image: &str) -> Like {
        Like { name: Some(name.parse().unwrap()), image: Some(image.to_owned()), ..like() }
    }

    fn after(runs: &[i64]) -> PastRuns {
        let mut past = PastRuns::default();
        runs.iter().for_each(|ran| past.record(like(), *ran));
        past
    }

    #[test]
    fn what_the_last_runs_took_is_expected() {
        let near = |past: &PastRuns, wanted: i64| {
            let expected = past.expect(like(), None).unwrap();
            assert!((expected - wanted).abs() <= wanted / 20, "{expected} is not about {wanted}");
        };
        assert_eq!(PastRuns::default().expect(like(), None), None);
        near(&after(&[2_000]), 2_000);
        near(&after(&[HOUR; 5]), HOUR);
        assert_eq!(after(&[HOUR; 5]).expect(like(), Some(60_000)), Some(60_000));
        let shorter: Vec<_> = [20 * HOUR].into_iter().chain([HOUR; 400]).collect();
        near(&after(&shorter), HOUR);
    }

    #[test]
    fn what_was_cut_short_says_nothing_but_that_it_ran_so_long() {
        for blame in [Blame::User, Blame::Stop] {
            let mut past = after(&[HOUR; 4]);
            let before = past.expect(like(), None);
            past.learn(like(), blame, 1_000);
            assert_eq!(past.expect(like(), None), before);
            past.learn(like(), blame, 20 * HOUR);
            assert!(past.expect(like(), None) > before, "{blame:?}");
            let mut none = PastRuns::default();
            none.learn(like(), blame, 1_000);
            assert_eq!(none.expect(like(), None), None);
        }
    }

    #[test]
    fn what_the_platform_ended_says_nothing() {
        let mut past = after(&[HOUR; 4]);
        let before = past.expect(like(), None);
        past.learn(like(), Blame::Platform, 20 * HOUR);
        assert_eq!(past.expect(like(), None), before);
    }

    #[test]
    fn who_runs_to_his_limit_is_expected_to() {
        let mut past = after(&[60_000; 3]);
        past.learn(like(), Blame::Stop, 20 * HOUR);
        let expected = past.expect(like(), None).unwrap();
        assert!((expected - 20 * HOUR).abs() < HOUR, "{expected}");
    }

    #[test]
    fn names_and_images_tell_a_users_jobs_apart() {
        let minutes = |past: &PastRuns, name: &str, image: &str| {
            (past.expect(called(name, image), None).unwrap() + 30_000) / 60_000
        };
        let mut past = PastRuns::default();
        (0..5).for_each(|n| past.record(called(&format!("train-{n}"), "torch:1"), 20 * HOUR));
        (0..200).for_each(|n| past.record(called(&format!("eval-{n}"), "bench:1"), HOUR / 10));
        assert_eq!(minutes(&past, "train-9", "torch:2"), 20 * 60);
        assert_eq!(minutes(&past, "eval-900", "bench:2"), 6);
        assert_eq!(minutes(&past, "score", "bench:3"), 6, "as others of the image");
        assert_eq!(minutes(&past, "score", "torch"), 20 * 60, "likewise");
        let other = past.expect(called("score", "alpine"), None);
        assert_eq!(other, past.expect(like(), None), "as all that its owner ran");
    }

    #[test]
    fn names_are_remembered_while_they_run() {
        let mut past = PastRuns::default();
        let letters =
            |n: usize| n.to_string().bytes().map(|d| char::from(b'a' + d - b'0')).collect();
        for n in 0..3 * KINDS {
            let name: String = letters(n);
            past.record(called(&name, "torch"), HOUR);
            past.record(called("train", "torch"), HOUR);
            assert!(past.of_kinds.of.len() <= 2 * KINDS);
        }
        assert!(past.of_kinds.of.keys().any(|kind| kind.by == By::Name("train".to_owned())));
    }

    proptest! {
        #![proptest_config(cases(300))]

        /// Nor does a name, or an image, that nobody has used: under it has to run for as long first
        /// what is short.
        #[test]
        fn a_new_name_makes_no_long_job_short(
            long in 1..40_i64,
            short in prop::collection::vec(0..100_i64, 1..120),
        ) {
            let long = long * HOUR;
            let mut past = after(&[long, long, long]);
            let cheats = || called("cheat", "new");
            let before = past.expect(cheats(), None).unwrap();
            let mut ran = 0;
            for part in short {
                let part = (long / 1_001 * part).max(SHORTEST_MS);
                ran += part;
                past.record(cheats(), part);
                prop_assert!(ran >= before || past.expect(cheats(), None) == Some(before));
            }
            past.record(cheats(), long);
            prop_assert!(past.expect(cheats(), None).unwrap() >= long / TRIES);
        }

        /// Whoever wants a long job to be thought short has to run many times as long first.
        #[test]
        fn short_runs_do_not_teach_that_a_long_job_is_short(
            long in 1..40_i64,
            short in prop::collection::vec(0..100_i64, 1..120),
        ) {
            let long = long * HOUR;
            let mut past = after(&[long, long, long]);
            let before = past.expect(like(), None);
            // Each is less than a tenth, and all of them less than sixteen times as long.
            for part in short {
                past.record(like(), long / 1_001 * part);
                prop_assert_eq!(past.expect(like(), None), before);
            }
        }
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut past = PastRuns::default();
        for run in 0..2_000_i64 {
            past.record(like(), 1_000 << (run * 7 % 25));
        }
        assert!(past.of_user.values().all(|runs| runs.kept.len() < 500));
    }
}
