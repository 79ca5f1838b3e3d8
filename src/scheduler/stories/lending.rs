//! Guarantees, lending and taking back, told by example.

use std::collections::BTreeMap;

use proptest::prelude::*;
use protocol::ids::JobId;
use protocol::time::Timestamp;
use protocol::wait::WaitReason;

use crate::answer::effect::{Change, Effect};
use crate::model::{Answer, Expected, GaveWay, Ground, QosClass, Request, Shape};
use crate::properties::events::cases;
use crate::story::{NOW, Story, cluster, gpu_type, job, node_name, places};
use crate::{State, dry_run};

/// Two nodes of 8; *vision* and *speech* have one of them each.
fn two_halves() -> Story {
    let story = cluster().node("a").gpus(8, "A100").node("b").gpus(8, "A100");
    story.share("vision", &[("A100", 8)], None).share("speech", &[("A100", 8)], None)
}

fn qos_class(story: &Story, id: i64) -> QosClass {
    let plan = story.plan();
    plan.placements.iter().find(|placement| placement.job == JobId(id)).unwrap().qos_class
}

#[test]
fn idle_shares_are_lent() {
    let story = two_halves().running(9, "vision", &[("a", &[0, 1, 2, 3, 4, 5, 6, 7], 8)]);
    let story = story.waits(job(1).within("vision").gpus(2, &[]));
    assert_eq!(qos_class(&story, 1), QosClass::Borrowed);
    let own = story.waits(job(2).within("speech").gpus(2, &[]));
    assert_eq!(qos_class(&own, 2), QosClass::Guaranteed);
}

#[test]
fn who_borrows_gives_way_the_least_lost_work_first() {
    let story = two_halves()
        .running(9, "vision", &[("a", &[0, 1, 2, 3, 4, 5, 6, 7], 8)])
        .running(7, "vision", &[("b", &[0, 1, 2, 3], 4)])
        .borrowed()
        .running(8, "vision", &[("b", &[4, 5, 6, 7], 4)])
        .borrowed()
        .waits(job(1).within("speech").gpus(3, &[]));
    let plan = story.plan();
    let victims: Vec<_> = plan.preemptions.iter().map(|p| (p.job.0, p.taken_by.0)).collect();
    assert_eq!(victims, [(8, 1)], "job 8 has run for a second less than job 7");
    assert_eq!(plan.preemptions[0].lost_ms, 4 * (NOW.0 - 8_000));
    assert_eq!(plan.placements, [], "its place is not free yet");
    assert_eq!(plan.waiting[&JobId(1)].reason, WaitReason::Preempting { jobs: 1 });
}

#[test]
fn a_gang_gives_way_as_a_whole_and_a_guaranteed_job_never_does() {
    let story = two_halves()
        .running(7, "vision", &[("a", &[0, 1, 2, 3], 4), ("b", &[0, 1, 2, 3], 4)])
        .borrowed()
        .running(9, "speech", &[("b", &[4, 5, 6, 7], 4)])
        .waits(job(1).within("speech").gpus(4, &[]));
    let plan = story.plan();
    assert_eq!(plan.preemptions.iter().map(|p| p.job.0).collect::<Vec<_>>(), [7]);
    let full = two_halves().running(9, "speech", &[("b", &[0, 1, 2, 3, 4, 5, 6, 7], 8)]);
    let full = full.running(8, "vision", &[("a", &[0, 1, 2, 3, 4, 5, 6, 7], 8)]);
    let plan = full.waits(job(1).within("speech").gpus(1, &[])).plan();
    assert!(plan.preemptions.is_empty() && plan.placements.is_empty());
}

#[test]
fn whoever_gives_way_already_is_not_told_twice() {
    let story = two_halves()
        .running(8, "vision", &[("b", &[0, 1, 2, 3, 4, 5, 6, 7], 8)])
        .borrowed()
        .stopping()
        .running(9, "vision", &[("a", &[0, 1, 2, 3, 4, 5, 6, 7], 8)])
        .waits(job(1).within("speech").gpus(8, &[]));
    let plan = story.plan();
    assert_eq!(plan.preemptions, []);
    assert_eq!(plan.waiting[&JobId(1)].reason, WaitReason::Preempting { jobs: 1 });
}

#[test]
fn a_preempted_place_is_taken_once_it_is_left() {
    let story = two_halves()
        .running(9, "vision", &[("a", &[0, 1, 2, 3, 4, 5, 6, 7], 8)])
        .running(8, "vision", &[("b", &[0, 1, 2, 3, 4, 5, 6, 7], 8)])
        .borrowed();
    let mut state = State::of(&story.snapshot);
    state.submit(&job(1).within("speech").gpus(8, &[]).request);
    state.submit(&job(2).within("vision").gpus(1, &[]).request);
    assert_eq!(state.pass(NOW).preemptions.len(), 1);
    assert_eq!(state.pass(NOW), crate::Pass::default(), "nothing changed");
    state.ended(JobId(8));
    let pass = state.pass(NOW);
    assert_eq!(pass.placements.len(), 1, "what was left is job 1's alone");
    assert_eq!(places(&pass.placements[0]), "b:0,1,2,3,4,5,6,7");
}

#[test]
fn others_scattered_work_keeps_nobody_from_whole_nodes() {
    let mut story = cluster();
    for name in ["a", "b", "c", "d"] {
        story = story.node(name).gpus(8, "A100");
    }
    let story = story.share("vision", &[("A100", 16)], None).share("speech", &[("A100", 16)], None);
    let mut state = State::of(&story.snapshot);
    for id in 1..=16 {
        state.submit(&job(id).within("vision").gpus(1, &[]).request);
    }
    assert_eq!(state.pass(NOW).placements.len(), 16);
    for id in (1..=16).filter(|id| id % 4 != 0) {
        state.ended(JobId(id));
    }
    state.submit(&job(20).within("speech").gpus(8, &[]).tasks(2).request);
    let pass = state.pass(NOW);
    assert_eq!((pass.placements.len(), pass.preemptions.len()), (1, 0));
}

#[test]
fn a_share_may_be_given_in_groups() {
    let mut story = cluster().node("a").gpus(8, "A100").share("vision", &[], None);
    let shape = Shape { gpu_type: gpu_type("A100"), gpus: 4, count: 1 };
    story.snapshot.virtual_clusters[0].shapes.push(shape);
    let story = story.borrows_nothing().share("speech", &[("A100", 4)], None).borrows_nothing();
    let story = story.waits(job(1).within("speech").gpus(1, &[]));
    let story = story.waits(job(2).within("vision").gpus(4, &[]));
    assert_eq!((story.fate(1).as_str(), story.fate(2).as_str()), ("a:0", "a:4,5,6,7"));
}

#[test]
fn a_child_uses_its_own_share_then_its_parents() {
    let story = two_halves().share("video", &[("A100", 4)], None).part_of("vision");
    let story = story.waits(job(1).within("video").gpus(4, &[]));
    let story = story.waits(job(2).within("video").gpus(4, &[]));
    let story = story.waits(job(3).within("video").gpus(4, &[]));
    let standings = [1, 2, 3].map(|id| qos_class(&story, id));
    assert_eq!(standings, [QosClass::Guaranteed, QosClass::Guaranteed, QosClass::Borrowed]);
}

/// A node of 32 CPUs and 128 GiB without GPUs; *video* is part of *vision*.
fn nested(whole: (Option<u64>, Option<u64>), part: (Option<u64>, Option<u64>)) -> Story {
    let story = cluster().node("a").share("vision", &[], whole.0).memory_share(whole.1);
    story.share("video", &[], part.0).memory_share(part.1).part_of("vision")
}

#[test]
fn what_a_part_is_guaranteed_is_set_aside_from_the_whole() {
    let story = nested((Some(20), None), (Some(8), None));
    let story = story.waits(job(1).within("vision").cpus(12));
    assert_eq!(qos_class(&story, 1), QosClass::Guaranteed);
    let more = story.clone().waits(job(2).within("vision").cpus(1));
    assert_eq!(qos_class(&more, 2), QosClass::Borrowed, "the rest is the part's");
    let own = more.waits(job(3).within("video").cpus(8));
    assert_eq!(qos_class(&own, 3), QosClass::Guaranteed);
    let story = nested((None, Some(20_000)), (None, Some(8_000)));
    let story = story.waits(job(1).within("vision").memory(12_000));
    let story = story.waits(job(2).within("vision").memory(1));
    assert_eq!([1, 2].map(|id| qos_class(&story, id)), [QosClass::Guaranteed, QosClass::Borrowed]);
}

#[test]
fn a_part_takes_back_the_cpus_that_the_whole_borrowed() {
    let story = nested((Some(32), None), (Some(8), None));
    let story = story.running(8, "vision", &[("a", &[], 24)]);
    let story = story.running(9, "vision", &[("a", &[], 8)]).borrowed();
    let story = story.waits(job(1).within("video").cpus(8));
    let plan = story.plan();
    assert_eq!(plan.preemptions.iter().map(|p| p.job.0).collect::<Vec<_>>(), [9]);
}

#[test]
fn a_part_whose_cpus_are_used_up_goes_on_on_the_wholes() {
    let story = nested((Some(20), None), (Some(8), None));
    let story = story.waits(job(1).within("video").cpus(8)).waits(job(2).within("video").cpus(12));
    let story = story.waits(job(3).within("video").cpus(1));
    let standings = [1, 2, 3].map(|id| qos_class(&story, id));
    assert_eq!(standings, [QosClass::Guaranteed, QosClass::Guaranteed, QosClass::Borrowed]);
    let used = nested((Some(20), None), (Some(8), None));
    let used = used.waits(job(1).within("vision").cpus(12)).waits(job(2).within("video").cpus(9));
    assert_eq!(qos_class(&used, 2), QosClass::Borrowed, "the whole's own work has the rest");
}

#[test]
fn what_a_part_has_of_the_wholes_is_known_after_a_restart() {
    let story = nested((Some(20), None), (Some(8), None));
    let story = story.running(8, "video", &[("a", &[], 8)]).running(9, "video", &[("a", &[], 6)]);
    let story = story.waits(job(1).within("vision").cpus(6));
    let story = story.waits(job(2).within("vision").cpus(1));
    assert_eq!([1, 2].map(|id| qos_class(&story, id)), [QosClass::Guaranteed, QosClass::Borrowed]);
}

#[test]
fn a_part_that_names_only_cpus_runs_in_the_cells_of_the_whole() {
    let story = two_halves().share("video", &[], Some(4)).part_of("vision");
    let story = story.waits(job(1).within("video").gpus(8, &[]).cpus(4));
    let story = story.waits(job(2).within("video").gpus(1, &[]).cpus(1));
    assert_eq!([1, 2].map(|id| qos_class(&story, id)), [QosClass::Guaranteed, QosClass::Borrowed]);
    let whole = story.clone().waits(job(3).within("vision").gpus(1, &[]));
    assert_eq!(qos_class(&whole, 3), QosClass::Borrowed, "its part has all its GPUs");
    let story = story.waits(job(3).within("speech").gpus(8, &[]));
    assert_eq!(qos_class(&story, 3), QosClass::Guaranteed);
}

#[test]
fn opportunistic_work_always_borrows() {
    let story = two_halves().waits(job(1).within("vision").priority(-1).gpus(8, &[]));
    assert_eq!(qos_class(&story, 1), QosClass::Borrowed);
}

#[test]
fn borrowed_work_comes_to_count_on_a_share_that_has_room_again() {
    let story = two_halves()
        .running(9, "vision", &[("a", &[0, 1, 2, 3, 4, 5, 6, 7], 8)])
        .running(8, "vision", &[("b", &[0, 1], 2)])
        .borrowed();
    let mut state = State::of(&story.snapshot);
    state.ended(JobId(9));
    state.pass(NOW);
    state.submit(&job(1).within("speech").gpus(8, &[]).request);
    let pass = state.pass(NOW);
    assert_eq!(pass.preemptions, [], "job 8 is guaranteed by now");
    assert_eq!(places(&pass.placements[0]), "a:0,1,2,3,4,5,6,7");
}

#[test]
fn linked_gpus_are_given_together() {
    let story = cluster().node("a").gpus(4, "A100").links(&[&[0, 2], &[1, 3]]);
    assert_eq!(story.waits(job(1).gpus(2, &[])).fate(1), "a:0,2");
}

#[test]
fn wishes_are_met() {
    let story = cluster().node("a").node("b").label("disk", "ssd").node("c");
    assert_eq!(story.clone().waits(job(1).labelled("disk", "ssd")).fate(1), "b:");
    assert_eq!(story.clone().waits(job(1).only("c")).fate(1), "c:");
    assert!(story.waits(job(1).held()).fate(1).starts_with("Hold"));
}

#[test]
fn a_job_that_ends_in_time_fills_the_gap_before_a_reservation() {
    let story = cluster().node("a").cpus(8).running(9, "default", &[("a", &[], 6)]).ends_in(60_000);
    let story = story.waits(job(1).cpus(8).runs(1_000));
    assert_eq!(story.clone().waits(job(2).cpus(2).runs(50_000)).fate(2), "a:");
    let long = story.waits(job(2).cpus(2).runs(70_000));
    assert_eq!(long.plan().waiting[&JobId(2)].reason, WaitReason::Behind { ahead: 1 });
}

/// *vision*'s job 1 waits for its whole node, of which job 9 has a half for another minute and
/// *speech* borrows the rest.
fn half_lent() -> Story {
    let story = two_halves()
        .running(9, "vision", &[("a", &[0, 1, 2, 3], 4)])
        .ends_in(60_000)
        .running(8, "speech", &[("b", &[0, 1, 2, 3, 4, 5, 6, 7], 8)])
        .running(7, "speech", &[("a", &[4, 5, 6, 7], 4)])
        .borrowed();
    story.waits(job(1).within("vision").gpus(8, &[]).runs(1_000))
}

#[test]
fn what_is_lent_is_kept_for_the_head_like_what_is_idle() {
    let late = half_lent().waits(job(2).within("vision").gpus(4, &[]).runs(70_000)).plan();
    assert_eq!(late.preemptions, [], "job 1 would start later");
}

#[test]
fn who_comes_later_and_ends_in_time_is_looked_at_though_his_like_found_no_room() {
    let story = cluster().node("a").cpus(8).running(9, "default", &[("a", &[], 6)]).ends_in(60_000);
    let story = story.waits(job(1).cpus(8).runs(1_000)).waits(job(2).cpus(2));
    let mut state = State::of(&story.snapshot);
    assert_eq!(state.pass(NOW).placements, []);
    state.submit(&job(3).cpus(2).runs(50_000).request);
    let placements = state.pass(NOW).placements;
    assert_eq!(placements.iter().map(|placement| placement.job).collect::<Vec<_>>(), [JobId(3)]);
}

#[test]
fn the_gap_in_ones_own_share_is_nobody_elses() {
    let story = half_lent();
    let short = job(2).within("vision").gpus(4, &[]).runs(50_000);
    let plan = story.clone().waits(short.clone()).plan();
    let victims: Vec<_> = plan.preemptions.iter().map(|p| (p.job.0, p.taken_by.0)).collect();
    assert_eq!(victims, [(7, 2)], "alone it would have found these idle");
    let other = story.waits(short.within("speech")).plan();
    assert_eq!(other.preemptions, [], "not its share");
}

#[test]
fn who_fills_a_gap_is_in_nobodys_way_but_its_heads() {
    let story = half_lent().waits(job(2).within("vision").gpus(4, &[]).runs(50_000));
    let mut state = State::of(&story.snapshot);
    state.pass(NOW);
    state.ended(JobId(7));
    let pass = state.pass(NOW);
    assert_eq!(places(&pass.placements[0]), "a:4,5,6,7");
    assert_eq!(pass.placements[0].qos_class, QosClass::Borrowed);
    state.submit(&job(3).within("vision").gpus(4, &[]).runs(50_000).request);
    state.submit(&job(4).within("speech").gpus(4, &[]).runs(50_000).request);
    assert_eq!(state.pass(NOW), crate::Pass::default());
    state.ended(JobId(9));
    let preemptions = state.pass(NOW).preemptions;
    assert_eq!(preemptions.iter().map(|p| (p.job.0, p.taken_by.0)).collect::<Vec<_>>(), [(2, 1)]);
}

#[test]
fn what_is_expected_to_be_short_goes_first_and_nothing_waits_for_ever() {
    let story = cluster().node("a").cpus(1);
    let story = story.waits(job(1).runs(3_600_000)).waits(job(2).runs(60_000));
    assert_eq!(story.fate(2), "a:");
    let late = job(2).runs(60_000);
    let mut late = story.waits(late);
    late.snapshot.waiting[1].submitted_at = Timestamp(1_000 + 1_800_000);
    late.snapshot.waiting.truncate(2);
    assert_eq!(late.fate(1), "a:", "it has waited half as long as it runs");
}

#[test]
fn an_explanation_says_who_holds_what_and_until_when() {
    let story = cluster()
        .node("a")
        .gpus(4, "A100")
        .running(9, "default", &[("a", &[0, 1, 2], 1)])
        .ends_in(60_000)
        .waits(job(1).gpus(2, &[]));
    let mut state = State::of(&story.snapshot);
    state.pass(NOW);
    let explanation = state.explain(JobId(1), NOW).unwrap();
    assert_eq!(explanation.holders, [JobId(9)]);
    let scarce = explanation.scarce.unwrap();
    assert_eq!((scarce.needs, scarce.free, scarce.best_node), (2.into(), 1.into(), 1.into()));
    let end = NOW.plus_millis(60_000);
    let expected = Expected { earliest: end, latest: Some(end), ground: Ground::Limits };
    assert_eq!(explanation.expected, Some(expected));
}

#[test]
fn a_dry_run_says_who_would_have_to_give_way() {
    let story = two_halves()
        .running(9, "vision", &[("a", &[0, 1, 2, 3, 4, 5, 6, 7], 8)])
        .running(8, "vision", &[("b", &[0, 1, 2, 3, 4, 5, 6, 7], 8)])
        .borrowed();
    let answer = dry_run(&story.snapshot, &job(1).within("speech").gpus(1, &[]).request, NOW);
    assert_eq!(answer, Answer::Preempts(vec![JobId(8)]));
}

#[test]
fn a_change_is_shown_before_it_is_made() {
    let story = two_halves()
        .running(9, "vision", &[("a", &[0, 1, 2, 3, 4, 5, 6, 7], 8)])
        .waits(job(1).within("speech").gpus(8, &[]));
    let drain = Change::Condition(node_name("b"), protocol::cluster::NodeCondition::Draining);
    let effect = story.snapshot.effect_of(&drain, NOW);
    assert_eq!(effect, Effect { wait: vec![JobId(1)], ..Effect::default() });
    let mut smaller = story.snapshot.virtual_clusters[0].clone();
    smaller.share.gpus.clear();
    smaller.share.gpus.insert(gpu_type("A100"), 0);
    let effect = story.snapshot.effect_of(&Change::Share(Box::new(smaller)), NOW);
    assert_eq!(effect.loses_guarantee, [JobId(9)]);
}

#[test]
fn borrowed_work_of_ones_own_line_gives_way_only_to_what_is_ahead_of_it() {
    let all: &[u32] = &[0, 1, 2, 3, 4, 5, 6, 7];
    let story = cluster().node("a").gpus(8, "A100").node("b").gpus(8, "A100");
    let story = story.share("vision", &[("A100", 8)], None);
    let story = story.running(8, "default", &[("b", all, 4)]);
    let story = story.running(9, "vision", &[("a", all, 4)]).borrowed();
    let comes = |id: i64| job(id).within("vision").gpus(8, &[]);
    let behind = story.clone().waits(comes(10)).plan();
    assert!(behind.preemptions.is_empty() && behind.placements.is_empty());
    let ahead = story.clone().waits(comes(10).priority(100)).plan();
    assert_eq!(ahead.preemptions[0].job, JobId(9));
    let earlier = story.waits(comes(1)).plan();
    assert_eq!(earlier.preemptions[0].job, JobId(9));
}

/// How often each of so many jobs of *vision* gives way to *speech*, in how many minutes, and how many
/// of these all of them lose by it. *speech* leaves its share idle for so many minutes and then wants it
/// for so many, again and again.
fn gave_way(jobs: i64, bursts: impl IntoIterator<Item = (i64, i64)>) -> (Vec<u32>, i64, i64) {
    let full = two_halves().running(900, "vision", &[("a", &[0, 1, 2, 3, 4, 5, 6, 7], 8)]);
    let mut state = State::of(&full.snapshot);
    let lent = (1..=jobs).map(|id| job(id).within("vision").gpus(8, &[]).request);
    let mut lent: BTreeMap<JobId, Request> = lent.map(|request| (request.job, request)).collect();
    lent.values().for_each(|request| state.submit(request));
    let at = |minute: i64| NOW.plus_millis(minute * 60_000);
    let (mut minutes, mut lost) = (0, 0);
    for (number, (idle, busy)) in (1_000..).zip(bursts) {
        for _ in 0..idle {
            state.pass(at(minutes));
            minutes += 1;
        }
        state.submit(&job(number).within("speech").gpus(8, &[]).request);
        let mut pass = state.pass(at(minutes));
        if let [preemption] = pass.preemptions.as_slice() {
            let left = lent.get_mut(&preemption.job).expect("nobody else borrows");
            left.gave_way = left.gave_way.again(at(minutes));
            lost += preemption.lost_ms / (8 * 60_000);
            state.ended(left.job);
            state.submit(left);
            pass = state.pass(at(minutes));
        }
        let started: Vec<_> = pass.placements.iter().map(|placement| placement.job.0).collect();
        assert_eq!(started, [number], "its share is there at once");
        minutes += busy;
        state.ended(JobId(number));
    }
    state.ended(JobId(900));
    state.pass(at(minutes));
    let guaranteed = |id: &&JobId| state.qos_class(**id) == Some(QosClass::Guaranteed);
    assert_eq!(lent.keys().filter(guaranteed).count(), 1, "its own share is, too");
    (lent.values().map(|request| request.gave_way.times).collect(), minutes, lost)
}

#[test]
fn who_takes_his_share_back_again_and_again_drives_nobody_away_each_time() {
    let in_bursts = |jobs: i64, count: usize| {
        let (each, _, lost) = gave_way(jobs, std::iter::repeat_n((1, 1), count));
        (each.into_iter().max().unwrap_or(0), lost)
    };
    let alone = [1, 2, 180, 720].map(|count| in_bursts(1, count));
    assert_eq!(alone, [(1, 1), (2, 2), (2, 2), (3, 3)], "times, and minutes lost");
    assert_eq!(in_bursts(4, 180), (1, 4), "nor many, one after the other");
    // Of a crowd nobody oftener than once; what is lost is no more than what was lent.
    assert_eq!(in_bursts(200, 180), (1, 180));
}

proptest! {
    #![proptest_config(cases(100))]

    /// Each time after the second takes twice as long to come as the one before.
    #[test]
    fn whatever_the_bursts_a_job_gives_way_ever_more_rarely(
        jobs in 1..5_i64,
        bursts in prop::collection::vec((1..60_i64, 1..60_i64), 1..25),
    ) {
        let (each, minutes, _) = gave_way(jobs, bursts);
        let most = 2.0 + (minutes as f64 / 60.0 + 1.0).log2();
        let few = each.iter().all(|times| f64::from(*times) <= most);
        prop_assert!(few, "{each:?} times in {minutes} minutes");
    }
}

#[test]
fn who_gave_way_says_so_and_starts_on_his_own_share_at_once() {
    let full = two_halves().running(9, "vision", &[("a", &[0, 1, 2, 3, 4, 5, 6, 7], 8)]);
    let asked = job(1).within("vision").gpus(8, &[]).gave_way(2, NOW);
    let story = full.waits(asked);
    let mut state = State::of(&story.snapshot);
    assert_eq!(state.pass(NOW), crate::Pass::default());
    let until = NOW.plus_millis(3_600_000);
    let said = WaitReason::GaveWay { times: 2, until };
    assert_eq!(state.waiting(NOW)[&JobId(1)].reason, said);
    assert_eq!(state.explain(JobId(1), NOW).unwrap().waiting.reason, said);
    assert_eq!(state.starts_now(&story.snapshot.waiting[0], NOW), None);
    let mut anew = State::of(&story.snapshot);
    assert_eq!(anew.pass(until).placements[0].qos_class, QosClass::Borrowed);
    state.ended(JobId(9));
    assert_eq!(state.pass(NOW).placements[0].qos_class, QosClass::Guaranteed);
}

#[test]
fn who_is_expected_to_run_long_rests_long_and_a_limit_never_makes_it_longer() {
    let rests = |times, runs: Option<i64>| {
        let until = GaveWay { times, last: NOW }.rests_until(NOW, runs);
        until.map_or(0, |until| until.since(NOW) / 60_000)
    };
    let hour = 3_600_000;
    assert_eq!([0, 1, 2, 3, 4, 9].map(|times| rests(times, None)), [0, 0, 60, 120, 240, 1440]);
    let runs = [Some(60_000), Some(4 * hour), Some(24 * hour), Some(90 * hour), None];
    assert_eq!(runs.map(|runs| rests(2, runs)), [1, 10, 60, 60, 60]);
}

#[test]
fn others_of_a_line_borrow_while_the_first_of_it_rests() {
    let full = two_halves().running(9, "vision", &[("a", &[0, 1, 2, 3, 4, 5, 6, 7], 8)]);
    let comes = |id: i64| job(id).within("vision").gpus(8, &[]);
    let story = full.waits(comes(1).gave_way(2, NOW)).waits(comes(2));
    let plan = story.plan();
    assert_eq!(plan.placements.iter().map(|p| p.job.0).collect::<Vec<_>>(), [2]);
}

#[test]
fn the_lowest_class_gives_way_first_then_who_loses_least_and_who_gave_way_less_often() {
    let halves = |first: i64, second: i64| {
        let story = two_halves().running(9, "vision", &[("a", &[0, 1, 2, 3, 4, 5, 6, 7], 8)]);
        let story = story.running(first, "vision", &[("b", &[0, 1, 2, 3], 4)]).borrowed();
        story.running(second, "vision", &[("b", &[4, 5, 6, 7], 4)]).borrowed()
    };
    let leaves = |story: Story| {
        let plan = story.waits(job(1).within("speech").gpus(3, &[])).plan();
        plan.preemptions.iter().map(|p| p.job.0).collect::<Vec<_>>()
    };
    assert_eq!(leaves(halves(7, 8)), [8]);
    assert_eq!(leaves(halves(7, 8).ranked(100)), [7], "the other is of a higher class");
    let mut often = halves(7, 8);
    often.snapshot.running[2].gave_way.times = 1;
    assert_eq!(leaves(often), [7], "the other gave way before");
}
