//! Engines that two nodes would have.

use std::time::Duration;

use api::ErrorCode;
use protocol::cluster::{NodeCondition, NodeSettings};
use protocol::state::State;

use crate::house::{House, PATIENCE, admin, job, submit, until, until_node, until_state};

const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_node_with_the_endpoint_of_another_is_refused() {
    let house = House::new(2);
    let mut options = house.options(house.database().await);
    let second = options.nodes.pop().unwrap();
    let first = options.nodes[0].clone();
    let control = control::start(options).await.unwrap();
    let nodes = &control.backend.nodes;
    let same = first.endpoint.clone();
    for endpoint in [format!("{same}?gpus=8xA100"), same] {
        let copy = NodeSettings { endpoint, ..second.clone() };
        for refused in [
            nodes.save(&admin(), copy.clone()).await.unwrap_err(),
            nodes.save_effect(&admin(), copy.clone()).await.unwrap_err(),
        ] {
            assert_eq!(refused.code, ErrorCode::ConflictNodeError);
            let names = [first.name.as_str(), second.name.as_str()];
            assert!(
                names.iter().all(|name| refused.message.contains(*name)),
                "{}",
                refused.message
            );
        }
    }
    assert_eq!(nodes.list(&admin()).await.unwrap().len(), 1);
    nodes.save(&admin(), second.clone()).await.unwrap();
    nodes.save(&admin(), second).await.unwrap();
    control.shutdown().await;
}

/// One engine by two addresses, as a name and a number.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_by_two_addresses_gives_what_it_has_once() {
    let house = House::new(2);
    house.node(0).set_id("QWER:TYUI");
    house.node(1).set_id("QWER:TYUI");
    let mut options = house.options(house.database().await);
    let second = options.nodes.pop().unwrap();
    let first = options.nodes[0].name.clone();
    let control = control::start(options).await.unwrap();
    let backend = &control.backend;
    submit(backend, job("holds", 1, 8, "sleep 1000", "")).await;
    until_state(backend, "holds", State::Running).await;
    backend.nodes.save(&admin(), second.clone()).await.unwrap();
    let seen = until_node(backend, &second.name, |node| node.problem.is_some()).await;
    assert_eq!(seen.condition, NodeCondition::Draining);
    assert!(seen.problem.unwrap().contains(first.as_str()));
    submit(backend, job("waits", 1, 8, "sleep 1000", "")).await;
    until(backend, "waits", |detail| detail.summary.waiting.is_some()).await;
    let view = backend.nodes.get(&admin(), &first).await.unwrap();
    assert_eq!((view.condition, view.problem), (NodeCondition::Ready, None));
    // The engine is that node which it was before, whichever of the two answers first.
    let is_stored = async || {
        let node = database::nodes::get(control.database().read(), &first).await.unwrap().unwrap();
        node.observed.is_some_and(|observed| observed.engine_id.is_some())
    };
    let stored = async {
        while !is_stored().await {
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    };
    tokio::time::timeout(PATIENCE, stored).await.unwrap();
    control.shutdown().await;
    drop(control);

    house.node(0).set_unreachable(true);
    let mut options = house.options(house.database().await);
    options.nodes.truncate(1);
    let control = control::start(options).await.unwrap();
    let backend = &control.backend;
    until_node(backend, &first, |node| node.condition == NodeCondition::Unreachable).await;
    let seen = backend.nodes.get(&admin(), &second.name).await.unwrap();
    assert_eq!(seen.condition, NodeCondition::Draining, "{:?}", seen.problem);
    house.node(0).set_unreachable(false);
    until_node(backend, &first, |node| node.condition == NodeCondition::Ready).await;
    let waits = until(backend, "waits", |detail| detail.summary.waiting.is_some()).await;
    assert_eq!(waits.summary.state, State::Waiting);

    // They are two machines after all.
    house.node(1).set_id("ASDF:GHJK");
    until_state(backend, "waits", State::Running).await;
    control.shutdown().await;
}
