//! What happens at the same time: a stop and a launch, a stop and an end; and what comes and goes.

use api::jobs::JobDetail;
use bytes::Bytes;
use control::{Control, Options};
use engine::simulated::Call;
use protocol::ids::NodeName;
use protocol::state::State;
use protocol::time::Timestamp;

use crate::house::{House, PATIENCE, admin, close, job, key, submit, until, until_state};

/// Jobs that run, ten on each of four nodes.
const MANY: usize = 40;

/// A server whose tasks have a guest.
async fn start(house: &House) -> Control {
    let options = house.options(house.database().await);
    let guests = vec![Bytes::from_static(b"a program")];
    control::start(Options { guests, ..options }).await.unwrap()
}

async fn until_empty(house: &House) {
    tokio::time::timeout(PATIENCE, house.node(0).until_empty()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_is_stopped_whatever_call_of_its_launch_is_under_way() {
    for call in [Call::Fill, Call::Create, Call::Start] {
        let house = House::new(1);
        let control = start(&house).await;
        let backend = &control.backend;
        house.node(0).hang(call, true);
        submit(backend, job("begins", 1, 8, "sleep 1000", "")).await;
        tokio::time::timeout(PATIENCE, house.node(0).until_hung(1)).await.unwrap();
        for _ in 0..2 {
            backend.jobs.stop(&admin(), &key("begins")).await.unwrap();
        }
        house.node(0).hang(call, false);
        let stopped = until_state(backend, "begins", State::Stopped).await;
        assert_eq!(stopped.attempts.len(), 1, "{call:?}: {stopped:#?}");
        until_empty(&house).await;
        // What it had is free: another one has all of it.
        submit(backend, job("next", 1, 8, "exit 0", "")).await;
        until_state(backend, "next", State::Succeeded).await;
        until_empty(&house).await;
        assert!(house.node(0).most_made() <= 1, "{call:?}");
        close(&control).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_is_stopped_while_its_image_comes() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    house.node(0).set_pull_time(Some(PATIENCE * 100));
    submit(backend, job("pulls", 1, 8, "sleep 1000", "")).await;
    let pulls = |detail: &JobDetail| {
        let mut tasks = detail.attempts.iter().flat_map(|attempt| &attempt.tasks);
        tasks.any(|task| task.progress.is_some())
    };
    until(backend, "pulls", pulls).await;
    backend.jobs.stop(&admin(), &key("pulls")).await.unwrap();
    until_state(backend, "pulls", State::Stopped).await;
    // Its GPUs are free, though nothing has come.
    house.node(0).set_pull_time(None);
    submit(backend, job("next", 1, 8, "exit 0", "")).await;
    until_state(backend, "next", State::Succeeded).await;
    assert_eq!(house.node(0).starts(), 1);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_stop_and_an_end_that_meet_one_counts() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    let names: Vec<String> = (0..14).map(|number| format!("meets-{number}")).collect();
    for (number, name) in names.iter().enumerate() {
        let command = format!("sleep 0.{number:02}; exit 0");
        submit(backend, job(name, 1, 0, &command, r#""retryCount": 3,"#)).await;
    }
    // One after the other they end; each is stopped while some other does.
    for name in &names {
        // One that has ended already is not stopped any more.
        let _refused = backend.jobs.stop(&admin(), &key(name)).await;
        let _again = backend.jobs.stop(&admin(), &key(name)).await;
    }
    for name in &names {
        let ended = until(backend, name, |detail| detail.summary.state.is_final()).await;
        assert!([State::Stopped, State::Succeeded].contains(&ended.summary.state), "{ended:#?}");
        assert!(ended.attempts.len() <= 1, "{ended:#?}");
    }
    until_empty(&house).await;
    assert!(house.node(0).most_made() <= 1);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_comes_and_goes_keeps_its_tasks() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    submit(backend, job("stays", 2, 1, "sleep 1000", "")).await;
    let all_run = |detail: &JobDetail| {
        let mut tasks = detail.attempts.iter().flat_map(|attempt| &attempt.tasks);
        tasks.all(|task| task.state == State::Running) && detail.summary.state == State::Running
    };
    until(backend, "stays", all_run).await;
    for _ in 0..3 {
        house.node(0).set_unreachable(true);
        until_state(backend, "stays", State::Unknown).await;
        house.node(0).set_unreachable(false);
        let back = until(backend, "stays", all_run).await;
        assert_eq!(back.attempts.len(), 1, "{back:#?}");
    }
    submit(backend, job("comes", 1, 1, "exit 0", "")).await;
    until_state(backend, "comes", State::Succeeded).await;
    assert_eq!((house.node(0).starts(), house.node(0).most_made()), (3, 1));
    close(&control).await;
}

/// The state of a job, those of its tasks and when they began, and how often something happened to it.
async fn story(control: &Control, name: &str) -> (State, Vec<(State, Option<Timestamp>)>, usize) {
    let jobs = &control.backend.jobs;
    let detail = jobs.get(&admin(), &key(name)).await.unwrap();
    let events = jobs.events(&admin(), &key(name)).await.unwrap().len();
    let tasks = detail.attempts.iter().flat_map(|attempt| &attempt.tasks);
    (detail.summary.state, tasks.map(|task| (task.state, task.started_at)).collect(), events)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_runs_goes_on_over_a_restart_as_if_there_had_been_none() {
    let house = House::new(4);
    let control = house.start().await;
    let nodes = control.backend.nodes.list(&admin()).await.unwrap();
    let on = |node: &NodeName, name: &str, command: &str| {
        job(name, 1, 0, command, &format!(r#""extras": {{"berth": {{"nodes": "{node}"}}}},"#))
    };
    let mut names = Vec::new();
    for (number, node) in nodes.iter().cycle().take(MANY).enumerate() {
        let name = format!("runs-{number}");
        submit(&control.backend, on(&node.name, &name, "sleep 1000")).await;
        names.push(name);
    }
    let mut before = Vec::new();
    for name in &names {
        until_state(&control.backend, name, State::Running).await;
        before.push(story(&control, name).await);
    }
    close(&control).await;
    drop(control);
    let control = house.start().await;
    // A node was looked at when something new has run on it.
    for (number, node) in nodes.iter().enumerate() {
        let name = format!("next-{number}");
        submit(&control.backend, on(&node.name, &name, "exit 0")).await;
        until_state(&control.backend, &name, State::Succeeded).await;
    }
    for (name, before) in names.iter().zip(before) {
        assert_eq!(story(&control, name).await, before, "{name}");
    }
    let starts: u64 = (0..4).map(|node| house.node(node).starts()).sum();
    assert_eq!(starts, MANY as u64 + 4, "nothing was started twice");
    close(&control).await;
}
