//! Jobs that say on which nodes they run.

use api::ErrorCode;
use api::cluster::Drain;
use api::jobs::{DryRun, Submission};
use control::Control;
use protocol::ids::NodeName;
use protocol::state::State;
use protocol::wait::WaitReason;

use crate::house::{House, admin, close, job, submit, until, until_state};

/// Nodes, in turn in rack 0 and in rack 1.
async fn start(house: &House) -> (Control, Vec<NodeName>) {
    let mut options = house.options(house.database().await);
    for (at, node) in options.nodes.iter_mut().enumerate() {
        node.labels.insert("rack".to_owned(), (at % 2).to_string());
    }
    let names = options.nodes.iter().map(|node| node.name.clone()).collect();
    (control::start(options).await.unwrap(), names)
}

fn selecting(name: &str, selector: &str) -> String {
    job(name, 2, 1, "sleep 1000", &format!(r#""extras": {{"berth": {{{selector}}}}},"#))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_run_on_the_nodes_that_the_job_asks_for() {
    let house = House::new(2);
    let (control, nodes) = start(&house).await;
    let backend = &control.backend;
    let by_name = |node: &NodeName| format!(r#""nodes": "{node}""#);
    let by_label = |rack: u32| format!(r#""nodeLabels": {{"rack": {rack}}}"#);
    let cases = [
        ("first", by_name(&nodes[0]), 0),
        ("second", by_name(&nodes[1]), 1),
        ("third", by_label(0), 0),
        ("fourth", by_label(1), 1),
    ];
    for (name, selector, at) in cases {
        submit(backend, selecting(name, &selector)).await;
        let detail = until_state(backend, name, State::Running).await;
        let tasks = &detail.attempts[0].tasks;
        assert!(tasks.len() == 2 && tasks.iter().all(|task| task.node == nodes[at]), "{name}");
        assert!(!detail.nodes.is_any());
    }
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_of_a_gang_run_in_one_rack() {
    let house = House::new(3);
    let (control, nodes) = start(&house).await;
    let backend = &control.backend;
    for node in &nodes {
        submit(backend, selecting(node.as_str(), &format!(r#""nodes": "{node}""#))).await;
        until_state(backend, node.as_str(), State::Running).await;
    }
    let text = job("gang", 2, 5, "sleep 1000", "");
    let answer = backend.jobs.check(&admin(), &text).await.unwrap().dry_run.unwrap();
    let (rack, place) = (vec![nodes[0].clone(), nodes[2].clone()], Some("rack=0".to_owned()));
    assert_eq!(answer, DryRun::FitsNow { nodes: rack.clone(), borrowed: false, place });
    submit(backend, text).await;
    let detail = until_state(backend, "gang", State::Running).await;
    let tasks = detail.attempts[0].tasks.iter();
    assert_eq!(tasks.map(|task| task.node.clone()).collect::<Vec<_>>(), rack);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_asks_for_a_node_waits_for_it_and_for_no_other() {
    let house = House::new(2);
    let (control, nodes) = start(&house).await;
    let backend = &control.backend;
    backend.nodes.drain(&admin(), &nodes[1], Drain::Quietly).await.unwrap();
    submit(backend, selecting("waits", r#""nodeLabels": "rack=1""#)).await;
    let waits = until(backend, "waits", |detail| detail.summary.waiting.is_some()).await;
    assert_eq!(waits.summary.waiting.unwrap().reason, WaitReason::NodeDown { nodes: 1 });
    backend.nodes.drain(&admin(), &nodes[1], Drain::Off).await.unwrap();
    until_state(backend, "waits", State::Running).await;

    let text = selecting("never", r#""nodes": ["none"], "nodeLabels": "rack=1""#);
    let report = backend.jobs.check(&admin(), &text).await.unwrap();
    assert_eq!(report.problems[0].path, "extras.berth.nodes");
    assert!(matches!(
        report.dry_run,
        Some(DryRun::Never { reason: WaitReason::NodesAbsent { .. } })
    ));
    let submission = Submission { text, cloned_from: None, expected_name: None };
    let refused = backend.jobs.submit(&admin(), submission).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ImpossibleRequestError);
    assert!(
        refused.message.contains("There is no node named none and labelled rack=1."),
        "{}",
        refused.message
    );
    close(&control).await;
}
