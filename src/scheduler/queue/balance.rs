//! Between the users of a virtual cluster: whose jobs hold more comes later.

use std::collections::HashMap;

use protocol::ids::{UserName, VirtualClusterName};

use crate::cluster::Cluster;
use crate::cluster::tenant::Tenant;
use crate::model::{Request, WHOLE_GPU};
use crate::state::State;

/// Each GPU that a user holds beyond the one who holds least puts his jobs back by so much: more than
/// people or the lengths of jobs usually lie apart.
const A_GPU_MS: i64 = 86_400_000;

/// Thousandths of GPUs that the jobs of each user have, by virtual cluster; of a job without GPU
/// those of one. Who has nothing is not there.
#[derive(Debug, Clone, Default)]
pub(crate) struct Owners(HashMap<VirtualClusterName, HashMap<UserName, i64>>);

impl Owners {
    /// A job comes to hold what it has (`sign` 1), or leaves it (`sign` -1).
    pub(crate) fn count(&mut self, tenant: &Tenant, sign: i64) {
        let milli = sign * tenant.gpu_milli();
        match self.0.get_mut(&tenant.name).and_then(|users| users.get_mut(&tenant.user)) {
            Some(held) => *held += milli,
            None => {
                let users = self.0.entry(tenant.name.clone()).or_default();
                users.insert(tenant.user.clone(), milli);
            }
        }
        if sign < 0
            && let Some(users) = self.0.get_mut(&tenant.name)
        {
            if users.get(&tenant.user) == Some(&0) {
                users.remove(&tenant.user);
            }
            if users.is_empty() {
                self.0.remove(&tenant.name);
            }
        }
    }

    fn of(&self, request: &Request) -> i64 {
        let users = self.0.get(&request.virtual_cluster);
        users.and_then(|users| users.get(&request.user)).copied().unwrap_or(0)
    }
}

/// By virtual cluster in which several users wait: what the one of them holds who holds least. Where
/// one user waits nobody is put back.
#[derive(Debug, Default)]
pub(crate) struct Balance(HashMap<VirtualClusterName, i64>);

impl Cluster {
    /// Milliseconds by which jobs of a request's owner are put back.
    pub(crate) fn behind(&self, request: &Request, balance: &Balance) -> i64 {
        let Some(least) = balance.0.get(&request.virtual_cluster) else { return 0 };
        let more = (self.owners.of(request) - least).max(0);
        more.saturating_mul(A_GPU_MS / i64::from(WHOLE_GPU))
    }
}

impl State {
    /// Between all that wait, and one who asks.
    pub(crate) fn balance(&self, asks: Option<&Request>) -> Balance {
        // Somebody who waits, the least that anybody holds, and whether others wait as well.
        let mut all: HashMap<&VirtualClusterName, (&UserName, i64, bool)> = HashMap::new();
        let lines = self.queue.active.iter().map(|line| &self.queue.lines[line].class.of);
        for of in lines.chain(asks) {
            let held = self.cluster.owners.of(of);
            let (user, least, several) =
                all.entry(&of.virtual_cluster).or_insert((&of.user, held, false));
            *least = held.min(*least);
            *several |= **user != of.user;
        }
        let several = all.into_iter().filter(|(_, (_, _, several))| *several);
        Balance(several.map(|(cluster, (_, least, _))| (cluster.clone(), least)).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use protocol::ids::JobId;
    use protocol::time::Timestamp;

    use super::*;
    use crate::properties::events::cases;
    use crate::story::{cluster, job};

    const HOUR: i64 = 3_600_000;
    const USERS: [&str; 3] = ["alice", "bob", "carol"];

    /// One GPU for a user.
    fn of(user: &str, id: i64) -> Request {
        Request { user: user.parse().unwrap(), ..job(id).gpus(1, &[]).request }
    }

    fn started(state: &mut State, now: i64) -> Vec<i64> {
        let placements = state.pass(Timestamp(now)).placements;
        placements.into_iter().map(|placement| placement.job.0).collect()
    }

    #[test]
    fn who_comes_after_one_users_flood_starts_among_the_first() {
        let mut state = State::of(&cluster().node("a").gpus(4, "A100").snapshot);
        (1..=40).for_each(|id| state.submit(&of("alice", id)));
        assert_eq!(started(&mut state, HOUR), [1, 2, 3, 4]);
        state.submit(&of("bob", 50));
        assert!(started(&mut state, HOUR).is_empty());
        let now = Timestamp(HOUR);
        let explanation = state.explain(JobId(50), now).unwrap();
        assert_eq!(explanation.waiting.position, 2);
        assert_eq!(explanation.ahead, [JobId(5)], "it was promised the next place");
        assert_eq!(state.waiting(now)[&JobId(50)].position, 2);
        for (ends, starts) in [(1, 5), (2, 50), (3, 6)] {
            state.ended(JobId(ends));
            assert_eq!(started(&mut state, HOUR), [starts]);
        }
    }

    #[test]
    fn what_is_held_is_forgotten_with_the_last_job() {
        let mut state = State::of(&cluster().node("a").gpus(4, "A100").snapshot);
        (1..=4).for_each(|id| state.submit(&of("alice", id)));
        assert_eq!(started(&mut state, HOUR).len(), 4);
        assert_eq!(state.cluster.owners.of(&of("alice", 5)), 4_000);
        (1..=4).for_each(|id| state.ended(JobId(id)));
        assert!(state.cluster.owners.0.is_empty());
    }

    proptest! {
        #![proptest_config(cases(24))]

        /// Three users flood a cluster of twelve GPUs, one after the other: once what ran before has
        /// ended each has a third, but for the jobs that are just changing.
        #[test]
        fn users_who_flood_hold_equally_much(minutes in prop::collection::vec(10..=60_i64, 30..90)) {
            let mut state = State::of(&cluster().node("a").gpus(12, "A100").snapshot);
            let mut running: BTreeSet<(i64, i64)> = BTreeSet::new();
            let (mut now, mut users) = (0, 0_i64);
            while now < 8 * HOUR {
                let comes = (users < 3).then_some(users * 2 * HOUR);
                let ends = running.first().map(|(end, _)| *end);
                now = comes.into_iter().chain(ends).min().unwrap_or(i64::MAX);
                if comes == Some(now) {
                    for number in 1..=150 {
                        let request = of(USERS[users as usize], users * 1_000 + number);
                        state.submit(&Request { submitted_at: Timestamp(now), ..request });
                    }
                    users += 1;
                } else if let Some((_, ended)) = running.pop_first() {
                    state.ended(JobId(ended));
                }
                for id in started(&mut state, now) {
                    running.insert((now + minutes[id as usize % minutes.len()] * 60_000, id));
                }
                for user in 0..3 {
                    let held = running.iter().filter(|(_, id)| id / 1_000 == user).count();
                    prop_assert!(now < 6 * HOUR || (2..=6).contains(&held), "{} holds {}", user, held);
                }
            }
        }
    }
}
