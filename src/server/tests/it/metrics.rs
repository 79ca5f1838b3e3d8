//! Who reads the measurements.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::http::StatusCode;
use server::health::OfControl;
use server::router::metrics_router;
use server::state::{AppState, StateOptions};
use tokio::net::TcpListener;

use crate::fakes::World;
use crate::hall::Hall;
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

/// Administrators are given rules for alarms.
const RULES: &str = include_str!("../../../../public/berth-alerts.yml");

/// The names of all series of these measurements, whether or not there are any of them yet.
fn series(measured: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for line in measured.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let (name, kind) = line.split_once(' ').unwrap();
        let ends: &[&str] = match kind {
            "counter" => &["_total"],
            "histogram" => &["_bucket", "_count", "_sum"],
            "summary" => &["_count", "_sum"],
            _ => &[""],
        };
        names.extend(ends.iter().map(|end| format!("{name}{end}")));
    }
    names
}

/// All that a real server measures.
async fn measured_by(hall: &Hall) -> String {
    let probe = Arc::new(OfControl::new(Arc::clone(&hall.control)));
    let state = AppState::new(hall.control.backend.clone(), probe, StateOptions::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let served = tokio::spawn(async { axum::serve(listener, metrics_router(state)).await });
    let of_control = Server::client_of(address).get("/metrics", &[]).await.text;
    served.abort();
    // What was asked before is counted.
    hall.client.get("/healthz", &[]).await;
    let bearer = format!("Bearer {}", hall.token("admin"));
    let of_requests = hall.client.get("/metrics", &[("authorization", bearer.as_str())]).await.text;
    of_control + &of_requests
}

/// Whatever an expression names of ours is measured, and there is something.
fn assert_measured(expression: &str, series: &BTreeSet<String>) {
    let words = expression.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let named: Vec<&str> = words.filter(|word| word.starts_with("berth_")).collect();
    assert!(!named.is_empty(), "{expression} goes by nothing of ours");
    for name in named {
        assert!(series.contains(name), "{name} of {expression} is not measured: {series:?}");
    }
}

/// Administrators are given a dashboard for Grafana.
const DASHBOARD: &str = include_str!("../../../../public/berth-dashboard.json");

#[tokio::test]
async fn the_dashboard_shows_what_is_measured() {
    let series = series(&measured_by(&Hall::open().await).await);
    let dashboard: serde_json::Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    assert!(panels.len() >= 10);
    for panel in panels {
        for target in panel["targets"].as_array().unwrap() {
            assert_measured(target["expr"].as_str().unwrap(), &series);
        }
    }
}

#[tokio::test]
async fn rules_for_alarms_name_what_is_measured() {
    let measured = measured_by(&Hall::open().await).await;
    let series = series(&measured);
    let rules = || RULES.lines().map(str::trim);
    let count = |begins: &str| rules().filter(|line| line.starts_with(begins)).count();
    let alarms = count("- alert: ");
    assert!(alarms >= 10, "{alarms} alarms");
    for part in ["expr: ", "labels: { severity: ", "summary: ", "action: "] {
        assert_eq!(count(part), alarms, "each alarm has its {part}");
    }
    for rule in rules().filter_map(|line| line.strip_prefix("expr: ")) {
        assert_measured(rule, &series);
    }
    for part in ["database", "storage", "loop submissions", "loop nodes", "loop jobs"] {
        let ready = format!("berth_ready{{part=\"{part}\"}} ");
        assert!(measured.contains(&ready), "{ready} is not measured:\n{measured}");
    }
}
