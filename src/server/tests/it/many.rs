//! The same done with many jobs: each is answered for itself.

use std::time::Duration;

use serde_json::{Value, json};

use crate::hall::Hall;
use crate::server::{Answer, JSON};

async fn send(hall: &Hall, who: &str, method: &str, path: &str, body: Value) -> Answer {
    let token = format!("Bearer {}", hall.token(who));
    let body = if body.is_null() { String::new() } else { body.to_string() };
    hall.client.send(method, path, &[JSON, ("authorization", &token)], &body).await
}

/// A job that waits, because there is no node.
async fn submit(hall: &Hall, who: &str, name: &str) {
    let job = json!({ "jobName": name, "image": "berth/base", "taskRoles": [{
        "name": "worker", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 100, "gpuNumber": 0,
        "command": "true" }] });
    let answer = send(hall, who, "POST", "/api/v2/jobs", job).await;
    assert_eq!(answer.status, 202, "{}", answer.text);
}

/// Asks until something is so.
async fn until<F: Future<Output = bool>>(is_so: impl Fn() -> F) {
    let looked = async {
        let mut look = tokio::time::interval(Duration::from_millis(20));
        while !is_so().await {
            look.tick().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), looked).await.unwrap();
}

async fn has_state(hall: &Hall, key: &str, state: &str) -> bool {
    let job = send(hall, "alice", "GET", &format!("/api/v2/jobs/{key}"), Value::Null).await;
    job.json()["jobStatus"]["state"] == state
}

/// What became of each: `done`, or the word for why not.
async fn outcomes(hall: &Hall, who: &str, act: &str, body: Value) -> Vec<(String, String)> {
    let answer = send(hall, who, "POST", &format!("/api/v2/many-jobs/{act}"), body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let outcomes = answer.json();
    let outcome = |each: &Value| {
        let word = if each["done"] == true { "done" } else { each["code"].as_str().unwrap() };
        (each["job"].as_str().unwrap().to_owned(), word.to_owned())
    };
    outcomes.as_array().unwrap().iter().map(outcome).collect()
}

fn said(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(job, word)| ((*job).to_owned(), (*word).to_owned())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_of_many_jobs_is_done_or_says_why_not() {
    let hall = Hall::open().await;
    for (who, name) in [("alice", "one"), ("alice", "two"), ("bob", "his")] {
        submit(&hall, who, name).await;
    }
    let all = json!({ "jobs": ["alice~one", "bob~his", "alice~none", "no key", "alice~one"] });
    let refused = [
        ("alice~one", "done"),
        ("bob~his", "ForbiddenUserError"),
        ("alice~none", "NoJobError"),
        ("no key", "NoJobError"),
    ];
    for (act, more) in [("tag", json!({ "tag": "night" })), ("priority", json!({ "priority": 1 }))]
    {
        let mut body = all.clone();
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(outcomes(&hall, "alice", act, body).await, said(&refused), "{act}");
    }
    let waiting = json!({ "jobs": ["alice~one"] });
    let early = outcomes(&hall, "alice", "delete", waiting.clone()).await;
    assert_eq!(early, said(&[("alice~one", "ConflictJobError")]));
    assert_eq!(outcomes(&hall, "alice", "stop", all.clone()).await, said(&refused));
    until(|| has_state(&hall, "alice~one", "STOPPED")).await;
    let late = json!({ "jobs": ["alice~one", "alice~two"], "priority": 2 });
    let late = outcomes(&hall, "alice", "priority", late).await;
    assert_eq!(late, said(&[("alice~one", "ConflictJobError"), ("alice~two", "done")]));
    assert_eq!(outcomes(&hall, "alice", "delete", waiting).await, said(&[("alice~one", "done")]));
    let log = send(&hall, "admin", "GET", "/api/v2/audit", Value::Null).await.json();
    let of = |action: &str| {
        let entries = log.as_array().unwrap().iter();
        entries.filter(|entry| entry["action"] == action).count()
    };
    assert_eq!((of("job.deleted"), of("job.priority")), (1, 2), "a line each");
    hall.control.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_run_again_as_they_were_under_names_of_their_own() {
    let hall = Hall::open().await;
    for name in ["train_aaaaa1", "train_aaaaa2"] {
        submit(&hall, "alice", name).await;
    }
    let body = json!({ "jobs": ["alice~train_aaaaa1", "alice~train_aaaaa2"] });
    let answer = send(&hall, "alice", "POST", "/api/v2/many-jobs/again", body).await;
    let outcomes = answer.json();
    let made: Vec<&str> =
        outcomes.as_array().unwrap().iter().map(|each| each["made"].as_str().unwrap()).collect();
    assert_ne!(made[0], made[1]);
    for key in made {
        assert!(key.starts_with("alice~train_") && !key.contains("aaaaa"), "{key}");
        let job = send(&hall, "alice", "GET", &format!("/api/v2/jobs/{key}"), Value::Null).await;
        assert_eq!(job.status, 200, "{}", job.text);
    }
    hall.control.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn there_is_a_limit_to_how_many() {
    let hall = Hall::open().await;
    let jobs: Vec<String> = (0..1_001).map(|number| format!("alice~{number}")).collect();
    for (jobs, status) in [(&jobs[..], 400), (&jobs[..1_000], 200), (&jobs[..0], 400)] {
        let body = json!({ "jobs": jobs });
        let answer = send(&hall, "alice", "POST", "/api/v2/many-jobs/stop", body).await;
        assert_eq!(answer.status, status, "{}", jobs.len());
    }
    let body = json!({ "jobs": ["alice~a"], "tag": "a,b" });
    let answer = send(&hall, "alice", "POST", "/api/v2/many-jobs/tag", body).await;
    assert_eq!(answer.status, 400, "{}", answer.text);
    let answer = hall.client.send("POST", "/api/v2/many-jobs/stop", &[JSON], "{}").await;
    assert_eq!(answer.status, 401);
    hall.control.shutdown().await;
}
