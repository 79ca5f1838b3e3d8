//! Whose containers these are: a backup that is put back, a copy that is served elsewhere, a database that
//! is lost, and other clusters on the same engines.

use std::path::Path;
use std::time::Duration;

use api::audit::AuditAction;
use api::cluster::NodeView;
use api::quarantine::{Doing, Quarantined};
use api::{Actor, Backend, ErrorCode};
use control::{Consent, Control, Error, Options};
use database::{ConnectionTrait, Database};
use engine::{ContainerSpec, EndpointOptions, Network};
use futures::{StreamExt, TryStreamExt};
use protocol::cluster::{GpuRuntime, NodeCondition};
use protocol::epoch::Epoch;
use protocol::ids::{JobId, TaskKey};
use protocol::state::State;
use protocol::wait::WaitReason;

use crate::house::{House, PATIENCE, admin, close, job, submit, until, until_state};

const BACKUP: &str = "backup.db";
const TAKE_OVER: Consent = Consent { take_over: true, begin_anew: false };

/// Copies a database that nobody writes into at the moment.
fn copy(from: &Path, to: &Path) {
    for more in ["", "-wal"] {
        let of = |path: &Path| {
            let mut name = path.as_os_str().to_owned();
            name.push(more);
            name
        };
        if Path::new(&of(from)).exists() {
            std::fs::copy(of(from), of(to)).unwrap();
        }
    }
}

/// A server over another file of the house's folder.
async fn over(house: &House, file: &str, consent: Consent) -> Result<Control, Error> {
    let path = house.path().join(file);
    let database = Database::open(&format!("sqlite://{}", path.display())).await.unwrap();
    control::start(Options { consent, ..house.options(database) }).await
}

/// A house in which the backup knows of the job `known` alone, and since which `lost` runs on four GPUs.
async fn with_a_backup() -> House {
    let house = House::new(1);
    let control = house.start().await;
    submit(&control.backend, job("known", 1, 1, "sleep 1000", "")).await;
    until_state(&control.backend, "known", State::Running).await;
    close(&control).await;
    copy(&house.path().join("berth.db"), &house.path().join(BACKUP));
    drop(control);
    let control = house.start().await;
    submit(&control.backend, job("lost", 1, 4, "sleep 1000", "")).await;
    until_state(&control.backend, "lost", State::Running).await;
    close(&control).await;
    house
}

/// Waits until what is in quarantine is as wanted.
async fn until_held(
    backend: &Backend,
    wanted: impl Fn(&[Quarantined]) -> bool,
) -> Vec<Quarantined> {
    let mut changes = backend.changes.subscribe(&admin());
    let waiting = async {
        loop {
            let held = backend.quarantine.list(&admin(), None).await.unwrap();
            if wanted(&held) {
                return held;
            }
            changes.next().await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.expect("the quarantine becomes as wanted")
}

/// Waits until all nodes are as wanted.
async fn until_nodes(backend: &Backend, wanted: impl Fn(&NodeView) -> bool) {
    let mut changes = backend.changes.subscribe(&admin());
    let waiting = async {
        while !backend.nodes.list(&admin()).await.unwrap().iter().all(&wanted) {
            changes.next().await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.expect("the nodes become as wanted");
}

async fn log_of(backend: &Backend, name: &str) -> String {
    let task = api::logs::TaskRef {
        job: crate::house::key(name),
        attempt: None,
        role: "worker".parse().unwrap(),
        index: 0,
    };
    let followed = backend.logs.follow(&admin(), &task, 0).await.unwrap();
    let pieces: Vec<bytes::Bytes> = followed.try_collect().await.unwrap();
    String::from_utf8(pieces.concat()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_restored_backup_does_not_know_is_not_touched() {
    let house = with_a_backup().await;
    let control = over(&house, BACKUP, TAKE_OVER).await.unwrap();
    let backend = &control.backend;
    let held = until_held(backend, |held| held.len() == 1).await.remove(0);
    assert_eq!((held.user.as_str(), held.job.as_str()), ("admin", "lost"));
    assert_eq!((held.gpus.len(), held.cpus, held.cluster.as_ref()), (4, 1, None));
    assert!(held.doing.is_running() && house.node(0).containers().contains(&held.container));
    let known = until_state(backend, "known", State::Running).await;
    assert_eq!(known.attempts.len(), 1, "what it knows goes on");
    until_nodes(backend, |node| node.used.cpus == 2).await;

    submit(backend, job("fits", 1, 3, "sleep 1000", "")).await;
    let fits = until_state(backend, "fits", State::Running).await;
    assert_eq!((fits.attempts.len(), fits.summary.id), (1, JobId(3)), "no id comes again");
    let tasks = known.attempts.iter().chain(&fits.attempts).flat_map(|attempt| &attempt.tasks);
    let given: Vec<u32> = tasks.flat_map(|task| task.gpus.clone()).collect();
    assert!(given.iter().all(|gpu| !held.gpus.contains(gpu)), "{given:?} {:?}", held.gpus);
    let node = backend.nodes.get(&admin(), &held.node).await.unwrap();
    assert_eq!(node.used.cpus, 3, "two jobs and what is in quarantine");
    let unusable: Vec<u32> =
        node.gpus.iter().filter(|gpu| !gpu.gpu.healthy).map(|gpu| gpu.gpu.index).collect();
    assert_eq!(unusable, held.gpus);
    submit(backend, job("waits", 1, 1, "sleep 1000", "")).await;
    let waits = |detail: &api::jobs::JobDetail| {
        let waiting = detail.summary.waiting.as_ref();
        waiting.is_some_and(|why| why.reason != WaitReason::Queued)
    };
    until(backend, "waits", waits).await;
    assert_eq!(house.node(0).stops(), 0);

    decides(backend, &held).await;
    until_state(backend, "waits", State::Running).await;
    assert!(!house.node(0).containers().contains(&held.container));
    close(&control).await;
}

/// An administrator, and nobody else, stops it and then removes it.
async fn decides(backend: &Backend, held: &Quarantined) {
    let (quarantine, Quarantined { node, container, .. }) = (&backend.quarantine, held);
    let somebody = Actor { user: "ann".parse().unwrap(), admin: false };
    for refused in [
        quarantine.list(&somebody, None).await.map(drop),
        quarantine.stop(&somebody, node, container).await,
        quarantine.remove(&somebody, node, container).await,
    ] {
        assert_eq!(refused.unwrap_err().code, ErrorCode::ForbiddenUserError);
    }
    let runs = quarantine.remove(&admin(), node, container).await.unwrap_err();
    assert_eq!(runs.code, ErrorCode::ConflictNodeError);
    quarantine.stop(&admin(), node, container).await.unwrap();
    let ended = until_held(backend, |held| held.iter().all(|one| !one.doing.is_running())).await;
    assert_eq!(ended[0].doing, Doing::Ended);
    quarantine.remove(&admin(), node, container).await.unwrap();
    until_held(backend, <[Quarantined]>::is_empty).await;
    let gone = quarantine.stop(&admin(), node, container).await.unwrap_err();
    assert_eq!(gone.code, ErrorCode::NoTaskError);
    let log = backend.audit.list(&admin(), None, 2).await.unwrap();
    let written: Vec<_> = log.iter().map(|entry| (entry.action, entry.detail.as_str())).collect();
    let of = |action| (action, "admin~lost/worker-0");
    assert_eq!(written, [AuditAction::ContainerRemoved, AuditAction::ContainerStopped].map(of));
    assert_eq!(log[0].object, format!("{node}/{container}"));
}

/// The node answers only when the id was given again: the job is kept from the container all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_job_never_gets_the_container_of_an_earlier_life() {
    let house = with_a_backup().await;
    house.node(0).set_unreachable(true);
    let control = over(&house, BACKUP, TAKE_OVER).await.unwrap();
    let backend = &control.backend;
    until_nodes(backend, |node| node.condition == NodeCondition::Unreachable).await;
    submit(backend, job("other", 1, 1, "echo mine; sleep 0.1", "")).await;
    let other = until(backend, "other", |_| true).await;
    assert_eq!(other.summary.id, JobId(2), "the id of the one that is lost");
    house.node(0).set_unreachable(false);
    let done = until_state(backend, "other", State::Succeeded).await;
    assert!(done.attempts.len() > 1 && done.summary.retries.user == 0, "{done:#?}");
    assert!(log_of(backend, "other").await.contains("echo mine"));
    let held = until_held(backend, |held| held.len() == 1).await.remove(0);
    assert!(held.doing.is_running() && held.job == "lost", "{held:?}");
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copied_folder_is_not_served_beside_its_original() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    submit(backend, job("before", 1, 1, "sleep 1000", "")).await;
    until_state(backend, "before", State::Running).await;
    close(&control).await;
    let folder = house.path().join("copy");
    std::fs::create_dir(&folder).unwrap();
    copy(&house.path().join("berth.db"), &folder.join("berth.db"));
    std::fs::copy(house.path().join("secret.key"), folder.join("secret.key")).unwrap();
    drop(control);

    let control = house.start().await;
    let backend = &control.backend;
    submit(backend, job("after", 1, 1, "sleep 1000", "")).await;
    until_state(backend, "after", State::Running).await;
    let copied = async |consent| {
        let url = format!("sqlite://{}", folder.join("berth.db").display());
        let database = Database::open(&url).await.unwrap();
        let data = folder.clone();
        control::start(Options { data, consent, ..house.options(database) }).await
    };
    let refused = copied(Consent::default()).await.unwrap_err();
    assert!(matches!(refused, Error::Elsewhere { .. }), "{refused}");

    // Somebody insists: what is new since the copy is nevertheless the original's.
    let copy = copied(TAKE_OVER).await.unwrap();
    let held = until_held(&copy.backend, |held| held.len() == 1).await.remove(0);
    assert_eq!(held.job, "after");
    submit(&copy.backend, job("copys", 1, 1, "sleep 1000", "")).await;
    until_state(&copy.backend, "copys", State::Running).await;
    let held = until_held(backend, |held| held.len() == 1).await.remove(0);
    assert_eq!(held.job, "copys", "the original leaves the copy's alone, too");
    copy.shutdown().await;
    for name in ["before", "after"] {
        let detail = until_state(backend, name, State::Running).await;
        assert_eq!(detail.attempts.len(), 1, "{name}");
    }
    assert_eq!((house.node(0).stops(), house.node(0).containers().len()), (0, 3));
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_database_is_not_begun_anew_without_a_word() {
    let house = with_a_backup().await;
    let before = house.node(0).containers();
    let refused = over(&house, "new.db", Consent::default()).await.unwrap_err();
    assert!(matches!(refused, Error::LostDatabase(_)), "{refused}");
    let anew = Consent { begin_anew: true, ..Consent::default() };
    let control = over(&house, "new.db", anew).await.unwrap();
    let backend = &control.backend;
    let strangers = until_held(backend, |held| held.len() == 2).await;
    assert!(strangers.iter().all(|stranger| stranger.cluster.is_some()), "{strangers:?}");
    let Quarantined { node, container, .. } = &strangers[0];
    let refused = backend.quarantine.stop(&admin(), node, container).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::NoTaskError, "it is not ours to stop");
    let used = backend.nodes.get(&admin(), node).await.unwrap().used;
    assert_eq!((used.cpus, house.node(0).containers()), (0, before));
    close(&control).await;
}

/// What only looks like ours: another cluster's by the label, and one of a job that was never given.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn foreign_containers_are_shown_and_left_alone() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    submit(backend, job("own", 1, 1, "sleep 1000", "")).await;
    until_state(backend, "own", State::Running).await;
    let own = house.node(0).containers().remove(0);
    let cluster = own.split('-').nth(1).unwrap().to_owned();
    let node = backend.nodes.list(&admin()).await.unwrap().remove(0).name;
    let options = EndpointOptions { endpoint: format!("sim://{node}"), ..Default::default() };
    let engine = engine::connect(&options).unwrap();
    for (cluster, id) in [(cluster.as_str(), 99), ("theirs", 1)] {
        let spec = container(cluster, id);
        engine.create(&spec).await.unwrap();
        engine.start(&spec.name()).await.unwrap();
    }
    close(&control).await;
    drop(control);
    let control = house.start().await;
    let backend = &control.backend;
    let held = until_held(backend, |held| held.len() == 2).await;
    assert_eq!(held[0].cluster, None);
    assert_eq!(held[1].cluster.as_deref(), Some("theirs"));
    until_state(backend, "own", State::Running).await;
    assert_eq!((house.node(0).containers().len(), house.node(0).stops()), (3, 0));
    close(&control).await;
}

/// One to see how a node is, or a check of its GPUs, which it holds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_server_left_of_its_own_goes_with_the_next_one() {
    let house = House::new(1);
    let control = house.start().await;
    submit(&control.backend, job("own", 1, 1, "sleep 1000", "")).await;
    until_state(&control.backend, "own", State::Running).await;
    let own = house.node(0).containers();
    let cluster = own[0].split('-').nth(1).unwrap();
    let node = control.backend.nodes.list(&admin()).await.unwrap().remove(0).name;
    close(&control).await;
    drop(control);
    let options = EndpointOptions { endpoint: format!("sim://{node}"), ..Default::default() };
    let engine = engine::connect(&options).unwrap();
    let left = container(&format!("{cluster}-probe"), 0);
    engine.create(&left).await.unwrap();
    engine.start(&left.name()).await.unwrap();
    assert_eq!(house.node(0).containers().len(), 2);
    let control = house.start().await;
    let gone = async {
        while house.node(0).containers() != own {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), gone).await.unwrap();
    assert_eq!(control.backend.quarantine.list(&admin(), None).await.unwrap(), []);
    close(&control).await;
}

fn container(cluster: &str, id: i64) -> ContainerSpec {
    ContainerSpec {
        cluster: cluster.to_owned(),
        key: TaskKey { job: JobId(id), attempt: 0, role: 0, index: 0, retry: 0 },
        epoch: Epoch::default(),
        labels: std::collections::BTreeMap::new(),
        image: "berth/base".to_owned(),
        command: "sleep 1000".into(),
        guest: None,
        code: None,
        folders: Vec::new(),
        shares: Vec::new(),
        job_env: std::sync::Arc::default(),
        env: Vec::new(),
        cpus: 1,
        memory_mb: 64,
        shm_mb: 16,
        gpus: Vec::new(),
        gpu_runtime: GpuRuntime::None,
        infiniband: false,
        network: Network::Host,
    }
}

/// Neither records nor containers of before say in which life they were given.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn containers_of_before_there_were_epochs_are_still_ours() {
    let house = House::new(1);
    let control = house.start().await;
    let transaction = control.database().begin().await.unwrap();
    let as_before = "CREATE TRIGGER as_before AFTER INSERT ON tasks BEGIN \
        UPDATE tasks SET epoch = NULL WHERE job = NEW.job; END";
    transaction.execute_unprepared(as_before).await.unwrap();
    transaction.commit().await.unwrap();
    submit(&control.backend, job("old", 1, 1, "sleep 1000", "")).await;
    until_state(&control.backend, "old", State::Running).await;
    close(&control).await;
    drop(control);
    let control = house.start().await;
    let backend = &control.backend;
    submit(backend, job("new", 1, 1, "sleep 1000", "")).await;
    until_state(backend, "new", State::Running).await;
    backend.jobs.stop(&admin(), &crate::house::key("old")).await.unwrap();
    let old = until_state(backend, "old", State::Stopped).await;
    assert_eq!(old.attempts.len(), 1);
    assert_eq!(backend.quarantine.list(&admin(), None).await.unwrap(), []);
    close(&control).await;
}
