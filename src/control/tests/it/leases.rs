//! Tasks that run on without a word from the server for as long as their lease lasts, and no longer.

use bytes::Bytes;
use control::Control;
use database::ConnectionTrait;
use protocol::cluster::VirtualClusterSettings;
use protocol::exit::Cause;
use protocol::ids::VirtualClusterName;
use protocol::state::State;

use crate::house::{House, admin, close, job, submit, until, until_state};

/// Whose virtual cluster has a lease of so many minutes.
async fn start(house: &House, minutes: u32) -> Control {
    let mut options = house.options(house.database().await);
    options.guests = vec![Bytes::from_static(b"a program")];
    options.virtual_clusters = vec![VirtualClusterSettings {
        lease: Some(minutes),
        ..VirtualClusterSettings::new(VirtualClusterName::default())
    }];
    control::start(options).await.unwrap()
}

/// A minute is long for a test: all attempts have a lease of a second from the next start on.
async fn shorten(control: Control) {
    let transaction = control.database().begin().await.unwrap();
    let shorter = "UPDATE attempts SET lease = 1 WHERE lease IS NOT NULL";
    transaction.execute_unprepared(shorter).await.unwrap();
    transaction.commit().await.unwrap();
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_nodes_job_begins_elsewhere_once_its_lease_is_over() {
    let house = House::new(3);
    let control = start(&house, 1).await;
    for name in ["moves", "stays"] {
        submit(&control.backend, job(name, 1, 8, "sleep 1000", r#""retryCount": 0,"#)).await;
    }
    let first = until_state(&control.backend, "moves", State::Running).await;
    until_state(&control.backend, "stays", State::Running).await;
    shorten(control).await;
    let node = first.attempts[0].tasks[0].node.clone();
    let silent = house.node(house.index_of(&node));
    silent.set_unreachable(true);

    let control = start(&house, 1).await;
    let backend = &control.backend;
    let moved = until(backend, "moves", |detail| {
        detail.attempts.len() == 2 && detail.summary.state == State::Running
    })
    .await;
    let cause = &moved.attempts[0].exit.as_ref().unwrap().cause;
    assert_eq!(*cause, Cause::NodeLost { node: node.clone() });
    assert_eq!((moved.summary.retries.user, moved.summary.retries.platform), (0, 1));
    assert_ne!(moved.attempts[1].tasks[0].node, node);
    // Longer than its lease as well, but it was heard all the time.
    let stays = until_state(backend, "stays", State::Running).await;
    assert_eq!(stays.attempts.len(), 1);

    silent.set_unreachable(false);
    silent.until_empty().await;
    let after = until_state(backend, "moves", State::Running).await;
    assert_eq!(after.attempts.len(), 2, "what comes back does not go on");
    close(&control).await;
}

/// Nobody has to wait for a node that is silent to have his job stopped.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_is_to_stop_ends_with_its_lease() {
    let house = House::new(1);
    let control = start(&house, 1).await;
    submit(&control.backend, job("ends", 1, 1, "sleep 1000", "")).await;
    until_state(&control.backend, "ends", State::Running).await;
    shorten(control).await;
    house.node(0).set_unreachable(true);
    let control = start(&house, 1).await;
    let backend = &control.backend;
    let ends = until(backend, "ends", |_| true).await;
    backend.jobs.stop(&admin(), &ends.summary.key).await.unwrap();
    let stopped = until_state(backend, "ends", State::Stopped).await;
    assert_eq!(stopped.attempts.len(), 1);
    close(&control).await;
}
