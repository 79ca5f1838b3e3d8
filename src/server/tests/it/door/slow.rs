use std::sync::Arc;

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use bytes::Bytes;
use futures::StreamExt;
use server::listen::raise_open_files;
use server::state::StateOptions;
use tokio::io::AsyncWriteExt;
use tokio::sync::Notify;

use super::*;
use crate::fakes::World;
use crate::server::{ALICE, Server};

const SECOND: Duration = Duration::from_secs(1);

/// Times that are long, but for those that a test is about.
fn limits() -> Limits {
    let long = Duration::from_secs(3_600);
    Limits { total: 2_000, per_address: 2_000, head: long, quiet: long, body: long, stall: long }
}

async fn portal(limits: Limits) -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let backend = World::new().backend();
    let options = StateOptions::default();
    let server = Server::behind(folder.path(), backend, options, limits, None).await;
    (folder, server)
}

async fn send(address: SocketAddr, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn half_open_heads_are_closed_and_others_are_answered_meanwhile() {
    raise_open_files();
    let (_folder, server) = portal(Limits { head: 3 * SECOND, ..limits() }).await;
    let mut open = Vec::new();
    for number in 0..300 {
        let heads = ["", "G", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nhost: localhost\r\nx: "];
        open.push(send(server.address, heads[number % heads.len()]).await);
    }
    assert_eq!(server.client().get("/healthz", &[]).await.text, "ok");
    for mut stream in open {
        assert_eq!(rest(&mut stream).await, "");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_has_one_time_for_all_of_its_bytes() {
    let (_folder, server) = portal(Limits { head: 2 * SECOND, ..limits() }).await;
    let stream = send(server.address, "GET / HTTP/1.1\r\nhost: localhost\r\nx: ").await;
    let (mut reading, mut writing) = stream.into_split();
    let trickle = tokio::spawn(async move {
        while writing.write_all(b"x").await.is_ok() {
            tokio::time::sleep(SECOND / 10).await;
        }
    });
    let closed = async { while reading.read_u8().await.is_ok() {} };
    timeout(PATIENCE, closed).await.expect("bytes now and then do not keep it open");
    trickle.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_asks_nothing_more_is_closed() {
    let (_folder, server) = portal(Limits { quiet: SECOND, ..limits() }).await;
    let mut stream = send(server.address, "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    let seen = rest(&mut stream).await;
    assert!(seen.starts_with("HTTP/1.1 200") && seen.ends_with("ok"), "{seen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_stops_is_answered_by_408() {
    let (_folder, server) = portal(Limits { body: SECOND, ..limits() }).await;
    let (name, value) = ALICE;
    let head = format!(
        "POST /api/v2/jobs HTTP/1.1\r\nhost: localhost\r\n{name}: {value}\r\ncontent-length: 99\r\n\r\n{{"
    );
    let seen = rest(&mut send(server.address, &head).await).await;
    assert!(seen.starts_with("HTTP/1.1 408"), "{seen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_makes_progress_takes_its_time() {
    let count = post(async |body: Body| {
        let pieces = body.into_data_stream();
        pieces
            .fold(0, async |sum, piece| sum + piece.map_or(0, |bytes| bytes.len()))
            .await
            .to_string()
    });
    let bare = Bare::open(Router::new().route("/", count), Limits { body: 8 * SECOND, ..limits() });
    let head =
        "POST / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 50\r\n\r\n";
    let mut stream = send(bare.address, head).await;
    for _ in 0..50 {
        stream.write_all(b"x").await.unwrap();
        tokio::time::sleep(SECOND / 5).await;
    }
    let seen = rest(&mut stream).await;
    assert!(seen.starts_with("HTTP/1.1 200") && seen.ends_with("\r\n50"), "{seen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_sends_all_before_he_listens_hears_why_it_was_refused() {
    let refuse = post(async || (StatusCode::BAD_REQUEST, "no"));
    let bare = Bare::open(Router::new().route("/", refuse), limits());
    let megabytes = 4;
    let head = format!(
        "POST / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        megabytes << 20
    );
    let mut stream = send(bare.address, &head).await;
    for _ in 0..megabytes {
        stream.write_all(&vec![b'x'; 1 << 20]).await.unwrap();
    }
    let seen = rest(&mut stream).await;
    assert!(seen.starts_with("HTTP/1.1 400") && seen.ends_with("\r\nno"), "{seen}");
}

/// Tells when it is dropped.
struct Guard(Arc<Notify>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_nobody_takes_is_dropped() {
    let dropped = Arc::new(Notify::new());
    let guard = Arc::clone(&dropped);
    let endless = get(async move || {
        let guard = Guard(Arc::clone(&guard));
        let pieces = futures::stream::repeat_with(move || {
            let _kept = &guard;
            Ok::<_, std::io::Error>(Bytes::from_static(&[0; 65_536]))
        });
        Response::new(Body::from_stream(pieces))
    });
    let bare = Bare::open(Router::new().route("/", endless), Limits { stall: SECOND, ..limits() });
    let _open = send(bare.address, "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    timeout(PATIENCE, dropped.notified()).await.expect("what is not taken is not kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quiet_answer_stays_open() {
    let silent = get(async || {
        Response::new(
            Body::from_stream(futures::stream::pending::<Result<Bytes, std::io::Error>>()),
        )
    });
    let limits = Limits { head: SECOND, quiet: SECOND, body: SECOND, stall: SECOND, ..limits() };
    let bare = Bare::open(Router::new().route("/", silent), limits);
    let mut stream = send(bare.address, "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    let mut seen = [0; 4_096];
    let first = stream.read(&mut seen).await.unwrap();
    assert!(seen[..first].starts_with(b"HTTP/1.1 200"));
    let more = timeout(4 * SECOND, stream.read(&mut seen)).await;
    assert!(more.is_err(), "streams of events are often quiet");
}

#[tokio::test(flavor = "multi_thread")]
async fn more_connections_than_are_allowed_are_turned_away() {
    let limits = Limits { total: 16, per_address: 1, ..limits() };
    let bare = Bare::open(Router::new().route("/", get(async || "here")), limits);
    let ask = "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let mut open = Vec::new();
    for _ in 0..12 {
        let mut stream = send(bare.address, ask).await;
        assert_ne!(stream.read_u8().await.unwrap(), 0, "the machine itself has three quarters");
        open.push(stream);
    }
    let seen = rest(&mut bare.connect().await).await;
    assert!(seen.starts_with("HTTP/1.1 503"), "{seen}");
    drop(open);
    until("places are given back", async || {
        let close = "GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        let mut stream = TcpStream::connect(bare.address).await.unwrap();
        stream.write_all(close.as_bytes()).await.ok()?;
        rest(&mut stream).await.ends_with("here").then_some(())
    })
    .await;
    bare.stop.cancel();
    timeout(PATIENCE, bare.ended).await.expect("stopping ends them").unwrap();
}
