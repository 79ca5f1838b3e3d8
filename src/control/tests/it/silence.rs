//! Engines that do not answer some of the calls to them, hear them late, and those that refuse some.

use std::time::Duration;

use control::Control;
use engine::EngineError;
use engine::simulated::{Call, SimHandle};
use protocol::ids::NodeName;
use protocol::state::State;

use crate::house::{House, PATIENCE, admin, close, job, key, submit, until, until_state};

async fn start(house: &House) -> (Control, Vec<NodeName>) {
    let options = house.options(house.database().await);
    let names = options.nodes.iter().map(|node| node.name.clone()).collect();
    (control::start(options).await.unwrap(), names)
}

/// A job on one node.
fn on(node: &NodeName, name: &str, tasks: u32, command: &str) -> String {
    let selector = format!(r#""retryCount": 0, "extras": {{"berth": {{"nodes": "{node}"}}}},"#);
    job(name, tasks, 0, command, &selector)
}

/// Waits for what is soon so, or the test fails.
async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, what).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn logs_that_stall_hold_up_no_other_node() {
    let house = House::new(2);
    let (control, names) = start(&house).await;
    let backend = &control.backend;
    let (silent, other) = (house.node(0), house.node(1));
    silent.hang(Call::Logs, true);
    submit(backend, on(&names[0], "ends", 12, "exit 0")).await;
    until_state(backend, "ends", State::Succeeded).await;
    submit(backend, on(&names[0], "fails", 16, "exit 3")).await;
    // As many as may be read of one node: some to be kept, some for the reasons of exits.
    soon(silent.until_hung(24)).await;

    submit(backend, on(&names[1], "well", 2, "exit 0")).await;
    until_state(backend, "well", State::Succeeded).await;
    submit(backend, on(&names[1], "wrong", 2, "exit 3")).await;
    let wrong = until_state(backend, "wrong", State::Failed).await;
    assert_eq!(wrong.summary.exit.unwrap().code, Some(3));
    soon(other.until_empty()).await;
    silent.hang(Call::Logs, false);
    until_state(backend, "fails", State::Failed).await;
    soon(silent.until_empty()).await;
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_is_stopped_though_the_log_of_its_failed_task_stalls() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    house.node(0).hang(Call::Logs, true);
    submit(backend, job("fails", 1, 0, "exit 3", r#""retryCount": 0,"#)).await;
    soon(house.node(0).until_hung(1)).await;
    backend.jobs.stop(&admin(), &key("fails")).await.unwrap();
    let stopped = until_state(backend, "fails", State::Stopped).await;
    let exit = stopped.attempts[0].tasks[0].exit.as_ref().unwrap();
    assert_eq!(exit.code, Some(3), "what the engine says by itself is known");
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_whose_containers_cannot_be_listed_holds_up_no_other() {
    let house = House::new(2);
    let (control, names) = start(&house).await;
    let backend = &control.backend;
    for name in &names {
        let first = format!("first-{name}");
        submit(backend, on(name, &first, 1, "exit 0")).await;
        until_state(backend, &first, State::Succeeded).await;
    }
    house.node(0).hang(Call::List, true);
    submit(backend, on(&names[0], "unseen", 1, "exit 0")).await;
    soon(house.node(0).until_hung(1)).await;
    submit(backend, on(&names[1], "seen", 1, "exit 0")).await;
    until_state(backend, "seen", State::Succeeded).await;
    house.node(0).hang(Call::List, false);
    until_state(backend, "unseen", State::Succeeded).await;
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_removed_is_tried_again_after_pauses() {
    let house = House::new(2);
    let (control, names) = start(&house).await;
    let backend = &control.backend;
    let busy = house.node(0);
    busy.refuse(Call::Remove, true);
    submit(backend, on(&names[0], "stays", 4, "exit 0")).await;
    until_state(backend, "stays", State::Succeeded).await;
    // Whatever happens elsewhere has everything looked at again.
    for round in 0..5 {
        let name = format!("goes-{round}");
        submit(backend, on(&names[1], &name, 1, "exit 0")).await;
        until_state(backend, &name, State::Succeeded).await;
        soon(house.node(1).until_empty()).await;
    }
    // Pauses double: in the minute that this may take there are so many tries of each.
    let tries = busy.calls(Call::Remove);
    assert!(tries <= 4 * 7, "{tries} tries");
    busy.refuse(Call::Remove, false);
    soon(busy.until_empty()).await;
    close(&control).await;
}

/// Waits until a node was called so often.
async fn called(node: &SimHandle, call: Call, times: u64) {
    let waiting = async {
        while node.calls(call) < times {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    soon(waiting).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_that_comes_late_finds_its_job_or_nothing() {
    let house = House::new(1);
    let control = house.start().await;
    let (backend, node) = (&control.backend, house.node(0));
    node.hold_starts();
    submit(backend, job("stopped", 1, 8, "sleep 1000", "")).await;
    called(&node, Call::Start, 1).await;
    node.refuse(Call::Remove, true);
    backend.jobs.stop(&admin(), &key("stopped")).await.unwrap();
    called(&node, Call::Remove, 2).await;
    // Its place is nobody else's while it may be started.
    submit(backend, job("next", 1, 8, "exit 0", "")).await;
    let stopping = until(backend, "stopped", |_| true).await;
    assert_eq!(stopping.summary.state, State::Stopping);
    node.refuse(Call::Remove, false);
    until_state(backend, "stopped", State::Stopped).await;
    node.mend_starts();
    until_state(backend, "next", State::Succeeded).await;
    assert_eq!(node.starts(), 1, "what was stopped never began");
    soon(node.until_empty()).await;
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_attempt_follows_another_one_that_may_still_begin() {
    let house = House::new(1);
    let control = house.start().await;
    let (backend, node) = (&control.backend, house.node(0));
    node.hold_starts();
    submit(backend, job("late", 1, 1, "sleep 1000", r#""retryCount": 0,"#)).await;
    called(&node, Call::Start, 1).await;
    // Its next try finds that nothing can be made of it here: another attempt would follow.
    node.refuse(Call::Remove, true);
    node.fail_next_create(EngineError::Broken("no space left on device".to_owned()));
    called(&node, Call::Remove, 1).await;
    let late = until(backend, "late", |_| true).await;
    assert_eq!((late.attempts.len(), late.summary.state), (1, State::Preparing));
    node.mend_starts();
    let runs = until_state(backend, "late", State::Running).await;
    assert_eq!((runs.attempts.len(), runs.summary.retries.platform), (1, 0));
    assert_eq!((node.starts(), node.most_made()), (1, 1));
    close(&control).await;
}
