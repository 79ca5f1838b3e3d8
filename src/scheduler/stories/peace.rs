//! Who comes back to his share drives nobody away whom he need not, told by example.

use protocol::ids::JobId;
use protocol::wait::WaitReason;

use crate::State;
use crate::model::QosClass;
use crate::story::{Job, NOW, Story, cluster, job, places};

const ALL: &[u32] = &[0, 1, 2, 3, 4, 5, 6, 7];

/// Four nodes of eight GPUs. *vision* has the first, on which its job 9 runs; of *speech* are so many GPUs.
fn four(speech: u64) -> Story {
    let node = |story: Story, name: &str| story.node(name).gpus(8, "A100");
    let story = ["a", "b", "c", "d"].into_iter().fold(cluster(), node);
    let story = story.share("vision", &[("A100", 8)], None);
    let story = story.share("speech", &[("A100", speech)], None);
    story.running(9, "vision", &[("a", ALL, 8)])
}

/// A job of *speech* runs on the second node, and job 8 of *vision* borrows the rest of that.
fn with_a_guest(speech: u64) -> Story {
    let story = four(speech).running(7, "speech", &[("b", &[0], 1)]);
    story.running(8, "vision", &[("b", &[1, 2, 3, 4, 5, 6, 7], 7)]).borrowed()
}

fn of_speech(id: i64, gpus: u32) -> Job {
    job(id).within("speech").gpus(gpus, &[])
}

/// Where job 1 starts, and who has to leave for it.
fn fate(story: &Story) -> (String, Vec<i64>) {
    let plan = story.plan();
    let leave = plan.preemptions.iter().map(|preemption| preemption.job.0).collect();
    let start = plan.placements.iter().find(|placement| placement.job == JobId(1));
    (start.map(places).unwrap_or_default(), leave)
}

#[test]
fn a_share_comes_to_lie_where_least_of_it_is_lent() {
    let story = four(24).running(8, "vision", &[("b", &[0, 1, 2, 3], 4)]).borrowed();
    let story = story.running(7, "vision", &[("c", &[0, 1, 2, 3, 4, 5], 4)]).borrowed();
    let mut state = State::of(&story.waits(of_speech(1, 1)).snapshot);
    let placements = state.pass(NOW).placements;
    assert_eq!((places(&placements[0]).as_str(), placements.len()), ("d:0", 1));
    state.submit(&of_speech(2, 7).request);
    let pass = state.pass(NOW);
    assert_eq!(places(&pass.placements[0]), "d:1,2,3,4,5,6,7", "so there is room for its others");
    state.submit(&of_speech(3, 4).request);
    let placements = state.pass(NOW).placements;
    assert_eq!(places(&placements[0]), "b:4,5,6,7", "rather than where two had to leave room");
    assert_eq!(state.borrowing().collect::<Vec<_>>(), [JobId(7), JobId(8)]);
}

#[test]
fn who_loses_more_than_what_comes_will_do_stays() {
    let short = of_speech(1, 1).runs(60_000);
    assert_eq!(fate(&with_a_guest(24).waits(short)), ("c:0".to_owned(), vec![]));
    // Job 8 has run for 992 seconds on seven GPUs.
    let longer = |seconds: i64| with_a_guest(24).waits(of_speech(1, 1).runs(seconds * 1_000));
    assert_eq!(fate(&longer(7 * 992 - 1)), ("c:0".to_owned(), vec![]));
    assert_eq!(fate(&longer(7 * 992)), (String::new(), vec![8]));
    let unknown = with_a_guest(24).waits(of_speech(1, 1));
    assert_eq!(
        fate(&unknown),
        (String::new(), vec![8]),
        "of which nothing is known may run for a day"
    );
}

#[test]
fn the_last_whole_node_of_a_share_is_kept_for_who_needs_it() {
    let story = with_a_guest(16).waits(of_speech(1, 1).runs(60_000));
    assert_eq!(fate(&story), (String::new(), vec![8]));
    let mut state = State::of(&with_a_guest(24).waits(of_speech(1, 1).runs(60_000)).snapshot);
    assert_eq!(state.pass(NOW).placements.len(), 1);
    state.submit(&of_speech(2, 8).request);
    let placements = state.pass(NOW).placements;
    assert_eq!(places(&placements[0]), "d:0,1,2,3,4,5,6,7");
    assert_eq!(placements[0].qos_class, QosClass::Guaranteed);
}

#[test]
fn who_gave_way_and_would_again_before_he_ends_stands_in_his_own_line() {
    let full = cluster().node("a").gpus(8, "A100").node("b").gpus(8, "A100");
    let full = full.share("vision", &[("A100", 8)], None).share("speech", &[("A100", 8)], None);
    let mut state = State::of(&full.running(9, "vision", &[("a", ALL, 8)]).snapshot);
    let vision =
        |id: i64, hours: i64| job(id).within("vision").gpus(8, &[]).runs(hours * 3_600_000);
    let mut now = NOW;
    for round in 0..3 {
        state.submit(&vision(10 + round, 1).request);
        assert_eq!(state.pass(now).placements.len(), 1);
        now = now.plus_millis(60_000);
        state.submit(&of_speech(20 + round, 8).request);
        assert_eq!(state.pass(now).preemptions.len(), 1);
        state.ended(JobId(10 + round));
        state.pass(now);
        state.ended(JobId(20 + round));
    }
    let long = vision(30, 20).gave_way(1, now);
    state.submit(&long.request);
    assert_eq!(state.pass(now).placements, []);
    let until = now.plus_millis(10 * 3_600_000);
    assert_eq!(state.waiting(now)[&JobId(30)].reason, WaitReason::GaveWay { times: 1, until });
    assert_eq!(state.starts_now(&long.request, now), None);
    let borrows = |state: &mut State, asked: Job| {
        state.submit(&asked.request);
        let placements = state.pass(now).placements;
        assert_eq!(placements[0].qos_class, QosClass::Borrowed);
        let started = placements[0].job;
        state.ended(started);
        assert_eq!(started, asked.request.job);
    };
    borrows(&mut state, vision(31, 1).gave_way(1, now));
    borrows(&mut state, vision(32, 20));
    state.ended(JobId(9));
    let placements = state.pass(now).placements;
    assert_eq!(placements[0].qos_class, QosClass::Guaranteed, "there it starts at once");
}
