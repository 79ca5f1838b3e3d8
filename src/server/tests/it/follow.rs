//! A server that does not lead: whatever it is asked, the one that leads answers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use api::changes::Change;
use axum::Router;
use database::Database;
use database::lead::{Leader, Named};
use futures::SinkExt;
use server::auth::session_store::Store;
use server::follow::Following;
use server::listen::{Door, Limits, Machine, OwnHosts, ServersKey, bind, serve};
use server::router::router;
use server::state::{AppState, StateOptions};
use tokio_tungstenite::tungstenite::Message;
use tokio_util::sync::CancellationToken;

use crate::fakes::World;
use crate::server::{ALICE, AllWell, Client, Server};
use crate::terminal;

/// Two servers of one cluster.
struct Pair {
    _folder: tempfile::TempDir,
    world: World,
    /// The leader's, for everybody.
    leader: Client,
    /// The leader's, for other servers.
    inner: SocketAddr,
    following: Following,
    follower: Server,
}

impl Pair {
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let world = World::new();
        let url = format!("sqlite://{}", folder.path().join("sessions.db").display());
        let database = Arc::new(Database::open(&url).await.unwrap());
        let shutdown = CancellationToken::new();
        let options = StateOptions { shutdown: shutdown.clone(), ..StateOptions::default() };
        let state = AppState::new(world.backend(), AllWell::probe(), options);
        let portal = router(state, Store::new(database));
        let leader = Server::client_of(at_door(portal.clone(), None, &shutdown).address);
        let inner = at_door(portal, Some(key()), &shutdown).address;
        let named = Named { name: "one".to_owned(), address: Some(inner.to_string()) };
        let following = follow(Some(Leader { term: 1, server: named }));
        let follower = at_door(following.router(), None, &shutdown);
        Self { _folder: folder, world, leader, inner, following, follower }
    }
}

fn key() -> ServersKey {
    ServersKey::new([7; 32])
}

fn follow(leader: Option<Leader>) -> Following {
    Following::new(leader, key(), CancellationToken::new())
}

/// Serves at a free port; with a key to other servers alone.
fn at_door(router: Router, key: Option<ServersKey>, shutdown: &CancellationToken) -> Server {
    let hosts = OwnHosts::new(Machine::default(), [], None, None);
    let door = Door::new(Limits::default(), hosts, Vec::new(), None);
    let door = match key {
        Some(key) => door.of_servers(key),
        None => door,
    };
    let sockets = bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let (address, shutdown) = (sockets[0].local_addr().unwrap(), shutdown.clone());
    let stop = shutdown.clone();
    let ended = tokio::spawn(async move { serve(sockets, door, router, &stop).await });
    Server { address, shutdown, ended }
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_follower_is_asked_the_leader_answers() {
    let pair = Pair::open().await;
    let client = pair.follower.client();
    for (path, headers) in [
        ("/api/v2/jobs", vec![ALICE]),
        ("/api/v2/jobs", vec![]),
        ("/api/v2/nowhere", vec![ALICE]),
        ("/jobs?state=running", vec![]),
    ] {
        let (direct, passed) =
            (pair.leader.get(path, &headers).await, client.get(path, &headers).await);
        assert_eq!(passed.status, direct.status, "{path}");
        let kind = |answer: &crate::server::Answer| answer.header("content-type").to_owned();
        assert_eq!(kind(&passed), kind(&direct), "{path}");
    }
    let jobs = |client: Client| async move { client.get("/api/v2/jobs", &[ALICE]).await.text };
    assert_eq!(jobs(client.clone()).await, jobs(pair.leader.clone()).await);
    let cookie = client.sign_in("alice", "correct-horse").await;
    let signed_in = [("cookie", cookie.as_str())];
    assert_eq!(client.get("/api/v2/jobs", &signed_in).await.status, 200);
    let answer = client.send("PUT", "/api/v1/jobs/fresh", &[ALICE], "{}").await;
    assert_eq!((answer.status, pair.world.submitted.lock().unwrap().len()), (202, 1), "{answer:?}");
    let ready = client.get("/readyz", &[]).await;
    assert_eq!((ready.status, &ready.json()["leads"]), (200, &false.into()), "{ready:?}");
    assert_eq!(pair.leader.get("/readyz", &[]).await.json()["leads"], true);
    assert_eq!(client.get("/healthz", &[]).await.text, "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_other_servers_come_in_by_their_door() {
    let pair = Pair::open().await;
    let inner = Server::client_of(pair.inner);
    let forged = [ALICE, ("berth-server-key", "0707"), ("berth-server-client", "10.0.0.1:1")];
    for headers in [&forged[..], &[ALICE]] {
        assert_eq!(inner.get("/api/v2/jobs", headers).await.status, 403);
    }
    // A server with another key is told that nobody answers, and its log says why.
    let leader = pair.following.leader().cloned();
    let stranger = Following::new(leader, ServersKey::new([8; 32]), CancellationToken::new());
    let stranger = at_door(stranger.router(), None, &CancellationToken::new()).client();
    for path in ["/api/v2/jobs", "/readyz"] {
        assert_eq!(stranger.get(path, &[ALICE]).await.status, 503, "{path}");
    }
    let headers = [ALICE, ("berth-server-client", "10.0.0.1:1")];
    assert_eq!(pair.follower.client().get("/api/v2/jobs", &headers).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_is_reached_through_a_follower() {
    let pair = Pair::open().await;
    let mut socket = terminal::open(&pair.follower, terminal::PATH, &[ALICE]).await.unwrap();
    assert_eq!(terminal::told(&mut socket).await["type"], "opened");
    let keys = Message::binary(vec![0xff, 0, b'x']);
    socket.send(keys.clone()).await.unwrap();
    assert_eq!(terminal::next(&mut socket).await, keys);
}

/// Opens the stream of changes at a follower and reads the first line of the answer.
fn listen(pair: &Pair) -> BufReader<TcpStream> {
    listen_with(pair, "")
}

/// The same with more headers.
fn listen_with(pair: &Pair, more: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(pair.follower.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let (name, value) = ALICE;
    let host = pair.follower.address;
    let head = format!("GET /api/events HTTP/1.1\r\nhost: {host}\r\n{name}: {value}\r\n{more}\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    assert!(line.starts_with("HTTP/1.1 200"), "{line}");
    reader
}

/// The first line from here on that has these words.
fn next_with(reader: &mut BufReader<TcpStream>, words: &str) -> String {
    loop {
        let mut line = String::new();
        assert_ne!(reader.read_line(&mut line).unwrap(), 0, "the stream ended before {words}");
        if line.contains(words) {
            return line;
        }
    }
}

/// A page from a follower is the leader's, and so is what tells it that something has changed.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_from_a_follower_hears_what_changes() {
    let pair = Pair::open().await;
    let cookie = pair.follower.client().sign_in("alice", "correct-horse").await;
    let page = pair.follower.client().get("/jobs", &[("cookie", cookie.as_str())]).await;
    assert_eq!(page.status, 200);
    let mut reader = listen(&pair);
    // It is said at once that the stream is alive: nothing between holds it up.
    next_with(&mut reader, "event: alive");
    for (change, told) in [(Change::Cluster, r#""cluster""#), (Change::Queue, r#""queue""#)] {
        pair.world.changes.send(change).unwrap();
        let line = next_with(&mut reader, told);
        assert!(line.starts_with("data: "), "{line}");
    }
}

/// Whoever comes back says up to where he has heard, as browsers do by themselves.
fn listen_after(pair: &Pair, id: &str) -> BufReader<TcpStream> {
    let mark = id.trim_end().strip_prefix("id: ").unwrap();
    listen_with(pair, &format!("last-event-id: {mark}\r\n"))
}

/// Once at the same leader, and then at the next one, which knows nothing of what the first has told: all is
/// to be read anew then, once, and what comes is told as before.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_was_cut_at_a_follower_is_gone_on_with() {
    let (first, next) = (Pair::open().await, Pair::open().await);
    let mut reader = listen(&first);
    next_with(&mut reader, "event: alive");
    first.world.changes.send(Change::Cluster).unwrap();
    let heard = next_with(&mut reader, "id: ");
    drop(reader);
    let mut again = listen_after(&first, &heard);
    next_with(&mut again, "event: alive");
    first.world.changes.send(Change::Queue).unwrap();
    let line = next_with(&mut again, "data: {\"");
    assert!(line.contains(r#""queue""#), "what was heard is not told again: {line}");
    first.following.clone().end().await;

    let mut reader = listen_after(&next, &heard);
    let line = next_with(&mut reader, "data: {\"");
    assert!(line.contains(r#""missed""#), "{line}");
    next.world.changes.send(Change::Cluster).unwrap();
    let line = next_with(&mut reader, "data: {\"");
    assert!(line.contains(r#""cluster""#), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_passed_on_ends_when_another_server_leads() {
    let pair = Pair::open().await;
    let mut reader = listen(&pair);
    pair.following.clone().end().await;
    let mut rest = Vec::new();
    // It is cut off, or ends.
    let _either = reader.read_to_end(&mut rest);
    assert_eq!(pair.follower.client().get("/api/v2/jobs", &[ALICE]).await.status, 503);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_while_nobody_leads_is_told_to_come_back() {
    let stop = CancellationToken::new();
    let gone = Named { name: "gone".to_owned(), address: Some("127.0.0.1:1".to_owned()) };
    let unreached = Named { name: "unreached".to_owned(), address: None };
    let leader = |server| Some(Leader { term: 1, server });
    for leader in [None, leader(gone), leader(unreached)] {
        let client = at_door(follow(leader).router(), None, &stop).client();
        let answer = client.get("/api/v2/jobs", &[ALICE]).await;
        assert_eq!((answer.status, answer.header("retry-after")), (503, "3"), "{answer:?}");
        assert_eq!(answer.json()["code"], "UnavailableError");
        let page = client.get("/jobs", &[]).await;
        assert_eq!(page.status, 503);
        assert!(page.header("content-type").starts_with("text/plain"), "{page:?}");
        let ready = client.get("/readyz", &[]).await;
        assert_eq!((ready.status, &ready.json()["ready"]), (503, &false.into()), "{ready:?}");
    }
}
