//! Jobs that ask for nodes by name or label, told by example.

use std::collections::BTreeMap;

use protocol::cluster::NodeCondition;
use protocol::ids::JobId;
use protocol::spec::NodeSelector;
use protocol::wait::{ResourceKind, WaitReason};

use crate::model::Answer;
use crate::story::{NOW, Story, cluster, gpu_type, job, node_name, virtual_cluster};
use crate::{admit, dry_run};

fn reason(story: &Story, id: i64) -> WaitReason {
    story.plan().waiting[&JobId(id)].reason.clone()
}

/// Two racks: one node of 8 A100 in each, and one of 2 V100 in the second.
fn racks() -> Story {
    let story = cluster().node("a").gpus(8, "A100").label("rack", "1");
    let story = story.node("b").gpus(8, "A100").label("rack", "2");
    story.node("c").gpus(2, "V100").label("rack", "2")
}

#[test]
fn a_job_goes_to_a_node_it_named() {
    let story = racks();
    assert_eq!(story.clone().waits(job(1).gpus(2, &[]).only("b").only("x")).fate(1), "b:0,1");
    assert_eq!(
        story.clone().waits(job(1).gpus(2, &["V100"]).labelled("rack", "2")).fate(1),
        "c:0,1"
    );
    let both = job(1).gpus(1, &[]).only("b").only("a").labelled("rack", "1");
    assert_eq!(story.waits(both).fate(1), "a:0");
}

#[test]
fn nodes_that_do_not_exist_are_refused_at_the_door() {
    let story = racks();
    let absent = |names: &[&str], labels: &[(&str, &str)]| WaitReason::NodesAbsent {
        wanted: NodeSelector {
            names: names.iter().map(|name| node_name(name)).collect(),
            labels: labels.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            ..NodeSelector::default()
        },
    };
    let admit = |request| admit(&story.snapshot, &request);
    assert_eq!(admit(job(1).only("x").request), Err(absent(&["x"], &[])));
    let third = job(1).labelled("rack", "3").request;
    assert_eq!(admit(third), Err(absent(&[], &[("rack", "3")])));
    let apart = job(1).only("a").labelled("rack", "2").request;
    assert_eq!(admit(apart), Err(absent(&["a"], &[("rack", "2")])));
    assert_eq!(admit(job(1).only("x").only("a").request), Ok(()), "one of them will do");
}

#[test]
fn what_is_short_is_said_of_the_nodes_it_may_use() {
    let busy = racks().running(9, "default", &[("c", &[0], 4)]);
    let short = |types: &[&str]| WaitReason::Short {
        resource: ResourceKind::Gpu,
        gpu_types: types.iter().map(|kind| gpu_type(kind)).collect(),
        needs: 2.into(),
        best_node: 1.into(),
    };
    assert_eq!(reason(&busy.clone().waits(job(1).gpus(2, &[]).only("c")), 1), short(&[]));
    let of_type = busy.clone().waits(job(1).gpus(2, &["V100", "V100"]));
    assert_eq!(reason(&of_type, 1), short(&["V100"]));
    let mut state = crate::State::of(&busy.waits(job(1).gpus(2, &[]).only("c")).snapshot);
    state.pass(crate::story::NOW);
    let scarce = state.explain(JobId(1), crate::story::NOW).unwrap().scarce.unwrap();
    assert_eq!((scarce.free, scarce.best_node), (1.into(), 1.into()));

    let admit = |request| admit(&racks().snapshot, &request);
    let largest = |needs: u64, largest: u64| WaitReason::Impossible {
        resource: ResourceKind::Gpu,
        needs: needs.into(),
        largest: largest.into(),
        virtual_cluster: None,
    };
    assert_eq!(admit(job(1).gpus(4, &[]).only("c").request), Err(largest(4, 2)));
    assert_eq!(admit(job(1).gpus(8, &[]).tasks(2).only("b").request), Err(largest(16, 8)));
    let other =
        WaitReason::TypeAbsent { wanted: vec![gpu_type("A100")], existing: vec![gpu_type("V100")] };
    assert_eq!(admit(job(1).gpus(1, &["A100"]).only("c").request), Err(other));
    let port = job(1).tasks(2).port("tb", 16_006, 1);
    assert_eq!(admit(port.clone().labelled("rack", "2").request), Ok(()));
    let once = WaitReason::Impossible {
        resource: ResourceKind::Port,
        needs: 2.into(),
        largest: 1.into(),
        virtual_cluster: None,
    };
    assert_eq!(admit(port.only("b").request), Err(once));
}

#[test]
fn nodes_that_lack_a_storage_are_no_choice_and_where_all_do_it_is_waited_for() {
    let asks = |gpus| job(1).gpus(gpus, &[]).lacks("a", "data");
    let waits = |job| racks().waits(job);
    assert!(waits(asks(8)).fate(1).starts_with("b:"));
    let absent = WaitReason::StorageAbsent { storage: "data".parse().unwrap() };
    assert_eq!(reason(&waits(asks(8).lacks("b", "data")), 1), absent);
    assert_eq!(waits(asks(2).lacks("b", "data")).fate(1), "c:0,1");
    assert_eq!(reason(&waits(asks(1).only("a")), 1), absent);
    let busy = racks().running(9, "default", &[("b", &[0], 4)]);
    assert!(matches!(reason(&busy.waits(asks(8)), 1), WaitReason::Short { .. }), "one has it");
    assert!(matches!(reason(&waits(asks(16)), 1), WaitReason::Impossible { .. }), "with it or not");
    let asked = |request| dry_run(&racks().snapshot, &request, NOW);
    let Answer::Waits(said) = asked(asks(8).lacks("b", "data").request) else { panic!() };
    assert_eq!(said.waiting.reason, absent);
    assert!(matches!(asked(asks(8).request), Answer::Fits(..)));
    assert!(matches!(asked(asks(16).request), Answer::Never(_)));
}

#[test]
fn a_node_that_is_down_is_waited_for_by_who_named_it() {
    let story = racks().condition(NodeCondition::Draining);
    let waits = story.waits(job(1).only("c")).waits(job(2).labelled("rack", "2"));
    assert_eq!(reason(&waits, 1), WaitReason::NodeDown { nodes: 1 });
    assert_eq!(waits.fate(2), "b:");
}

#[test]
fn a_share_of_one_type_is_no_right_to_a_node_of_another() {
    let story = racks().share("vision", &[("A100", 8)], None);
    let named = || job(1).within("vision").gpus(2, &[]).only("c");
    let opportunistic = story.clone().waits(named().priority(-1));
    assert_eq!(opportunistic.fate(1), "c:0,1");
    let refused = admit(&story.snapshot, &named().request);
    let never = WaitReason::Impossible {
        resource: ResourceKind::Gpu,
        needs: 2.into(),
        largest: 0.into(),
        virtual_cluster: Some(virtual_cluster("vision")),
    };
    assert_eq!(refused, Err(never));
}

#[test]
fn borrowed_work_gives_way_on_the_named_node_though_others_are_idle() {
    let story = racks().share("vision", &[("A100", 8)], None);
    let story = story.running(9, "default", &[("b", &[0, 1, 2, 3, 4, 5, 6, 7], 4)]).borrowed();
    let plan = story.waits(job(1).within("vision").gpus(8, &[]).only("b")).plan();
    let away: BTreeMap<_, _> = plan.preemptions.iter().map(|p| (p.job, p.taken_by)).collect();
    assert_eq!(away, BTreeMap::from([(JobId(9), JobId(1))]));
}

#[test]
fn who_waits_for_a_named_node_keeps_nobody_from_the_others() {
    let story = racks().running(9, "default", &[("b", &[0, 1, 2, 3, 4, 5, 6, 7], 4)]);
    let story = story.waits(job(1).gpus(8, &[]).only("b"));
    let story = story.waits(job(2).gpus(8, &[])).waits(job(3).gpus(8, &[]).labelled("rack", "2"));
    assert_eq!(story.fate(2), "a:0,1,2,3,4,5,6,7");
    assert!(matches!(reason(&story, 1), WaitReason::Short { .. }));
    let running_out = story.clone();
    let mut snapshot = running_out.snapshot;
    snapshot.running.clear();
    let freed = Story { snapshot };
    assert!(freed.fate(1).starts_with("b:"), "it is kept for the first");
    assert!(matches!(reason(&freed, 3), WaitReason::Short { .. }));
}
