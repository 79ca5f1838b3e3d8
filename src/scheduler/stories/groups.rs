//! Between groups that share a virtual cluster: what their members have had of GPUs together.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use protocol::ids::{GroupName, JobId, UserName};
use protocol::time::Timestamp;

use crate::State;
use crate::model::{GroupUse, PastUse, Request, Snapshot};
use crate::properties::events::cases;
use crate::story::{Story, cluster, job, virtual_cluster};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// GPUs of a node.
const GPUS: u32 = 4;

fn user(name: &str) -> UserName {
    name.parse().unwrap()
}

/// A user's job with so many GPUs, submitted then.
fn of(name: &str, id: i64, gpus: u32, at: i64) -> Request {
    let request = job(id).within("lab").gpus(gpus, &[]).request;
    Request { user: user(name), submitted_at: Timestamp(at), ..request }
}

fn started(state: &mut State, now: i64) -> Vec<i64> {
    let placements = state.pass(Timestamp(now)).placements;
    placements.into_iter().map(|placement| placement.job.0).collect()
}

/// So many nodes of *lab*, which these groups share, and a past that counts with this half-life.
fn lab(nodes: u32, groups: &[(&str, u32, &[&str])], half_life_ms: i64) -> Story {
    let story = (0..nodes)
        .fold(cluster(), |story, number| story.node(&format!("n{number}")).gpus(GPUS, "A100"));
    let all = u64::from(nodes * GPUS);
    let mut story = story.share("lab", &[("A100", all)], None).shared_by(groups);
    story.snapshot.past_use = PastUse::new(half_life_ms);
    story
}

/// What each group has and has had, in thousandths of GPUs.
fn uses(state: &State, now: i64) -> Vec<(String, i64)> {
    let uses = state.uses_of_groups(&virtual_cluster("lab"), Timestamp(now)).into_iter();
    let rounded = |GroupUse { group, weight: _, mean_milli }: GroupUse| {
        (group.to_string(), mean_milli.round() as i64)
    };
    uses.map(rounded).collect()
}

/// Alice, of *vision*, had all for two days. Then all who are named ask for everything, one GPU a job.
fn after_two_days(groups: &[(&str, u32, &[&str])], ask: &[&str]) -> Vec<i64> {
    let mut state = State::of(&lab(1, groups, 7 * DAY).snapshot);
    (1..=4).for_each(|id| state.submit(&of("alice", id, 1, 0)));
    assert_eq!(started(&mut state, 0), [1, 2, 3, 4]);
    (1..=4).for_each(|id| state.ended(JobId(id)));
    for (name, number) in ask.iter().zip(1..) {
        (1..=4).for_each(|id| state.submit(&of(name, number * 10 + id, 1, 2 * DAY)));
    }
    let mut begun: Vec<i64> = started(&mut state, 2 * DAY);
    begun.sort_unstable();
    begun
}

#[test]
fn who_is_in_a_group_that_has_had_all_comes_later() {
    let both: &[(&str, u32, &[&str])] = &[("vision", 1, &["alice", "ann"]), ("nlp", 1, &["bob"])];
    assert_eq!(
        after_two_days(both, &["ann", "bob"]),
        [21, 22, 23, 24],
        "ann herself has had nothing"
    );
    assert_eq!(
        after_two_days(&[], &["ann", "bob"]),
        [11, 12, 21, 22],
        "without groups she has her half"
    );
    let vision: &[(&str, u32, &[&str])] = &[("vision", 1, &["alice", "ann"])];
    assert_eq!(
        after_two_days(vision, &["ann", "bob"]),
        [21, 22, 23, 24],
        "bob stands beside the group"
    );
}

#[test]
fn within_a_group_who_has_had_less_goes_first() {
    let both: &[(&str, u32, &[&str])] = &[("vision", 1, &["alice", "ann"]), ("nlp", 1, &["bob"])];
    assert_eq!(after_two_days(both, &["alice", "ann"]), [21, 22, 23, 24]);
}

#[test]
fn what_is_held_now_is_shared_by_weight() {
    let groups: &[(&str, u32, &[&str])] =
        &[("vision", 3, &["alice"]), ("nlp", 1, &["bob", "ben", "bea"])];
    let mut state = State::of(&lab(1, groups, 0).snapshot);
    for (name, number) in ["alice", "bob", "ben", "bea"].iter().zip(1..) {
        (1..=4).for_each(|id| state.submit(&of(name, number * 10 + id, 1, 0)));
    }
    let begun = started(&mut state, 0);
    assert_eq!(begun.iter().filter(|id| **id < 20).count(), 3, "{begun:?}");
    assert_eq!(uses(&state, DAY), [("nlp".to_owned(), 0), ("vision".to_owned(), 0)]);
}

#[test]
fn who_counts_to_several_groups_counts_to_the_first_by_name() {
    let groups: &[(&str, u32, &[&str])] =
        &[("vision", 1, &["alice", "ann"]), ("nlp", 1, &["ann"]), ("empty", 2, &[])];
    let state = State::of(&lab(1, groups, DAY).snapshot);
    let of = |name: &str| state.group_of(&virtual_cluster("lab"), &user(name));
    assert_eq!(of("ann").map(GroupName::as_str), Some("nlp"));
    assert_eq!(of("alice").map(GroupName::as_str), Some("vision"));
    assert_eq!(of("bob"), None);
}

#[test]
fn what_members_had_comes_to_their_group_whenever_it_is_counted() {
    let groups: &[(&str, u32, &[&str])] = &[("nlp", 1, &["bob"]), ("vision", 1, &["alice", "ann"])];
    let said = |nlp, vision| vec![("nlp".to_owned(), nlp), ("vision".to_owned(), vision)];
    let story = lab(1, groups, DAY);
    let mut state = State::of(&story.snapshot);
    state.submit(&of("alice", 1, 2, 0));
    state.submit(&of("ann", 2, 1, 0));
    assert_eq!(started(&mut state, 0).len(), 2);
    assert_eq!(uses(&state, DAY), said(0, 1_500));
    state.ended(JobId(1));
    assert!(started(&mut state, DAY).is_empty());
    assert_eq!(uses(&state, DAY), said(0, 1_500));
    assert_eq!(uses(&state, 2 * DAY), said(0, 500 + 750));
    state.set_nodes(&story.snapshot.nodes);
    assert_eq!(uses(&state, 2 * DAY), said(0, 500 + 750), "all was made anew");
    // Alice goes to the other group.
    let moved: &[(&str, u32, &[&str])] = &[("nlp", 1, &["alice", "bob"]), ("vision", 1, &["ann"])];
    state.set_virtual_clusters(lab(1, moved, DAY).snapshot.virtual_clusters);
    assert_eq!(uses(&state, 2 * DAY), said(500, 750), "she takes what she has had with her");
    let later = Snapshot { past_use: state.past_use().clone(), ..lab(1, moved, DAY).snapshot };
    assert_eq!(uses(&State::of(&later), 2 * DAY), said(500, 0), "it is told to a later state");
    state.ended(JobId(2));
    state.pass(Timestamp(2 * DAY));
    assert_eq!(uses(&state, 3 * DAY), said(250, 375));
}

/// However much somebody's group has had: what puts him back does so for a half-life.
#[test]
fn nobody_waits_for_longer_than_a_half_life_for_what_his_group_had() {
    let groups: &[(&str, u32, &[&str])] = &[("nlp", 1, &["bob"]), ("vision", 1, &["alice", "ann"])];
    let mut story = lab(1, groups, 7 * DAY);
    let for_ever = (Timestamp(-1_000 * DAY), Timestamp(0));
    let lab = virtual_cluster("lab");
    story.snapshot.past_use.record((&lab, &user("alice")), i64::from(GPUS) * 1_000, for_ever);
    let mut state = State::of(&story.snapshot);
    state.submit(&of("ann", 1, 1, 0));
    (11..=20).for_each(|id| state.submit(&of("bob", id, 1, DAY)));
    let place = |state: &mut State, now: i64| state.waiting(Timestamp(now))[&JobId(1)].position;
    assert_eq!(place(&mut state, 2 * DAY), 11);
    assert_eq!(place(&mut state, 8 * DAY), 1);
}

#[test]
fn without_groups_nothing_is_otherwise() {
    let story = lab(1, &[], DAY);
    let mut state = State::of(&story.snapshot);
    state.submit(&of("alice", 1, 4, 0));
    assert_eq!(started(&mut state, 0), [1]);
    assert_eq!(uses(&state, DAY), []);
}

/// Users who each have something waiting at any time, and what they had in all.
struct Flood<'m> {
    state: State,
    users: Vec<String>,
    mix: &'m [(u32, i64)],
    ends: BTreeMap<i64, i64>,
    next: i64,
    had: Vec<i64>,
}

impl<'m> Flood<'m> {
    fn new(story: &Story, users: &[&str], mix: &'m [(u32, i64)]) -> Self {
        let users: Vec<String> = users.iter().map(|name| (*name).to_owned()).collect();
        let had = vec![0; users.len()];
        let state = State::of(&story.snapshot);
        Self { state, users, mix, ends: BTreeMap::new(), next: 0, had }
    }

    /// GPUs and minutes of a job.
    fn asks(&self, id: i64) -> (u32, i64) {
        self.mix[(id * 7 + id / 3) as usize % self.mix.len()]
    }

    /// A job for a user.
    fn comes(&mut self, owner: usize, now: i64) {
        let users = self.users.len() as i64;
        let id = self.next * users + owner as i64;
        self.next += 1;
        self.submit(id, now);
    }

    fn submit(&mut self, id: i64, now: i64) {
        let owner = id as usize % self.users.len();
        let (gpus, minutes) = self.asks(id);
        let request = of(&self.users[owner], id, gpus, now);
        self.state.submit(&Request { limit_ms: Some(minutes * MINUTE), ..request });
    }

    fn pass(&mut self, now: i64) {
        loop {
            let pass = self.state.pass(Timestamp(now));
            for placement in &pass.placements {
                let id = placement.job.0;
                let (gpus, minutes) = self.asks(id);
                let owner = id as usize % self.users.len();
                self.ends.insert(id, now + minutes * MINUTE);
                self.had[owner] += i64::from(gpus) * minutes;
                self.comes(owner, now);
            }
            for preemption in &pass.preemptions {
                // Who was backfilled gives way, and waits again.
                let id = preemption.job.0;
                let (gpus, _) = self.asks(id);
                let left = self.ends.remove(&id).unwrap_or(now) - now;
                self.had[id as usize % self.users.len()] -= i64::from(gpus) * left / MINUTE;
                self.state.ended(JobId(id));
                self.submit(id, now);
            }
            if pass.placements.is_empty() && pass.preemptions.is_empty() {
                return;
            }
        }
    }

    fn run(&mut self, until: i64) {
        let mut now = 0;
        for owner in 0..self.users.len() {
            (0..4).for_each(|_| self.comes(owner, now));
        }
        while now < until {
            self.pass(now);
            let (end, id) = self.ends.iter().map(|(id, end)| (*end, *id)).min().unwrap();
            now = end;
            self.ends.remove(&id);
            self.state.ended(JobId(id));
        }
    }
}

fn any_mix() -> impl Strategy<Value = Vec<(u32, i64)>> {
    let gpus = prop_oneof![Just(1_u32), Just(2_u32), Just(4_u32)];
    prop::collection::vec((gpus, 10..=110_i64), 10..30)
}

const NAMES: [&str; 5] = ["alice", "ann", "ben", "bob", "carol"];

/// Who may be in which group, one after the other.
const IN_GROUPS: [&[(&str, u32, &[&str])]; 3] = [
    &[("nlp", 1, &["bob", "ben"]), ("vision", 2, &["alice", "ann"])],
    &[("nlp", 3, &["bob"]), ("vision", 1, &["alice", "ann", "ben"])],
    &[("vision", 1, &["alice", "bob"])],
];

/// What the members of a group have and have had, each by himself.
fn together(state: &State, members: &[&str], now: i64) -> f64 {
    let uses = state.uses(&virtual_cluster("lab"), Timestamp(now)).into_iter();
    let own = uses.filter(|of| members.contains(&of.user.as_str()));
    own.map(|of| of.mean_milli).sum()
}

/// Where a job stands among all who wait, as it is told by itself, is where it stands in the list of all.
fn places_agree(state: &mut State, now: i64) {
    let waiting = state.waiting(Timestamp(now));
    let places: BTreeSet<u32> = waiting.values().map(|waiting| waiting.position).collect();
    assert_eq!(places.len(), waiting.len(), "each has a place of its own");
    for (job, waiting) in waiting {
        let explained = state.explain(job, Timestamp(now)).unwrap();
        assert_eq!(explained.waiting.position, waiting.position, "{job:?}");
    }
}

proptest! {
    #![proptest_config(cases(100))]

    /// Whoever comes, ends and goes to another group.
    #[test]
    fn groups_have_what_their_members_have(
        steps in prop::collection::vec((0..8_u8, 0..5_usize, 1..=4_u32, 1..300_i64), 10..80),
    ) {
        let mut state = State::of(&lab(2, IN_GROUPS[0], DAY).snapshot);
        let (mut groups, mut now, mut running) = (IN_GROUPS[0], 0, BTreeSet::new());
        for (id, (kind, number, gpus, minutes)) in (1..).zip(steps) {
            match kind {
                0..=3 => {
                    let request = of(NAMES[number], id, gpus, now);
                    state.submit(&Request { limit_ms: Some(minutes * MINUTE), ..request });
                }
                4 | 5 => {
                    if let Some(job) = running.iter().nth(number).copied() {
                        running.remove(&job);
                        state.ended(job);
                    }
                }
                6 => now += minutes * MINUTE,
                _ => {
                    groups = IN_GROUPS[number % IN_GROUPS.len()];
                    state.set_virtual_clusters(lab(2, groups, DAY).snapshot.virtual_clusters);
                }
            }
            let pass = state.pass(Timestamp(now));
            running.extend(pass.placements.iter().map(|placement| placement.job));
            for preemption in &pass.preemptions {
                running.remove(&preemption.job);
                state.ended(preemption.job);
            }
            state.pass(Timestamp(now)).placements.iter().for_each(|placement| {
                running.insert(placement.job);
            });
            for of in state.uses_of_groups(&virtual_cluster("lab"), Timestamp(now)) {
                let listed = groups.iter().find(|(name, ..)| of.group.as_str() == *name);
                let members = listed.map(|(_, _, members)| *members).unwrap();
                let each = together(&state, members, now);
                prop_assert!((of.mean_milli - each).abs() < 0.01, "{:?}, not {}", of, each);
            }
            if state.pending.is_empty() {
                places_agree(&mut state, now);
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(4))]

    /// A group of one and a group of nine who all flood have what their weights say, whatever the sizes of their
    /// jobs, and the nine have equally much.
    #[test]
    fn groups_have_their_parts_and_their_members_equally_much(
        mix in any_mix(),
        weight in 1..=2_u32,
    ) {
        let nine = ["bob", "b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8"];
        let users: Vec<&str> = ["alice"].into_iter().chain(nine).collect();
        let groups: &[(&str, u32, &[&str])] = &[("one", weight, &["alice"]), ("nine", 1, &nine)];
        let story = lab(3, groups, 7 * DAY);
        let mut flood = Flood::new(&story, &users, &mix);
        flood.run(14 * DAY);
        let all: i64 = flood.had.iter().sum();
        let weight = i64::from(weight);
        let fair = all * weight / (weight + 1);
        prop_assert!((flood.had[0] - fair).abs() * 20 <= all, "{:?} of {}", flood.had, all);
        let each = (all - flood.had[0]) / 9;
        for had in &flood.had[1..] {
            prop_assert!((had - each).abs() * 10 <= each, "{:?}", flood.had);
        }
    }
}
