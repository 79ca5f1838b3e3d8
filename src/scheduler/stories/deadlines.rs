//! Jobs that are to have ended by a moment: what goes before what, and when.

use std::collections::BTreeMap;

use proptest::prelude::*;
use protocol::cluster::Preempts;
use protocol::ids::JobId;
use protocol::spec::Priority;
use protocol::time::Timestamp;

use crate::State;
use crate::model::{Answer, PastUse, Request};
use crate::properties::events::cases;
use crate::story::{Story, cluster, job};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
/// A job that may run for an hour and is to have ended after five has to start soon from then on.
const NEAR: i64 = 3 * HOUR + 45 * MINUTE;
/// And starts in time until then.
const LATEST: i64 = 4 * HOUR;

/// One GPU, which is that of *vision*.
fn one_gpu() -> Story {
    cluster().node("a").gpus(1, "A100").share("vision", &[("A100", 1)], None)
}

/// A job of *vision* with one GPU that may run for an hour, submitted at its number's second.
fn of(user: &str, id: i64) -> Request {
    let request = job(id).within("vision").gpus(1, &[]).limited(HOUR).request;
    Request { user: user.parse().unwrap(), ..request }
}

/// The same, to have ended after so long.
fn until(deadline: i64, request: Request) -> Request {
    Request { deadline: Some(Timestamp(deadline)), ..request }
}

/// A pass, for which nobody has to leave: who starts.
fn started(state: &mut State, now: i64) -> Vec<i64> {
    let pass = state.pass(Timestamp(now));
    assert_eq!(pass.preemptions, [], "nobody gives way");
    pass.placements.into_iter().map(|placement| placement.job.0).collect()
}

/// The queue after a pass by which nobody starts.
fn order(state: &mut State, now: i64) -> Vec<i64> {
    assert_eq!(started(state, now), [0; 0]);
    let mut places: Vec<_> = state.waiting(Timestamp(now)).into_iter().collect();
    places.sort_by_key(|(_, waiting)| waiting.position);
    places.into_iter().map(|(job, _)| job.0).collect()
}

/// Job 1 runs and job 2 was promised the next start, both of this user; then these come.
fn busy(story: &Story, user: &str, others: &[Request]) -> State {
    let mut state = State::of(&story.snapshot);
    state.submit(&of(user, 1));
    assert_eq!(started(&mut state, 0), [1]);
    state.submit(&of(user, 2));
    assert_eq!(order(&mut state, 0), [2]);
    others.iter().for_each(|request| state.submit(request));
    state
}

/// Bob's and alice's jobs in turn; her second, the last of all, is to have ended after five hours.
fn in_turn() -> [Request; 4] {
    [of("bob", 3), of("alice", 4), of("bob", 5), until(5 * HOUR, of("alice", 6))]
}

#[test]
fn where_deadlines_do_not_count_nobody_is_overtaken_for_one() {
    let mut state = busy(&one_gpu(), "zoe", &in_turn());
    for now in [NEAR - 1, NEAR, LATEST, LATEST + 1] {
        assert_eq!(order(&mut state, now), [2, 3, 4, 5, 6]);
    }
}

#[test]
fn who_has_to_start_soon_goes_first_until_it_is_too_late() {
    let all = [of("alice", 3), of("alice", 4), until(5 * HOUR, of("alice", 5))];
    let mut state = busy(&one_gpu().heeds_deadlines(), "alice", &all);
    assert_eq!(order(&mut state, NEAR - 1), [2, 3, 4, 5]);
    assert_eq!(state.wakes_at(), Some(Timestamp(NEAR)), "time alone makes it near");
    assert_eq!(order(&mut state, NEAR), [2, 5, 3, 4], "but for who was promised a start");
    assert_eq!(order(&mut state, LATEST), [2, 5, 3, 4]);
    assert_eq!(state.wakes_at(), Some(Timestamp(LATEST + 1)));
    assert_eq!(order(&mut state, LATEST + 1), [2, 3, 4, 5], "it cannot be met any more");
    assert_eq!(state.wakes_at(), None);
}

#[test]
fn whose_last_moment_is_earlier_goes_first() {
    let all = [of("alice", 3), until(5 * HOUR, of("alice", 4))];
    let mut state = busy(&one_gpu().heeds_deadlines(), "alice", &all);
    assert_eq!(order(&mut state, NEAR), [2, 4, 3]);
    state.submit(&until(5 * HOUR - MINUTE, of("alice", 5)));
    assert_eq!(order(&mut state, NEAR), [2, 5, 4, 3]);
    let shorter = until(5 * HOUR, of("alice", 4));
    assert!(state.expects(&Request { expected_ms: Some(HOUR - 30 * MINUTE), ..shorter }));
    assert_eq!(order(&mut state, NEAR), [2, 5, 4, 3], "it is short by now, and has time still");
    state.ended(JobId(1));
    assert_eq!(started(&mut state, NEAR), [2]);
    state.ended(JobId(2));
    assert_eq!(started(&mut state, NEAR), [5]);
}

#[test]
fn where_deadlines_come_first_others_are_overtaken_for_it() {
    let mut plain = one_gpu();
    plain.snapshot.virtual_clusters[0].preempts = Preempts::Nobody;
    let heeds = plain.clone().heeds_deadlines();
    let mut state = busy(&heeds, "alice", &in_turn());
    let fair = [2, 3, 5, 4, 6];
    assert_eq!(order(&mut state, NEAR - 1), fair, "alice has the only GPU");
    assert_eq!(order(&mut state, NEAR), [2, 6, 3, 5, 4]);
    state.submit(&Request { priority: Priority::PRODUCTION, ..of("bob", 7) });
    assert_eq!(order(&mut state, NEAR), [7, 2, 6, 3, 5, 4], "never before a higher class");
    let Answer::Waits(asked) =
        state.dry_run(&until(5 * HOUR - MINUTE, of("alice", 8)), Timestamp(NEAR))
    else {
        panic!("there is no room")
    };
    assert_eq!(asked.waiting.position, 3, "a dry run knows it");
    state.set_virtual_clusters(plain.snapshot.virtual_clusters);
    let without = order(&mut state, NEAR);
    assert!(without.ends_with(&[3, 5, 4, 6]), "it does not count any more: {without:?}");
    state.cancel(JobId(7));
    state.set_virtual_clusters(heeds.snapshot.virtual_clusters);
    assert_eq!(order(&mut state, NEAR), [2, 6, 3, 5, 4]);
    assert_eq!(order(&mut state, LATEST + 1), fair);
}

#[test]
fn a_deadline_that_cannot_be_met_buys_nothing() {
    for story in [one_gpu(), one_gpu().heeds_deadlines()] {
        let [.., last] = in_turn();
        let others = &in_turn()[..3];
        let near = until(HOUR - 1, last.clone());
        let unknown = Request { limit_ms: None, ..last.clone() };
        let too_long = Request { expected_ms: Some(6 * HOUR), limit_ms: None, ..last };
        for (hopeless, why) in [
            (near, "it lies too near"),
            (unknown, "of which nothing is known, a day is expected"),
            (too_long, "it runs longer than that"),
        ] {
            let mut state = busy(&story, "zoe", others);
            state.submit(&hopeless);
            for now in [0, NEAR, LATEST] {
                assert_eq!(order(&mut state, now), [2, 3, 4, 5, 6], "{why}");
            }
        }
    }
}

/// When each of bob's jobs starts, if he and alice send jobs to two GPUs at these minutes, and hers are to
/// have ended so many minutes later.
fn bobs_starts(jobs: &[(bool, i64, Option<i64>)]) -> BTreeMap<i64, i64> {
    let mut story = cluster().node("a").gpus(2, "A100").share("vision", &[("A100", 2)], None);
    story.snapshot.past_use = PastUse::new(6 * HOUR);
    let mut state = State::of(&story.snapshot);
    let mut coming: Vec<Request> = Vec::new();
    for (id, (hers, at, deadline)) in (1..).zip(jobs) {
        // Of no two the places are equal: these would be told apart by the jobs' numbers.
        let submitted = at * MINUTE + id;
        let request = Request {
            submitted_at: Timestamp(submitted),
            ..of(if *hers { "alice" } else { "bob" }, id)
        };
        let deadline = deadline.filter(|_| *hers).map(|after| submitted + after * MINUTE);
        coming.push(Request { deadline: deadline.map(Timestamp), ..request });
    }
    let (mut running, mut starts) = (BTreeMap::new(), BTreeMap::new());
    for now in (0..100).map(|step| step * 10 * MINUTE) {
        coming.retain(|request| {
            let waits = request.submitted_at.0 > now;
            if !waits {
                state.submit(request);
            }
            waits
        });
        running.retain(|id, end| {
            if *end <= now {
                state.ended(JobId(*id));
            }
            *end > now
        });
        for id in started(&mut state, now) {
            running.insert(id, now + 40 * MINUTE);
            starts.insert(id, now);
        }
    }
    assert_eq!(starts.len(), jobs.len(), "everybody starts");
    starts.retain(|id, _| !jobs[usize::try_from(*id - 1).unwrap()].0);
    starts
}

proptest! {
    #![proptest_config(cases(96))]

    /// Where they do not count: whatever deadlines somebody gives his jobs, those of others start when they would
    /// without.
    #[test]
    fn deadlines_of_one_user_are_nothing_to_others(
        jobs in prop::collection::vec(
            (any::<bool>(), 0..240_i64, prop::option::of(30..400_i64)),
            1..36,
        ),
    ) {
        let without: Vec<_> = jobs.iter().map(|(hers, at, _)| (*hers, *at, None)).collect();
        prop_assert_eq!(bobs_starts(&jobs), bobs_starts(&without));
    }
}
