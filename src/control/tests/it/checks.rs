//! Checks of an administrator's own say whether nodes are well, and whose fault a failure is.

use std::time::Duration;

use api::cluster::Drain;
use control::{Control, MeasuredEvery, Options, Rules};
use engine::DiskRoom;
use engine::simulated::Call;
use protocol::cluster::NodeCondition;
use protocol::exit::Cause;
use protocol::health::{Check, Sign};
use protocol::ids::NodeName;
use protocol::state::State;

use crate::house::{House, admin, close, job, key, submit, until, until_node, until_state};

const ONCE: &str = r#""retryCount": 0,"#;

/// A house of one node that has to go through a check.
async fn checked(house: &House, when: &str, command: &str) -> (Control, NodeName) {
    let check = serde_json::json!({
        "name": "disk", "image": "berth/base", "command": command, "when": when,
    });
    let check: Check = serde_json::from_value(check).unwrap();
    let options = Options { checks: vec![check], ..house.options(house.database().await) };
    let name = options.nodes[0].name.clone();
    (control::start(options).await.unwrap(), name)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_fails_on_a_node_that_fails_its_check_is_tried_again_uncounted() {
    let house = House::new(1);
    let (control, name) = checked(&house, "after", "sleep 0; exit 1").await;
    let backend = &control.backend;
    submit(backend, job("fails", 1, 1, "sleep 0; exit 3", ONCE)).await;
    let again = until(backend, "fails", |detail| detail.summary.retries.platform > 0).await;
    let exit = again.attempts[0].exit.as_ref().unwrap();
    let Cause::NodeUnwell { node, message } = &exit.cause else { panic!("{exit:?}") };
    assert_eq!((node, exit.code), (&name, Some(3)));
    assert!(message.starts_with("the check disk fails: "), "{message}");
    assert_eq!((again.summary.retries.user, again.summary.retries.platform), (0, 1));

    let closed = until_node(backend, &name, |node| !node.health.ailments.is_empty()).await;
    assert_eq!(closed.condition, NodeCondition::Draining);
    backend.jobs.stop(&admin(), &key("fails")).await.unwrap();
    until_state(backend, "fails", State::Stopped).await;
    backend.nodes.drain(&admin(), &name, Drain::Off).await.unwrap();
    let opened = until_node(backend, &name, |node| node.health.ailments.is_empty()).await;
    assert_eq!(opened.condition, NodeCondition::Ready);
    let [was] = opened.health.history.as_slice() else { panic!("{:?}", opened.health) };
    assert!(matches!(&was.ailment.sign, Sign::Check { name, .. } if name == "disk"));
    assert_eq!(was.ended_by, Some(admin().user));
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_starts_on_a_node_that_fails_what_comes_before() {
    let house = House::new(1);
    let (control, name) = checked(&house, "before", "sleep 0; exit 1").await;
    let backend = &control.backend;
    submit(backend, job("waits", 1, 1, "exit 0", ONCE)).await;
    let waits = until(backend, "waits", |detail| detail.summary.retries.platform > 0).await;
    let exit = waits.attempts[0].exit.as_ref().unwrap();
    assert!(matches!(&exit.cause, Cause::NodeUnwell { node, .. } if *node == name), "{exit:?}");
    assert_eq!(waits.attempts[0].tasks[0].started_at, None);
    until_node(backend, &name, |node| node.condition == NodeCondition::Draining).await;
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_passes_is_in_nobodys_way() {
    let house = House::new(1);
    let (control, name) = checked(&house, "before", "sleep 0").await;
    let backend = &control.backend;
    submit(backend, job("runs", 2, 1, "sleep 0", ONCE)).await;
    until_state(backend, "runs", State::Succeeded).await;
    let node = backend.nodes.get(&admin(), &name).await.unwrap();
    assert_eq!((node.condition, node.health.ailments.len()), (NodeCondition::Ready, 0));
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_is_back_once_its_check_has_passed_as_often_in_a_row_as_it_has_to() {
    let house = House::new(1);
    let (control, name) = checked(&house, "free", "sleep 0; exit 1").await;
    until_node(&control.backend, &name, |node| node.condition == NodeCondition::Draining).await;
    close(&control).await;
    drop(control);

    // It is mended, and looked at without a pause.
    let check = serde_json::json!({
        "name": "disk", "image": "berth/base", "command": "sleep 0", "when": "free",
        "every_minutes": 0, "passes": 2,
    });
    let check: Check = serde_json::from_value(check).unwrap();
    let options = Options { checks: vec![check], ..house.options(house.database().await) };
    let before = house.node(0).calls(Call::Start);
    let control = control::start(options).await.unwrap();
    let well = |node: &api::cluster::NodeView| {
        node.health.ailments.is_empty() && node.condition == NodeCondition::Ready
    };
    let back = until_node(&control.backend, &name, well).await;
    assert!(house.node(0).calls(Call::Start) >= before + 2, "one pass does not open it");
    let [was] = back.health.history.as_slice() else { panic!("{:?}", back.health) };
    assert!(matches!(&was.ailment.sign, Sign::Check { name, .. } if name == "disk"));
    assert_eq!(was.ended_by, None, "nobody has said so");
    submit(&control.backend, job("runs", 1, 1, "sleep 0", ONCE)).await;
    until_state(&control.backend, "runs", State::Succeeded).await;
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_whose_disk_is_full_takes_nothing() {
    let house = House::new(1);
    house.node(0).set_disk(Some(DiskRoom { free: 1 << 30, all: 1 << 40 }));
    let mut options = house.options(house.database().await);
    let measured_every = MeasuredEvery(Duration::from_millis(50));
    options.rules = Rules { measured_every, ..options.rules };
    let name = options.nodes[0].name.clone();
    let control = control::start(options).await.unwrap();
    let backend = &control.backend;
    let full = until_node(backend, &name, |node| node.health.has_failed()).await;
    assert_eq!(full.condition, NodeCondition::Draining);
    assert_eq!(full.health.ailments[0].sign, Sign::Disk(1));
    submit(backend, job("waits", 1, 1, "exit 0", ONCE)).await;
    until(backend, "waits", |detail| detail.summary.waiting.is_some()).await;
    close(&control).await;
}
