//! What the scheduler does, told by example.

use std::collections::BTreeSet;

use protocol::amount::Amount;
use protocol::cluster::NodeCondition::{Draining, Unreachable};
use protocol::ids::JobId;
use protocol::resources::PortRange;
use protocol::wait::{ResourceKind, WaitReason};

use crate::model::Answer;
use crate::story::{NOW, Story, cluster, gpu_type, job, virtual_cluster};
use crate::{State, admit, dry_run};

mod deadlines;
mod fair;
mod groups;
mod kept;
mod lending;
mod levels;
mod limits;
mod nesting;
mod node_selectors;
mod overtaking;
mod parts;
mod peace;
mod pins;
mod promises;
mod reasons;
mod rich;

fn reason(story: &Story, id: i64) -> WaitReason {
    story.plan().waiting[&JobId(id)].reason.clone()
}

#[test]
fn broken_nodes_are_filled_before_whole_ones() {
    let story = cluster().node("whole").gpus(8, "A100").node("broken").gpus(8, "A100");
    let story = story.running(1, "default", &[("broken", &[0, 1, 2], 3)]);
    assert_eq!(story.clone().waits(job(2).gpus(1, &[])).fate(2), "broken:3");
    assert_eq!(story.clone().waits(job(2).gpus(4, &[])).fate(2), "broken:4,5,6,7");
    assert_eq!(story.waits(job(2).gpus(8, &[])).fate(2), "whole:0,1,2,3,4,5,6,7");
}

#[test]
fn a_task_without_gpu_leaves_gpu_nodes_alone_while_it_can() {
    let story = cluster().node("gpus").gpus(8, "A100").node("plain");
    assert_eq!(story.clone().waits(job(1).cpus(4)).fate(1), "plain:");
    let full = story.running(9, "default", &[("plain", &[], 32)]);
    assert_eq!(full.waits(job(1).cpus(4)).fate(1), "gpus:");
}

#[test]
fn tasks_of_a_job_stay_together() {
    let story = cluster().node("a").gpus(4, "A100").node("b").gpus(8, "A100");
    let story = story.running(9, "default", &[("a", &[0], 1), ("b", &[0], 1)]);
    assert_eq!(story.clone().waits(job(1).tasks(3).gpus(1, &[])).fate(1), "a:1 a:2 a:3");
    assert_eq!(story.clone().waits(job(1).tasks(2).gpus(3, &[])).fate(1), "b:1,2,3 b:4,5,6");
    let ps_and_workers = job(1).tasks(2).gpus(0, &[]).role().gpus(2, &[]);
    assert_eq!(story.waits(ps_and_workers).fate(1), "b: b: b:2,3 b:4,5");
}

#[test]
fn all_gpus_of_a_task_are_of_one_wanted_healthy_type() {
    let story = cluster().node("a").gpus(2, "K80").gpus(2, "V100").broken_gpu(2);
    assert_eq!(story.clone().waits(job(1).gpus(1, &["V100"])).fate(1), "a:3");
    assert_eq!(story.clone().waits(job(1).gpus(2, &["V100", "K80"])).fate(1), "a:0,1");
    let waits = story.waits(job(1).gpus(2, &["V100"]));
    assert_eq!(reason(&waits, 1), WaitReason::NodeDown { nodes: 1 });
}

#[test]
fn only_ready_nodes_are_given_anything_and_avoided_ones_last() {
    let story = cluster().node("a").node("b").condition(Draining).node("c");
    assert_eq!(story.clone().waits(job(1).avoids("a")).fate(1), "c:");
    let full = story.clone().running(9, "default", &[("c", &[], 32)]);
    assert_eq!(full.waits(job(1).avoids("a")).fate(1), "a:");
    let gone = cluster().node("a").condition(Unreachable).node("b").condition(Draining);
    assert_eq!(reason(&gone.waits(job(1)), 1), WaitReason::NodeDown { nodes: 2 });
}

#[test]
fn what_something_is_wrong_with_is_the_last_choice() {
    let story = cluster().node("a").gpus(4, "A100").doubtful().node("b").gpus(8, "A100");
    assert_eq!(story.clone().waits(job(1).gpus(4, &[])).fate(1), "b:0,1,2,3");
    let story = story.waits(job(1).tasks(3).gpus(4, &[]));
    assert_eq!(story.fate(1), "b:0,1,2,3 b:4,5,6,7 a:0,1,2,3");
}

#[test]
fn a_gang_starts_whole_or_not_at_all() {
    let story = cluster().node("a").gpus(4, "A100").node("b").gpus(4, "A100");
    let story = story.running(9, "default", &[("a", &[0], 1)]);
    let story = story.waits(job(1).tasks(4).gpus(2, &[]));
    assert_eq!(reason(&story, 1), WaitReason::Gang { tasks: 4, fit: 3 });
    assert!(story.plan().placements.is_empty());
}

#[test]
fn of_two_gangs_one_starts_whole_and_the_other_one_holds_nothing() {
    let story = cluster().node("a").gpus(4, "A100").node("b").gpus(4, "A100");
    // Each fits alone, and the two do not fit together.
    let both =
        story.clone().waits(job(1).tasks(3).gpus(2, &[])).waits(job(2).tasks(3).gpus(2, &[]));
    let plan = both.plan();
    let [first] = plan.placements.as_slice() else { panic!("{:?}", plan.placements) };
    assert_eq!((first.job, first.tasks.len()), (JobId(1), 3));
    assert!(plan.waiting.contains_key(&JobId(2)));
    // Where neither fits, neither has half of what there is.
    let busy = story.running(9, "default", &[("a", &[0], 1)]);
    let neither = busy.waits(job(1).tasks(4).gpus(2, &[])).waits(job(2).tasks(4).gpus(2, &[]));
    assert!(neither.plan().placements.is_empty());
}

#[test]
fn reasons_name_what_binds() {
    let scattered = cluster().node("a").gpus(4, "A100").node("b").gpus(4, "A100").running(
        9,
        "default",
        &[("a", &[0, 1], 1), ("b", &[0], 1)],
    );
    for types in [vec![], vec!["A100"]] {
        let gpu_types = types.iter().map(|kind| gpu_type(kind)).collect();
        let fragmented = WaitReason::Fragmented { gpu_types, needs: 4, free: 5, best_node: 3 };
        assert_eq!(reason(&scattered.clone().waits(job(1).gpus(4, &types)), 1), fragmented);
    }
    let absent =
        WaitReason::TypeAbsent { wanted: vec![gpu_type("H200")], existing: vec![gpu_type("A100")] };
    assert_eq!(reason(&scattered.waits(job(1).gpus(1, &["H200"])), 1), absent);
    let busy = cluster().node("a").memory(4096).running(9, "default", &[("a", &[], 30)]);
    let short = |resource, needs: u64, best_node: u64| WaitReason::Short {
        resource,
        gpu_types: Vec::new(),
        needs: needs.into(),
        best_node: best_node.into(),
    };
    let cpu = reason(&busy.clone().waits(job(1).cpus(3)), 1);
    assert_eq!(cpu, short(ResourceKind::Cpu, 3, 2));
    let memory = reason(&busy.clone().waits(job(1).memory(4000)), 1);
    assert_eq!(memory, short(ResourceKind::Memory, 4000, 3072));
    let impossible = WaitReason::Impossible {
        resource: ResourceKind::Memory,
        needs: 5000.into(),
        largest: 4096.into(),
        virtual_cluster: None,
    };
    assert_eq!(reason(&busy.waits(job(1).memory(5000)), 1), impossible);
    assert_eq!(reason(&cluster().waits(job(1)), 1), WaitReason::NoNodes);
    let until = NOW.plus_millis(1);
    let backoff = cluster().node("a").waits(job(1).not_before(until)).waits(job(2).not_before(NOW));
    assert_eq!(reason(&backoff, 1), WaitReason::Backoff { until });
    assert_eq!(backoff.fate(2), "a:");
}

#[test]
fn nobody_waits_for_a_moment_that_a_clock_has_moved_away() {
    let far = NOW.plus_millis(3_600_000);
    assert_eq!(cluster().node("a").waits(job(1).not_before(far)).fate(1), "a:");
}

#[test]
fn a_share_bounds_what_a_virtual_cluster_runs() {
    let story = cluster().node("a").gpus(8, "A100").node("b").gpus(8, "K80");
    let story = story.share("vision", &[("A100", 4)], Some(8)).borrows_nothing();
    let story = story.running(9, "vision", &[("a", &[0, 1], 2)]);
    let quota = |resource, kind, needs: u64, free: u64, share: u64| WaitReason::QuotaVc {
        virtual_cluster: virtual_cluster("vision"),
        resource,
        gpu_type: kind,
        needs: needs.into(),
        free: free.into(),
        share: share.into(),
    };
    let too_many = story.clone().waits(job(1).within("vision").gpus(3, &["A100"]));
    let a100 = Some(gpu_type("A100"));
    assert_eq!(reason(&too_many, 1), quota(ResourceKind::Gpu, a100, 3, 2, 4));
    let any = story.clone().waits(job(1).within("vision").gpus(2, &[]));
    assert_eq!(any.fate(1), "a:2,3", "K80 has no share, so A100 it is");
    let cpus = story.clone().waits(job(1).within("vision").cpus(7));
    assert_eq!(reason(&cpus, 1), quota(ResourceKind::Cpu, None, 7, 6, 8));
    let never = reason(&story.waits(job(1).within("vision").gpus(1, &["K80"])), 1);
    let impossible = WaitReason::Impossible {
        resource: ResourceKind::Gpu,
        needs: 1.into(),
        largest: 0.into(),
        virtual_cluster: Some(virtual_cluster("vision")),
    };
    assert_eq!(never, impossible);
}

#[test]
fn a_job_over_its_share_holds_up_only_its_own_virtual_cluster() {
    let story = cluster().node("a").gpus(8, "A100").share("vision", &[("A100", 4)], None);
    let story = story.borrows_nothing().share("speech", &[("A100", 4)], None);
    let story = story
        .running(9, "vision", &[("a", &[0, 1], 2)])
        .waits(job(1).within("vision").gpus(4, &[]))
        .waits(job(2).within("vision").gpus(1, &[]))
        .waits(job(3).within("speech").gpus(1, &[]))
        .waits(job(4).within("vision"));
    assert_eq!(reason(&story, 2), WaitReason::Behind { ahead: 1 });
    assert_eq!(story.fate(3), "a:4");
    assert_eq!(story.fate(4), "a:", "it asks for nothing that job 1 is short of");
    let plan = story.plan();
    assert_eq!([1, 2].map(|id| plan.waiting[&JobId(id)].position), [1, 2]);
}

#[test]
fn higher_priority_goes_first_then_first_come_first_served() {
    let story = cluster().node("a").cpus(2);
    let story = story.waits(job(3).cpus(1)).waits(job(1).cpus(1)).waits(job(2).cpus(1));
    let plan = story.clone().waits(job(4).priority(100)).plan();
    let started: Vec<_> = plan.placements.iter().map(|placement| placement.job.0).collect();
    assert_eq!(started, [4, 1]);
    assert_eq!([2, 3].map(|id| plan.waiting[&JobId(id)].position), [1, 2]);
}

#[test]
fn backfill_leaves_the_head_its_reservation() {
    let story = cluster().node("a").gpus(8, "A100").node("b").gpus(2, "A100");
    let story = story
        .running(8, "default", &[("a", &[0, 1, 2, 3], 4)])
        .running(9, "default", &[("a", &[4], 4)])
        .waits(job(1).gpus(8, &[]));
    let short = WaitReason::Short {
        resource: ResourceKind::Gpu,
        gpu_types: Vec::new(),
        needs: 8.into(),
        best_node: 3.into(),
    };
    assert_eq!(reason(&story, 1), short);
    assert_eq!(story.clone().waits(job(2).gpus(1, &[])).fate(2), "b:0");
    let behind = WaitReason::Behind { ahead: 1 };
    assert_eq!(reason(&story.waits(job(2).gpus(3, &[])), 2), behind);
}

#[test]
fn the_reservation_is_where_the_fewest_have_to_end() {
    let story = cluster().node("a").gpus(4, "A100").node("b").gpus(4, "A100");
    let story = story
        .running(7, "default", &[("a", &[0], 1)])
        .running(8, "default", &[("a", &[1], 1)])
        .running(9, "default", &[("b", &[0, 1, 2], 1)])
        .waits(job(1).gpus(4, &[]))
        .waits(job(2).gpus(1, &[]));
    assert_eq!(story.fate(2), "a:2", "b is held: one job has to end there, two on a");
}

#[test]
fn what_was_let_past_is_not_waited_for() {
    let story = cluster().node("a").cpus(8);
    let story = story.running(9, "default", &[("a", &[], 2), ("a", &[], 2)]);
    let story = story.waits(job(1).cpus(5)).waits(job(3).cpus(2));
    let first = story.clone().waits(job(2).cpus(2)).plan();
    assert_eq!(first.placements[0].job, JobId(2));
    let then = story.running(2, "default", &[("a", &[], 2)]);
    let then = then.reserved(1, &[9]);
    assert_eq!(first.reserved[0].awaits, then.snapshot.reserved[0].awaits);
    assert_eq!(reason(&then, 3), WaitReason::Behind { ahead: 1 });
    assert_eq!(then.plan().reserved[0].awaits, first.reserved[0].awaits);
}

#[test]
fn the_reservation_counts_only_ports_of_the_range() {
    let story = cluster().node("a").gpus(1, "A100").ports(20_000, 20_005);
    let holder = job(9).gpus(1, &[]);
    let mut story = story.waits(holder);
    story.snapshot = crate::properties::after(&story.snapshot);
    let story = story.waits(job(1).gpus(1, &[]).port("more", 0, 4)).waits(job(2));
    assert_eq!(story.plan().placements, [], "of the 6 that job 1 needs, job 9 gives back 2");
}

#[test]
fn a_job_that_waits_for_a_lost_node_holds_nobody_up() {
    let story = cluster().node("a").gpus(8, "A100").condition(Unreachable);
    let story =
        story.node("b").gpus(2, "A100").waits(job(1).gpus(8, &[])).waits(job(2).gpus(2, &[]));
    assert_eq!(reason(&story, 1), WaitReason::NodeDown { nodes: 1 });
    assert_eq!(story.fate(2), "b:0,1");
}

#[test]
fn nothing_is_impossible_before_all_nodes_have_answered() {
    let small = cluster().node("a").gpus(2, "V100");
    let asked = [job(1).gpus(8, &[]), job(2).gpus(1, &["A100"]), job(3).cpus(900)];
    for job in &asked {
        assert!(admit(&small.clone().snapshot, &job.request).is_err());
    }
    let story = asked.into_iter().fold(small.node("b").unknown(), |story, job| {
        assert_eq!(admit(&story.snapshot, &job.request), Ok(()));
        story.waits(job)
    });
    for number in 1..=3 {
        assert_eq!(reason(&story, number), WaitReason::NodeDown { nodes: 1 }, "job {number}");
    }
    let story = story.waits(job(4).gpus(2, &["V100"]));
    assert_eq!(story.fate(4), "a:0,1", "and nobody waits for what may be there");
    let elsewhere = job(5).gpus(8, &[]).only("a");
    assert!(admit(&story.snapshot, &elsewhere.request).is_err(), "it may use what is known alone");
}

#[test]
fn ports_are_unique_on_an_address() {
    let story = cluster().node("a").address("10.0.0.1").ports(20_000, 20_003);
    let story = story.node("b").address("10.0.0.1").ports(20_000, 20_003);
    let plan = story.clone().waits(job(1)).waits(job(2)).waits(job(3)).plan();
    let mut ports: Vec<u16> =
        plan.placements.iter().flat_map(|p| p.tasks[0].ports.values().flatten().copied()).collect();
    ports.sort_unstable();
    assert_eq!(ports, [20_000, 20_001, 20_002, 20_003]);
    let short = WaitReason::Short {
        resource: ResourceKind::Port,
        gpu_types: Vec::new(),
        needs: 2.into(),
        best_node: 0.into(),
    };
    assert_eq!(plan.waiting[&JobId(3)].reason, short);
}

#[test]
fn numbered_ports_are_given_exactly() {
    let story = cluster().node("a").ports(20_000, 20_009);
    let story = story.waits(job(1).port("tb", 20_008, 2).port("web", 20_000, 6));
    let plan = story.clone().waits(job(2).port("tb", 20_009, 1)).plan();
    let task = &plan.placements[0].tasks[0];
    let of = |label: &str| task.ports.of(label).unwrap();
    assert_eq!(of("tb"), &[20_008, 20_009]);
    assert_eq!(of("web"), &(20_000..20_006).collect::<Vec<_>>());
    let mut any = [of("http")[0], of("ssh")[0]];
    any.sort_unstable();
    assert_eq!(any, [20_006, 20_007]);
    let WaitReason::Short { resource: ResourceKind::Port, .. } = plan.waiting[&JobId(2)].reason
    else {
        panic!("{:?}", plan.waiting);
    };
}

#[test]
fn numbered_ports_lie_in_the_range_of_their_node() {
    let story = cluster().node("a").ports(20_000, 20_009).node("b").ports(30_000, 30_999);
    let outside = |first, count| {
        let asked = job(1).port("tb", first, count);
        admit(&story.snapshot, &asked.request).err()
    };
    let allowed = PortRange { first: 30_000, last: 30_999 };
    for (first, count, last) in [(6006, 2, 6007), (30_998, 3, 31_000), (65_530, 10, 65_539)] {
        let reason = WaitReason::PortsOutside { first: first.into(), last, allowed };
        assert_eq!(outside(first, count), Some(reason));
    }
    assert_eq!(outside(20_004, 2), None);
    assert_eq!(story.clone().waits(job(1).port("tb", 20_004, 2)).plan().placements.len(), 1);
    let placed = story.waits(job(1).port("tb", 30_004, 2)).plan().placements;
    assert_eq!(placed[0].tasks[0].node.as_str(), "b");
}

#[test]
fn two_jobs_one_after_the_other_get_different_ports() {
    let story = cluster().node("a");
    let ports = |id| {
        let plan = story.clone().waits(job(id)).plan();
        plan.placements[0].tasks[0].ports.values().flatten().copied().collect::<Vec<_>>()
    };
    assert_ne!(ports(1), ports(2));
}

#[test]
fn a_job_that_starts_again_gets_other_ports() {
    let mut state = State::of(&cluster().node("a").snapshot);
    let mut started = BTreeSet::new();
    for _ in 0..20 {
        state.submit(&job(1).request);
        let plan = state.pass(NOW);
        started.extend(plan.placements[0].tasks[0].ports.values().flatten().copied());
        state.ended(JobId(1));
    }
    assert!(started.len() > 20, "{started:?}");
}

#[test]
fn what_can_never_be_met_is_refused_at_the_door() {
    use ResourceKind::{Cpu, Disk, Gpu, Memory, Port};
    let story = cluster().node("a").gpus(4, "A100").disk(100).condition(Unreachable);
    let story = story.node("b").gpus(2, "K80").disk(200).condition(Draining);
    let story = story.share("small", &[("A100", 2)], Some(8));
    let busy = story.running(9, "default", &[("a", &[0, 1, 2, 3], 32)]);
    let fine = [
        job(1),
        job(1).gpus(4, &["A100"]),
        job(1).gpus(1, &[]).tasks(6),
        job(1).cpus(32).tasks(2),
        job(1).port("tb", 16_006, 1).tasks(2),
        job(1).within("small").gpus(2, &[]),
        job(1).within("nobody-knows").gpus(4, &[]),
    ];
    for job in fine {
        assert_eq!(admit(&busy.snapshot, &job.request), Ok(()), "{job:?}");
    }
    let refused = [
        (job(1).gpus(5, &[]), Gpu, 5, 4),
        (job(1).gpus(3, &["K80"]), Gpu, 3, 2),
        (job(1).gpus(2, &[]).tasks(4), Gpu, 8, 6),
        (job(1).cpus(33), Cpu, 33, 32),
        (job(1).cpus(32).tasks(3), Cpu, 96, 64),
        (job(1).cpus(20).tasks(2).role().cpus(20).tasks(2), Cpu, 80, 64),
        (job(1).memory(200_000), Memory, 200_000, 131_072),
        (job(1).gpus(4, &[]).disk(150), Disk, 150, 100),
        (job(1).port("tb", 16_006, 1).tasks(3), Port, 3, 2),
        (job(1).port("many", 0, 30_000), Port, 30_002, 22_000),
    ];
    for (job, resource, needs, largest) in refused {
        let (needs, largest) = (Amount::whole(needs), Amount::whole(largest));
        let impossible = WaitReason::Impossible { resource, needs, largest, virtual_cluster: None };
        assert_eq!(admit(&busy.snapshot, &job.request), Err(impossible), "{job:?}");
    }
    let share = admit(&busy.snapshot, &job(1).within("small").gpus(3, &["A100"]).request);
    let virtual_cluster = Some(virtual_cluster("small"));
    let (needs, largest) = (3.into(), 2.into());
    let small = WaitReason::Impossible { resource: Gpu, needs, largest, virtual_cluster };
    assert_eq!(share, Err(small));
    assert_eq!(admit(&cluster().snapshot, &job(1).cpus(99).request), Ok(()), "it waits for nodes");
}

#[test]
fn a_dry_run_says_what_a_submission_would() {
    let story = cluster().node("a").gpus(2, "A100").waits(job(1).gpus(1, &[]));
    let ask = |job: crate::story::Job| dry_run(&story.snapshot, &job.request, NOW);
    let Answer::Fits(tasks, _) = ask(job(2).gpus(1, &[])) else { panic!("it fits") };
    assert_eq!(tasks[0].gpus, [1]);
    let Answer::Waits(why) = ask(job(2).gpus(2, &[])) else { panic!("it waits") };
    assert_eq!((why.waiting.position, why.holders.as_slice()), (1, [JobId(1)].as_slice()));
    let scarce = why.scarce.expect("GPUs are short");
    assert_eq!((scarce.needs, scarce.free, scarce.best_node), (2.into(), 1.into(), 1.into()));
    assert!(matches!(ask(job(2).gpus(3, &[])), Answer::Never(WaitReason::Impossible { .. })));
}
