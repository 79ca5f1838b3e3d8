//! What people want to be told, by REST.

use serde_json::{Value, json};

use crate::hall::Hall;
use crate::server::{Answer, JSON};

const PATH: &str = "/api/v2/notifications";

async fn send(hall: &Hall, who: &str, method: &str, path: &str, body: Value) -> Answer {
    let token = format!("Bearer {}", hall.token(who));
    let body = if body.is_null() { String::new() } else { body.to_string() };
    hall.client.send(method, path, &[JSON, ("authorization", &token)], &body).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everybody_says_what_he_wants_to_be_told() {
    let hall = Hall::open().await;
    let before = send(&hall, "alice", "GET", PATH, Value::Null).await.json();
    let nothing = json!({ "occasions": [], "mail": false, "webhook": null, "language": "en" });
    assert_eq!(before["wishes"], nothing);
    assert_eq!(before["mailSetUp"], false);
    let wishes = json!({ "occasions": ["failed", "waiting"], "mail": true,
        "webhook": "https://example.org/hook", "language": "zh" });
    let saved = send(&hall, "alice", "PUT", PATH, wishes.clone()).await;
    assert_eq!((saved.status, &saved.json()["wishes"]), (200, &wishes));
    assert_eq!(saved.json()["signingKey"].as_str().unwrap().len(), 64);
    let after = send(&hall, "alice", "GET", PATH, Value::Null).await;
    assert_eq!(after.json(), saved.json());
    let other = send(&hall, "bob", "GET", PATH, Value::Null).await.json();
    assert_eq!(other["wishes"], nothing, "it is nobody else's");
    let same = send(&hall, "bob", "PUT", PATH, wishes).await.json();
    assert_ne!(same["signingKey"], saved.json()["signingKey"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_wanted_is_refused() {
    let hall = Hall::open().await;
    for (wishes, said) in [
        (json!({ "webhook": "https://192.168.0.1/" }), "private network"),
        (json!({ "webhook": "http://example.org/" }), "https://"),
        (json!({ "occasions": ["late"] }), "late"),
        (json!({ "webHook": "https://example.org/" }), "webHook"),
    ] {
        let refused = send(&hall, "alice", "PUT", PATH, wishes).await;
        assert_eq!(refused.status, 400, "{}", refused.text);
        assert!(refused.text.contains(said), "{said}: {}", refused.text);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_test_says_how_it_went() {
    let hall = Hall::open().await;
    let path = format!("{PATH}/test");
    let nothing = send(&hall, "alice", "POST", &path, Value::Null).await;
    assert_eq!(nothing.json(), json!({ "mail": null, "webhook": null }));
    send(&hall, "alice", "PUT", PATH, json!({ "mail": true })).await;
    let tested = send(&hall, "alice", "POST", &path, Value::Null).await.json();
    let problem = "the account has no mail address";
    assert_eq!(tested["mail"], json!({ "sent": false, "problem": problem }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_wants_mail_where_there_is_none_is_taken() {
    let hall = Hall::open().await;
    let job = json!({ "jobName": "wants", "image": "berth/base",
        "extras": { "jobStatusChangeNotification": { "failed": true, "running": false } },
        "taskRoles": [{ "name": "worker", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 100,
            "gpuNumber": 0, "command": "true" }] });
    let taken = send(&hall, "alice", "POST", "/api/v2/jobs", job).await;
    assert_eq!(taken.status, 202, "{}", taken.text);
    assert!(taken.header("x-warning").contains("no mail is set up"), "{taken:?}");
}
