//! How much one may ask at a time.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use server::limits::Limits;
use server::state::StateOptions;

use crate::fakes::World;
use crate::hall::Hall;
use crate::server::{ALICE, Answer, Client, Server};

const BOB: (&str, &str) = ("authorization", "Bearer token-of-bob");

/// So small that no machine is too slow to exceed it.
fn few() -> Limits {
    Limits {
        requests_per_second: 1,
        request_burst: 5,
        guest_requests_per_second: 1,
        guest_request_burst: 5,
        ..Limits::default()
    }
}

async fn limited(limits: Limits) -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let options = StateOptions { limits, ..StateOptions::default() };
    let server = Server::with(folder.path(), World::new().backend(), options).await;
    (folder, server)
}

/// Asks until it is too often.
async fn exceed(client: &Client, path: &str, headers: &[(&str, &str)]) -> Answer {
    for _ in 0..2_000 {
        let answer = client.get(path, headers).await;
        if answer.status == 429 {
            return answer;
        }
    }
    panic!("{path} is never too often");
}

#[tokio::test]
async fn a_user_asks_only_so_often() {
    let (_folder, server) = limited(few()).await;
    let client = server.client();
    for path in ["/api/v2/jobs", "/fn/nodes/map", "/api/v1/nothing", "/jobs"] {
        let refused = exceed(&client, path, &[ALICE]).await;
        let seconds: u64 = refused.header("retry-after").parse().unwrap();
        assert!((1..=10).contains(&seconds), "{path}");
        let body = refused.json();
        let error = if path.starts_with("/fn/") { &body["error"] } else { &body };
        assert_eq!(error["code"], "TooManyRequestsError", "{path}");
        assert!(error["message"].as_str().unwrap().contains("too many requests"), "{path}");
    }
    assert_eq!(client.get("/api/v2/jobs", &[BOB]).await.status, 200, "others are not concerned");
    for path in ["/healthz", "/readyz"] {
        for _ in 0..20 {
            assert_eq!(client.get(path, &[ALICE]).await.status, 200, "{path}");
        }
    }
}

#[tokio::test]
async fn who_is_not_signed_in_asks_only_so_often() {
    let (_folder, server) = limited(few()).await;
    let client = server.client();
    exceed(&client, "/sign-in", &[]).await;
    let wrong = ("authorization", "Bearer wrong");
    let refused = exceed(&client, "/api/v2/jobs", &[wrong]).await;
    assert_eq!(refused.json()["code"], "TooManyRequestsError");
    assert_eq!(client.get("/api/v2/jobs", &[BOB]).await.status, 200, "users are not concerned");
}

#[tokio::test]
async fn webhdfs_counts_whom_its_token_names() {
    let limits = Limits { guest_requests_per_second: 0, ..few() };
    let hall = Hall::with(None, StateOptions { limits, ..StateOptions::default() }).await;
    let path = hall.address("alice", "/alice", "GETFILESTATUS");
    let refused = exceed(&hall.client, &path, &[]).await;
    assert!(refused.text.contains("RetriableException"), "{}", refused.text);
    let other = hall.address("bob", "/bob", "GETHOMEDIRECTORY");
    assert_eq!(hall.client.get(&other, &[]).await.status, 200);
    hall.control.shutdown().await;
}

/// Opens an answer without end; gives its status and what keeps it open.
fn open(server: &Server, path: &str, (name, value): (&str, &str)) -> (u16, TcpStream) {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n{name}: {value}\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut line = [0; 12];
    stream.read_exact(&mut line).unwrap();
    (String::from_utf8_lossy(&line[9..]).parse().unwrap(), stream)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_follows_only_so_much() {
    let limits = Limits { streams_per_user: 3, streams: 5, ..Limits::default() };
    let (_folder, server) = limited(limits).await;
    let mut held: Vec<_> = (0..3).map(|_| open(&server, "/api/events", ALICE)).collect();
    assert!(held.iter().all(|(status, _)| *status == 200));
    let follow = "/api/v2/jobs/alice~train/logs?role=worker&index=0&follow=true";
    for path in ["/api/events", follow] {
        assert_eq!(open(&server, path, ALICE).0, 429, "{path}");
    }
    let others: Vec<_> = (0..2).map(|_| open(&server, "/api/events", BOB)).collect();
    assert!(others.iter().all(|(status, _)| *status == 200));
    held.pop();
    // The server notices by and by that the connection is gone.
    let again = || open(&server, "/api/events", BOB).0 == 200;
    assert!((0..1_200).any(|_| again() || {
        std::thread::sleep(Duration::from_millis(50));
        false
    }));
}
