//! Virtual clusters that are parts of parts, told by example.

use protocol::ids::JobId;
use protocol::wait::WaitReason;

use crate::model::QosClass;
use crate::story::{Job, NOW, Story, cluster, job};

const ALL: [u32; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
const HOUR: i64 = 3_600_000;

/// GPUs by type, and processors where they are limited.
type Asked<'a> = (&'a [(&'a str, u64)], Option<u64>);

/// *eyes* is a part of *vision*, which is a part of *lab*. None of them borrows.
fn lab(story: Story, shares: [Asked<'_>; 3]) -> Story {
    let [(all, cpus), (vision, of_vision), (eyes, of_eyes)] = shares;
    let story = story.share("lab", all, cpus).borrows_nothing();
    let story = story.share("vision", vision, of_vision).part_of("lab").borrows_nothing();
    story.share("eyes", eyes, of_eyes).part_of("vision").borrows_nothing()
}

fn of_gpus() -> Story {
    let story = cluster().node("a").gpus(8, "A100").node("b").gpus(8, "A100");
    lab(story, [(&[("A100", 16)], None), (&[("A100", 12)], None), (&[("A100", 4)], None)])
}

fn of_cpus(vision: Option<u64>) -> Story {
    lab(cluster().node("a"), [(&[], Some(8)), (&[], vision), (&[], Some(2))])
}

/// Whether a job is guaranteed its places at once; else it waits for its share.
fn starts(story: &Story, asked: Job) -> bool {
    let plan = story.clone().waits(asked).plan();
    match plan.placements.as_slice() {
        [] => {
            let reason = &plan.waiting[&JobId(1)].reason;
            assert!(matches!(reason, WaitReason::QuotaVc { .. }), "{reason:?}");
            false
        }
        placements => {
            placements.iter().all(|placement| placement.qos_class == QosClass::Guaranteed)
        }
    }
}

#[test]
fn a_part_of_a_part_goes_on_on_what_is_left_of_each_whole() {
    let eyes = |gpus| job(1).within("eyes").gpus(gpus, &[]);
    assert!(starts(&of_gpus(), eyes(4)), "its own");
    assert!(starts(&of_gpus(), eyes(8)), "what *vision* has beside it");
    let busy = of_gpus().running(9, "vision", &[("a", &ALL, 4)]);
    let busy = busy.running(8, "eyes", &[("b", &[0, 1, 2, 3], 4)]);
    assert_eq!(busy.clone().waits(eyes(4)).fate(1), "b:4,5,6,7", "what *lab* has beside them");
    let full = busy.running(7, "lab", &[("b", &[4, 5, 6, 7], 4)]);
    assert!(!starts(&full, eyes(1)));
}

#[test]
fn what_a_part_of_a_part_is_guaranteed_is_set_aside_from_all_its_wholes() {
    let within = |name, cpus| job(1).within(name).cpus(cpus);
    for vision in [None, Some(4)] {
        let story = of_cpus(vision);
        assert!(starts(&story, within("eyes", 8)), "nothing is used of anything");
        let left = if vision.is_none() { 6 } else { 4 };
        assert!(starts(&story, within("lab", left)) && !starts(&story, within("lab", left + 1)));
        let busy = story.running(9, "eyes", &[("a", &[], 7)]);
        assert!(starts(&busy, within("lab", 1)) && !starts(&busy, within("lab", 2)));
        assert!(!starts(&busy, within("eyes", 2)), "all others' is used");
    }
}

#[test]
fn those_that_are_parts_of_each_other_are_parts_of_none() {
    let story = cluster().node("a").gpus(8, "A100");
    let story = story.share("one", &[("A100", 4)], Some(4)).part_of("two");
    let story = story.share("two", &[("A100", 4)], Some(4)).part_of("one");
    let plan = story.waits(job(1).within("one").gpus(4, &[])).plan();
    assert_eq!(plan.placements.len(), 1);
}

/// *eyes* and *ears* have a node each and four of its cores, *lab* one and twelve cores that both go on on: job 9
/// uses eleven of these for an hour.
fn of_cores() -> Story {
    let nodes = ["a", "b", "c"];
    let story = nodes.iter().fold(cluster(), |story, name| story.node(name).gpus(8, "A100"));
    let story = story.share("lab", &[("A100", 24)], Some(20)).borrows_nothing();
    let part = |story: Story, name| story.share(name, &[("A100", 8)], Some(4)).part_of("lab");
    let story = part(part(story, "eyes").borrows_nothing(), "ears").borrows_nothing();
    story.running(9, "lab", &[("a", &ALL, 11)]).ends_in(HOUR)
}

/// Who is waited for by job 1 of *eyes*, and for how long.
fn waits_for(story: Story, cores: u32) -> (Vec<i64>, i64) {
    let asked = |id, cores| job(id).within("eyes").gpus(1, &[]).cpus(cores);
    let plan = story.waits(asked(1, cores)).waits(asked(2, 16)).plan();
    let kept = plan.reserved.iter().find(|kept| kept.job == JobId(1)).expect("it has one");
    (kept.awaits.iter().map(|job| job.0).collect(), kept.start.since(NOW))
}

#[test]
fn what_a_part_goes_on_on_is_waited_for_in_whoevers_cells_it_is_used() {
    assert_eq!(waits_for(of_cores(), 8), (vec![9], HOUR));
    let busy = of_cores().running(8, "eyes", &[("b", &[0], 4)]).ends_in(3 * HOUR);
    assert_eq!(waits_for(busy, 5), (vec![9], HOUR), "not for its own alone");
    let sooner = of_cores().running(8, "ears", &[("c", &ALL, 5)]).ends_in(HOUR / 2);
    assert_eq!(waits_for(sooner, 5), (vec![8], HOUR / 2));
}
