//! GPUs of nodes are found by asking their drivers.

use api::cluster::NodeView;
use api::{Actor, ErrorCode};
use protocol::cluster::GpuRuntime;
use protocol::exit::Cause;
use protocol::gpus::{GpuProblem, Reading, Told};
use protocol::state::State;

use crate::house::{House, admin, close, job, key, submit, until, until_node, until_state};

/// What the driver of a machine says that has GPUs with these UUIDs.
fn reading(uuids: &[&str]) -> Reading {
    let told = |(index, uuid): (u32, &&str)| Told {
        index,
        uuid: Some((*uuid).to_owned()),
        model: Some("NVIDIA A100-SXM4-80GB".to_owned()),
        profile: None,
        part_of: None,
        memory_mb: 81_920,
        fault: None,
        gpu_type: None,
    };
    let gpus = (0..).zip(uuids).map(told).collect();
    Reading { driver: Some("535.104.05".to_owned()), gpus, ..Reading::default() }
}

/// Index, UUID and whether it is healthy.
fn shown(node: &NodeView) -> Vec<(u32, &str, bool)> {
    let gpus = node.capacity.gpus.iter();
    gpus.map(|gpu| (gpu.index, gpu.uuid.as_deref().unwrap_or("-"), gpu.healthy)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gpus_are_found_and_who_holds_one_that_vanishes_is_told() {
    let house = House::new(1);
    let mut options = house.options(house.database().await);
    options.nodes[0].gpus = None;
    options.nodes[0].gpu_runtime = GpuRuntime::Nvidia;
    let name = options.nodes[0].name.clone();
    house.node(0).set_gpus(Some(reading(&["GPU-a", "GPU-b", "GPU-c"])));
    let control = control::start(options).await.unwrap();
    let backend = &control.backend;
    let found = until_node(backend, &name, |node| !node.capacity.gpus.is_empty()).await;
    let all = [(0, "GPU-a", true), (1, "GPU-b", true), (2, "GPU-c", true)];
    assert_eq!(shown(&found), all);
    assert_eq!(found.capacity.gpus[0].gpu_type.as_str(), "A100");
    assert_eq!(found.gpu_report.unwrap().driver.as_deref(), Some("535.104.05"));

    submit(backend, job("all", 1, 3, "sleep 1000", "")).await;
    until_state(backend, "all", State::Running).await;
    house.node(0).set_gpus(Some(reading(&["GPU-a", "GPU-c"])));
    backend.nodes.probe(&admin(), &name).await.unwrap();
    let lost = until_node(backend, &name, |node| shown(node) != all).await;
    assert_eq!(shown(&lost), [(0, "GPU-a", true), (1, "GPU-b", false), (2, "GPU-c", true)]);
    let events = backend.jobs.events(&admin(), &key("all")).await.unwrap();
    let told: Vec<_> = events.iter().filter(|event| event.kind == "gpu failed").collect();
    let [event] = told.as_slice() else { panic!("{events:?}") };
    assert!(event.warning && event.message.contains("GPU 1 (A100)"), "{event:?}");

    backend.jobs.stop(&admin(), &key("all")).await.unwrap();
    until_state(backend, "all", State::Stopped).await;
    submit(backend, job("pair", 1, 2, "sleep 1000", "")).await;
    let pair = until_state(backend, "pair", State::Running).await;
    assert_eq!(pair.attempts[0].tasks[0].gpus, [0, 2], "the others keep their indices");
    submit(backend, job("single", 1, 1, "sleep 1000", "")).await;
    until(backend, "single", |detail| detail.summary.waiting.is_some()).await;
    house.node(0).set_gpus(Some(reading(&["GPU-a", "GPU-b", "GPU-c"])));
    backend.nodes.probe(&admin(), &name).await.unwrap();
    until_state(backend, "single", State::Running).await;
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_fails_on_a_gpu_that_was_pulled_out_is_tried_again_on_another_one() {
    let house = House::new(1);
    let mut options = house.options(house.database().await);
    options.nodes[0].gpus = None;
    options.nodes[0].gpu_runtime = GpuRuntime::Nvidia;
    let name = options.nodes[0].name.clone();
    house.node(0).set_gpus(Some(reading(&["GPU-a", "GPU-b"])));
    let control = control::start(options).await.unwrap();
    let backend = &control.backend;
    until_node(backend, &name, |node| node.capacity.gpus.len() == 2).await;
    let never = r#""retryCount": 0,"#;
    submit(backend, job("trains", 1, 1, "sleep 5; exit 3", never)).await;
    let first = until_state(backend, "trains", State::Running).await;
    assert_eq!(first.attempts[0].tasks[0].gpus, [0]);
    house.node(0).set_gpus(Some(reading(&["GPU-b"])));
    backend.nodes.probe(&admin(), &name).await.unwrap();
    until_node(backend, &name, |node| shown(node)[0] == (0, "GPU-a", false)).await;

    let again = until(backend, "trains", |detail| detail.attempts.len() == 2).await;
    let exit = again.attempts[0].exit.as_ref().unwrap();
    let unwell =
        Cause::NodeUnwell { node: name, message: "GPU 0: it is not there any more".into() };
    assert_eq!((&exit.cause, exit.code), (&unwell, Some(3)));
    assert_eq!((again.summary.retries.user, again.summary.retries.platform), (0, 1));
    assert_eq!(again.attempts[1].tasks[0].gpus, [1]);
    // There it is its own fault.
    let ended = until_state(backend, "trains", State::Failed).await;
    assert_eq!(ended.summary.exit.unwrap().cause, Cause::CommandFailed);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_keeps_gpus_from_being_found_is_told() {
    let house = House::new(2);
    let mut options = house.options(house.database().await);
    options.nodes[0].gpu_runtime = GpuRuntime::Nvidia;
    let names = [0, 1].map(|at: usize| options.nodes[at].name.clone());
    house.node(0).set_gpus(Some(Reading::failed(GpuProblem::NoDriver)));
    let control = control::start(options).await.unwrap();
    let backend = &control.backend;
    let node = until_node(backend, &names[0], |node| node.gpu_report.is_some()).await;
    assert_eq!(node.gpu_report.unwrap().problem, Some(GpuProblem::NoDriver));
    assert_eq!(node.capacity.gpus.len(), 8, "what is set by hand holds");

    let nodes = &backend.nodes;
    let refused = nodes.probe(&admin(), &names[1]).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ConflictNodeError, "its tasks get none");
    let somebody = Actor { user: "ann".parse().unwrap(), admin: false };
    let refused = nodes.probe(&somebody, &names[0]).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ForbiddenUserError);
    let refused = nodes.probe(&admin(), &"none".parse().unwrap()).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::NoNodeError);
    assert_eq!(house.node(1).probes(), 0);
    close(&control).await;
}
