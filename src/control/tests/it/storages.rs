//! Storages that administrators set up: who may have them, and what nodes are told of them.

use std::time::Duration;

use api::ErrorCode;
use api::jobs::{DryRun, JobDetail, Submission};
use api::storages::{MountView, StorageView};
use control::{ClosedNodes, Control, Options, Rules};
use engine::Folder;
use engine::simulated::{Call, Given};
use protocol::exit::Cause;
use protocol::state::State;
use protocol::storages::{StorageSettings, StorageSource};
use protocol::wait::WaitReason;
use serde_json::{Value, json};

use crate::files::{MOUNT, Office, actor, code};
use crate::house::{House, PATIENCE, admin, close, job, key, submit, until, until_state};

fn settings(name: &str, source: &Value, more: &Value) -> StorageSettings {
    let mut all = json!({ "name": name, "source": source });
    let (all_of_it, more) = (all.as_object_mut().unwrap(), more.as_object().unwrap());
    all_of_it.extend(more.clone());
    serde_json::from_value(all).unwrap()
}

fn path(path: &str) -> Value {
    json!({ "path": path })
}

impl Office {
    async fn set_up(&self, name: &str, source: &Value, more: &Value) {
        let settings = settings(name, source, more);
        self.backend().storages.save(&admin(), settings).await.unwrap();
    }

    async fn refuses(&self, name: &str, source: &Value, more: &Value) -> String {
        let refused = self.backend().storages.save(&admin(), settings(name, source, more)).await;
        let error = refused.unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidParametersError, "{error}");
        error.message
    }

    async fn asks(&self, who: &str, name: &str, storages: &Value) -> Result<(), api::Error> {
        let extras = json!({ "storages": storages });
        let more = format!(r#""extras": {extras}, "outputDir": "/{who}", "retryCount": 0,"#);
        let text = job(name, 1, 8, "sleep 1000", &more);
        let submission = Submission { text, cloned_from: None, expected_name: None };
        self.backend().jobs.submit(&actor(who), submission).await.map(drop)
    }

    /// What a running job's only task has; then the job is stopped.
    async fn has(&self, who: &str, name: &str) -> (Given, Vec<MountView>) {
        let detail = self.until(who, name, |state| state == State::Running).await;
        let mut all = self.house.node(0).given().into_iter();
        let own = |given: &Given| given.labels.get("berth.name").is_some_and(|own| own == name);
        let given = all.find(own).unwrap();
        self.backend().jobs.stop(&actor(who), &self.key(who, name)).await.unwrap();
        self.ended(who, name).await;
        (given, detail.storages)
    }

    async fn sees(&self, who: &str) -> Vec<StorageView> {
        self.backend().storages.list(&actor(who)).await.unwrap()
    }
}

/// What of a container's folders is no user's own.
fn beside(given: &Given) -> Vec<Folder> {
    let home = |folder: &&Folder| !folder.source.starts_with(MOUNT);
    given.folders.iter().filter(home).cloned().collect()
}

fn folder(source: &str, target: &str, read_only: bool) -> Folder {
    Folder { source: source.to_owned(), target: target.to_owned(), read_only }
}

fn told(given: &Given) -> Vec<(&str, &str)> {
    let all = given.env.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    all.filter(|(name, _)| name.starts_with("BERTH_MOUNT_")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_have_the_storages_that_their_jobs_ask_for() {
    let office = Office::mounted().await;
    let default = json!({ "default": true, "read_only": true });
    office.set_up("data", &path("/mnt/ceph/data"), &default).await;
    let own = json!({ "own_folders": true, "users": ["alice"], "mount": "/scratch" });
    office.set_up("scratch-1", &path("/mnt/scratch"), &own).await;
    let nfs = json!({ "nfs": { "server": "10.0.0.5", "path": "/export" } });
    office.set_up("models", &nfs, &json!({ "read_only": true })).await;

    office.asks("alice", "none", &Value::Null).await.unwrap();
    let (given, seen) = office.has("alice", "none").await;
    assert_eq!((beside(&given), told(&given), seen), (vec![], vec![], vec![]));

    office.asks("bob", "defaults", &json!([])).await.unwrap();
    let (given, _) = office.has("bob", "defaults").await;
    assert_eq!(beside(&given), [folder("/mnt/ceph/data", "/mnt/data", true)]);

    let asked = json!([{ "name": "scratch-1" }, { "name": "data", "mountPath": "/data" }, {
        "name": "models",
    }]);
    office.asks("alice", "named", &asked).await.unwrap();
    let (given, seen) = office.has("alice", "named").await;
    let expected =
        [folder("/mnt/scratch/alice", "/scratch", false), folder("/mnt/ceph/data", "/data", true)];
    assert_eq!(beside(&given), expected);
    let [share] = given.shares.as_slice() else { panic!("{given:?}") };
    assert_eq!((share.kind, share.device.as_str()), ("nfs", ":/export"));
    assert_eq!((share.target.as_str(), share.read_only), ("/mnt/models", true));
    let variables = [
        ("BERTH_MOUNT_DATA", "/data"),
        ("BERTH_MOUNT_MODELS", "/mnt/models"),
        ("BERTH_MOUNT_SCRATCH_1", "/scratch"),
    ];
    assert_eq!(told(&given), variables);
    let seen: Vec<_> = seen.iter().map(|one| (one.name.as_str(), one.read_only)).collect();
    assert_eq!(seen, [("scratch-1", false), ("data", true), ("models", true)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storage_is_for_those_it_is_meant_for() {
    let office = Office::mounted().await;
    let group = json!({ "groups": ["vision"], "default": true });
    office.set_up("team", &path("/mnt/team"), &group).await;
    let asked = json!([{ "name": "team" }]);
    for who in ["alice", "bob"] {
        let refused = office.asks(who, "team", &asked).await;
        assert_eq!(code(refused), ErrorCode::NoStorageError, "{who}");
        assert_eq!(office.sees(who).await, []);
    }
    let groups = vec!["vision".parse().unwrap()];
    office.backend().groups.set(&admin(), &actor("alice").user, groups).await.unwrap();
    office.asks("alice", "team", &asked).await.unwrap();
    assert_eq!(beside(&office.has("alice", "team").await.0).len(), 1);
    office.asks("bob", "defaults", &json!([])).await.unwrap();
    assert_eq!(beside(&office.has("bob", "defaults").await.0), []);
    let unknown = office.asks("alice", "unknown", &json!([{ "name": "nfs" }])).await;
    assert_eq!(code(unknown), ErrorCode::NoStorageError);
    let twice = json!([{ "name": "team", "mountPath": "/a" }, { "name": "team" }]);
    assert_eq!(code(office.asks("alice", "twice", &twice).await), ErrorCode::InvalidJob);

    let of_alice = &office.sees("alice").await[0];
    assert_eq!((&of_alice.source, of_alice.groups.len()), (&None, 0), "nodes' places are hidden");
    let of_admin = &office.sees("admin").await[0];
    assert_eq!(of_admin.source, Some(StorageSource::Path("/mnt/team".to_owned())));
    let storages = &office.backend().storages;
    let changed = settings("team", &path("/etc"), &json!({}));
    let saved = storages.save(&actor("alice"), changed).await;
    assert_eq!(code(saved), ErrorCode::ForbiddenUserError);
    let removed = storages.remove(&actor("alice"), &of_alice.name).await;
    assert_eq!(code(removed), ErrorCode::ForbiddenUserError);
    storages.remove(&admin(), &of_alice.name).await.unwrap();
    assert_eq!(office.sees("admin").await, []);
}

/// Between its submission and its start a job's owner may lose his right.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storage_that_is_ones_no_more_starts_no_task() {
    let office = Office::mounted().await;
    for name in ["taken", "gone"] {
        office.set_up(name, &path(&format!("/mnt/{name}")), &json!({})).await;
    }
    submit(office.backend(), job("holds", 1, 8, "sleep 1000", "")).await;
    until_state(office.backend(), "holds", State::Running).await;
    for name in ["taken", "gone"] {
        office.asks("alice", name, &json!([{ "name": name }])).await.unwrap();
    }
    office.set_up("taken", &path("/mnt/taken"), &json!({ "users": ["bob"] })).await;
    office.backend().storages.remove(&admin(), &"gone".parse().unwrap()).await.unwrap();
    office.backend().jobs.stop(&admin(), &key("holds")).await.unwrap();
    for name in ["taken", "gone"] {
        let exit = office.ended("alice", name).await.summary.exit.unwrap();
        assert!(matches!(exit.cause, Cause::ContainerRefused { .. }), "{name}: {exit:?}");
    }
    assert_eq!(office.house.node(0).starts(), 1, "only what held the node was started");
}

/// A cluster in which these nodes lack the folder of the storage `data`, which is looked for again soon.
async fn lacking(house: &House, nodes: &[usize]) -> Control {
    nodes.iter().for_each(|node| house.node(*node).set_absent_folder("/mnt/data", true));
    let tried_after = Duration::from_millis(50);
    let closed_nodes = ClosedNodes { tried_after, ..ClosedNodes::default() };
    let rules = Rules { closed_nodes, ..Rules::default() };
    let options = Options { rules, ..house.options(house.database().await) };
    let control = control::start(options).await.unwrap();
    let data = settings("data", &path("/mnt/data"), &json!({}));
    control.backend.storages.save(&admin(), data).await.unwrap();
    control
}

/// A job with all GPUs of a node that asks for the storage.
async fn submit_asking(control: &Control, name: &str) {
    let asked = r#""retryCount": 0, "extras": {"storages": [{"name": "data"}]},"#;
    submit(&control.backend, job(name, 1, 8, "sleep 1000", asked)).await;
}

fn lacked(detail: &JobDetail) -> usize {
    let causes = detail.attempts.iter().filter_map(|attempt| Some(&attempt.exit.as_ref()?.cause));
    causes.filter(|cause| matches!(cause, Cause::StorageAbsent { .. })).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_node_lacks_is_asked_of_others_and_waited_for_where_none_has_it() {
    let house = House::new(2);
    let control = lacking(&house, &[0, 1]).await;
    let backend = &control.backend;
    submit_asking(&control, "waits").await;
    let waits_for_it = |detail: &JobDetail| {
        let reason = detail.summary.waiting.as_ref().map(|waiting| &waiting.reason);
        matches!(reason, Some(WaitReason::StorageAbsent { storage }) if storage.as_str() == "data")
    };
    let waits = until(backend, "waits", waits_for_it).await;
    assert_eq!((waits.attempts.len(), lacked(&waits)), (2, 2), "each node was asked once");
    assert_eq!((waits.summary.retries.user, waits.summary.retries.platform), (0, 2));
    submit_asking(&control, "after").await;
    let after = until(backend, "after", waits_for_it).await;
    assert_eq!(after.attempts.len(), 0, "it is known by now");
    let text = job("asked", 1, 8, "true", r#""extras": {"storages": [{"name": "data"}]},"#);
    let asked = backend.jobs.check(&admin(), &text).await.unwrap().dry_run;
    let Some(DryRun::Waits(said)) = asked else { panic!("{asked:?}") };
    assert!(matches!(said.reason, WaitReason::StorageAbsent { .. }), "{said:?}");
    // Both are looked for again and again, and no job is tried for it.
    let calls = || house.node(0).calls(Call::Create) + house.node(1).calls(Call::Create);
    let before = calls();
    let looked_for = async {
        while calls() < before + 4 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, looked_for).await.unwrap();
    let still = until(backend, "waits", |_| true).await;
    assert!(waits_for_it(&still) && still.attempts.len() == 2, "{still:?}");

    house.node(1).set_absent_folder("/mnt/data", false);
    let runs = until_state(backend, "waits", State::Running).await;
    let node = &runs.attempts.last().unwrap().tasks[0].node;
    assert_eq!((house.index_of(node), runs.attempts.len()), (1, 3));
    let nodes = backend.nodes.list(&admin()).await.unwrap();
    assert!(nodes.iter().all(|node| node.closed.is_none()), "no engine is to blame");
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_set_up_anew_is_asked_for_anew() {
    let house = House::new(1);
    let control = lacking(&house, &[0]).await;
    submit_asking(&control, "waits").await;
    until(&control.backend, "waits", |detail| lacked(detail) == 1).await;
    let data = settings("data", &path("/mnt/other"), &json!({}));
    control.backend.storages.save(&admin(), data).await.unwrap();
    let runs = until_state(&control.backend, "waits", State::Running).await;
    assert_eq!((runs.attempts.len(), runs.summary.retries.user), (2, 0));
    close(&control).await;
}

/// An engine follows, as the node's administrator, whatever link it finds on the way to a folder.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_storage_lies_where_users_exchange_folders() {
    let office = Office::mounted().await;
    for inside in [MOUNT.to_owned(), format!("{MOUNT}/alice"), "/mnt".to_owned()] {
        let message = office.refuses("s", &path(&inside), &json!({ "read_only": true })).await;
        assert!(message.contains("storages.s.source: the users' own files are there"), "{message}");
    }
    office.set_up("all", &path("/srv/all"), &json!({})).await;
    office.refuses("deep", &path("/srv/all/deep"), &json!({})).await;
    office.refuses("own", &path("/srv/all"), &json!({ "own_folders": true })).await;
    office.refuses("up", &path("/srv/all/../x"), &json!({})).await;
    office.refuses("hides", &path("/srv/x"), &json!({ "mount": "/.berth/bin" })).await;
    office.set_up("all", &path("/srv/all"), &json!({ "read_only": true })).await;
    office.set_up("deep", &path("/srv/all/deep"), &json!({})).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_is_kept_for_its_account_and_told_to_engines_alone() {
    let office = Office::mounted().await;
    let share = |server: &str| json!({ "server": server, "share": "team", "user": "berth" });
    let mut with_password = share("files");
    with_password["password"] = json!("hunter2");
    office.set_up("team", &json!({ "smb": with_password }), &json!({})).await;
    for (server, password) in [("files", "hunter2"), ("elsewhere", "")] {
        office.set_up("team", &json!({ "smb": share(server) }), &json!({})).await;
        let seen = &office.sees("admin").await[0];
        assert_eq!(seen.has_password, !password.is_empty(), "{server}");
        assert!(!serde_json::to_string(seen).unwrap().contains("hunter2"));
        office.asks("alice", server, &json!([{ "name": "team" }])).await.unwrap();
        let (given, _) = office.has("alice", server).await;
        let options = given.shares[0].options.as_str();
        assert_eq!(options.rsplit_once("password=").unwrap().1, password, "{server}");
        assert!(!format!("{given:?}").contains("hunter2"));
    }
}
