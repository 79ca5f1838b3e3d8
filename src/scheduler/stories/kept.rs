//! What is kept of a share for the first who waits: not the nodes alone.

use super::*;
use crate::model::Placement;
use crate::model::QosClass::{self, Borrowed, Guaranteed};
use crate::story::Job;

const HOUR: i64 = 3_600_000;

/// *vision* is guaranteed eight of twelve CPUs, of which job 9 has five; job 1 waits for all eight.
fn of_cpus() -> Story {
    let story = cluster().node("a").cpus(12).share("vision", &[], Some(8));
    let story = story.running(9, "vision", &[("a", &[], 5)]).ends_in(HOUR);
    story.waits(job(1).within("vision").cpus(8))
}

/// By what right job 2 starts at once, and whether job 1 does on its share once job 9 has ended.
fn let_past(story: &Story, later: Job) -> (Option<QosClass>, bool) {
    let mut state = State::of(&story.clone().waits(later).snapshot);
    let first = state.pass(NOW).placements;
    assert!(first.iter().all(|placement| placement.job == JobId(2)));
    state.ended(JobId(9));
    let then = state.pass(NOW).placements;
    let by_right = |of: &Placement| of.job == JobId(1) && of.qos_class == Guaranteed;
    let starts = then.iter().any(by_right);
    (first.first().map(|placement| placement.qos_class), starts)
}

#[test]
fn what_the_first_needs_of_the_sum_nobody_behind_it_uses_up() {
    let later = |cpus| job(2).within("vision").cpus(cpus);
    assert_eq!(let_past(&of_cpus(), later(3)), (Some(Borrowed), true));
    let more = |mut story: Story, cpus| {
        story.snapshot.virtual_clusters[0].share.cpus = Some(cpus);
        story
    };
    assert_eq!(let_past(&more(of_cpus(), 10), later(2)), (Some(Guaranteed), true));
    assert_eq!(let_past(&more(of_cpus(), 10), later(3)), (Some(Borrowed), true));
}

#[test]
fn who_may_not_borrow_waits_behind_the_first_and_is_told_so() {
    let mut story = of_cpus();
    story.snapshot.virtual_clusters[0].borrows = false;
    let later = job(2).within("vision").cpus(3);
    assert_eq!(let_past(&story, later.clone()), (None, true));
    let behind = WaitReason::Behind { ahead: 1 };
    assert_eq!(reason(&story.clone().waits(later.clone()), 2), behind);
    let Answer::Waits(said) = dry_run(&story.snapshot, &later.request, NOW) else { panic!() };
    assert_eq!(said.waiting.reason, behind);
}

#[test]
fn the_same_is_kept_by_a_scheduler_that_starts_again() {
    let story = of_cpus().waits(job(2).within("vision").cpus(3));
    let mut story = story.waits(job(3).cpus(12));
    for _ in 0..3 {
        let plan = story.plan();
        let first = plan.reserved.iter().find(|reserved| reserved.job == JobId(1)).unwrap();
        assert_eq!(first.awaits, BTreeSet::from([JobId(9)]));
        story = Story { snapshot: crate::properties::with(&story.snapshot, &plan) };
    }
}

#[test]
fn what_a_part_needs_of_its_whole_the_other_parts_do_not_use_up() {
    let story = cluster().node("a").cpus(12).share("lab", &[], Some(10));
    let story = story.share("eyes", &[], Some(2)).part_of("lab");
    let story = story.share("ears", &[], Some(2)).part_of("lab");
    let story = story.running(9, "eyes", &[("a", &[], 5)]).ends_in(HOUR);
    let story = story.waits(job(1).within("eyes").cpus(8));
    let later = |within, cpus| job(2).within(within).cpus(cpus);
    assert_eq!(let_past(&story, later("ears", 2)), (Some(Guaranteed), true), "its own");
    assert_eq!(let_past(&story, later("ears", 3)), (Some(Borrowed), true));
    assert_eq!(let_past(&story, later("lab", 1)), (Some(Borrowed), true));
}

#[test]
fn what_the_first_needs_of_a_cell_beside_its_gpus_is_kept_as_well() {
    let story = cluster().node("a").gpus(6, "V100").cpus(24).share("vision", &[("V100", 4)], None);
    let story = story.running(9, "vision", &[("a", &[], 5)]).ends_in(HOUR);
    let story = story.running(8, "default", &[("a", &[], 5)]);
    let story = story.waits(job(1).within("vision").cpus(16));
    let later = job(2).within("vision").cpus(3);
    assert_eq!(let_past(&story, later), (Some(Borrowed), true), "the cell has sixteen");
}
