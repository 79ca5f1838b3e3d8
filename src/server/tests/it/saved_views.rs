//! Lists of jobs with names: each user has his own.

use serde_json::{Value, json};

use crate::hall::Hall;
use crate::server::{Answer, JSON};

async fn send(hall: &Hall, who: &str, method: &str, path: &str, body: Value) -> Answer {
    let token = format!("Bearer {}", hall.token(who));
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let path = format!("/api/v2/saved-views{path}");
    hall.client.send(method, &path, &[JSON, ("authorization", &token)], &body).await
}

async fn names(hall: &Hall, who: &str) -> Vec<String> {
    let views = send(hall, who, "GET", "", Value::Null).await.json();
    let views = views.as_array().unwrap().iter();
    views.map(|view| view["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn views_are_saved_renamed_and_removed_by_their_user_alone() {
    let hall = Hall::open().await;
    let failed = json!({ "filter": "state:failed", "all": true, "sort": "-gpus" });
    assert_eq!(send(&hall, "alice", "PUT", "/failed%20ones", failed.clone()).await.status, 204);
    assert_eq!(send(&hall, "alice", "PUT", "/mine", json!({})).await.status, 204);
    assert_eq!(send(&hall, "alice", "PUT", "/mine", json!({ "filter": "a" })).await.status, 204);
    let views = send(&hall, "alice", "GET", "", Value::Null).await.json();
    let mine = json!({ "name": "mine", "filter": "a", "all": false, "sort": "" });
    let mut expected = failed;
    expected["name"] = json!("failed ones");
    assert_eq!(views, json!([expected, mine]), "what is saved twice is there once");
    for who in ["bob", "admin"] {
        assert_eq!(names(&hall, who).await, [""; 0]);
        assert_eq!(send(&hall, who, "DELETE", "/mine", Value::Null).await.status, 400);
    }
    let rename = |to: &str| json!({ "value": to });
    assert_eq!(send(&hall, "alice", "PUT", "/mine/name", rename("失败")).await.status, 204);
    let taken = send(&hall, "alice", "PUT", "/failed%20ones/name", rename("失败")).await;
    assert_eq!((taken.status, taken.text.contains("already")), (400, true), "{}", taken.text);
    assert_eq!(send(&hall, "alice", "PUT", "/gone/name", rename("x")).await.status, 400);
    assert_eq!(names(&hall, "alice").await, ["failed ones", "失败"]);
    assert_eq!(send(&hall, "alice", "DELETE", "/failed%20ones", Value::Null).await.status, 204);
    assert_eq!(names(&hall, "alice").await, ["失败"]);
    hall.control.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn views_have_a_limit_and_can_be_read() {
    let hall = Hall::open().await;
    for bad in [json!({ "filter": "sate:failed" }), json!({ "sort": "a&b" }), json!({ "x": 1 })] {
        assert_eq!(send(&hall, "alice", "PUT", "/bad", bad).await.status, 400);
    }
    for bad in ["a\u{0}", "a\nb"] {
        let refused = send(&hall, "alice", "PUT", "/bad", json!({ "filter": bad })).await;
        assert_eq!((refused.status, refused.text.contains("one line")), (400, true), "{bad:?}");
    }
    for number in 0..30 {
        let saved = send(&hall, "alice", "PUT", &format!("/view-{number}"), json!({})).await;
        assert_eq!(saved.status, 204, "{number}");
    }
    let refused = send(&hall, "alice", "PUT", "/one-more", json!({})).await;
    assert_eq!((refused.status, refused.text.contains("30 views")), (400, true));
    assert_eq!(send(&hall, "alice", "PUT", "/view-3", json!({})).await.status, 204, "it is there");
    assert_eq!(names(&hall, "alice").await.len(), 30);
    hall.control.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_views_at_once_no_more_are_saved_than_there_may_be() {
    let hall = Hall::open().await;
    let paths: Vec<String> = (0..40).map(|number| format!("/view-{number}")).collect();
    let saved = paths.iter().map(|path| send(&hall, "alice", "PUT", path, json!({})));
    let saved = futures::future::join_all(saved).await;
    assert_eq!(saved.iter().filter(|answer| answer.status == 204).count(), 30);
    assert_eq!(names(&hall, "alice").await.len(), 30);
    hall.control.shutdown().await;
}
