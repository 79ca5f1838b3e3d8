//! Who reads the measurements.

use std::sync::atomic::Ordering;

use axum::http::StatusCode;
use server::router::metrics_router;
use server::state::{AppState, StateOptions};
use tokio::net::TcpListener;

use crate::fakes::World;
use crate::server::{ADMIN, ALICE, AllWell, Server};

const TOKEN: &str = "only-prometheus-knows";
const BEARER: (&str, &str) = ("authorization", "Bearer only-prometheus-knows");

fn options() -> StateOptions {
    StateOptions { metrics_token: Some(TOKEN.to_owned()), ..StateOptions::default() }
}

#[tokio::test]
async fn measurements_are_for_administrators_and_prometheus() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new();
    let client = Server::with(folder.path(), world.backend(), options()).await.client();
    let wrong = ("authorization", "Bearer only-prometheus-knew");
    let basic = ("authorization", "Basic only-prometheus-knows");
    for (headers, status) in [
        (vec![], 401),
        (vec![wrong], 401),
        (vec![basic], 401),
        (vec![ALICE], 403),
        (vec![ADMIN], 200),
        (vec![BEARER], 200),
    ] {
        let answer = client.get("/metrics", &headers).await;
        assert_eq!(answer.status, status, "{headers:?}: {}", answer.text);
        assert_eq!(answer.text.contains("berth_jobs"), status == 200, "{headers:?}");
    }
    assert_eq!(client.get("/api/v2/jobs", &[BEARER]).await.status, 401, "it opens nothing else");
    let folder = tempfile::tempdir().unwrap();
    let plain = Server::start(folder.path(), &world).await.client();
    assert_eq!(plain.get("/metrics", &[("authorization", "Bearer ")]).await.status, 401);
}

#[tokio::test]
async fn jobs_are_counted_once_for_many_who_ask() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new();
    let client = Server::with(folder.path(), world.backend(), options()).await.client();
    let asked = futures::future::join_all((0..20).map(|_| client.get("/metrics", &[BEARER])));
    assert!(asked.await.iter().all(|answer| answer.status == 200));
    // One more every five seconds, however slow this machine is.
    assert!(world.counted.load(Ordering::SeqCst) < 20);
}

#[tokio::test]
async fn prometheus_has_a_door_of_its_own() {
    for (options, without, with) in [(StateOptions::default(), 200, 200), (options(), 401, 200)] {
        let state = AppState::new(World::new().backend(), AllWell::probe(), options);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let served = tokio::spawn(async { axum::serve(listener, metrics_router(state)).await });
        let client = Server::client_of(address);
        assert_eq!(client.get("/metrics", &[]).await.status, without);
        assert_eq!(client.get("/metrics", &[BEARER]).await.status, with);
        let other = client.get("/api/v2/jobs", &[ADMIN]).await.status;
        assert_eq!(other, StatusCode::NOT_FOUND.as_u16(), "there is nothing else");
        served.abort();
    }
}
