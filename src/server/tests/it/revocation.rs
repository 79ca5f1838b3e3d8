//! What was given ends with what it was given for.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use crate::fakes::{ENDLESS, World};
use crate::hall::{Hall, PASSWORD};
use crate::server::{ALICE, Answer, Client, JSON, Server};

async fn status(client: &Client, token: &str) -> u16 {
    let bearer = format!("Bearer {token}");
    client.get("/api/v2/jobs", &[("authorization", &bearer)]).await.status
}

async fn send(hall: &Hall, token: &str, (method, path): (&str, &str), body: Value) -> Answer {
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", bearer.as_str()), JSON];
    hall.client.send(method, path, &headers, &body.to_string()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_and_sessions_end_with_the_password() {
    let hall = Hall::open().await;
    let session = hall.client.sign_in("alice", "correct%20horse").await;
    let cookie = [("cookie", session.as_str())];
    assert_eq!(hall.client.get("/api/v2/jobs", &cookie).await.status, 200);
    assert_eq!(status(&hall.client, hall.token("alice")).await, 200);
    let door = ("PUT", "/api/v2/users/alice/password");
    let reset = send(&hall, hall.token("admin"), door, json!({ "newPassword": "another horse" }));
    assert_eq!(reset.await.status, 201);
    assert_eq!(hall.client.get("/api/v2/jobs", &cookie).await.status, 401);
    assert_eq!(status(&hall.client, hall.token("alice")).await, 401);
    assert_eq!(status(&hall.client, hall.token("bob")).await, 200, "bob has changed nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changes_its_own_password_may_stay() {
    let hall = Hall::open().await;
    let session = hall.client.sign_in("alice", "correct%20horse").await;
    let cookie = [("cookie", session.as_str())];
    let door = ("PUT", "/api/v2/users/alice/password");
    let body = json!({
        "oldPassword": PASSWORD, "newPassword": "another horse", "keepCurrent": true,
    });
    assert_eq!(send(&hall, hall.token("alice"), door, body).await.status, 201);
    assert_eq!(status(&hall.client, hall.token("alice")).await, 200);
    assert_eq!(hall.client.get("/api/v2/jobs", &cookie).await.status, 401, "all else ends");
    let body = json!({ "oldPassword": "another horse", "newPassword": PASSWORD });
    assert_eq!(send(&hall, hall.token("alice"), door, body).await.status, 201);
    assert_eq!(status(&hall.client, hall.token("alice")).await, 401, "it was not asked to stay");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removed_or_demoted_user_loses_what_he_holds() {
    let hall = Hall::open().await;
    let admin = hall.token("admin").to_owned();
    let promote = ("PUT", "/api/v2/users/bob/admin");
    assert_eq!(send(&hall, &admin, promote, json!({ "admin": true })).await.status, 201);
    let audit = ("GET", "/api/v2/audit");
    assert_eq!(send(&hall, hall.token("bob"), audit, Value::Null).await.status, 200);
    assert_eq!(send(&hall, &admin, promote, json!({ "admin": false })).await.status, 201);
    assert_eq!(send(&hall, hall.token("bob"), audit, Value::Null).await.status, 403);
    let own = ("PUT", "/api/v2/users/admin/admin");
    assert_eq!(send(&hall, &admin, own, json!({ "admin": false })).await.status, 403);
    let access = ("DELETE", "/api/v2/users/alice/access");
    assert_eq!(send(&hall, hall.token("bob"), access, Value::Null).await.status, 403);
    assert_eq!(send(&hall, &admin, access, Value::Null).await.status, 200);
    assert_eq!(status(&hall.client, hall.token("alice")).await, 401);
    let remove = ("DELETE", "/api/v2/users/bob");
    assert_eq!(send(&hall, &admin, remove, Value::Null).await.status, 200);
    assert_eq!(status(&hall.client, hall.token("bob")).await, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_and_followed_logs_end_with_their_token() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new();
    let server = Server::start(folder.path(), &world).await;
    let client = server.client();
    let log = format!("/api/v1/jobs/train/logs?role=worker&index={ENDLESS}&follow=true");
    let open = |path: String| {
        let client = client.clone();
        tokio::spawn(async move { client.get(&path, &[ALICE]).await })
    };
    let (stream, log) = (open("/api/events".to_owned()), open(log));
    world.revoked.store(true, Ordering::SeqCst);
    assert_eq!(stream.await.unwrap().status, 200);
    let log = log.await.unwrap();
    assert_eq!((log.status, log.text.as_str()), (200, "one\ntwo\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_end_with_their_user() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new();
    let server = Server::start(folder.path(), &world).await;
    let client = server.client();
    let stream = tokio::spawn(async move { client.get("/api/events", &[ALICE]).await });
    world.gone.store(true, Ordering::SeqCst);
    assert_eq!(stream.await.unwrap().status, 200);
}
