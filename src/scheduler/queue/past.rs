//! How long a user's jobs of a kind have run, to expect how long the next one will.

use std::collections::{BTreeMap, VecDeque};

use protocol::amount::Amount;
use protocol::ids::{UserName, VirtualClusterName};

use crate::model::{Request, RoleRequest};

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

/// Past runs. Times are in milliseconds.
#[derive(Debug, Clone, Default)]
pub struct PastRuns {
    of_user: BTreeMap<(VirtualClusterName, UserName, Amount), Runs>,
    of_cluster: BTreeMap<(VirtualClusterName, Amount), Runs>,
}

/// What makes runs alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Like {
    /// Where they counted.
    pub virtual_cluster: VirtualClusterName,
    /// Whose they were.
    pub user: UserName,
    /// GPUs of all tasks.
    pub gpus: Amount,
}

impl From<&Request> for Like {
    fn from(request: &Request) -> Self {
        let (virtual_cluster, user) = (request.virtual_cluster.clone(), request.user.clone());
        Self { virtual_cluster, user, gpus: gpus(request) }
    }
}

impl PastRuns {
    /// A job like this has run so long, to its end.
    pub fn record(&mut self, like: Like, ran_ms: i64) {
        let Like { virtual_cluster: cluster, user, gpus } = like;
        let own = (cluster.clone(), user, gpus);
        self.of_user.entry(own).or_default().remember(ran_ms);
        self.of_cluster.entry((cluster, gpus)).or_default().remember(ran_ms);
    }

    /// A job like this has failed after so long: it says that such jobs run at least so long, and
    /// nothing where that was expected anyhow, or nothing is known yet.
    pub fn record_failed(&mut self, like: Like, ran_ms: i64) {
        if self.expect(like.clone(), None).is_some_and(|expected| ran_ms > expected) {
            self.record(like, ran_ms);
        }
    }

    /// How long a job like this is expected to run; `None`: nothing like it ran yet.
    ///
    /// The last runs count most: each one back four fifths as much.
    #[must_use]
    pub fn expect(&self, like: Like, limit_ms: Option<i64>) -> Option<i64> {
        let Like { virtual_cluster: cluster, user, gpus } = like;
        let own = self.of_user.get(&(cluster.clone(), user, gpus));
        let own = own.filter(|runs| runs.kept.len() >= ENOUGH);
        let runs = own.or_else(|| self.of_cluster.get(&(cluster, gpus)))?;
        let expected = runs.weighed()?;
        Some(limit_ms.map_or(expected, |limit| expected.min(limit)))
    }
}

fn gpus(request: &Request) -> Amount {
    let of = |role: &RoleRequest| {
        Amount::from_milli(role.demand.all_gpu_milli()).times(role.count.into())
    };
    request.roles.iter().map(of).sum()
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
    fn a_failure_says_nothing_but_that_it_ran_so_long() {
        let mut past = after(&[HOUR; 4]);
        let before = past.expect(like(), None);
        past.record_failed(like(), 1_000);
        assert_eq!(past.expect(like(), None), before);
        past.record_failed(like(), 20 * HOUR);
        assert!(past.expect(like(), None) > before);
        let mut none = PastRuns::default();
        none.record_failed(like(), 1_000);
        assert_eq!(none.expect(like(), None), None);
    }

    proptest! {
        #![proptest_config(cases(300))]

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
