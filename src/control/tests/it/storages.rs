//! Storages that administrators set up: who may have them, and what nodes are told of them.

use api::ErrorCode;
use api::jobs::Submission;
use api::storages::{MountView, StorageView};
use engine::Folder;
use engine::simulated::Given;
use protocol::exit::Cause;
use protocol::state::State;
use protocol::storages::{StorageSettings, StorageSource};
use serde_json::{Value, json};

use crate::files::{MOUNT, Office, actor, code};
use crate::house::{admin, job, key, submit, until_state};

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
