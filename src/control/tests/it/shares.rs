//! Parts of shares, shares in shapes, virtual clusters that borrow nothing, and linked GPUs.

use control::{Control, Options};
use protocol::cluster::{Shape, Share, VirtualClusterSettings};
use protocol::ids::{GpuType, VirtualClusterName};
use protocol::state::State;

use crate::house::{House, admin, close, job, key, submit, until, until_state};

fn titanx() -> GpuType {
    GpuType::new("TITANX").unwrap()
}

fn cluster(name: &str, gpus: u64) -> VirtualClusterSettings {
    let gpus = [(titanx(), gpus)].into();
    let share = Share { gpus, ..Share::default() };
    VirtualClusterSettings { share, ..VirtualClusterSettings::new(name.parse().unwrap()) }
}

fn part(name: &str, gpus: u64) -> VirtualClusterSettings {
    let parent: VirtualClusterName = "lab".parse().unwrap();
    VirtualClusterSettings { parent: Some(parent), borrows: false, ..cluster(name, gpus) }
}

async fn start(house: &House, clusters: Vec<VirtualClusterSettings>) -> Control {
    let options = house.options(house.database().await);
    control::start(Options { virtual_clusters: clusters, ..options }).await.unwrap()
}

fn of(cluster: &str, name: &str, gpus: u32) -> String {
    let more = format!(r#""virtualCluster": "{cluster}","#);
    job(name, 1, gpus, "sleep 1000", &more)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_part_runs_on_its_own_share_then_on_its_parents() {
    let house = House::new(2);
    let clusters = vec![cluster("lab", 8), part("one", 4), cluster("rest", 8)];
    let control = start(&house, clusters).await;
    let backend = &control.backend;
    submit(backend, of("one", "own", 4)).await;
    until_state(backend, "own", State::Running).await;
    submit(backend, of("one", "parents", 4)).await;
    until_state(backend, "parents", State::Running).await;
    let one = "one".parse().unwrap();
    let view = backend.virtual_clusters.get(&admin(), &one).await.unwrap();
    assert_eq!((view.used.gpus[&titanx()], view.borrowed.gpus.len()), (8.into(), 0));
    let lab = "lab".parse().unwrap();
    let view = backend.virtual_clusters.get(&admin(), &lab).await.unwrap();
    assert_eq!(
        (view.used.gpus[&titanx()], view.running_jobs),
        (8.into(), 0),
        "its part has it all"
    );
    submit(backend, of("one", "others", 1)).await;
    let waiting = |detail: &api::jobs::JobDetail| detail.summary.waiting.is_some();
    until(backend, "others", waiting).await;
    let removed = backend.virtual_clusters.remove(&admin(), &"lab".parse().unwrap()).await;
    assert!(removed.unwrap_err().message.contains("one are parts of lab"));
    let borrows = VirtualClusterSettings { borrows: true, ..part("one", 4) };
    backend.virtual_clusters.save(&admin(), borrows).await.unwrap();
    until_state(backend, "others", State::Running).await;
    let view = backend.virtual_clusters.get(&admin(), &one).await.unwrap();
    assert_eq!(view.borrowed.gpus[&titanx()], 1.into());
    let view = backend.virtual_clusters.get(&admin(), &lab).await.unwrap();
    assert_eq!(view.used.gpus[&titanx()], 8.into(), "what its part borrows is not its");
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_does_not_borrow_waits_beside_what_is_idle() {
    let house = House::new(1);
    let alone = VirtualClusterSettings { borrows: false, ..cluster("alone", 4) };
    let control = start(&house, vec![alone, cluster("idle", 4)]).await;
    let backend = &control.backend;
    submit(backend, of("alone", "first", 4)).await;
    until_state(backend, "first", State::Running).await;
    submit(backend, of("alone", "second", 1)).await;
    until(backend, "second", |detail| detail.summary.waiting.is_some()).await;
    submit(backend, of("default", "borrows", 4)).await;
    until_state(backend, "borrows", State::Running).await;
    until_state(backend, "second", State::Waiting).await;
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whole_nodes_are_kept_together() {
    let house = House::new(2);
    let shapes = vec![Shape { gpu_type: titanx(), gpus: 8, count: 1 }];
    let name = "whole".parse().unwrap();
    let whole = VirtualClusterSettings { shapes, ..VirtualClusterSettings::new(name) };
    let mut small = cluster("small", 8);
    small.borrows = false;
    let control = start(&house, vec![whole, small]).await;
    let backend = &control.backend;
    let mut nodes = std::collections::BTreeSet::new();
    for name in ["a", "b", "c", "d"] {
        submit(backend, of("small", name, 2)).await;
        let detail = until_state(backend, name, State::Running).await;
        nodes.insert(detail.attempts[0].tasks[0].node.clone());
    }
    assert_eq!(nodes.len(), 1, "what is not shaped leaves the other node whole");
    submit(backend, of("whole", "eight", 8)).await;
    let detail = until_state(backend, "eight", State::Running).await;
    assert!(!nodes.contains(&detail.attempts[0].tasks[0].node));
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_does_not_start_with_parts_that_do_not_fit() {
    let house = House::new(1);
    let mut options = house.options(house.database().await);
    options.virtual_clusters = vec![cluster("lab", 4), part("one", 5)];
    let refused = control::start(options).await.unwrap_err().to_string();
    assert!(refused.contains("virtual_clusters.lab.share.gpus.TITANX: it is 4"), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_gets_gpus_that_are_linked() {
    let house = House::new(1);
    let mut options = house.options(house.database().await);
    options.nodes[0].links = vec![vec![0, 2, 4, 6], vec![1, 3, 5, 7]];
    let node = options.nodes[0].clone();
    let control = control::start(options).await.unwrap();
    let backend = &control.backend;
    submit(backend, of("default", "linked", 4)).await;
    let detail = until_state(backend, "linked", State::Running).await;
    let gpus = &detail.attempts[0].tasks[0].gpus;
    assert!(gpus.iter().all(|gpu| gpu % 2 == gpus[0] % 2), "{gpus:?}");
    let wrong = protocol::cluster::NodeSettings { links: vec![vec![0, 8]], ..node };
    let refused = backend.nodes.save(&admin(), wrong).await.unwrap_err();
    let told = "links[0]: there is no GPU 8 (allowed: a whole number from 0 to 7)";
    assert_eq!((refused.message.as_str(), refused.problems.len()), (told, 1));
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_runs_goes_on_when_its_share_is_lowered_and_its_cluster_is_to_go() {
    let house = House::new(1);
    let control = start(&house, vec![cluster("lab", 8)]).await;
    let backend = &control.backend;
    submit(backend, of("lab", "runs", 8)).await;
    until_state(backend, "runs", State::Running).await;
    backend.virtual_clusters.save(&admin(), cluster("lab", 2)).await.unwrap();
    let lab: VirtualClusterName = "lab".parse().unwrap();
    let refused = backend.virtual_clusters.remove(&admin(), &lab).await.unwrap_err();
    assert!(refused.message.contains("1 active job uses lab: stop it first"), "{refused}");
    submit(backend, job("next", 1, 8, "sleep 1000", "")).await;
    let waiting = |detail: &api::jobs::JobDetail| detail.summary.waiting.is_some();
    until(backend, "next", waiting).await;
    // A pass has gone over both: nothing that runs was ended.
    let runs = until_state(backend, "runs", State::Running).await;
    assert_eq!(runs.attempts.len(), 1);
    let view = backend.virtual_clusters.get(&admin(), &lab).await.unwrap();
    assert_eq!((view.running_jobs, view.waiting_jobs), (1, 0));
    for name in ["runs", "next"] {
        backend.jobs.stop(&admin(), &key(name)).await.unwrap();
        until_state(backend, name, State::Stopped).await;
    }
    backend.virtual_clusters.remove(&admin(), &lab).await.unwrap();
    control.shutdown().await;
}
