//! What the doors write down.

use std::collections::BTreeSet;

use crate::hall::Hall;
use crate::server::{FORM, JSON};

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_and_goes_and_what_is_refused_is_written_down() {
    let hall = Hall::open().await;
    let cookie = hall.client.sign_in("alice", "correct%20horse").await;
    let headers = [FORM, ("cookie", cookie.as_str()), ("sec-fetch-site", "same-origin")];
    assert_eq!(hall.client.send("POST", "/auth/sign-out", &headers, "").await.status, 303);
    for name in ["alice", "my secret password"] {
        let body = format!(r#"{{"username":"{name}","password":"wrong"}}"#);
        let answer = hall.client.send("POST", "/api/v1/token", &[JSON], &body).await;
        assert_eq!(answer.status, 400);
    }
    let bob = format!("Bearer {}", hall.token("bob"));
    let bob = [("authorization", bob.as_str())];
    for _ in 0..30 {
        assert_eq!(hall.client.get("/api/v2/audit", &bob).await.status, 403);
    }
    let admin = format!("Bearer {}", hall.token("admin"));
    let log = hall.client.get("/api/v2/audit?limit=500", &[("authorization", &admin)]).await;
    assert!(!log.text.contains("my secret"), "what was typed into the wrong field is not kept");
    let log = log.json();
    let entries: BTreeSet<(&str, &str)> = log
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (entry["action"].as_str().unwrap(), entry["actor"].as_str().unwrap()))
        .collect();
    for wanted in [
        ("session.began", "alice"),
        ("session.ended", "alice"),
        ("session.failed", "alice"),
        ("session.failed", "nobody"),
        ("request.refused", "bob"),
    ] {
        assert!(entries.contains(&wanted), "{wanted:?} is not in {entries:?}");
    }
    let refused = |entry: &&serde_json::Value| entry["action"] == "request.refused";
    let refused: Vec<_> = log.as_array().unwrap().iter().filter(refused).collect();
    assert_eq!(refused.len(), 10, "a burst leaves few entries");
    assert_eq!(refused[0]["object"], "GET /api/v2/audit");
    assert_eq!(refused[0]["address"], "127.0.0.1");
}
