//! All doors of REST, tried by nobody in particular: they are those of the document that is made of what is
//! mounted, so that a new door is tried as soon as it is there. And those that are somebody else's, tried by
//! a user.

use serde_json::json;
use server::limits::Limits;
use server::openapi::document;
use server::state::StateOptions;

use crate::fakes::World;
use crate::hall::Hall;
use crate::server::{JSON, Server};

/// What is there for who is not signed in yet, under any of the prefixes: also which API this is, and what
/// it has.
const OPEN: [(&str, &str); 12] = [
    ("GET", ""),
    ("GET", "/openapi.json"),
    ("GET", "/docs"),
    ("GET", "/info"),
    ("GET", "/authn/info"),
    ("POST", "/authn/basic/login"),
    ("GET", "/authn/oidc/login"),
    ("GET", "/authn/oidc/logout"),
    ("GET", "/authn/oidc/return"),
    ("POST", "/authn/oidc/return"),
    ("POST", "/token"),
    ("POST", "/tokens"),
];

const PREFIXES: [&str; 3] = ["/api", "/api/v1", "/api/v2"];

/// Each method of each path.
fn doors() -> Vec<(String, &'static str)> {
    let paths = document()["paths"].as_object().unwrap().iter();
    let doors = paths.flat_map(|(path, methods)| {
        let methods = methods.as_object().unwrap().keys();
        methods.map(move |method| (method.to_uppercase(), path.as_str()))
    });
    doors.collect()
}

/// An address of the door.
fn filled(door: &str) -> String {
    let value = |segment| match segment {
        "{key}" => "alice~train",
        "{user}" => "alice",
        "{path}" => "alice/notes",
        "{role}" => "worker",
        "{attempt}" | "{run}" | "{index}" | "{id}" => "1",
        segment if segment.starts_with('{') => "train",
        segment => segment,
    };
    door.split('/').map(value).collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn no_door_of_rest_opens_to_who_is_not_signed_in() {
    let folder = tempfile::tempdir().unwrap();
    let limits =
        Limits { requests_per_second: 0, guest_requests_per_second: 0, ..Limits::default() };
    let options = StateOptions { limits, ..StateOptions::default() };
    let server = Server::with(folder.path(), World::new().backend(), options).await;
    let client = server.client();
    let all = doors();
    assert!(all.len() > 120, "{} doors are known", all.len());
    let mut open = 0;
    for (method, door) in all {
        let is_open = OPEN.iter().any(|(by, path)| {
            *by == method && PREFIXES.iter().any(|prefix| door == format!("{prefix}{path}"))
        });
        open += usize::from(is_open);
        let answer = client.send(&method, &filled(door), &[], "").await;
        assert_eq!(answer.status == 401, !is_open, "{method} {door}: {answer:?}");
    }
    assert!(open >= OPEN.len(), "{open} doors are open");
}

/// What bob asks for is forbidden, and it is written so.
async fn refuses_bob(hall: &Hall, doors: &[(&str, &str, &str)]) {
    let bearer = format!("Bearer {}", hall.token("bob"));
    let headers = [JSON, ("authorization", bearer.as_str())];
    for (method, path, body) in doors {
        let answer = hall.client.send(method, path, &headers, body).await;
        assert_eq!(answer.status, 403, "{method} {path}: {answer:?}");
        assert_eq!(answer.json()["code"], json!("ForbiddenUserError"), "{method} {path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn doors_of_administrators_are_closed_to_others() {
    let hall = Hall::open().await;
    let eve = r#"{"username": "eve", "password": "a password of hers", "admin": true}"#;
    let doors = [
        ("GET", "/api/v2/audit", ""),
        ("GET", "/api/v2/quarantine", ""),
        ("GET", "/api/v2/servers", ""),
        ("PUT", "/api/v2/quarantine/node/container", r#"{"value": "STOP"}"#),
        ("DELETE", "/api/v2/quarantine/node/container", ""),
        ("GET", "/api/v2/nodes/node/settings", ""),
        ("DELETE", "/api/v2/nodes/node", ""),
        ("POST", "/api/v2/nodes/node/gpus", ""),
        ("PUT", "/api/v2/virtual-clusters/lab", r#"{"groups": ["vision"]}"#),
        ("DELETE", "/api/v2/virtual-clusters/lab", ""),
        ("DELETE", "/api/v2/storages/shared", ""),
        ("POST", "/api/v2/users", eve),
        ("DELETE", "/api/v2/users/alice", ""),
        ("DELETE", "/api/v2/users/alice/access", ""),
        ("PUT", "/api/v2/users/bob/admin", r#"{"admin": true}"#),
        ("PUT", "/api/v2/users/alice/password", r#"{"newPassword": "another horse"}"#),
        ("PUT", "/api/v2/users/bob/grouplist", r#"{"grouplist": ["wheel"]}"#),
    ];
    refuses_bob(&hall, &doors).await;
    hall.control.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_users_job_is_closed_at_each_door() {
    let hall = Hall::open().await;
    let bearer = format!("Bearer {}", hall.token("alice"));
    let headers = [JSON, ("authorization", bearer.as_str())];
    // It waits, because there is no node.
    let job = json!({ "jobName": "train", "image": "berth/base", "taskRoles": [{
        "name": "worker", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 100, "gpuNumber": 0,
        "command": "true" }] });
    let job = job.to_string();
    let answer = hall.client.send("POST", "/api/v2/jobs", &headers, &job).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    for job in ["/api/v2/jobs/alice~train", "/api/v1/jobs/train", "/api/v1/user/alice/jobs/train"] {
        let (run, ssh) = (format!("{job}/executionType"), format!("{job}/ssh"));
        let key = format!("{ssh}/key");
        let doors = [
            ("PUT", run.as_str(), r#"{"value": "STOP"}"#),
            ("PUT", run.as_str(), r#"{"value": "START"}"#),
            ("GET", ssh.as_str(), ""),
            ("GET", key.as_str(), ""),
        ];
        refuses_bob(&hall, &doors).await;
    }
    let answer = hall.client.get("/api/v2/jobs/alice~train", &headers).await;
    assert_eq!(answer.json()["jobStatus"]["state"], json!("WAITING"), "{answer:?}");
    hall.control.shutdown().await;
}
