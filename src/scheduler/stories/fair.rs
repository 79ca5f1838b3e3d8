//! Between users of a virtual cluster: what they have had of GPUs.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use protocol::amount::Amount;
use protocol::gpus::GpuWeights;
use protocol::ids::{JobId, UserName};
use protocol::time::Timestamp;

use crate::State;
use crate::model::{PastUse, Request, Snapshot, UserUse};
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
    let request = job(id).gpus(gpus, &[]).request;
    Request { user: user(name), submitted_at: Timestamp(at), ..request }
}

fn started(state: &mut State, now: i64) -> Vec<i64> {
    let placements = state.pass(Timestamp(now)).placements;
    placements.into_iter().map(|placement| placement.job.0).collect()
}

/// A node, and a past that counts with this half-life.
fn node(half_life_ms: i64) -> Story {
    let mut story = cluster().node("a").gpus(GPUS, "A100");
    story.snapshot.past_use = PastUse::new(half_life_ms);
    story
}

/// What each user has and has had, in thousandths of GPUs.
fn uses(state: &State, now: i64) -> Vec<(String, i64, i64)> {
    let uses = state.uses(&virtual_cluster("default"), Timestamp(now)).into_iter();
    let rounded = |UserUse { user, held_milli, mean_milli }: UserUse| {
        (user.to_string(), held_milli, mean_milli.round() as i64)
    };
    uses.map(rounded).collect()
}

/// The node when alice has had all of it for two days, and then both ask for all of it.
fn after_two_days(half_life_ms: i64) -> State {
    let mut state = State::of(&node(half_life_ms).snapshot);
    (1..=4).for_each(|id| state.submit(&of("alice", id, 1, 0)));
    assert_eq!(started(&mut state, 0), [1, 2, 3, 4]);
    (1..=4).for_each(|id| state.ended(JobId(id)));
    (5..=8).for_each(|id| state.submit(&of("alice", id, 1, 2 * DAY)));
    (11..=14).for_each(|id| state.submit(&of("bob", id, 1, 2 * DAY)));
    state
}

#[test]
fn who_has_had_nothing_goes_ahead_of_who_has_had_all() {
    assert_eq!(started(&mut after_two_days(7 * DAY), 2 * DAY), [11, 12, 13, 14]);
    let mut without_past = started(&mut after_two_days(0), 2 * DAY);
    without_past.sort_unstable();
    assert_eq!(without_past, [5, 6, 11, 12], "only what is held counts");
}

#[test]
fn the_queue_says_who_goes_first() {
    let mut state = after_two_days(7 * DAY);
    assert_eq!(started(&mut state, 2 * DAY).len(), 4);
    state.submit(&of("bob", 15, 1, 2 * DAY));
    let now = Timestamp(2 * DAY);
    let explanation = state.explain(JobId(15), now).unwrap();
    let said = (explanation.waiting.position, explanation.ahead);
    assert_eq!(said, (2, vec![JobId(5)]), "it was promised the next place");
    assert_eq!(state.waiting(now)[&JobId(15)].position, 2);
    assert_eq!(state.waiting(now)[&JobId(6)].position, 3);
}

#[test]
fn what_is_held_comes_to_count_and_is_forgotten() {
    let mut state = State::of(&node(DAY).snapshot);
    state.submit(&of("alice", 1, 4, 0));
    assert_eq!(started(&mut state, 0), [1]);
    let alice = |held, mean| vec![("alice".to_owned(), held, mean)];
    assert_eq!(uses(&state, 0), alice(4_000, 0));
    assert_eq!(uses(&state, DAY), alice(4_000, 2_000));
    let nodes = node(DAY).snapshot.nodes;
    state.set_nodes(&nodes);
    assert_eq!(uses(&state, DAY), alice(4_000, 2_000), "all was made anew");
    state.ended(JobId(1));
    assert!(started(&mut state, DAY).is_empty());
    assert_eq!(uses(&state, DAY), alice(0, 2_000));
    state.set_nodes(&nodes);
    assert_eq!(uses(&state, 3 * DAY), alice(0, 500));
    let later = Snapshot { past_use: state.past_use().clone(), ..node(DAY).snapshot };
    assert_eq!(uses(&State::of(&later), 3 * DAY), alice(0, 500), "it is told to a later state");
}

/// A node of each type, of which one counts as two and a half and the other as a half.
fn weighed(half_life_ms: i64) -> Story {
    let weights = [("A100", 2_500), ("V*", 500)];
    let weights = weights.map(|(of, milli)| (of.to_owned(), Amount::from_milli(milli)));
    let weights = GpuWeights::try_from(BTreeMap::from(weights)).unwrap();
    let mut story = cluster().node("a").gpus(GPUS, "A100").node("v").gpus(GPUS, "V100");
    story.snapshot.past_use = PastUse::new(half_life_ms).weighing(weights);
    story
}

/// A user's job with so many GPUs of a type.
fn of_type(name: &str, id: i64, (gpus, gpu_type): (u32, &str)) -> Request {
    Request { user: user(name), ..job(id).gpus(gpus, &[gpu_type]).request }
}

#[test]
fn what_is_held_and_had_counts_by_its_type() {
    let mut state = State::of(&weighed(DAY).snapshot);
    let shown: Vec<_> = state.weights().into_keys().map(|of| of.to_string()).collect();
    assert_eq!(shown, ["A100", "V100"]);
    let asked = [("alice", "A100"), ("bob", "V100")];
    for ((name, gpu_type), id) in asked.into_iter().zip(1..) {
        state.submit(&of_type(name, id, (2, gpu_type)));
    }
    state.submit(&Request { user: user("carol"), ..job(3).request });
    let placed = state.pass(Timestamp(0)).placements;
    let booked: BTreeMap<i64, i64> =
        placed.iter().map(|placement| (placement.job.0, placement.weighed_milli)).collect();
    assert_eq!(booked, BTreeMap::from([(1, 5_000), (2, 1_000), (3, 1_000)]), "as it is stored");
    let said = |name: &str, held, mean| (name.to_owned(), held, mean);
    let all = |share: i64| {
        vec![
            said("alice", 5_000 * share, 2_500),
            said("bob", 1_000 * share, 500),
            said("carol", 1_000 * share, 500),
        ]
    };
    assert_eq!(uses(&state, DAY), all(1));
    state.set_nodes(&weighed(DAY).snapshot.nodes);
    assert_eq!(uses(&state, DAY), all(1), "all was made anew");
    (1..=3).for_each(|id| state.ended(JobId(id)));
    state.pass(Timestamp(DAY));
    assert_eq!(uses(&state, DAY), all(0));
}

#[test]
fn who_had_as_many_gpus_of_a_dearer_type_comes_later() {
    for (half_life, why) in [(7 * DAY, "had"), (0, "holds")] {
        let mut state = State::of(&weighed(half_life).snapshot);
        state.submit(&of_type("alice", 1, (2, "A100")));
        state.submit(&of_type("bob", 2, (3, "V100")));
        state.submit(&of_type("carol", 3, (2, "A100")));
        assert_eq!(started(&mut state, 0).len(), 3);
        // Alice asks first, and has fewer GPUs.
        state.submit(&Request { submitted_at: Timestamp(1), ..of_type("alice", 4, (1, "A100")) });
        state.submit(&Request { submitted_at: Timestamp(2), ..of_type("bob", 5, (1, "A100")) });
        assert!(started(&mut state, DAY).is_empty());
        let waiting = state.waiting(Timestamp(DAY));
        let places = [4, 5].map(|id| waiting[&JobId(id)].position);
        assert_eq!(places, [2, 1], "by what each {why}");
    }
}

#[test]
fn what_tasks_had_that_ended_before_others_counts() {
    let mut story = node(DAY);
    story = story.running(9, "default", &[("a", &[0, 1, 2], 4), ("a", &[3], 4)]);
    let mut running = story.snapshot.running[0].clone();
    let since = running.started_at.0;
    let mut state = State::of(&story.snapshot);
    running.tasks.remove(0);
    state.runs(&running);
    state.pass(Timestamp(since + DAY));
    let [(_, held, mean)] = uses(&state, since + DAY)[..] else { panic!("there is one user") };
    assert_eq!((held, mean), (1_000, 2_000));
}

#[test]
fn who_is_told_to_leave_has_had_what_he_has_still() {
    let story = node(DAY).share("vision", &[("A100", u64::from(GPUS))], None);
    let story = story.running(9, "default", &[("a", &[0, 1, 2, 3], 4)]).borrowed();
    let now = 9_000 + DAY;
    let story = story.waits(job(1).within("vision").gpus(GPUS, &[]));
    let mut state = State::of(&story.snapshot);
    let ann = |held| vec![("ann".to_owned(), held, 2_000)];
    assert_eq!(uses(&state, now), ann(4_000));
    assert_eq!(state.pass(Timestamp(now)).preemptions.len(), 1);
    assert_eq!(uses(&state, now), ann(0), "it is given to others, and not left yet");
    state.ended(JobId(9));
    assert_eq!(started(&mut state, now), [1]);
    assert_eq!(uses(&state, now), ann(0));
}

#[test]
fn who_holds_nothing_is_put_back_for_a_half_life() {
    let mut story = node(7 * DAY);
    let (default, alice) = (virtual_cluster("default"), user("alice"));
    let for_ever = (Timestamp(-1_000 * DAY), Timestamp(0));
    story.snapshot.past_use.record((&default, &alice), i64::from(GPUS) * 1_000, for_ever);
    let mut state = State::of(&story.snapshot);
    // Of those nothing is known: their turn comes after twelve hours.
    (5..=8).for_each(|id| state.submit(&of("alice", id, 1, 0)));
    let soon = 7 * DAY + 11 * HOUR;
    (21..=24).for_each(|id| state.submit(&of("carol", id, 1, soon)));
    let places = |state: &mut State, now: i64| {
        let waiting = state.waiting(Timestamp(now));
        [5, 6, 21].map(|id| waiting[&JobId(id)].position)
    };
    assert_eq!(places(&mut state, soon), [5, 6, 1]);
    let later = soon + 2 * HOUR;
    assert_eq!(places(&mut state, later), [1, 6, 2], "one of hers goes first, no more");
    let explanation = state.explain(JobId(6), Timestamp(later)).unwrap();
    assert_eq!(explanation.waiting.position, 6);
    assert_eq!(explanation.ahead, [5, 21, 22, 23].map(JobId));
    let mut begun = started(&mut state, later);
    begun.sort_unstable();
    assert_eq!(begun, [5, 21, 22, 23]);
}

/// However much somebody has had, and however many come who have had nothing.
#[test]
fn what_was_had_keeps_nobody_waiting_for_long() {
    let mut story = node(HOUR);
    let (default, alice) = (virtual_cluster("default"), user("alice"));
    let for_ever = (Timestamp(-1_000 * HOUR), Timestamp(0));
    story.snapshot.past_use.record((&default, &alice), i64::from(GPUS) * 1_000, for_ever);
    let mut state = State::of(&story.snapshot);
    let (mut ends, mut now, mut number) = (BTreeSet::new(), 0, 1);
    state.submit(&of("alice", 0, 1, 0));
    loop {
        // Five come at once and then one every twelve minutes: five an hour, of which four can run.
        for _ in 0..if now == 0 { 5 } else { 1 } {
            state.submit(&of(&format!("newcomer{number}"), number, 1, now));
            number += 1;
        }
        while let Some((end, id)) = ends.pop_first() {
            if end > now {
                ends.insert((end, id));
                break;
            }
            state.ended(JobId(id));
        }
        let begun = started(&mut state, now);
        if begun.contains(&0) {
            break;
        }
        ends.extend(begun.into_iter().map(|id| (now + HOUR, id)));
        assert!(now < 20 * HOUR, "twenty half-lives are enough");
        now += HOUR / 5;
    }
    assert!(now > 5 * HOUR, "it was let in after {now} ms");
}

/// A user's jobs, again and again: GPUs and minutes of each, and how long after the one before it comes,
/// in parts of all; and what load they are, in percent of all GPUs.
#[derive(Debug, Clone)]
struct Stream {
    jobs: Vec<(u32, i64, i64)>,
    load: i64,
}

impl Stream {
    /// Milliseconds until the next one comes after one.
    fn pause(&self, number: usize, gpus: i64) -> i64 {
        let work: i64 = self.jobs.iter().map(|(gpus, runs, _)| i64::from(*gpus) * runs).sum();
        let parts: i64 = self.jobs.iter().map(|(_, _, part)| part).sum();
        let (_, _, part) = self.jobs[number % self.jobs.len()];
        work * MINUTE * 100 / (gpus * self.load) * part / parts
    }
}

fn any_stream() -> impl Strategy<Value = Stream> {
    let gpus = prop_oneof![Just(1_u32), Just(2_u32), Just(4_u32)];
    let jobs = prop::collection::vec((gpus, 10..=110_i64, 1..=199_i64), 10..30);
    (jobs, 45..=90_i64).prop_map(|(jobs, load)| Stream { jobs, load })
}

/// Three users, what they have and what they had in all.
struct World {
    state: State,
    now: i64,
    requests: BTreeMap<i64, (Request, i64)>,
    ends: BTreeMap<i64, i64>,
    held: [i64; 3],
    had: [i64; 3],
}

impl World {
    fn new(nodes: u32, half_life_ms: i64) -> Self {
        let mut story = (0..nodes)
            .fold(cluster(), |story, number| story.node(&format!("n{number}")).gpus(GPUS, "A100"));
        story.snapshot.past_use = PastUse::new(half_life_ms);
        let (requests, ends) = (BTreeMap::new(), BTreeMap::new());
        let state = State::of(&story.snapshot);
        Self { state, now: 0, requests, ends, held: [0; 3], had: [0; 3] }
    }

    fn goes_on_to(&mut self, at: i64) {
        for (had, held) in self.had.iter_mut().zip(self.held) {
            *had += held * (at - self.now);
        }
        self.now = at;
    }

    fn comes(&mut self, user: usize, (gpus, minutes): (u32, i64)) {
        let id = self.requests.len() as i64 * 3 + user as i64;
        let request = of(["alice", "bob", "carol"][user], id, gpus, self.now);
        let request = Request { limit_ms: Some(minutes * MINUTE), ..request };
        self.state.submit(&request);
        self.requests.insert(id, (request, minutes * MINUTE));
    }

    fn ends(&mut self, id: i64) {
        self.state.ended(JobId(id));
        if self.ends.remove(&id).is_some() {
            self.holds(id, -1);
        }
    }

    fn holds(&mut self, id: i64, sign: i64) {
        let gpus = self.requests[&id].0.roles[0].demand.gpus;
        self.held[(id % 3) as usize] += sign * i64::from(gpus);
    }

    fn pass(&mut self) {
        loop {
            let pass = self.state.pass(Timestamp(self.now));
            for placement in pass.placements {
                let id = placement.job.0;
                self.ends.insert(id, self.now + self.requests[&id].1);
                self.holds(id, 1);
            }
            if pass.preemptions.is_empty() {
                return;
            }
            // Who was backfilled gives way, and waits again.
            for preemption in pass.preemptions {
                self.ends(preemption.job.0);
                self.state.submit(&self.requests[&preemption.job.0].0);
            }
        }
    }

    /// All that comes until a moment.
    fn run(&mut self, streams: &[Stream; 3], gpus: i64, until: i64) {
        let mut next = [(0, 0); 3];
        loop {
            let end = self.ends.iter().map(|(id, end)| (*end, *id)).min();
            let (at, user) = (0..3).map(|user| (next[user].0, user)).min().unwrap();
            match end.filter(|(end, _)| *end <= at) {
                Some((end, _)) if end >= until => break,
                None if at >= until => break,
                Some((end, id)) => {
                    self.goes_on_to(end);
                    self.ends(id);
                }
                None => {
                    self.goes_on_to(at);
                    let (stream, number) = (&streams[user], next[user].1);
                    let (asks, minutes, _) = stream.jobs[number % stream.jobs.len()];
                    self.comes(user, (asks, minutes));
                    next[user] = (at + stream.pause(number, gpus).max(1), number + 1);
                }
            }
            self.pass();
        }
        self.goes_on_to(until);
    }
}

proptest! {
    #![proptest_config(cases(6))]

    /// Whatever the sizes of their jobs and however much more one asks for than another: users who ask
    /// for more than a third have a third each of what all have.
    #[test]
    fn users_of_equal_right_have_equally_much(
        streams in [any_stream(), any_stream(), any_stream()],
    ) {
        let nodes = 2;
        let mut world = World::new(nodes, DAY);
        world.run(&streams, i64::from(nodes * GPUS), 20 * DAY);
        let all: i64 = world.had.iter().sum();
        prop_assert!(all > 20 * DAY * i64::from(nodes * GPUS) * 7 / 10, "GPUs lie idle: {all}");
        for had in world.had {
            prop_assert!((had * 3 - all).abs() * 20 <= all, "{had} is not about a third of {all}");
        }
    }
}
