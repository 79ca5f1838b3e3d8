//! Jobs that say how near each other their tasks have to be.

use proptest::prelude::*;
use protocol::spec::TopologyLevel::{Rack, Row};

use super::*;
use crate::model::Snapshot;
use crate::properties::events::cases;
use crate::properties::is_in_one_place;

const ALL: &[u32] = &[0, 1, 2, 3, 4, 5, 6, 7];

/// Nodes of eight GPUs, each with its rack; all are in one row.
fn racks(nodes: &[(&str, &str)]) -> Story {
    nodes.iter().fold(cluster(), |story, (name, rack)| {
        story.node(name).gpus(8, "A100").label("rack", rack).label("row", "1")
    })
}

fn two_racks() -> Story {
    racks(&[("a", "1"), ("b", "1"), ("c", "2"), ("d", "2")])
}

#[test]
fn what_requires_a_rack_waits_for_one_and_says_so() {
    let story = two_racks().running(9, "default", &[("b", &[0], 1)]);
    let story = story.running(8, "default", &[("c", &[0], 1)]);
    let gang = job(1).tasks(2).gpus(8, &[]);
    assert!(!story.clone().waits(gang.clone()).fate(1).starts_with("Level"), "it may be apart");
    let waits = story.clone().waits(gang.clone().requires(Rack));
    assert_eq!(reason(&waits, 1), WaitReason::LevelFull { level: Rack, tasks: 2, fit: 1 });
    assert!(!story.clone().waits(gang.clone().requires(Row)).fate(1).starts_with("Level"));
    let answer = dry_run(&story.snapshot, &gang.requires(Rack).request, NOW);
    let Answer::Waits(said) = answer else { panic!("{answer:?}") };
    assert_eq!(said.waiting.reason, WaitReason::LevelFull { level: Rack, tasks: 2, fit: 1 });
}

#[test]
fn what_no_rack_holds_is_refused_at_the_door() {
    let story = two_racks();
    let gang = |tasks: u32| job(1).tasks(tasks).gpus(8, &[]).requires(Rack).request;
    assert_eq!(admit(&story.snapshot, &gang(2)), Ok(()));
    let never = WaitReason::LevelTooSmall { level: Rack, tasks: 3, fit: 2 };
    assert_eq!(admit(&story.snapshot, &gang(3)), Err(never));
}

#[test]
fn where_no_node_names_a_rack_each_is_one() {
    let story = cluster().node("a").gpus(8, "A100").node("b").gpus(8, "A100");
    let gang = |tasks: u32| job(1).tasks(tasks).gpus(4, &[]).requires(Rack);
    assert_eq!(story.clone().waits(gang(2)).fate(1), "a:0,1,2,3 a:4,5,6,7");
    let never = WaitReason::LevelTooSmall { level: Rack, tasks: 3, fit: 2 };
    assert_eq!(admit(&story.snapshot, &gang(3).request), Err(never));
}

#[test]
fn borrowed_work_gives_way_in_one_rack() {
    let story = two_racks().share("vision", &[("A100", 16)], None);
    let story = story.running(9, "default", &[("a", ALL, 8)]).borrowed();
    let story = story.running(8, "default", &[("c", ALL, 8)]).borrowed();
    let gang = job(1).within("vision").tasks(2).gpus(8, &[]).requires(Rack);
    let plan = story.waits(gang).plan();
    assert_eq!(plan.preemptions.len(), 1, "{:?}", plan.preemptions);
}

#[test]
fn what_is_kept_for_a_gang_lies_in_one_rack() {
    let story = two_racks().running(9, "default", &[("a", ALL, 8)]).ends_in(1_000_000);
    let story = story.running(8, "default", &[("c", ALL, 8)]).ends_in(2_000_000);
    let story = story.waits(job(1).tasks(2).gpus(8, &[]).requires(Rack));
    let story = story.waits(job(2).gpus(8, &[])).waits(job(3).gpus(8, &[]));
    assert_eq!(story.fate(2), "d:0,1,2,3,4,5,6,7", "a and b are kept");
    assert!(matches!(reason(&story, 3), WaitReason::Behind { .. }));
}

proptest! {
    #![proptest_config(cases(200))]

    /// Gangs come and end at random: each is in one rack whenever it starts.
    #[test]
    fn a_required_level_is_never_broken(
        at in prop::collection::vec(0..3_usize, 1..7),
        stream in prop::collection::vec((1..5_u32, 1..9_u32, 0..3_u32, any::<bool>()), 1..40),
    ) {
        let names: Vec<_> = (0..at.len()).map(|node| format!("n{node}")).collect();
        let story = names.iter().zip(&at).fold(cluster(), |story, (name, rack)| {
            let story = story.node(name).gpus(8, "A100").cpus(64);
            if *rack == 2 { story } else { story.label("rack", &rack.to_string()) }
        });
        let Snapshot { nodes, virtual_clusters, .. } = &story.snapshot;
        let mut state = State::new(nodes, virtual_clusters.clone());
        let (mut asked, mut running) = (std::collections::BTreeMap::new(), Vec::new());
        for (id, (tasks, gpus, ends, required)) in (1..).zip(stream) {
            let made = job(id).tasks(tasks).gpus(gpus, &[]);
            let request = if required { made.requires(Rack) } else { made.prefers(Rack) }.request;
            state.submit(&request);
            asked.insert(request.job, request);
            for _ in 0..ends.min(running.len() as u32) {
                state.ended(running.remove(0));
            }
            for placement in state.pass(NOW).placements {
                is_in_one_place(&story.snapshot, &asked[&placement.job], &placement.tasks);
                running.push(placement.job);
            }
        }
    }
}
