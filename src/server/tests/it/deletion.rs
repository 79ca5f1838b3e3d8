//! Jobs that have ended are deleted at each door, and what they used is told afterwards.

use std::time::Duration;

use serde_json::{Value, json};

use crate::hall::Hall;
use crate::server::{Answer, JSON};

async fn send(hall: &Hall, who: &str, method: &str, path: &str, body: &str) -> Answer {
    let token = format!("Bearer {}", hall.token(who));
    hall.client.send(method, path, &[JSON, ("authorization", &token)], body).await
}

/// A job of alice's that waits, because there is no node.
async fn submit(hall: &Hall) {
    let job = json!({ "jobName": "train", "image": "berth/base", "taskRoles": [{
        "name": "worker", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 100, "gpuNumber": 0,
        "command": "true" }] });
    let answer = send(hall, "alice", "POST", "/api/v2/jobs", &job.to_string()).await;
    assert_eq!(answer.status, 202, "{}", answer.text);
}

/// Stops it, and waits until it has ended.
async fn stop(hall: &Hall) {
    let path = "/api/v2/jobs/alice~train";
    let stop = json!({ "value": "STOP" }).to_string();
    let answer = send(hall, "alice", "PUT", &format!("{path}/executionType"), &stop).await;
    assert_eq!(answer.status, 202, "{}", answer.text);
    let stopped = async {
        let mut look = tokio::time::interval(Duration::from_millis(20));
        let state = |answer: Answer| answer.json()["jobStatus"]["state"].clone();
        while state(send(hall, "alice", "GET", path, "").await) != json!("STOPPED") {
            look.tick().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), stopped).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_are_deleted_once_they_have_ended_by_owner_and_administrator() {
    let hall = Hall::open().await;
    let flat = "/api/v1/jobs/train";
    for (who, path, message) in [
        ("alice", "/api/v2/jobs/alice~train", "Delete job alice~train successfully."),
        ("alice", flat, "deleted job train successfully"),
        ("admin", "/api/v1/user/alice/jobs/train", "deleted job train successfully"),
    ] {
        submit(&hall).await;
        let refused = send(&hall, who, "DELETE", path, "").await;
        assert_eq!((refused.status, &refused.json()["code"]), (409, &json!("ConflictJobError")));
        assert!(refused.text.contains("stop it"), "{}", refused.text);
        stop(&hall).await;
        let refused = send(&hall, "bob", "DELETE", path, "").await;
        assert_eq!((refused.status, &refused.json()["code"]), (403, &json!("ForbiddenUserError")));
        assert_eq!(hall.client.send("DELETE", path, &[], "").await.status, 401);
        let deleted = send(&hall, who, "DELETE", path, "").await;
        assert_eq!((deleted.status, &deleted.json()["message"]), (202, &json!(message)));
        for method in ["GET", "DELETE"] {
            assert_eq!(send(&hall, who, method, path, "").await.status, 404, "{method} {path}");
        }
    }
    let log = send(&hall, "admin", "GET", "/api/v2/audit", "").await.json();
    let deleted = log.as_array().unwrap().iter().filter(|entry| entry["action"] == "job.deleted");
    let actors: Vec<&Value> = deleted.map(|entry| &entry["actor"]).collect();
    assert_eq!(actors, ["admin", "alice", "alice"]);
    hall.control.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_used_is_told_of_jobs_that_are_deleted() {
    let hall = Hall::open().await;
    submit(&hall).await;
    stop(&hall).await;
    assert_eq!(send(&hall, "alice", "DELETE", "/api/v1/jobs/train", "").await.status, 202);
    for path in ["/api/v2/usage", "/api/v2/usage?username=alice"] {
        for who in ["alice", "admin"] {
            let mut used = send(&hall, who, "GET", path, "").await.json();
            let (day, _waited) = (used[0]["day"].take(), used[0]["queueSeconds"].take());
            let _asked = used[0]["askedGpuSeconds"].take();
            assert_eq!(day.as_str().unwrap().len(), "2026-11-21".len());
            let expected = json!([{
                "day": null, "username": "alice", "virtualCluster": "default", "gpuType": null,
                "jobs": 1, "gpuSeconds": 0, "usedGpuSeconds": 0, "measuredGpuSeconds": 0,
                "preemptedGpuSeconds": 0, "wastedGpuSeconds": 0, "queueSeconds": null, "cost": null,
                "groups": [], "askedGpuSeconds": null,
            }]);
            assert_eq!(used, expected, "{who} {path}");
        }
    }
    let table = send(&hall, "alice", "GET", "/api/v2/usage.csv", "").await;
    assert_eq!((table.status, table.text.lines().count()), (200, 2), "{}", table.text);
    assert!(table.text.contains(",alice,default,,1,0,0,"), "{}", table.text);
    assert_eq!(send(&hall, "bob", "GET", "/api/v2/usage", "").await.json(), json!([]));
    for (path, status) in [
        ("/api/v2/usage?username=alice", 403),
        ("/api/v2/usage.csv?username=alice", 403),
        ("/api/v2/usage?from=1999-01-01", 400),
        ("/api/v2/usage?from=today", 400),
        ("/api/v2/usage?to=2026-11-21", 400),
    ] {
        let refused = send(&hall, "bob", "GET", path, "").await;
        assert_eq!(refused.status, status, "{path}: {}", refused.text);
    }
    hall.control.shutdown().await;
}
