//! Between the users of a virtual cluster, and the groups that share it: whose jobs hold more, or held more, comes
//! later.

use std::collections::HashMap;

use protocol::ids::{GroupName, UserName, VirtualClusterName};
use protocol::time::Timestamp;

use crate::cluster::Cluster;
use crate::cluster::owners::{Branch, Use};
use crate::model::{Request, WHOLE_GPU};
use crate::queue::{Behind, Line};
use crate::state::State;

/// Each GPU that a user holds beyond the one who holds least puts his jobs back by so much: more than
/// people or the lengths of jobs usually lie apart.
const A_GPU_MS: i64 = 86_400_000;

/// A GPU that he has had beyond the one who has had least ([`crate::model::PastUse`]) counts as so many
/// that he holds: what is held now only says in which order those start who have had the same.
const HAD: f64 = 1_000.0;

/// What a group has and has had beyond the least counts so many times what a user does within his: that only says
/// in which order those start whose groups have had the same.
const GROUP: i64 = 1_000;

/// Nobody is put back farther, so that from where he comes a place can be told.
const FARTHEST_MS: i64 = i64::MAX / 2;

/// What the one of those who wait in a virtual cluster has who has least, and the mean of what the one has had who
/// has had least.
#[derive(Debug)]
struct Least {
    /// Of its users; where groups share it, of these for their parts and of those who count to none.
    all: Use,
    /// Of the members of each group.
    members: HashMap<GroupName, Use>,
}

impl Least {
    fn of(branch: Branch) -> Self {
        Self { all: branch.among_all(), members: HashMap::new() }
    }

    /// With one more who waits.
    fn with(&mut self, branch: Branch) {
        self.all = self.all.least(branch.among_all());
        if let Branch::Member { group, own, .. } = branch {
            match self.members.get_mut(group) {
                Some(least) => *least = least.least(own),
                None => drop(self.members.insert(group.clone(), own)),
            }
        }
    }

    /// Milliseconds by which somebody is put back: first for what his group has had, then for what he has.
    fn puts_back(&self, branch: Branch) -> i64 {
        let millis = match branch {
            Branch::User(own) => beyond(own, self.all),
            Branch::Single(own) => beyond(own, self.all).saturating_mul(GROUP),
            Branch::Member { group, together, own } => {
                let least = self.members.get(group).copied().unwrap_or(own);
                let groups = beyond(together, self.all).saturating_mul(GROUP);
                groups.saturating_add(beyond(own, least))
            }
        };
        millis.min(FARTHEST_MS)
    }
}

/// Milliseconds by which who has this is put back behind who has least.
fn beyond(of: Use, least: Use) -> i64 {
    let a_milli = (A_GPU_MS / i64::from(WHOLE_GPU)) as f64;
    let holds = (of.held - least.held).max(0.0) * a_milli;
    let had = (of.mean - least.mean).max(0.0) * HAD * a_milli;
    (holds.round() as i64).saturating_add(had.round() as i64)
}

/// By virtual cluster in which several users wait. Where one user waits nobody is put back.
#[derive(Debug)]
pub(crate) struct Balance {
    least: HashMap<VirtualClusterName, Least>,
    now: Timestamp,
}

impl Cluster {
    /// Milliseconds by which jobs of a request's owner are put back; the first of them has this rank.
    pub(crate) fn behind(&self, request: &Request, rank: i64, balance: &Balance) -> Behind {
        let Some(least) = balance.least.get(&request.virtual_cluster) else {
            return Behind::NOTHING;
        };
        let others = least.puts_back(self.owners.branch(request, balance.now));
        let first = if self.has_waited(request, rank, balance.now) { 0 } else { others };
        Behind { first, others }
    }

    /// Whether an owner has waited for a half-life since he came to have something last, or had something last that
    /// he has no more, and since the turn that the first of his jobs would have had: what he had, and has still,
    /// puts that back no more.
    fn has_waited(&self, request: &Request, rank: i64, now: Timestamp) -> bool {
        let past = &self.owners.past;
        let since = self.owners.changed_last(request).map_or(rank, |last| last.0.max(rank));
        past.counts() && now.0.saturating_sub(since) > past.half_life_ms()
    }
}

impl State {
    /// Milliseconds by which the jobs of a line are put back.
    pub(crate) fn behind(&self, line: &Line, balance: &Balance) -> Behind {
        let first = line.queue.first().and_then(|key| self.queue.jobs.get(&key.job));
        let rank = first.map_or(i64::MAX, |waiter| waiter.turn.rank);
        self.cluster.behind(&line.class.of, rank, balance)
    }

    /// Between all that wait, and one who asks.
    pub(crate) fn balance(&self, asks: Option<&Request>, now: Timestamp) -> Balance {
        // Somebody who waits, the least that anybody has, and whether others wait as well.
        let mut all: HashMap<&VirtualClusterName, (&UserName, Least, bool)> = HashMap::new();
        let classes = self.queue.active.iter().map(|line| &self.queue.lines[line].class);
        // Who is at his limit is nobody's rival.
        let lines = classes.filter(|class| !self.is_limited(class)).map(|class| &class.of);
        for of in lines.chain(asks) {
            let branch = self.cluster.owners.branch(of, now);
            let first = || (&of.user, Least::of(branch), false);
            let (user, least, several) = all.entry(&of.virtual_cluster).or_insert_with(first);
            least.with(branch);
            *several |= **user != of.user;
        }
        let several = all.into_iter().filter(|(_, (_, _, several))| *several);
        let least = several.map(|(cluster, (_, least, _))| (cluster.clone(), least)).collect();
        Balance { least, now }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use protocol::ids::JobId;

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
    fn places_that_are_not_left_yet_are_held() {
        let all: &[u32] = &[0, 1, 2, 3, 4, 5, 6, 7];
        let story = cluster().node("a").gpus(8, "A100").share("vision", &[("A100", 8)], None);
        let story = story.running(99, "default", &[("a", all, 8)]).borrowed();
        let mut state = State::of(&story.snapshot);
        let within = |user: &str, id| Request {
            user: user.parse().unwrap(),
            ..job(id).within("vision").gpus(1, &[]).request
        };
        (1..=8).for_each(|id| state.submit(&within("alice", id)));
        (11..=18).for_each(|id| state.submit(&within("bob", id)));
        assert!(started(&mut state, HOUR).is_empty(), "job 99 has not left yet");
        let coming: Vec<i64> = state.pending.keys().map(|job| job.0).collect();
        assert_eq!(coming, [1, 2, 3, 4, 11, 12, 13, 14]);
        state.ended(JobId(99));
        assert_eq!(started(&mut state, HOUR), coming);
        let held = ["alice", "bob"].map(|user| state.cluster.owners.of(&within(user, 50)));
        assert_eq!(held, [4_000; 2]);
        coming.iter().for_each(|id| state.ended(JobId(*id)));
        assert!(state.cluster.owners.is_empty(), "nothing is counted twice");
    }

    #[test]
    fn what_is_held_is_forgotten_with_the_last_job() {
        let mut state = State::of(&cluster().node("a").gpus(4, "A100").snapshot);
        (1..=4).for_each(|id| state.submit(&of("alice", id)));
        assert_eq!(started(&mut state, HOUR).len(), 4);
        assert_eq!(state.cluster.owners.of(&of("alice", 5)), 4_000);
        (1..=4).for_each(|id| state.ended(JobId(id)));
        assert!(state.cluster.owners.is_empty());
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
