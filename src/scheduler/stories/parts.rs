//! Tasks that take part of a GPU, told by example.

use protocol::amount::Amount;
use protocol::ids::JobId;
use protocol::wait::{ResourceKind, WaitReason};

use crate::admit;
use crate::model::Demand;
use crate::story::{Story, cluster, gpu_type, job, virtual_cluster};

fn reason(story: &Story, id: i64) -> WaitReason {
    story.plan().waiting[&JobId(id)].reason.clone()
}

fn milli(milli: u64) -> Amount {
    Amount::from_milli(milli)
}

/// A node that shares its GPUs.
fn shared(gpus: u32) -> Story {
    cluster().node("a").gpus(gpus, "A100").shares()
}

#[test]
fn small_tasks_share_a_gpu() {
    let story = shared(2).waits(job(1).gpu_part(600)).waits(job(2).gpu_part(400));
    let story = story.waits(job(3).gpus(1, &[])).waits(job(4).gpu_part(100));
    let fates = [1, 2, 3].map(|id| story.fate(id));
    assert_eq!(fates, ["a:0", "a:0", "a:1"]);
    assert!(story.plan().waiting.contains_key(&JobId(4)));
}

#[test]
fn a_demand_has_the_part_that_a_task_asks_for() {
    let of = |milli| {
        let gpus = Amount::from_milli(milli);
        let resources = protocol::resources::Resources { gpus, ..Default::default() };
        let demand = Demand::from(resources);
        (demand.gpus, demand.each_gpu_milli(), demand.all_gpu_milli())
    };
    assert_eq!(of(0), (0, 1000, 0));
    assert_eq!(of(250), (1, 250, 250));
    assert_eq!(of(1000), (1, 1000, 1000));
    assert_eq!(of(2000), (2, 1000, 2000));
}

#[test]
fn only_nodes_that_share_their_gpus_take_parts() {
    let story = cluster().node("own").gpus(8, "A100").node("old").gpus(1, "K80").shares();
    assert_eq!(story.clone().waits(job(1).gpu_part(500)).fate(1), "old:0");
    assert_eq!(story.clone().waits(job(1).gpus(1, &[])).fate(1), "old:0", "whole ones go anywhere");
    let wanted = vec![gpu_type("A100")];
    let mut a100 = job(1).gpu_part(500);
    a100.request.roles[0].gpu_types.clone_from(&wanted);
    let refused = WaitReason::GpusNotShared { wanted };
    assert_eq!(admit(&story.snapshot, &a100.request), Err(refused.clone()));
    assert_eq!(reason(&story.waits(a100), 1), refused);
    let nobody = cluster().node("own").gpus(8, "A100");
    let part = job(1).gpu_part(500).request;
    let refused = WaitReason::GpusNotShared { wanted: Vec::new() };
    assert_eq!(admit(&nobody.snapshot, &part), Err(refused));
    let down = nobody.node("down").gpus(1, "A100").shares();
    let down = down.condition(protocol::cluster::NodeCondition::Unreachable);
    assert_eq!(admit(&down.snapshot, &part), Ok(()), "it may come back");
    assert_eq!(reason(&down.waits(job(1).gpu_part(500)), 1), WaitReason::NodeDown { nodes: 1 });
}

#[test]
fn a_part_that_finds_no_room_is_told_what_is_left_of_the_best_gpu() {
    let short = |needs, best| WaitReason::Short {
        resource: ResourceKind::Gpu,
        gpu_types: Vec::new(),
        needs: milli(needs),
        best_node: milli(best),
    };
    let story = shared(2).running(8, "default", &[("a", &[0], 1)]).of_gpu(600);
    let story = story.running(9, "default", &[("a", &[1], 1)]).of_gpu(750);
    assert_eq!(reason(&story.clone().waits(job(1).gpu_part(500)), 1), short(500, 400));
    let full = story.clone().running(7, "default", &[("a", &[0], 1)]).of_gpu(400);
    assert_eq!(reason(&full.waits(job(1).gpu_part(500)), 1), short(500, 250));
    let whole = reason(&story.waits(job(1).gpus(1, &[])), 1);
    assert_eq!(whole, short(1000, 0), "of parts no whole is made");
}

#[test]
fn parts_are_added_up_before_a_job_is_refused() {
    let story = shared(4);
    let parts = |tasks, milli| job(1).tasks(tasks).gpu_part(milli).request;
    assert_eq!(admit(&story.snapshot, &parts(16, 250)), Ok(()));
    let impossible = |needs, largest| WaitReason::Impossible {
        resource: ResourceKind::Gpu,
        needs: milli(needs),
        largest: milli(largest),
        virtual_cluster: None,
    };
    assert_eq!(admit(&story.snapshot, &parts(17, 250)), Err(impossible(4250, 4000)));
    let cut = impossible(3000, 2400);
    assert_eq!(admit(&story.snapshot, &parts(5, 600)), Err(cut), "one GPU has 600 only once");
}

#[test]
fn a_share_is_used_in_parts() {
    let story = shared(8).share("vision", &[("A100", 1)], None).borrows_nothing();
    let story = story.running(9, "vision", &[("a", &[0], 1)]).of_gpu(500);
    let half = job(1).within("vision").gpu_part(500);
    assert_eq!(story.clone().waits(half).fate(1), "a:0");
    let quota = WaitReason::QuotaVc {
        virtual_cluster: virtual_cluster("vision"),
        resource: ResourceKind::Gpu,
        gpu_type: Some(gpu_type("A100")),
        needs: milli(750),
        free: milli(500),
        share: milli(1000),
    };
    assert_eq!(reason(&story.waits(job(1).within("vision").gpu_part(750)), 1), quota);
}

#[test]
fn more_parts_than_the_gpus_of_a_share_hold_are_refused() {
    let story = shared(8).share("vision", &[("A100", 2)], None).borrows_nothing();
    let parts = |tasks, milli| job(1).within("vision").tasks(tasks).gpu_part(milli).request;
    assert_eq!(admit(&story.snapshot, &parts(2, 501)), Ok(()));
    assert_eq!(admit(&story.snapshot, &parts(4, 500)), Ok(()));
    let never = WaitReason::Impossible {
        resource: ResourceKind::Gpu,
        needs: milli(3000),
        largest: milli(2000),
        virtual_cluster: Some(virtual_cluster("vision")),
    };
    assert_eq!(admit(&story.snapshot, &parts(3, 501)), Err(never));
}

#[test]
fn what_runs_stays_when_a_node_does_not_share_any_more() {
    let story = cluster().node("a").gpus(2, "A100");
    let story = story.running(9, "default", &[("a", &[0], 1)]).of_gpu(250);
    assert_eq!(story.clone().waits(job(1).gpus(1, &[])).fate(1), "a:1", "GPU 0 is in use");
    let refused = WaitReason::GpusNotShared { wanted: Vec::new() };
    assert_eq!(reason(&story.clone().waits(job(1).gpu_part(250)), 1), refused);
    assert!(story.plan().preemptions.is_empty());
}

#[test]
fn what_is_left_of_a_gpu_is_kept_for_a_reservation() {
    let story = shared(1).running(9, "default", &[("a", &[0], 1)]).of_gpu(500).ends_in(60_000);
    let whole = story.clone().waits(job(1).gpus(1, &[])).waits(job(2).gpu_part(500));
    assert_eq!(reason(&whole, 2), WaitReason::Behind { ahead: 1 });
    let part = story.waits(job(1).gpu_part(700));
    assert_eq!(part.clone().waits(job(2).gpu_part(300)).fate(2), "a:0", "that much is to spare");
    let waits = part.waits(job(2).gpu_part(301));
    assert_eq!(reason(&waits, 2), WaitReason::Behind { ahead: 1 });
}
