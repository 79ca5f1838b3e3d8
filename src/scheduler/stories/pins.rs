//! Shares that lie on certain nodes, or in certain places, told by example.

use std::collections::BTreeSet;

use protocol::ids::JobId;
use protocol::spec::TopologyLevel::{Rack, Site};
use protocol::wait::WaitReason;

use crate::model::{Answer, QosClass};
use crate::story::{NOW, Story, cluster, job, places, virtual_cluster};
use crate::{State, admit, dry_run};

const ALL: [u32; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

/// Three nodes of eight GPUs, on the second of which what *vision* is guaranteed lies.
fn pinned(gpus: u64) -> Story {
    let story = cluster().node("a").gpus(8, "A100").node("b").gpus(8, "A100");
    let story = story.node("c").gpus(8, "A100");
    story.share("vision", &[("A100", gpus)], None).pinned(&["b"])
}

/// Where the first of the jobs that start does, and by what right.
fn first(story: &Story) -> (BTreeSet<String>, QosClass) {
    let plan = story.plan();
    let placement = plan.placements.first().expect("a job starts");
    let nodes = placement.tasks.iter().map(|task| task.node.to_string()).collect();
    (nodes, placement.qos_class)
}

fn on(nodes: &[&str], qos_class: QosClass) -> (BTreeSet<String>, QosClass) {
    (nodes.iter().map(|node| (*node).to_owned()).collect(), qos_class)
}

#[test]
fn guaranteed_work_goes_to_the_nodes_of_its_share() {
    let story = pinned(8);
    let own = story.clone().waits(job(1).within("vision").gpus(8, &[]));
    assert_eq!(first(&own), on(&["b"], QosClass::Guaranteed));
    let small = story.clone().waits(job(1).within("vision").gpus(1, &[]));
    assert_eq!(first(&small), on(&["b"], QosClass::Guaranteed));
    let others = story.waits(job(1).tasks(2).gpus(8, &[]));
    assert_eq!(first(&others), on(&["a", "c"], QosClass::Guaranteed), "they have the rest");
}

#[test]
fn idle_nodes_of_a_share_are_lent_and_come_back() {
    let story = pinned(8).waits(job(1).tasks(3).gpus(8, &[]));
    assert_eq!(first(&story), on(&["a", "b", "c"], QosClass::Borrowed));
    let lent = pinned(8).running(9, "default", &[("b", &ALL, 4)]).borrowed();
    let back = lent.clone().waits(job(1).within("vision").gpus(1, &[])).plan();
    assert_eq!(back.preemptions.iter().map(|p| p.job).collect::<Vec<_>>(), [JobId(9)]);
    let named = lent.waits(job(1).within("vision").gpus(1, &[]).only("b")).plan();
    assert_eq!(named.preemptions.len(), 1, "its share is a right to this node");
}

#[test]
fn what_is_guaranteed_beyond_its_nodes_lies_anywhere() {
    let gang = pinned(16).waits(job(1).within("vision").tasks(2).gpus(8, &[]));
    assert_eq!(first(&gang), on(&["a", "b"], QosClass::Guaranteed));
    let full = pinned(16).running(9, "vision", &[("b", &ALL, 4)]);
    let second = full.waits(job(1).within("vision").gpus(8, &[]));
    assert_eq!(first(&second), on(&["a"], QosClass::Guaranteed));
}

#[test]
fn what_a_share_leaves_of_its_nodes_is_everybodys() {
    let story = cluster().node("b").gpus(8, "A100");
    let story = story.share("vision", &[("A100", 4)], None).pinned(&["b", "gone"]);
    let half = story.clone().waits(job(1).gpus(4, &[]));
    assert_eq!(first(&half), on(&["b"], QosClass::Guaranteed));
    let own = story.clone().waits(job(1).within("vision").gpus(4, &[]));
    assert_eq!(first(&own), on(&["b"], QosClass::Guaranteed));
    let all = story.waits(job(1).gpus(8, &[]));
    assert_eq!(first(&all), on(&["b"], QosClass::Borrowed));
}

#[test]
fn a_part_has_its_share_on_the_nodes_of_its_whole() {
    let story = cluster().node("a").gpus(8, "A100").node("b").gpus(8, "A100");
    let story = story.node("c").gpus(8, "A100");
    let story = story.share("vision", &[("A100", 16)], None).pinned(&["b", "c"]);
    let story = story.share("eyes", &[("A100", 8)], None).part_of("vision").borrows_nothing();
    let part = story.clone().waits(job(1).within("eyes").gpus(8, &[]));
    assert_eq!(first(&part), on(&["b"], QosClass::Guaranteed));
    let other = story.waits(job(1).within("default").tasks(2).gpus(8, &[]));
    assert_eq!(first(&other).1, QosClass::Borrowed, "one node is guaranteed to nobody");
}

#[test]
fn who_asks_for_nodes_on_which_too_little_of_his_share_lies_is_told_so() {
    let story = pinned(12).borrows_nothing();
    let gang = || job(1).within("vision").tasks(2).gpus(4, &[]);
    let told = |fit| WaitReason::ShareElsewhere {
        virtual_cluster: virtual_cluster("vision"),
        tasks: 2,
        fit,
    };
    let reason = |story: Story| story.plan().waiting[&JobId(1)].reason.clone();
    let named = || gang().only("a");
    assert_eq!(admit(&story.snapshot, &named().request), Ok(()), "shares may change");
    assert_eq!(reason(story.clone().waits(named())), told(1));
    let busy = story.clone().running(9, "vision", &[("c", &[0, 1, 2, 3], 4)]);
    assert_eq!(reason(busy.waits(named())), told(1), "whatever runs");
    let Answer::Waits(said) = dry_run(&story.snapshot, &named().request, NOW) else {
        panic!("it would wait")
    };
    assert_eq!(said.waiting.reason, told(1));

    let one = story.clone().waits(job(1).within("vision").gpus(4, &[]).only("a"));
    assert_eq!(first(&one), on(&["a"], QosClass::Guaranteed), "as much of it lies there");
    assert_eq!(first(&story.waits(gang())), on(&["b"], QosClass::Guaranteed));
    let lent = pinned(12).waits(named());
    assert_eq!(first(&lent), on(&["a"], QosClass::Borrowed), "others may borrow");
}

#[test]
fn a_level_is_asked_for_as_nodes_are() {
    let story = cluster().node("a").gpus(8, "A100").label("rack", "1");
    let story = story.node("b").gpus(8, "A100").label("rack", "2");
    let story = story.share("vision", &[("A100", 12)], None).pinned(&["b"]).borrows_nothing();
    let gang = |rack| job(1).within("vision").tasks(4).gpus(2, &[]).labelled("rack", rack);
    let apart = story.clone().waits(gang("1")).plan();
    let (virtual_cluster, tasks, fit) = (virtual_cluster("vision"), 4, 2);
    let told = WaitReason::ShareElsewhere { virtual_cluster, tasks, fit };
    assert_eq!(apart.waiting[&JobId(1)].reason, told);
    assert_eq!(first(&story.waits(gang("2"))), on(&["b"], QosClass::Guaranteed));
}

/// Nodes of eight GPUs, each in a rack of one site.
fn in_racks(nodes: &[(&str, &str)]) -> Story {
    nodes.iter().fold(cluster(), |story, (name, rack)| {
        story.node(name).gpus(8, "A100").label("rack", rack).label("site", "north")
    })
}

#[test]
fn a_share_lies_in_the_places_that_it_names() {
    let story = in_racks(&[("a", "1"), ("b", "2"), ("c", "1"), ("d", "2")]).node("e");
    let story = story.gpus(8, "A100").share("vision", &[("A100", 16)], None).lies_in(Rack, "2");
    let gang = |tasks: u32| job(1).tasks(tasks).gpus(8, &[]);
    let own = story.clone().waits(gang(2).within("vision"));
    assert_eq!(first(&own), on(&["b", "d"], QosClass::Guaranteed));
    let others = story.clone().waits(gang(3));
    assert_eq!(first(&others), on(&["a", "c", "e"], QosClass::Guaranteed), "they have the rest");
    let lent = story.waits(gang(4));
    assert_eq!(first(&lent).1, QosClass::Borrowed, "what is idle is lent as everywhere");
}

#[test]
fn whole_racks_hold_gangs_that_require_one_whatever_others_run() {
    let nodes = ["1", "2", "3"].map(|rack| ["a", "b"].map(|node| (node.to_owned() + rack, rack)));
    let nodes = nodes.concat();
    let nodes: Vec<_> = nodes.iter().map(|(name, rack)| (name.as_str(), *rack)).collect();
    let story = in_racks(&nodes).share("vision", &[("A100", 32)], None);
    let story = story.lies_in(Rack, "1").lies_in(Rack, "3");
    let mut state = State::of(&story.snapshot);
    for id in 1..=12 {
        state.submit(&job(id).gpus(4, &[]).request);
    }
    assert_eq!(state.pass(NOW).placements.len(), 12, "others have all there is, most of it lent");
    for id in [20, 21] {
        let gang = job(id).within("vision").tasks(2).gpus(8, &[]).requires(Rack);
        state.submit(&gang.request);
    }
    let left = state.pass(NOW).preemptions;
    assert_eq!(left.len(), 8, "{left:?}");
    left.iter().for_each(|preemption| state.ended(preemption.job));
    let placements = state.pass(NOW).placements;
    let racks: Vec<BTreeSet<char>> = placements
        .iter()
        .map(|placed| placed.tasks.iter().filter_map(|t| t.node.as_str().chars().last()).collect())
        .collect();
    assert!(placements.iter().all(|placed| placed.qos_class == QosClass::Guaranteed));
    let expected = [BTreeSet::from(['1']), BTreeSet::from(['3'])];
    assert!(racks.len() == 2 && expected.iter().all(|rack| racks.contains(rack)), "{racks:?}");
}

#[test]
fn who_names_a_node_more_narrowly_has_it() {
    let story = in_racks(&[("a", "1"), ("b", "1"), ("c", "2"), ("d", "3")]);
    let story = story.share("lab", &[("A100", 16)], None).lies_in(Site, "north");
    let story = story.share("vision", &[("A100", 8)], None).lies_in(Rack, "2");
    let story = story.share("eyes", &[("A100", 8)], None).pinned(&["a"]);
    for (name, tasks, nodes) in
        [("lab", 2, &["b", "d"][..]), ("vision", 1, &["c"]), ("eyes", 1, &["a"])]
    {
        let asked = story.clone().waits(job(1).within(name).tasks(tasks).gpus(8, &[]));
        assert_eq!(first(&asked), on(nodes, QosClass::Guaranteed), "{name}");
    }
}

#[test]
fn a_share_moves_with_the_labels_of_nodes() {
    let story = in_racks(&[("a", "1"), ("b", "2")]);
    let mut story = story.share("vision", &[("A100", 8)], None).lies_in(Rack, "2");
    let mut state = State::of(&story.snapshot);
    let nodes = &mut story.snapshot.nodes;
    for (node, rack) in nodes.iter_mut().zip(["2", "1"]) {
        node.labels.insert("rack".to_owned(), rack.to_owned());
    }
    state.set_nodes(nodes);
    state.submit(&job(1).within("vision").gpus(8, &[]).request);
    assert_eq!(places(&state.pass(NOW).placements[0]), "a:0,1,2,3,4,5,6,7");
}
