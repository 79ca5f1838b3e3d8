//! A row that cannot be read keeps nothing else from going on.

use database::ConnectionTrait;
use protocol::cluster::NodeCondition;
use protocol::state::State;

use crate::house::{House, admin, close, job, key, submit, until_state};

/// Has the database of a server that does not run hold what no server stores.
async fn tamper(house: &House, changes: &[&str]) {
    let database = house.database().await;
    let transaction = database.begin().await.unwrap();
    for change in changes {
        transaction.execute_unprepared(change).await.unwrap();
    }
    transaction.commit().await.unwrap();
    database.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unreadable_row_stops_neither_the_start_nor_other_jobs() {
    let house = House::new(2);
    let control = house.start().await;
    submit(&control.backend, job("ended", 1, 1, "exit 0", "")).await;
    until_state(&control.backend, "ended", State::Succeeded).await;
    for node in 0..2 {
        house.node(node).until_empty().await;
    }
    submit(&control.backend, job("holds", 1, 1, "sleep 1000", "")).await;
    let holds = until_state(&control.backend, "holds", State::Running).await;
    let node = holds.attempts[0].tasks[0].node.clone();
    let containers = house.node(house.index_of(&node)).containers();
    assert_eq!(containers.len(), 1);
    close(&control).await;
    drop(control);
    let changes = [
        "UPDATE jobs SET exit = '{\"to\": \"come\"}' WHERE name = 'ended'",
        "UPDATE attempts SET exit = 'x' WHERE job = (SELECT id FROM jobs WHERE name = 'ended')",
        "UPDATE tasks SET ports = 'x' WHERE job = (SELECT id FROM jobs WHERE name = 'holds')",
    ];
    tamper(&house, &changes).await;

    let control = house.start().await;
    let backend = &control.backend;
    submit(backend, job("goes-on", 4, 1, "exit 0", "")).await;
    let done = until_state(backend, "goes-on", State::Succeeded).await;
    assert!(done.attempts[0].tasks.iter().all(|task| task.node != node), "{done:#?}");
    house.node(1 - house.index_of(&node)).until_empty().await;
    assert_eq!(house.node(house.index_of(&node)).containers(), containers, "they are left alone");
    let view = backend.nodes.get(&admin(), &node).await.unwrap();
    assert_eq!(view.condition, NodeCondition::Draining);
    let named = |words: &str| words.contains("/0/0/0/0 of table tasks cannot be read");
    assert!(view.problem.is_some_and(|words| named(&words)));
    let refused = backend.jobs.get(&admin(), &key("holds")).await.unwrap_err();
    assert!(named(&refused.message), "{refused}");
    close(&control).await;
}
