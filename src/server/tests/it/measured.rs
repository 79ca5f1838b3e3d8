//! What jobs use over time, by REST.

use serde_json::json;

use crate::hall::Hall;
use crate::server::{Answer, JSON};

async fn send(hall: &Hall, method: &str, path: &str, body: &str) -> Answer {
    let token = format!("Bearer {}", hall.token("alice"));
    hall.client.send(method, path, &[JSON, ("authorization", &token)], body).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_ask_what_a_job_uses() {
    let hall = Hall::open().await;
    let job = json!({ "jobName": "train", "image": "berth/base", "taskRoles": [{
        "name": "worker", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 100, "gpuNumber": 0,
        "command": "true" }] });
    assert_eq!(send(&hall, "POST", "/api/v2/jobs", &job.to_string()).await.status, 202);
    let used = send(&hall, "GET", "/api/v2/jobs/alice~train/use", "").await;
    assert_eq!((used.status, &used.json()["of_runs"]), (200, &json!(0)), "nothing ran yet");
    let path = "/api/v2/jobs/alice~train/metrics";
    let asked = format!("{path}?attempt=0&role=worker&index=0&from=1&until=2&points=5");
    let answer = send(&hall, "GET", &asked, "").await;
    assert_eq!((answer.status, &answer.json()["tasks"]), (200, &json!([])), "it has no place");
    for (asked, status) in [
        (path.to_owned(), 200),
        (format!("{path}?role=no%20role"), 400),
        (format!("{path}?points=many"), 400),
        ("/api/v2/jobs/alice~nothing/metrics".to_owned(), 404),
        ("/api/v2/jobs/alice~nothing/use".to_owned(), 404),
        ("/api/v2/nodes/nothing/metrics?points=5".to_owned(), 404),
    ] {
        assert_eq!(send(&hall, "GET", &asked, "").await.status, status, "{asked}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_compare_jobs() {
    let hall = Hall::open().await;
    for (name, command) in [("one", "sleep 1"), ("other", "sleep 2")] {
        let job = json!({ "jobName": name, "image": "berth/base", "taskRoles": [{
            "name": "worker", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 100, "gpuNumber": 0,
            "command": command }] });
        assert_eq!(send(&hall, "POST", "/api/v2/jobs", &job.to_string()).await.status, 202);
    }
    let path = "/api/v2/compare?jobs=alice~one,other,bob~none,nonsense~~,other";
    let answer = send(&hall, "GET", path, "").await;
    assert_eq!(answer.status, 200);
    let found = answer.json();
    let jobs: Vec<_> = found["jobs"].as_array().unwrap().iter().map(|job| &job["job"]).collect();
    assert_eq!(jobs, ["alice~one", "alice~other", "bob~none", "nonsense~~"], "each once");
    assert_eq!(found["jobs"][1]["run"]["key"]["name"], "other");
    assert_eq!(found["jobs"][2]["code"], "NoJobError");
    let command = json!([{ "path": "taskRoles[worker].command", "values": ["sleep 1", "sleep 2"],
        "differs": true }]);
    assert_eq!(found["settings"], command);
    let all = send(&hall, "GET", &format!("{path}&all=true"), "").await.json();
    let many = found["alike"].as_u64().unwrap() as usize + 1;
    assert_eq!(all["settings"].as_array().unwrap().len(), many);
    let more = send(&hall, "GET", "/api/v2/compare?jobs=a,b,c,d,e,f,one,other", "").await.json();
    assert_eq!(more["left_out"], json!(["alice~one", "alice~other"]));
    for refused in ["/api/v2/compare", "/api/v2/compare?jobs=,", "/api/v2/compare?job=one"] {
        assert_eq!(send(&hall, "GET", refused, "").await.status, 400, "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_give_only_what_runs_another_time_limit() {
    let hall = Hall::open().await;
    let job = json!({ "jobName": "waits", "image": "berth/base", "taskRoles": [{
        "name": "worker", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 100, "gpuNumber": 0,
        "command": "true" }] });
    assert_eq!(send(&hall, "POST", "/api/v2/jobs", &job.to_string()).await.status, 202);
    let path = "/api/v2/jobs/alice~waits/time-limit";
    for (body, status, code) in [
        (r#"{"seconds": 3600}"#, 409, "ConflictJobError"),
        (r#"{"seconds": 0}"#, 400, "InvalidParametersError"),
        (r#"{"seconds": 4000000000}"#, 400, "InvalidParametersError"),
        (r#"{"seconds": "soon"}"#, 400, "InvalidParametersError"),
        (r#"{"hours": 1}"#, 400, "InvalidParametersError"),
    ] {
        let answer = send(&hall, "PUT", path, body).await;
        assert_eq!((answer.status, &answer.json()["code"]), (status, &json!(code)), "{body}");
    }
    let token = format!("Bearer {}", hall.token("bob"));
    let headers = [JSON, ("authorization", token.as_str())];
    let other = hall.client.send("PUT", path, &headers, r#"{"seconds": 3600}"#).await;
    assert_eq!(other.status, 403);
}
