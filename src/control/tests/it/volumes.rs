//! What is filled for a job's tasks, whatever call to an engine is the last one or fails.

use api::files::{WriteMode, Writing};
use api::jobs::JobDetail;
use bytes::Bytes;
use control::{Consent, Control, Options};
use engine::simulated::{Call, Fault};
use engine::{EndpointOptions, Volume};
use protocol::epoch::Epoch;
use protocol::ids::JobId;
use protocol::state::State;

use crate::files::{at, content};
use crate::house::{House, PATIENCE, admin, close, job, submit, until_state};

/// A server whose tasks have a guest.
async fn start(house: &House) -> Control {
    let options = house.options(house.database().await);
    let guests = vec![Bytes::from_static(b"a program")];
    control::start(Options { guests, ..options }).await.unwrap()
}

/// Submits a job with code, of so many tasks that take a node each.
async fn submit_with_code(control: &Control, nodes: u32, command: &str) {
    let files = &control.backend.files;
    let writing = Writing { mode: WriteMode::Replace, length: None };
    let code = at("/admin/code/main.py");
    files.write(&admin(), &code, writing, content(&["print()"])).await.unwrap();
    let more = r#""retryCount": 0, "codeDir": "$PAI_DEFAULT_FS_URI/admin/code","#;
    submit(&control.backend, job("coded", nodes, 8, command, more)).await;
}

/// How many calls launch a task with guest and code on a node that has neither.
async fn calls_of_a_launch() -> u64 {
    let house = House::new(1);
    let control = start(&house).await;
    submit_with_code(&control, 1, "sleep 1000").await;
    until_state(&control.backend, "coded", State::Running).await;
    close(&control).await;
    house.node(0).launch_calls()
}

/// A node for each call of a launch and each of these faults, which it will meet there.
async fn nodes_that_fail(faults: [Fault; 2]) -> (House, u32) {
    let calls = calls_of_a_launch().await;
    // So many are launched at the same time, with one of two faults each.
    assert!((20..=32).contains(&calls), "both are filled in some calls each, not in {calls}");
    let failures: Vec<(u64, Fault)> =
        faults.into_iter().flat_map(|fault| (1..=calls).map(move |call| (call, fault))).collect();
    let house = House::new(failures.len());
    for (node, (call, fault)) in failures.iter().enumerate() {
        house.node(node).fail_launch(*call, *fault);
    }
    (house, u32::try_from(failures.len()).unwrap())
}

/// Each task ran once, with all that it was to have, and nobody was blamed for anything.
fn assert_untroubled(house: &House, nodes: u32, done: &JobDetail) {
    assert_eq!(done.attempts.len(), 1, "{done:#?}");
    assert_eq!((done.summary.retries.user, done.summary.retries.platform), (0, 0));
    for node in 0..nodes as usize {
        let node = house.node(node);
        assert_eq!((node.starts(), node.bare_starts(), node.most_made()), (1, 0, 1));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_have_their_code_whatever_call_of_their_launch_fails() {
    let (house, nodes) = nodes_that_fail([Fault::Refused, Fault::Unheard]).await;
    let control = start(&house).await;
    submit_with_code(&control, nodes, "exit 0").await;
    let done = until_state(&control.backend, "coded", State::Succeeded).await;
    assert_untroubled(&house, nodes, &done);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_have_their_code_whenever_the_server_is_killed() {
    let (house, nodes) = nodes_that_fail([Fault::Hangs, Fault::DoneAndHangs]).await;
    let control = start(&house).await;
    submit_with_code(&control, nodes, "exit 0").await;
    for node in 0..nodes as usize {
        tokio::time::timeout(PATIENCE, house.node(node).until_hung(1)).await.unwrap();
    }
    // Whatever waits for an answer is let go, as by the end of its process.
    close(&control).await;
    drop(control);
    let control = start(&house).await;
    let done = until_state(&control.backend, "coded", State::Succeeded).await;
    assert_untroubled(&house, nodes, &done);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_volume_that_cannot_be_removed_keeps_nobody_from_looking_at_its_node() {
    let house = House::new(1);
    let database = house.database().await;
    let key = control::KeyFile::new(house.path(), None);
    let (place, password) = ((&key, Consent::default()), Some("correct horse".into()));
    let founded = control::found(&database, place, password).await.unwrap();
    let options = house.options(database);
    let endpoint = options.nodes[0].endpoint.clone();
    let engine = engine::connect(&EndpointOptions { endpoint, ..Default::default() }).unwrap();
    let left = Volume {
        name: "left".to_owned(),
        cluster: founded.installation.clone(),
        attempt: Some((JobId(1_000), 0)),
        epoch: Epoch::default(),
    };
    engine.provide(&left, "any", &Bytes::new()).await.unwrap();
    let node = house.node(0);
    node.hang(Call::RemoveVolume, true);
    let control = control::start(options).await.unwrap();
    tokio::time::timeout(PATIENCE, node.until_hung(1)).await.unwrap();
    submit(&control.backend, job("runs", 2, 1, "exit 0", "")).await;
    until_state(&control.backend, "runs", State::Succeeded).await;
    tokio::time::timeout(PATIENCE, node.until_empty()).await.unwrap();
    assert_eq!(engine.volumes(&founded.installation).await.unwrap(), [left]);
    close(&control).await;
}
