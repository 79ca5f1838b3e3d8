//! What the jobs of each user have, and have had.

use std::collections::{BTreeMap, HashMap, HashSet};

use protocol::amount::Amount;
use protocol::ids::{GpuType, GroupName, UserName, VirtualClusterName};
use protocol::time::Timestamp;

use crate::cluster::allocation::TaskAllocation;
use crate::cluster::placed::PlacedJob;
use crate::model::groups::GroupShares;
use crate::model::past_use::{Decayed, Ended, PastUse};
use crate::model::{GroupUse, Request, UserUse, VirtualCluster, WHOLE_GPU};

/// A GPU of most types counts as one: thousandths.
const ONE: i64 = 1_000;

/// What the jobs of a user, or of all in a group, have.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    /// Thousandths of GPUs, each counting by its type; of a job without GPU those of one.
    milli: i64,
    /// Those of jobs that are told to leave and have not left yet: they are had, but given already.
    leaving: i64,
    /// Both, of the moments since when they have it.
    starts: Decayed,
    /// The latest of these moments.
    began: Option<Timestamp>,
}

impl Held {
    fn is_nothing(&self) -> bool {
        self.milli == 0 && self.leaving == 0
    }
}

/// What those who count to the groups of a virtual cluster have together, and have had: who comes to another
/// group, which makes all of it anew, takes with him what he has had.
#[derive(Debug, Clone)]
struct Groups {
    shares: GroupShares,
    held: HashMap<GroupName, Held>,
    had: HashMap<GroupName, Decayed>,
}

impl Groups {
    /// Nobody has anything.
    fn after(past: &PastUse, cluster: &VirtualCluster) -> Self {
        let shares = cluster.groups.clone();
        let mut had = HashMap::<GroupName, Decayed>::new();
        for (user, sum) in past.sums(&cluster.name) {
            if let Some(group) = shares.of(user) {
                had.entry(group.clone()).or_default().join(sum);
            }
        }
        Self { shares, held: HashMap::new(), had }
    }

    fn count(&mut self, user: &UserName, add: impl Fn(&mut Held)) {
        let Some(group) = self.shares.of(user) else { return };
        match self.held.get_mut(group) {
            Some(held) => add(held),
            None => add(self.held.entry(group.clone()).or_default()),
        }
        if self.held.get(group).is_some_and(Held::is_nothing) {
            self.held.remove(group);
        }
    }

    fn record(&mut self, ended: &Ended, until: Timestamp, half_life_ms: i64) {
        let Some(group) = self.shares.of(&ended.user).filter(|_| ended.from < until) else {
            return;
        };
        let had = self.had.entry(group.clone()).or_default();
        had.had(ended.gpu_milli, (ended.from, until), half_life_ms);
    }
}

/// What somebody has, and the mean of what he has and has had: thousandths of GPUs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Use {
    pub(crate) held: f64,
    pub(crate) mean: f64,
}

impl Use {
    /// The less of each.
    pub(crate) fn least(self, other: Self) -> Self {
        Self { held: self.held.min(other.held), mean: self.mean.min(other.mean) }
    }

    /// To be compared with others' of which each is to have its part.
    fn over(self, part: f64) -> Self {
        Self { held: self.held / part, mean: self.mean / part }
    }
}

/// Where a user stands in his virtual cluster.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Branch<'o> {
    /// Among all its users, with what he has.
    User(Use),
    /// He counts to none of its groups, and stands beside them.
    Single(Use),
    /// He counts to a group, which has this for its part, and he has this of it.
    Member { group: &'o GroupName, together: Use, own: Use },
}

impl Branch<'_> {
    /// What is compared with that of all others of the virtual cluster.
    pub(crate) fn among_all(self) -> Use {
        match self {
            Self::User(all) | Self::Single(all) | Self::Member { together: all, .. } => all,
        }
    }
}

/// What the jobs of each user have, by virtual cluster, and what they have had. Who has nothing is not
/// among those who hold something.
#[derive(Debug, Clone, Default)]
pub(crate) struct Owners {
    users: HashMap<VirtualClusterName, HashMap<UserName, Held>>,
    /// What they have had and have no more.
    pub(crate) past: PastUse,
    /// By number of the type: thousandths of a GPU as which one counts.
    weights: Vec<i64>,
    /// By virtual cluster, of those that groups share.
    groups: HashMap<VirtualClusterName, Groups>,
}

impl Owners {
    /// Nobody has anything, and some have had something. The types that there are, by number.
    pub(crate) fn after(past: PastUse, types: &[GpuType], clusters: &[VirtualCluster]) -> Self {
        let weight = |of: &GpuType| i64::try_from(past.weights().of(of).milli()).unwrap_or(ONE);
        let weights = types.iter().map(weight).collect();
        let shared = clusters.iter().filter(|cluster| !cluster.groups.is_empty());
        let groups = shared.map(|cluster| (cluster.name.clone(), Groups::after(&past, cluster)));
        let groups = groups.collect();
        Self { users: HashMap::new(), past, weights, groups }
    }

    /// Counts what has ended until now.
    pub(crate) fn settle(&mut self, now: Timestamp) {
        let half_life_ms = self.past.half_life_ms();
        for ended in self.past.settle(now) {
            if let Some(groups) = self.groups.get_mut(&ended.virtual_cluster) {
                groups.record(&ended, now, half_life_ms);
            }
        }
    }

    /// Thousandths of GPUs as which these count; those of one where there are none.
    pub(crate) fn weigh(&self, allocations: &[TaskAllocation]) -> i64 {
        let of = |allocation: &TaskAllocation| {
            let weight = self.weights.get(usize::from(allocation.gpu_type)).copied().unwrap_or(ONE);
            allocation.gpu_milli().saturating_mul(weight)
        };
        match allocations.iter().map(of).fold(0, i64::saturating_add) {
            0 => i64::from(WHOLE_GPU),
            weighed => (weighed / ONE).max(1),
        }
    }

    /// As how many GPUs one counts, of those types of which it is not one.
    pub(crate) fn weights(&self, types: &[GpuType]) -> BTreeMap<GpuType, Amount> {
        let weights = types.iter().map(|of| (of.clone(), self.past.weights().of(of)));
        weights.filter(|(_, weight)| *weight != Amount::whole(1)).collect()
    }

    /// A job comes to hold what it has (`sign` 1), or holds it no more (`sign` -1).
    pub(crate) fn count(&mut self, placed: &PlacedJob, sign: i64) {
        self.add(placed, sign, |held| &mut held.milli);
    }

    /// A job is about to leave what it has (`sign` 1), or is no more (`sign` -1).
    pub(crate) fn count_leaving(&mut self, placed: &PlacedJob, sign: i64) {
        self.add(placed, sign, |held| &mut held.leaving);
    }

    fn add(&mut self, placed: &PlacedJob, sign: i64, sum: fn(&mut Held) -> &mut i64) {
        let milli = sign * self.weigh(&placed.allocations);
        let (since, half_life_ms) = (placed.remaining.started_at, self.past.half_life_ms());
        let add = |held: &mut Held| {
            *sum(held) += milli;
            held.began = held.began.max(Some(since));
            if half_life_ms > 0 {
                held.starts.add(milli, since, half_life_ms);
            }
        };
        if let Some(groups) = self.groups.get_mut(&placed.name) {
            groups.count(&placed.user, add);
        }
        match self.users.get_mut(&placed.name).and_then(|users| users.get_mut(&placed.user)) {
            Some(held) => add(held),
            None => {
                let users = self.users.entry(placed.name.clone()).or_default();
                add(users.entry(placed.user.clone()).or_default());
            }
        }
        if sign < 0
            && let Some(users) = self.users.get_mut(&placed.name)
        {
            if users.get(&placed.user).is_some_and(Held::is_nothing) {
                users.remove(&placed.user);
            }
            if users.is_empty() {
                self.users.remove(&placed.name);
            }
        }
    }

    /// What counts as so many thousandths of GPUs of what a job had since it started has come to its end.
    pub(crate) fn ended(&mut self, placed: &PlacedJob, milli: i64) {
        self.past.end((&placed.name, &placed.user), milli, placed.remaining.started_at);
    }

    fn held(&self, virtual_cluster: &VirtualClusterName, user: &UserName) -> Held {
        let users = self.users.get(virtual_cluster);
        users.and_then(|users| users.get(user)).copied().unwrap_or_default()
    }

    /// Where a request's owner stands in its virtual cluster, by what is had and was had of it.
    pub(crate) fn branch(&self, request: &Request, now: Timestamp) -> Branch<'_> {
        let Request { virtual_cluster, user, .. } = request;
        let held = self.held(virtual_cluster, user);
        let own = self.use_of(held, self.past.of(virtual_cluster, user, now), now);
        let Some(groups) = self.groups.get(virtual_cluster) else { return Branch::User(own) };
        match groups.shares.of(user) {
            Some(group) => {
                let together = self.use_of_group(groups, group, now);
                let together = together.over(groups.shares.part(Some(group)));
                Branch::Member { group, together, own }
            }
            None => Branch::Single(own.over(groups.shares.part(None))),
        }
    }

    fn use_of_group(&self, groups: &Groups, group: &GroupName, now: Timestamp) -> Use {
        let held = groups.held.get(group).copied().unwrap_or_default();
        let had = groups.had.get(group).copied().unwrap_or_default();
        self.use_of(held, had.at(now, self.past.half_life_ms()), now)
    }

    /// What a request's owner has in its virtual cluster.
    #[cfg(test)]
    pub(crate) fn of(&self, request: &Request) -> i64 {
        self.held(&request.virtual_cluster, &request.user).milli
    }

    /// When what a request's owner has in its virtual cluster changed last: he came to have some of it, or had
    /// something last that he has no more.
    pub(crate) fn changed_last(&self, request: &Request) -> Option<Timestamp> {
        let Request { virtual_cluster, user, .. } = request;
        self.held(virtual_cluster, user).began.max(self.past.last_of(virtual_cluster, user))
    }

    /// What somebody has, and the mean of what he has and has had, in which the past counts the less the longer
    /// ago it was; 0 where it does not count. What he has had since a moment is all that he would have had, had
    /// he had it for ever, less what he would have had until then.
    fn use_of(&self, held: Held, had: f64, now: Timestamp) -> Use {
        let milli = held.milli as f64;
        if !self.past.counts() {
            return Use { held: milli, mean: 0.0 };
        }
        let has = (held.milli + held.leaving) as f64;
        let mean = has - held.starts.at(now, self.past.half_life_ms()) + had;
        // Clocks may have been set back.
        let mean = if mean.is_finite() { mean.max(0.0) } else { 0.0 };
        Use { held: milli, mean }
    }

    /// What all users of a virtual cluster have and have had, by name.
    pub(crate) fn uses(
        &self,
        virtual_cluster: &VirtualClusterName,
        now: Timestamp,
    ) -> Vec<UserUse> {
        let holders = self.users.get(virtual_cluster).into_iter().flat_map(HashMap::keys);
        let all: HashSet<&UserName> = holders.chain(self.past.users(virtual_cluster)).collect();
        let of = |user: &UserName| {
            let held = self.held(virtual_cluster, user);
            let had = self.past.of(virtual_cluster, user, now);
            let mean_milli = self.use_of(held, had, now).mean;
            UserUse { user: user.clone(), held_milli: held.milli, mean_milli }
        };
        let mut uses: Vec<UserUse> = all.into_iter().map(of).collect();
        uses.sort_by(|one, other| one.user.cmp(&other.user));
        uses
    }

    /// What the groups that share a virtual cluster have and have had, by name.
    pub(crate) fn uses_of_groups(
        &self,
        virtual_cluster: &VirtualClusterName,
        now: Timestamp,
    ) -> Vec<GroupUse> {
        let of = |groups: &Groups| {
            let weights = groups.shares.weights().iter();
            let uses = weights.map(|(group, weight)| GroupUse {
                group: group.clone(),
                weight: *weight,
                mean_milli: self.use_of_group(groups, group, now).mean,
            });
            uses.collect()
        };
        self.groups.get(virtual_cluster).map(of).unwrap_or_default()
    }

    /// The group to which a user counts where groups share a virtual cluster.
    pub(crate) fn group_of(
        &self,
        virtual_cluster: &VirtualClusterName,
        user: &UserName,
    ) -> Option<&GroupName> {
        self.groups.get(virtual_cluster)?.shares.of(user)
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.users.is_empty()
    }
}
