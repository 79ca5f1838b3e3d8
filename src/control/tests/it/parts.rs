//! Tasks that share a GPU where an administrator allows it.

use api::ErrorCode;
use api::jobs::{DryRun, JobDetail, Submission};
use control::{Control, Options};
use protocol::amount::Amount;
use protocol::cluster::{NodeSettings, VirtualClusterSettings};
use protocol::ids::{GpuType, VirtualClusterName};
use protocol::state::State;
use protocol::wait::{ResourceKind, WaitReason};

use crate::house::{House, admin, close, job, key, submit, until, until_node, until_state};

/// One node with one GPU.
async fn options(house: &House, shares_gpus: bool) -> Options {
    let mut options = house.options(house.database().await);
    let mut node = options.nodes.remove(0);
    node.shares_gpus = shares_gpus;
    node.gpus.as_mut().unwrap()[0].count = 1;
    options.first_node = Some(node);
    options
}

async fn start(house: &House, shares_gpus: bool) -> Control {
    control::start(options(house, shares_gpus).await).await.unwrap()
}

fn part(name: &str, part: &str) -> String {
    let text = job(name, 1, 0, "sleep 1000", "");
    text.replace("\"gpuNumber\": 0", &format!("\"gpuNumber\": {part}"))
}

fn milli(milli: u64) -> Amount {
    Amount::from_milli(milli)
}

fn reason(detail: &JobDetail) -> Option<&WaitReason> {
    detail.summary.waiting.as_ref().map(|waiting| &waiting.reason)
}

async fn set_sharing(control: &Control, node: &NodeSettings, shares_gpus: bool) {
    let node = NodeSettings { shares_gpus, ..node.clone() };
    control.backend.nodes.save(&admin(), node).await.unwrap();
}

/// Each job that holds GPU 0 and how much of it.
async fn holders(control: &Control) -> Vec<(String, Amount)> {
    let nodes = control.backend.nodes.list(&admin()).await.unwrap();
    let gpu = &nodes[0].gpus[0];
    assert_eq!(gpu.used, gpu.holders.iter().map(|holder| holder.part).sum());
    assert!(gpu.used <= Amount::whole(1));
    gpu.holders.iter().map(|holder| (holder.job.name.to_string(), holder.part)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_halves_share_a_gpu_and_a_third_waits() {
    let house = House::new(1);
    let control = start(&house, true).await;
    let backend = &control.backend;
    for name in ["a", "b"] {
        submit(backend, part(name, "0.5")).await;
        let detail = until_state(backend, name, State::Running).await;
        let task = &detail.attempts[0].tasks[0];
        assert_eq!((task.gpus.as_slice(), task.gpu_part), ([0].as_slice(), Some(milli(500))));
        assert_eq!(detail.summary.gpus, milli(500));
        assert_eq!(detail.roles[0].resources.gpus, milli(500));
    }
    submit(backend, part("c", "0.5")).await;
    let short = WaitReason::Short {
        resource: ResourceKind::Gpu,
        gpu_types: Vec::new(),
        needs: milli(500),
        best_node: milli(0),
    };
    until(backend, "c", |detail| reason(detail) == Some(&short)).await;
    let shared = [("a".to_owned(), milli(500)), ("b".to_owned(), milli(500))];
    assert_eq!(holders(&control).await, shared);
    close(&control).await;
    drop(control);

    let control = start(&house, true).await;
    let backend = &control.backend;
    submit(backend, part("d", "1")).await;
    until(backend, "d", |detail| reason(detail).is_some_and(|why| *why != WaitReason::Queued))
        .await;
    until(backend, "c", |detail| reason(detail) == Some(&short)).await;
    assert_eq!(holders(&control).await, shared, "as before the server was away");
    for name in ["a", "b"] {
        until_state(backend, name, State::Running).await;
    }
    backend.jobs.stop(&admin(), &key("a")).await.unwrap();
    until_state(backend, "c", State::Running).await;
    let names: Vec<_> = holders(&control).await.into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["b", "c"]);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_virtual_cluster_uses_thousandths() {
    let house = House::new(1);
    let kind = GpuType::new("TITANX").unwrap();
    let default = VirtualClusterName::default();
    let mut settings = VirtualClusterSettings::new(default.clone());
    settings.share.gpus = [(kind.clone(), 1)].into();
    settings.borrows = false;
    let virtual_clusters = vec![settings];
    let options = Options { virtual_clusters, ..options(&house, true).await };
    let control = control::start(options).await.unwrap();
    let backend = &control.backend;
    submit(backend, part("quarter", "0.25")).await;
    until_state(backend, "quarter", State::Running).await;
    submit(backend, part("most", "0.7")).await;
    until_state(backend, "most", State::Running).await;
    let view = backend.virtual_clusters.get(&admin(), &default).await.unwrap();
    assert_eq!((view.used.gpus[&kind], view.total.gpus[&kind]), (milli(950), milli(1000)));
    submit(backend, part("little", "0.1")).await;
    let quota = |detail: &JobDetail| match reason(detail) {
        Some(WaitReason::QuotaVc { needs, free, share, .. }) => {
            (*needs, *free, *share) == (milli(100), milli(50), milli(1000))
        }
        _ => false,
    };
    until(backend, "little", quota).await;
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_shares_its_gpus_only_where_it_is_allowed() {
    let house = House::new(1);
    let options = options(&house, false).await;
    let node = options.first_node.clone().unwrap();
    let control = control::start(options).await.unwrap();
    let backend = &control.backend;
    let refused = async || {
        let text = part("refused", "0.5");
        let report = backend.jobs.check(&admin(), &text).await.unwrap();
        let never = WaitReason::GpusNotShared { wanted: Vec::new() };
        assert_eq!(report.dry_run, Some(DryRun::Never { reason: never }));
        let submission = Submission { text, cloned_from: None, expected_name: None };
        let error = backend.jobs.submit(&admin(), submission).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::ImpossibleRequestError);
        assert!(error.message.contains("no node shares its GPUs"), "{}", error.message);
        assert!(error.problems[0].path.ends_with("gpuNumber"), "{:?}", error.problems);
    };
    refused().await;
    set_sharing(&control, &node, true).await;
    for name in ["runs", "too"] {
        submit(backend, part(name, "0.5")).await;
        until_state(backend, name, State::Running).await;
    }
    submit(backend, part("waits", "0.5")).await;
    until(backend, "waits", |detail| reason(detail).is_some()).await;
    set_sharing(&control, &node, false).await;
    refused().await;
    let told =
        |detail: &JobDetail| matches!(reason(detail), Some(WaitReason::GpusNotShared { .. }));
    until(backend, "waits", told).await;
    backend.jobs.stop(&admin(), &key("too")).await.unwrap();
    until_state(backend, "too", State::Stopped).await;
    until_state(backend, "runs", State::Running).await;
    until(backend, "waits", told).await;
    let first = backend.nodes.list(&admin()).await.unwrap()[0].name.clone();
    until_node(backend, &first, |node| node.gpus[0].holders.len() < 2).await;
    assert_eq!(holders(&control).await, [("runs".to_owned(), milli(500))], "what runs stays");
    set_sharing(&control, &node, true).await;
    until_state(backend, "waits", State::Running).await;
    close(&control).await;
}
