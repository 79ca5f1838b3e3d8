//! Who was promised a start has it then, whoever was first before him.

use protocol::time::Timestamp;

use super::*;
use crate::model::Request;

const HOUR: i64 = 3_600_000;
const ALL: [u32; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

/// *vision* is guaranteed one node, and has it where job 9 runs. Job 1 waits alone for the other one: nothing can
/// be kept there before the share has been left.
fn elsewhere() -> State {
    let story = cluster().node("a").gpus(8, "A100").node("b").gpus(8, "A100");
    let story = story.share("vision", &[("A100", 8)], None).borrows_nothing();
    let story = story.running(9, "vision", &[("b", &ALL, 4)]).ends_in(HOUR);
    let mut state =
        State::of(&story.waits(job(1).within("vision").gpus(8, &[]).only("a")).snapshot);
    state.pass(NOW);
    assert_eq!(state.promised(), [JobId(1)]);
    state
}

/// Who starts once a job has ended.
fn starts_after(state: &mut State, ended: i64) -> Vec<i64> {
    state.ended(JobId(ended));
    state.pass(NOW).placements.iter().map(|placement| placement.job.0).collect()
}

/// For whom something is kept.
fn kept(state: &State) -> Vec<i64> {
    state.reservations().iter().map(|kept| kept.job.0).collect()
}

#[test]
fn who_waited_alone_takes_nothing_that_is_kept_for_another_where_nothing_could_be_for_him() {
    let mut state = elsewhere();
    state.submit(&job(2).within("vision").gpus(8, &[]).request);
    state.pass(NOW);
    assert_eq!(kept(&state), [2]);
    assert_eq!(starts_after(&mut state, 9), [2]);
}

#[test]
fn he_goes_before_all_others_still() {
    let mut state = elsewhere();
    for (id, runs) in [(2, HOUR), (3, 1_000)] {
        state.submit(&job(id).within("vision").gpus(8, &[]).runs(runs).request);
        state.pass(NOW);
    }
    state.cancel(JobId(2));
    assert_eq!(starts_after(&mut state, 9), [1]);
}

#[test]
fn who_came_to_his_limit_takes_back_nothing_that_was_kept_for_another_meanwhile() {
    let story = cluster().node("a").gpus(8, "A100").share("default", &[], None);
    let story = story.limits(None, Some(2)).running(9, "default", &[("a", &ALL[..6], 6)]);
    let others = |id| Request { user: "bob".parse().unwrap(), ..job(id).gpus(8, &[]).request };
    let story = story.ends_in(3 * HOUR).waits(job(1).gpus(8, &[]));
    let mut state = State::of(&story.snapshot);
    state.pass(NOW);
    [2, 4].map(others).iter().for_each(|request| state.submit(request));
    state.pass(NOW);
    assert_eq!(kept(&state), [1]);
    state.submit(&job(3).gpus(2, &[]).limited(HOUR).request);
    assert_eq!(state.pass(NOW).placements.len(), 1);
    assert_eq!(kept(&state), [2]);
    assert_eq!(starts_after(&mut state, 9), [0_i64; 0]);
    assert_eq!(starts_after(&mut state, 3), [2]);
}

/// Until when a job that has a reservation is told to start at the latest.
fn latest(state: &mut State, id: i64) -> Option<Timestamp> {
    let said = state.explain(JobId(id), NOW).unwrap().expected.unwrap();
    let promised = state.promised_start(JobId(id), NOW);
    assert!(promised.is_none_or(|promised| promised == said), "{promised:?}");
    said.latest
}

#[test]
fn a_higher_priority_goes_before_a_promise_and_no_latest_start_is_told_meanwhile() {
    let mut state = elsewhere();
    state.cancel(JobId(1));
    state.submit(&job(2).within("vision").gpus(8, &[]).request);
    state.submit(&job(3).within("vision").gpus(4, &[]).request);
    state.pass(NOW);
    assert_eq!((kept(&state), latest(&mut state, 2)), (vec![2], Some(NOW.plus_millis(HOUR))));
    // Nothing can be kept for it where it has to be: so job 2 is promised a start still.
    state.submit(&job(4).within("vision").gpus(8, &[]).only("a").priority(11).request);
    state.pass(NOW);
    assert_eq!((kept(&state), latest(&mut state, 2)), (vec![2], None));
    assert_eq!(state.explain(JobId(2), NOW).unwrap().ahead, [JobId(4)]);
    state.ended(JobId(9));
    let started: Vec<_> = state.pass(NOW).placements.iter().map(|place| place.job.0).collect();
    assert_eq!(started, [4], "priority goes before promise");
    assert_eq!((kept(&state), latest(&mut state, 2).is_none()), (vec![2], true), "it has no limit");
}

#[test]
fn who_waits_at_his_limit_takes_what_was_promised_to_a_lower_priority_once_he_may() {
    let story = cluster().node("a").gpus(8, "A100").share("default", &[], None);
    let story = story.limits(None, Some(1)).running(9, "default", &[("a", &ALL, 6)]);
    let others = Request { user: "bob".parse().unwrap(), ..job(2).gpus(8, &[]).request };
    let story = story.ends_in(HOUR).waits(job(1).gpus(8, &[]).priority(11));
    let mut state = State::of(&story.snapshot);
    state.submit(&others);
    state.pass(NOW);
    assert_eq!((kept(&state), latest(&mut state, 2)), (vec![], None), "nobody comes behind it");
    state.submit(&Request { job: JobId(3), ..others });
    state.pass(NOW);
    assert_eq!((kept(&state), latest(&mut state, 2)), (vec![2], None));
    assert_eq!(starts_after(&mut state, 9), [1]);
}
