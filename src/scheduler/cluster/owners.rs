//! What the jobs of each user have, and have had.

use std::collections::{BTreeMap, HashMap, HashSet};

use protocol::amount::Amount;
use protocol::ids::{GpuType, UserName, VirtualClusterName};
use protocol::time::Timestamp;

use crate::cluster::claim::Claim;
use crate::cluster::tenant::Tenant;
use crate::model::past_use::{Decayed, PastUse};
use crate::model::{Request, UserUse, WHOLE_GPU};

/// A GPU of most types counts as one: thousandths.
const ONE: i64 = 1_000;

/// What a user's jobs have.
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

/// What the jobs of each user have, by virtual cluster, and what they have had. Who has nothing is not
/// among those who hold something.
#[derive(Debug, Clone, Default)]
pub(crate) struct Owners {
    users: HashMap<VirtualClusterName, HashMap<UserName, Held>>,
    /// What they have had and have no more.
    pub(crate) past: PastUse,
    /// By number of the type: thousandths of a GPU as which one counts.
    weights: Vec<i64>,
}

impl Owners {
    /// Nobody has anything, and some have had something. The types that there are, by number.
    pub(crate) fn after(past: PastUse, types: &[GpuType]) -> Self {
        let weight = |of: &GpuType| i64::try_from(past.weights().of(of).milli()).unwrap_or(ONE);
        let weights = types.iter().map(weight).collect();
        Self { users: HashMap::new(), past, weights }
    }

    /// Thousandths of GPUs as which these count; those of one where there are none.
    pub(crate) fn weigh(&self, claims: &[Claim]) -> i64 {
        let of = |claim: &Claim| {
            let weight = self.weights.get(usize::from(claim.gpu_type)).copied().unwrap_or(ONE);
            claim.gpu_milli().saturating_mul(weight)
        };
        match claims.iter().map(of).fold(0, i64::saturating_add) {
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
    pub(crate) fn count(&mut self, tenant: &Tenant, sign: i64) {
        self.add(tenant, sign, |held| &mut held.milli);
    }

    /// A job is about to leave what it has (`sign` 1), or is no more (`sign` -1).
    pub(crate) fn count_leaving(&mut self, tenant: &Tenant, sign: i64) {
        self.add(tenant, sign, |held| &mut held.leaving);
    }

    fn add(&mut self, tenant: &Tenant, sign: i64, sum: fn(&mut Held) -> &mut i64) {
        let milli = sign * self.weigh(&tenant.claims);
        let (since, half_life_ms) = (tenant.life.started_at, self.past.half_life_ms());
        let add = |held: &mut Held| {
            *sum(held) += milli;
            held.began = held.began.max(Some(since));
            if half_life_ms > 0 {
                held.starts.add(milli, since, half_life_ms);
            }
        };
        match self.users.get_mut(&tenant.name).and_then(|users| users.get_mut(&tenant.user)) {
            Some(held) => add(held),
            None => {
                let users = self.users.entry(tenant.name.clone()).or_default();
                add(users.entry(tenant.user.clone()).or_default());
            }
        }
        if sign < 0
            && let Some(users) = self.users.get_mut(&tenant.name)
        {
            let nothing = |held: &Held| held.milli == 0 && held.leaving == 0;
            if users.get(&tenant.user).is_some_and(nothing) {
                users.remove(&tenant.user);
            }
            if users.is_empty() {
                self.users.remove(&tenant.name);
            }
        }
    }

    /// What counts as so many thousandths of GPUs of what a job had since it started has come to its end.
    pub(crate) fn ended(&mut self, tenant: &Tenant, milli: i64) {
        self.past.end((&tenant.name, &tenant.user), milli, tenant.life.started_at);
    }

    fn held(&self, virtual_cluster: &VirtualClusterName, user: &UserName) -> Held {
        let users = self.users.get(virtual_cluster);
        users.and_then(|users| users.get(user)).copied().unwrap_or_default()
    }

    /// What a request's owner has in its virtual cluster.
    pub(crate) fn of(&self, request: &Request) -> i64 {
        self.held(&request.virtual_cluster, &request.user).milli
    }

    /// When what a request's owner has in its virtual cluster changed last: he came to have some of it, or had
    /// something last that he has no more.
    pub(crate) fn changed_last(&self, request: &Request) -> Option<Timestamp> {
        let Request { virtual_cluster, user, .. } = request;
        self.held(virtual_cluster, user).began.max(self.past.last_of(virtual_cluster, user))
    }

    /// What a request's owner has and has had in its virtual cluster: a mean in thousandths of GPUs, in
    /// which the past counts the less the longer ago it was. 0 where the past does not count.
    pub(crate) fn use_of(&self, request: &Request, now: Timestamp) -> f64 {
        self.mean(&request.virtual_cluster, &request.user, now)
    }

    /// What somebody has had since a moment is all that he would have had, had he had it for ever, less
    /// what he would have had until then.
    fn mean(&self, virtual_cluster: &VirtualClusterName, user: &UserName, now: Timestamp) -> f64 {
        if !self.past.counts() {
            return 0.0;
        }
        let held = self.held(virtual_cluster, user);
        let has = (held.milli + held.leaving) as f64;
        let has = has - held.starts.at(now, self.past.half_life_ms());
        let mean = has + self.past.of(virtual_cluster, user, now);
        // Clocks may have been set back.
        if mean.is_finite() { mean.max(0.0) } else { 0.0 }
    }

    /// What all users of a virtual cluster have and have had, by name.
    pub(crate) fn uses(
        &self,
        virtual_cluster: &VirtualClusterName,
        now: Timestamp,
    ) -> Vec<UserUse> {
        let holders = self.users.get(virtual_cluster).into_iter().flat_map(HashMap::keys);
        let all: HashSet<&UserName> = holders.chain(self.past.users(virtual_cluster)).collect();
        let of = |user: &UserName| UserUse {
            user: user.clone(),
            held_milli: self.held(virtual_cluster, user).milli,
            mean_milli: self.mean(virtual_cluster, user, now),
        };
        let mut uses: Vec<UserUse> = all.into_iter().map(of).collect();
        uses.sort_by(|one, other| one.user.cmp(&other.user));
        uses
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.users.is_empty()
    }
}
