//! What users have had of GPUs, of which half is forgotten with every half-life.

use std::collections::HashMap;

use protocol::gpus::GpuWeights;
use protocol::ids::{GroupName, UserName, VirtualClusterName};
use protocol::time::Timestamp;

/// Whose mean comes to less than so many thousandths of a GPU has had nothing.
const NOTHING: f64 = 0.001;

/// What a user of a virtual cluster has of GPUs, and has had.
#[derive(Debug, Clone, PartialEq)]
pub struct UserUse {
    /// Who.
    pub user: UserName,
    /// Thousandths of GPUs as which counts what his jobs hold now; of a job without GPU those of one.
    pub held_milli: i64,
    /// The mean of what they held, in which a moment counts half as much as one a half-life later
    /// ([`PastUse`]); 0 where the past does not count.
    pub mean_milli: f64,
}

/// What the members of a group that shares a virtual cluster have together of GPUs, and have had.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupUse {
    /// Which.
    pub group: GroupName,
    /// What it is to have to what others have is as its weight is to theirs.
    pub weight: u32,
    /// The mean of what they held, as of a user ([`UserUse`]).
    pub mean_milli: f64,
}

/// A sum of amounts, each of which is worth half as much with every half-life since its moment.
///
/// Amounts that are taken back leave no more than the rounding of a sum, and that is halved as all else.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Decayed {
    sum: f64,
    /// What the sum is worth when so many half-lives have passed since 1970.
    after: i64,
}

impl Decayed {
    /// Adds an amount of that moment; below 0: takes it back.
    pub(crate) fn add(&mut self, amount: i64, at: Timestamp, half_life_ms: i64) {
        let (after, rest) = half_lives(at, half_life_ms);
        if after > self.after {
            self.sum *= halved(after.saturating_sub(self.after));
            self.after = after;
        }
        self.sum += amount as f64 * rest.exp2() * halved(self.after.saturating_sub(after));
    }

    /// Adds what was had between two moments: a mean over all time.
    pub(crate) fn had(
        &mut self,
        amount: i64,
        (from, until): (Timestamp, Timestamp),
        half_life_ms: i64,
    ) {
        self.add(amount, until, half_life_ms);
        self.add(-amount, from, half_life_ms);
    }

    /// Adds another sum of the same half-life.
    pub(crate) fn join(&mut self, other: Self) {
        let after = self.after.max(other.after);
        let worth = |of: Self| of.sum * halved(after.saturating_sub(of.after));
        *self = Self { sum: worth(*self) + worth(other), after };
    }

    /// What it is worth at a moment.
    pub(crate) fn at(&self, now: Timestamp, half_life_ms: i64) -> f64 {
        let (after, rest) = half_lives(now, half_life_ms);
        self.sum * halved(after.saturating_sub(self.after)) * (-rest).exp2()
    }
}

/// The half-lives since 1970: whole ones, and the part of one.
fn half_lives(at: Timestamp, half_life_ms: i64) -> (i64, f64) {
    let each = half_life_ms.max(1);
    (at.0.div_euclid(each), at.0.rem_euclid(each) as f64 / each as f64)
}

fn halved(times: i64) -> f64 {
    (-(times as f64)).exp2()
}

/// What a user has had and has no more.
#[derive(Debug, Clone, Copy, Default)]
struct Had {
    sum: Decayed,
    /// Until then.
    last: Option<Timestamp>,
}

/// What has ended since it was counted last.
#[derive(Debug, Clone)]
pub(crate) struct Ended {
    pub(crate) virtual_cluster: VirtualClusterName,
    pub(crate) user: UserName,
    pub(crate) gpu_milli: i64,
    pub(crate) from: Timestamp,
}

/// What the users of virtual clusters have had of GPUs and have no more: for each a mean over all time, in
/// which a moment counts half as much as one a half-life later. Who had a GPU for ever until now has had
/// one. What they have still is told by what runs.
#[derive(Debug, Clone, Default)]
pub struct PastUse {
    /// 0: nothing of it counts.
    half_life_ms: i64,
    /// What is told of GPUs is weighed already.
    weights: GpuWeights,
    users: HashMap<VirtualClusterName, HashMap<UserName, Had>>,
    ended: Vec<Ended>,
    /// The half-life in which those were forgotten last who have had nothing.
    swept: i64,
}

impl PastUse {
    /// Of nobody yet. With a half-life of 0 nothing ever counts.
    #[must_use]
    pub fn new(half_life_ms: i64) -> Self {
        Self { half_life_ms: half_life_ms.max(0), ..Self::default() }
    }

    /// With GPUs of which each counts by its type, from now on.
    #[must_use]
    pub fn weighing(self, weights: GpuWeights) -> Self {
        Self { weights, ..self }
    }

    pub(crate) fn weights(&self) -> &GpuWeights {
        &self.weights
    }

    /// Whether anything of it counts.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.half_life_ms > 0
    }

    pub(crate) fn half_life_ms(&self) -> i64 {
        self.half_life_ms
    }

    /// A user had what counts as so many thousandths of GPUs between two moments.
    pub fn record(
        &mut self,
        (virtual_cluster, user): (&VirtualClusterName, &UserName),
        gpu_milli: i64,
        (from, until): (Timestamp, Timestamp),
    ) {
        if !self.counts() || until <= from {
            return;
        }
        let users = self.users.entry(virtual_cluster.clone()).or_default();
        let had = users.entry(user.clone()).or_default();
        had.sum.had(gpu_milli, (from, until), self.half_life_ms);
        had.last = had.last.max(Some(until));
    }

    /// A user has them no more, from the next moment on that is told.
    pub(crate) fn end(
        &mut self,
        (virtual_cluster, user): (&VirtualClusterName, &UserName),
        gpu_milli: i64,
        from: Timestamp,
    ) {
        if self.counts() && gpu_milli > 0 {
            let (virtual_cluster, user) = (virtual_cluster.clone(), user.clone());
            self.ended.push(Ended { virtual_cluster, user, gpu_milli, from });
        }
    }

    /// Counts what has ended until now, and says what that was.
    pub(crate) fn settle(&mut self, now: Timestamp) -> Vec<Ended> {
        let ended = std::mem::take(&mut self.ended);
        for Ended { virtual_cluster, user, gpu_milli, from } in &ended {
            self.record((virtual_cluster, user), *gpu_milli, (*from, now));
        }
        let (after, _) = half_lives(now, self.half_life_ms);
        if self.counts() && after > self.swept {
            self.swept = after;
            let half_life_ms = self.half_life_ms;
            for users in self.users.values_mut() {
                users.retain(|_, had| had.sum.at(now, half_life_ms) > NOTHING);
            }
            self.users.retain(|_, users| !users.is_empty());
        }
        ended
    }

    /// Thousandths of GPUs that a user has had and has no more.
    pub(crate) fn of(
        &self,
        virtual_cluster: &VirtualClusterName,
        user: &UserName,
        now: Timestamp,
    ) -> f64 {
        let users = self.users.get(virtual_cluster);
        let had = users.and_then(|users| users.get(user));
        had.map_or(0.0, |had| had.sum.at(now, self.half_life_ms))
    }

    /// Until when a user had something that he has no more.
    pub(crate) fn last_of(
        &self,
        virtual_cluster: &VirtualClusterName,
        user: &UserName,
    ) -> Option<Timestamp> {
        self.users.get(virtual_cluster)?.get(user)?.last
    }

    /// What each who has had something in a virtual cluster has had of it, by name.
    pub(crate) fn sums(&self, virtual_cluster: &VirtualClusterName) -> Vec<(&UserName, Decayed)> {
        let users = self.users.get(virtual_cluster).into_iter().flatten();
        let mut sums: Vec<_> = users.map(|(user, had)| (user, had.sum)).collect();
        sums.sort_by_key(|(user, _)| *user);
        sums
    }

    /// Those who have had something in a virtual cluster.
    pub(crate) fn users(
        &self,
        virtual_cluster: &VirtualClusterName,
    ) -> impl Iterator<Item = &UserName> {
        self.users.get(virtual_cluster).into_iter().flat_map(HashMap::keys)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::properties::events::cases;

    const HOUR: i64 = 3_600_000;
    const DAY: i64 = 24 * HOUR;

    fn names() -> (VirtualClusterName, UserName) {
        ("vision".parse().unwrap(), "alice".parse().unwrap())
    }

    /// What somebody has had who had these thousandths of GPUs between these moments.
    fn after(half_life_ms: i64, had: &[(i64, i64, i64)], now: i64) -> f64 {
        let (cluster, user) = names();
        let mut past = PastUse::new(half_life_ms);
        for (milli, from, until) in had {
            past.record((&cluster, &user), *milli, (Timestamp(*from), Timestamp(*until)));
        }
        past.of(&cluster, &user, Timestamp(now))
    }

    fn near(one: f64, other: f64) -> bool {
        (one - other).abs() <= 1e-6 * one.abs().max(other.abs()).max(1.0)
    }

    #[test]
    fn half_is_forgotten_with_every_half_life() {
        assert!(near(after(DAY, &[(8_000, 0, DAY)], DAY), 4_000.0));
        assert!(near(after(DAY, &[(8_000, 0, DAY)], 2 * DAY), 2_000.0));
        assert!(near(after(DAY, &[(8_000, 0, DAY)], 5 * DAY / 2), 2_000.0 / 2_f64.sqrt()));
        assert!(near(after(DAY, &[(8_000, -100 * DAY, 0)], 0), 8_000.0), "for ever: all of it");
        assert_eq!(after(0, &[(8_000, 0, DAY)], DAY), 0.0, "only what is held counts");
    }

    #[test]
    fn sums_are_joined_whenever_they_were_made() {
        let sum = |amounts: &[(i64, i64)]| {
            let mut sum = Decayed::default();
            amounts.iter().for_each(|(amount, at)| sum.add(*amount, Timestamp(*at), DAY));
            sum
        };
        for (one, other) in [(0, 9 * DAY), (9 * DAY, 0), (DAY / 3, DAY / 2)] {
            let mut joined = sum(&[(1_000, one)]);
            joined.join(sum(&[(3_000, other)]));
            let all = sum(&[(1_000, one), (3_000, other)]);
            assert!(near(joined.at(Timestamp(10 * DAY), DAY), all.at(Timestamp(10 * DAY), DAY)));
        }
    }

    #[test]
    fn what_has_ended_counts_until_the_moment_that_is_told_next() {
        let (cluster, user) = names();
        let mut past = PastUse::new(DAY);
        past.end((&cluster, &user), 1_000, Timestamp(0));
        assert_eq!(past.of(&cluster, &user, Timestamp(DAY)), 0.0);
        past.settle(Timestamp(DAY));
        assert!(near(past.of(&cluster, &user, Timestamp(DAY)), 500.0));
        past.settle(Timestamp(100 * DAY));
        assert_eq!(past.users(&cluster).count(), 0, "who has had nothing is forgotten");
    }

    proptest! {
        #![proptest_config(cases(300))]

        /// It does not matter into how many pieces time is cut, in which order they come, nor what
        /// was added and taken back in between.
        #[test]
        fn pieces_come_to_the_whole(
            half_life in HOUR..30 * DAY,
            from in 0..20_000 * DAY,
            cuts in prop::collection::vec(1..3 * DAY, 1..20),
            milli in 1..64_000_i64,
            later in 0..60 * DAY,
        ) {
            let mut until = from;
            let mut pieces = Vec::new();
            for cut in cuts {
                pieces.push((milli, until, until + cut));
                until += cut;
            }
            let whole = after(half_life, &[(milli, from, until)], until + later);
            prop_assert!(near(after(half_life, &pieces, until + later), whole));
            pieces.reverse();
            prop_assert!(near(after(half_life, &pieces, until + later), whole));
            let back = pieces.iter().map(|(milli, from, until)| (-milli, *from, *until));
            let all: Vec<_> = pieces.iter().copied().chain(back).collect();
            prop_assert!(near(after(half_life, &all, until + later), 0.0));
            prop_assert!(whole <= milli as f64 * 1.000_001, "never more than was held");
        }
    }
}
