//! The queue's doors.

use serde_json::{Value, json};

use crate::hall::Hall;
use crate::server::{Answer, JSON};

async fn send(hall: &Hall, who: &str, method: &str, path: &str, body: Value) -> Answer {
    let token = format!("Bearer {}", hall.token(who));
    let body = if body.is_null() { String::new() } else { body.to_string() };
    hall.client.send(method, path, &[JSON, ("authorization", &token)], &body).await
}

/// A job of alice's that waits, because there is no node.
async fn waits(hall: &Hall, name: &str) -> String {
    let job = json!({ "jobName": name, "image": "berth/base", "taskRoles": [{
        "name": "worker", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 100, "gpuNumber": 0,
        "command": "true" }] });
    assert_eq!(send(hall, "alice", "POST", "/api/v2/jobs", job).await.status, 202);
    let path = format!("/api/v2/jobs/alice~{name}/queue");
    let looked = async {
        let mut look = tokio::time::interval(std::time::Duration::from_millis(20));
        while send(hall, "alice", "GET", &path, Value::Null).await.json().is_null() {
            look.tick().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), looked).await.unwrap();
    path
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_who_may_changes_a_jobs_turn() {
    let hall = Hall::open().await;
    let path = waits(&hall, "train").await;
    let why = send(&hall, "bob", "GET", &path, Value::Null).await.json();
    assert_eq!((&why["reason"]["code"], &why["position"]), (&json!("no_nodes"), &json!(1)));
    let hold = json!({ "change": "hold" });
    for change in [
        hold.clone(),
        json!({ "change": "release" }),
        json!({ "change": "priority", "priority": 1 }),
        json!({ "change": "move", "place": "last" }),
    ] {
        for path in [path.clone(), format!("{path}?dryRun")] {
            let refused = send(&hall, "bob", "PUT", &path, change.clone()).await;
            assert_eq!(refused.status, 403, "{change} {path}");
        }
    }
    let effect = send(&hall, "alice", "PUT", &format!("{path}?dryRun=true"), hold.clone()).await;
    assert_eq!((effect.status, &effect.json()["start"]["jobs"]), (200, &json!([])));
    let job = || send(&hall, "alice", "GET", "/api/v2/jobs/alice~train", Value::Null);
    assert_eq!(job().await.json()["jobStatus"].get("held"), None, "it was a dry run");
    assert_eq!(send(&hall, "alice", "PUT", &path, hold.clone()).await.status, 202);
    assert_eq!(job().await.json()["jobStatus"]["held"]["by"], "alice");
    assert_eq!(send(&hall, "admin", "PUT", &path, hold).await.status, 202);
    let release = json!({ "change": "release" });
    let refused = send(&hall, "alice", "PUT", &path, release.clone()).await;
    assert_eq!(refused.status, 403, "an administrator holds it");
    assert_eq!(send(&hall, "admin", "PUT", &path, release).await.status, 202);
    let priority = |priority: i32| json!({ "change": "priority", "priority": priority });
    assert_eq!(send(&hall, "alice", "PUT", &path, priority(11)).await.status, 403);
    assert_eq!(send(&hall, "alice", "PUT", &path, priority(9)).await.status, 202);
    assert_eq!(send(&hall, "admin", "PUT", &path, priority(120)).await.status, 202);
    assert_eq!(send(&hall, "alice", "PUT", &path, json!({ "change": "sell" })).await.status, 400);
    let told =
        send(&hall, "alice", "GET", "/api/v2/jobs/alice~train/events?type=Normal", Value::Null);
    let told = told.await.json();
    assert_eq!(told["totalCount"], told["data"].as_array().unwrap().len());
    assert!(told["data"].as_array().unwrap().iter().any(|event| event["reason"] == "submitted"));
    let log = send(&hall, "admin", "GET", "/api/v2/audit", Value::Null).await.json();
    let actions = log.as_array().unwrap().iter().map(|entry| entry["action"].as_str().unwrap());
    let words: Vec<_> = actions.filter(|action| action.starts_with("job.")).collect();
    assert_eq!(words, ["job.priority", "job.priority", "job.released", "job.held", "job.held"]);
    hall.control.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_and_shares_are_administrators_to_change() {
    let hall = Hall::open().await;
    let share = json!({ "share": { "gpus": { "A100": 8 } } });
    let (cluster, node) = ("/api/v2/virtual-clusters/vision", "/api/v2/nodes/none/drain");
    let drain = json!({ "value": true });
    for dry_run in ["", "?dryRun"] {
        let path = format!("{cluster}{dry_run}");
        assert_eq!(send(&hall, "alice", "PUT", &path, share.clone()).await.status, 403);
        let path = format!("{node}{dry_run}");
        assert_eq!(send(&hall, "alice", "PUT", &path, drain.clone()).await.status, 403);
        assert_eq!(send(&hall, "admin", "PUT", &path, drain.clone()).await.status, 404);
    }
    let half = send(&hall, "admin", "PUT", node, json!({ "value": false, "now": true })).await;
    assert_eq!(half.status, 400, "{}", half.text);
    let path = format!("{cluster}?dryRun");
    let effect = send(&hall, "admin", "PUT", &path, share.clone()).await;
    assert_eq!((effect.status, &effect.json()["wait"]["counts"]), (200, &json!({})));
    let there = || send(&hall, "alice", "GET", cluster, Value::Null);
    assert_eq!(there().await.status, 404, "it was a dry run");
    assert_eq!(send(&hall, "admin", "PUT", cluster, share).await.status, 202);
    assert_eq!(there().await.status, 200);
    hall.control.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_in_quarantine_is_administrators_to_decide() {
    let hall = Hall::open().await;
    let (all, one) = ("/api/v2/quarantine", "/api/v2/quarantine/n1/berth-c-1-a0-r0-t0-n0");
    let stop = json!({ "value": "STOP" });
    for (who, found, missing) in [("alice", 403, 403), ("admin", 200, 404)] {
        assert_eq!(send(&hall, who, "GET", all, Value::Null).await.status, found);
        assert_eq!(send(&hall, who, "PUT", one, stop.clone()).await.status, missing);
        assert_eq!(send(&hall, who, "DELETE", one, Value::Null).await.status, missing);
    }
    assert_eq!(send(&hall, "admin", "PUT", one, json!({ "value": "RUN" })).await.status, 400);
    assert_eq!(send(&hall, "admin", "GET", all, Value::Null).await.json(), json!([]));
    hall.control.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_are_administrators_to_see() {
    let hall = Hall::open().await;
    let servers = "/api/v2/servers";
    assert_eq!(send(&hall, "alice", "GET", servers, Value::Null).await.status, 403);
    // Beside SQLite there can be no other.
    assert_eq!(send(&hall, "admin", "GET", servers, Value::Null).await.json(), json!([]));
    hall.control.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_part_of_a_share_is_set_and_shown() {
    let hall = Hall::open().await;
    let (lab, one) = ("/api/v2/virtual-clusters/lab", "/api/v2/virtual-clusters/one");
    let put = |path: String, body: Value| {
        let hall = &hall;
        async move { send(hall, "admin", "PUT", &path, body).await }
    };
    let share = json!({ "share": { "gpus": { "A100": 8 } } });
    assert_eq!(put(lab.into(), share).await.status, 202);
    let shapes = json!([{ "type": "A100", "gpus": 4, "count": 2 }]);
    let part = json!({
        "parent": "lab", "shapes": shapes, "nodes": ["gpu-1"], "borrows": false, "preempts": false,
        "deadlines": true, "within": { "rack": ["r1", "r2"], "switch": ["s"] }, "lease": 10,
        "idle": { "load": 3, "minutes": 30, "grace": 10, "stop_after": 15 },
    });
    let too_much = json!({ "parent": "lab", "share": { "gpus": { "A100": 9 } } });
    let stranger = json!({ "parent": "none" });
    let nowhere = json!({ "within": { "rack": ["r1"] } });
    for dry_run in ["?dryRun", ""] {
        for (body, expected) in [
            (&too_much, "have 9 together"),
            (&stranger, "allowed: default, lab"),
            (&nowhere, "no GPUs"),
        ] {
            let refused = put(format!("{one}{dry_run}"), body.clone()).await;
            let message = refused.json()["message"].to_string();
            assert!(refused.status == 400 && message.contains(expected), "{message}");
        }
        let done = if dry_run.is_empty() { 202 } else { 200 };
        assert_eq!(put(format!("{one}{dry_run}"), part.clone()).await.status, done);
    }
    let shown = send(&hall, "alice", "GET", one, Value::Null).await.json();
    for key in
        ["parent", "shapes", "nodes", "within", "borrows", "preempts", "deadlines", "lease", "idle"]
    {
        assert_eq!(shown[key], part[key]);
    }
    let gap = put(one.into(), json!({ "preempts": ["prod"] })).await;
    let message = gap.json()["message"].to_string();
    assert!(gap.status == 400 && message.contains("prod, but not crit"), "{message}");
    let mut critical = part;
    critical["preempts"] = json!(["crit"]);
    assert_eq!(put(one.into(), critical).await.status, 202);
    let shown = send(&hall, "alice", "GET", one, Value::Null).await.json();
    assert_eq!(shown["preempts"], json!(["crit"]));
    let too_long = json!({ "idle": { "minutes": 10081 } });
    assert_eq!(put(one.into(), too_long).await.status, 400);
    let kept = put("/api/v2/jobs/alice~none/keep".into(), json!({ "hours": 4 })).await;
    assert_eq!(kept.status, 404);
    for who in ["alice", "admin"] {
        let idle = send(&hall, who, "GET", "/api/v2/idle-jobs", Value::Null).await;
        assert_eq!(idle.json(), json!([]));
    }
    let smaller = json!({ "share": { "gpus": { "A100": 4 } } });
    assert_eq!(put(lab.into(), smaller).await.status, 400, "its part has more");
    assert_eq!(put(lab.into(), json!({ "parent": "default" })).await.status, 400);
    hall.control.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_are_set_and_shown_and_who_goes_beyond_is_told_which() {
    let hall = Hall::open().await;
    let default = "/api/v2/virtual-clusters/default";
    let put = async |limits: Value| {
        send(&hall, "admin", "PUT", default, json!({ "limits": limits })).await
    };
    let shown = send(&hall, "alice", "GET", default, Value::Null).await.json();
    assert_eq!(shown["limits"], Value::Null);
    assert_eq!(put(json!({ "user": { "waiting_jobs": 0 } })).await.status, 400);
    assert_eq!(put(json!({ "user": { "waiting": 1 } })).await.status, 400);
    let limits =
        json!({ "user": { "waiting_jobs": 2 }, "users": { "bob": { "running_gpus": 1 } } });
    assert_eq!(put(limits).await.status, 202);
    let shown = send(&hall, "alice", "GET", default, Value::Null).await.json();
    assert_eq!(shown["limits"]["user"]["waiting_jobs"], json!(2));
    assert_eq!(shown["limits"]["users"]["bob"]["running_gpus"], json!(1));

    // There is no node: what is let in waits.
    let submit = async |who: &str, name: &str, gpus: u32| {
        let job = json!({ "jobName": name, "image": "berth/base", "taskRoles": [{
            "name": "worker", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 100, "gpuNumber": gpus,
            "command": "true" }] });
        send(&hall, who, "POST", "/api/v2/jobs", job).await
    };
    for name in ["one", "two"] {
        assert_eq!(submit("alice", name, 0).await.status, 202);
    }
    let refused = submit("alice", "three", 0).await;
    assert_eq!(refused.status, 429, "{}", refused.text);
    assert_eq!(refused.json()["code"], json!("LimitReachedError"));
    let message = refused.json()["message"].to_string();
    assert!(
        message.contains("alice has 2 jobs waiting in the virtual cluster default"),
        "{message}"
    );
    for name in ["one", "two", "three"] {
        assert_eq!(submit("bob", name, 0).await.status, 202, "his are others");
    }
    let too_large = submit("bob", "large", 2).await;
    assert_eq!(too_large.json()["code"], json!("ImpossibleRequestError"));
    let again = json!({ "jobs": ["alice~one"] });
    let many = send(&hall, "alice", "POST", "/api/v2/many-jobs/again", again).await;
    assert!(many.text.contains("LimitReachedError"), "{}", many.text);
    hall.control.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_is_added_shown_changed_and_removed() {
    let hall = Hall::open().await;
    let path = "/api/v2/nodes/sim-rest";
    let settings = |labels: Value| json!({ "address": "10.0.0.7", "endpoint": "sim://sim-rest", "labels": labels });
    let (before, after) = (settings(json!({})), settings(json!({ "rack": "3" })));
    for dry_run in ["?dryRun", ""] {
        let path = format!("{path}{dry_run}");
        assert_eq!(send(&hall, "alice", "PUT", &path, before.clone()).await.status, 403);
        let typo = json!({ "address": "10.0.0.7", "endpoint": "sim://sim-rest", "label": {} });
        let refused = send(&hall, "admin", "PUT", &path, typo).await;
        assert!(refused.status == 400 && refused.text.contains("unknown field `label`"));
        let done = if dry_run.is_empty() { 202 } else { 200 };
        assert_eq!(send(&hall, "admin", "PUT", &path, before.clone()).await.status, done);
    }
    assert_eq!(send(&hall, "admin", "PUT", path, after).await.status, 202);
    let seen = send(&hall, "alice", "GET", path, Value::Null).await.json();
    assert_eq!(seen["labels"], json!({ "rack": "3" }));
    let written = format!("{path}/settings");
    assert_eq!(send(&hall, "alice", "GET", &written, Value::Null).await.status, 403);
    let read = send(&hall, "admin", "GET", &written, Value::Null).await.json();
    assert_eq!((&read["name"], &read["labels"]), (&json!("sim-rest"), &json!({ "rack": "3" })));
    assert_eq!(send(&hall, "alice", "DELETE", path, Value::Null).await.status, 403);
    let effect = send(&hall, "admin", "DELETE", &format!("{path}?dryRun"), Value::Null).await;
    assert_eq!(effect.status, 200);
    assert_eq!(send(&hall, "admin", "DELETE", path, Value::Null).await.status, 202);
    assert_eq!(send(&hall, "alice", "GET", path, Value::Null).await.status, 404);
    hall.control.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_nodes_settings_are_those_of_the_configuration_file() {
    let hall = Hall::open().await;
    let path = "/api/v2/nodes/sim-ports";
    let put = async |settings: Value| send(&hall, "admin", "PUT", path, settings).await;
    let endpoint = "sim://sim-ports";
    let wrong = json!({ "address": "", "endpoint": endpoint, "cpus": 0,
        "ports": { "first": 9, "last": 1 } });
    let refused = put(wrong).await;
    let told = refused.json();
    let mistakes = told["problems"].as_array().unwrap().iter();
    let paths: Vec<_> = mistakes.map(|mistake| mistake["path"].as_str().unwrap()).collect();
    assert_eq!((refused.status, paths), (400, vec!["address", "cpus", "ports"]), "{told}");
    assert_eq!(send(&hall, "admin", "GET", path, Value::Null).await.status, 404);
    for ports in [json!("20000-39999"), json!({ "first": 20000, "last": 39999 })] {
        let settings = json!({ "address": "10.0.0.7", "endpoint": endpoint, "ports": ports });
        assert_eq!(put(settings).await.status, 202);
        let written = send(&hall, "admin", "GET", &format!("{path}/settings"), Value::Null).await;
        assert_eq!(written.json()["ports"], "20000-39999");
    }
    hall.control.shutdown().await;
}
