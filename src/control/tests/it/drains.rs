//! Nodes that are to be empty.

use api::audit::AuditAction;
use api::cluster::Drain;
use protocol::exit::Cause;
use protocol::state::State;

use crate::house::{House, admin, close, job, submit, until, until_state};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_runs_on_an_emptied_node_goes_elsewhere() {
    let house = House::new(2);
    let control = house.start().await;
    let backend = &control.backend;
    submit(backend, job("moves", 2, 2, "sleep 1000", "")).await;
    let first = until_state(backend, "moves", State::Running).await;
    let node = first.attempts[0].tasks[0].node.clone();
    backend.nodes.drain(&admin(), &node, Drain::Quietly).await.unwrap();
    backend.nodes.drain(&admin(), &node, Drain::Now).await.unwrap();
    let moved = until(backend, "moves", |detail| {
        detail.attempts.len() == 2 && detail.summary.state == State::Running
    })
    .await;
    let cause = &moved.attempts[0].exit.as_ref().unwrap().cause;
    assert_eq!(*cause, Cause::NodeDrained { node: node.clone() });
    assert_eq!((moved.summary.retries.user, moved.summary.retries.platform), (0, 0));
    assert!(moved.attempts[1].tasks.iter().all(|task| task.node != node));
    let events = backend.jobs.events(&admin(), &moved.summary.key).await.unwrap();
    let told = events.iter().find(|event| event.kind == "moved").unwrap();
    assert!(told.message.contains(node.as_str()), "{told:?}");
    let view = backend.nodes.get(&admin(), &node).await.unwrap();
    assert!(view.emptied && view.tasks.is_empty());
    backend.nodes.drain(&admin(), &node, Drain::Off).await.unwrap();
    let log = backend.audit.list(&admin(), None, 10).await.unwrap();
    let written: Vec<_> = log.iter().map(|entry| (entry.action, entry.detail.as_str())).collect();
    let drained = |words| (AuditAction::NodeDrained, words);
    let all = ["takes tasks again", "is emptied at once", "takes nothing new"];
    assert_eq!(written, all.map(drained));
    assert!(!backend.nodes.get(&admin(), &node).await.unwrap().emptied);
    close(&control).await;
}

/// Only somebody who knows it can say that a node which does not answer is dead.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_on_a_dead_node_starts_elsewhere() {
    let house = House::new(2);
    let control = house.start().await;
    let backend = &control.backend;
    submit(backend, job("survives", 1, 1, "sleep 1000", "")).await;
    let first = until_state(backend, "survives", State::Running).await;
    let node = first.attempts[0].tasks[0].node.clone();
    let at = house.index_of(&node);
    house.node(at).set_unreachable(true);
    until_state(backend, "survives", State::Unknown).await;
    backend.nodes.drain(&admin(), &node, Drain::Quietly).await.unwrap();
    until_state(backend, "survives", State::Unknown).await;
    backend.nodes.drain(&admin(), &node, Drain::Now).await.unwrap();
    let again = until(backend, "survives", |detail| {
        detail.attempts.len() == 2 && detail.summary.state == State::Running
    })
    .await;
    let cause = &again.attempts[0].exit.as_ref().unwrap().cause;
    assert_eq!(*cause, Cause::NodeLost { node: node.clone() });
    assert_eq!((again.summary.retries.user, again.summary.retries.platform), (0, 1));
    assert_ne!(again.attempts[1].tasks[0].node, node);
    // What still ran there is nobody's any more.
    house.node(at).set_unreachable(false);
    house.node(at).until_empty().await;
    let after = until_state(backend, "survives", State::Running).await;
    assert_eq!(after.attempts.len(), 2);
    close(&control).await;
}
