//! The simulated twin keeps the same contract, and fails when it is told to.

use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::simulated::Simulated;
use engine::{ContainerStatus, EndpointOptions, Engine, EngineError, LogRequest, connect};
use futures::{StreamExt, TryStreamExt};

use crate::contract::{World, keeps_the_contract};

fn node(endpoint: &str) -> Arc<dyn Engine> {
    connect(&EndpointOptions { endpoint: endpoint.into(), ..Default::default() }).unwrap()
}

fn world(endpoint: &str) -> World {
    World { engine: node(endpoint), image: "any".into() }
}

#[tokio::test]
async fn simulated_nodes_keep_the_contract() {
    keeps_the_contract(world("sim://contract")).await;
}

#[tokio::test]
async fn a_node_is_found_again_with_its_containers() {
    let first = world("sim://again?cpus=3");
    let name = first.run(1, "sleep 600").await;
    drop(first);
    let second = node("sim://again?cpus=7");
    let status = second.inspect(&name).await.unwrap().unwrap().status;
    assert!(matches!(status, ContainerStatus::Running { .. }));
    assert_eq!(second.info().await.unwrap().cpus, 7, "what its endpoint says now counts");
}

#[tokio::test]
async fn a_cut_off_node_fails_and_its_containers_run_on() {
    let world = world("sim://cut");
    let handle = Simulated::handle("cut");
    let name = world.run(1, "sleep 0.3").await;
    let mut changes = world.engine.changes("test").await.unwrap();
    handle.set_unreachable(true);
    let error = changes.next().await.unwrap().unwrap_err();
    assert!(matches!(error, EngineError::Unreachable(_)));
    assert!(changes.next().await.is_none());
    assert!(matches!(world.engine.info().await, Err(EngineError::Unreachable(_))));
    let spec = world.spec(2, "");
    assert!(matches!(world.engine.create(&spec).await, Err(EngineError::Unreachable(_))));
    handle.set_unreachable(false);
    assert_eq!(world.code(&name).await, 0);
}

#[tokio::test]
async fn a_container_runs_since_the_past_when_told_so() {
    let world = world("sim://dated");
    let name = world.run(1, "sleep 600").await;
    let since = protocol::time::Timestamp(1_000_000);
    Simulated::handle("dated").backdate(&name, since);
    let status = world.engine.inspect(&name).await.unwrap().unwrap().status;
    assert_eq!(status, ContainerStatus::Running { started_at: since });
    world.engine.stop(&name, Duration::ZERO).await.unwrap();
    let status = world.engine.inspect(&name).await.unwrap().unwrap().status;
    assert!(matches!(status, ContainerStatus::Exited { started_at: Some(at), .. } if at == since));
}

#[tokio::test]
async fn a_container_that_watches_writes_again_and_again() {
    let world = world("sim://watches");
    let name = world.run(1, "watch -n 0.02 date & sleep 600").await;
    let request = LogRequest { follow: true, stamped: true, ..LogRequest::default() };
    let log = world.engine.logs(&name, request).await.unwrap();
    // The first two lines are those that every container begins with.
    let said: Vec<_> = log.skip(2).take(5).try_collect().await.unwrap();
    let texts: Vec<_> = said.iter().map(|chunk| String::from_utf8_lossy(&chunk.bytes)).collect();
    let expected: Vec<_> = (1..=5).map(|number| format!("simulated: line {number}\n")).collect();
    assert_eq!(texts, expected);
    assert!(said.is_sorted_by(|one, next| one.at < next.at), "{said:?}");
    let whole = world.engine.logs(&name, LogRequest::default()).await.unwrap();
    let whole: Vec<_> = whole.try_collect().await.unwrap();
    assert!(whole.len() >= 7, "what was said is there for whoever comes later");
}

#[tokio::test]
async fn creations_and_pulls_can_fail() {
    let world = world("sim://failing");
    let handle = Simulated::handle("failing");
    handle.fail_next_create(EngineError::Failed("disk".into()));
    let spec = world.spec(1, "exit 0");
    assert!(matches!(world.engine.create(&spec).await, Err(EngineError::Failed(_))));
    world.engine.create(&spec).await.unwrap();

    handle.set_pull_time(Some(Duration::from_millis(50)));
    assert!(!world.engine.has_image("any").await.unwrap());
    let began = Instant::now();
    let lines: Vec<String> =
        world.engine.pull("any", None).await.unwrap().try_collect().await.unwrap();
    assert!(lines.len() > 1 && began.elapsed() >= Duration::from_millis(50));
    assert!(world.engine.has_image("any").await.unwrap());
    let denied = world.engine.pull("denied/x", None).await.unwrap().next().await.unwrap();
    assert!(matches!(denied, Err(EngineError::Denied(_))));
}

#[tokio::test]
async fn containers_can_be_lost() {
    let world = world("sim://lost");
    let name = world.run(1, "sleep 600").await;
    let handle = Simulated::handle("lost");
    assert_eq!((handle.containers(), handle.starts()), (vec![name.clone()], 1));
    handle.lose_containers();
    assert_eq!(world.engine.inspect(&name).await.unwrap(), None);
}

#[tokio::test]
async fn thousands_of_containers_a_second() {
    let world = world("sim://fast");
    let began = Instant::now();
    for job in 0..5000 {
        let name = world.run(job, "true").await;
        assert_eq!(world.code(&name).await, 0);
        world.engine.remove(&name).await.unwrap();
    }
    let took = began.elapsed();
    assert!(took < Duration::from_secs(5), "5000 containers took {took:?}");
}
