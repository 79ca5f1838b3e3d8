use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use api::changes::Change;

use crate::fakes::World;
use crate::server::{ALICE, Server};

/// Opens the stream of changes and reads the answer's head.
fn listen(server: &Server) -> BufReader<TcpStream> {
    listen_after(server, "")
}

/// The same, with what says up to where the listener has heard.
fn listen_after(server: &Server, query: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let (name, value) = ALICE;
    let host = server.address;
    write!(stream, "GET /api/events{query} HTTP/1.1\r\nhost: {host}\r\n{name}: {value}\r\n\r\n")
        .unwrap();
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    assert!(line.starts_with("HTTP/1.1 200"), "{line}");
    while line != "\r\n" {
        line.clear();
        reader.read_line(&mut line).unwrap();
    }
    reader
}

fn next_event(reader: &mut BufReader<TcpStream>) -> serde_json::Value {
    next_numbered(reader).1
}

/// The next change and its id. What says only that the stream is alive has no id.
fn next_numbered(reader: &mut BufReader<TcpStream>) -> (String, serde_json::Value) {
    let mut id = String::new();
    loop {
        let mut line = String::new();
        assert_ne!(reader.read_line(&mut line).unwrap(), 0, "the stream ended");
        if let Some(number) = line.strip_prefix("id: ") {
            number.trim().clone_into(&mut id);
        }
        if let Some(data) = line.strip_prefix("data: ")
            && !id.is_empty()
        {
            return (id, serde_json::from_str(data).unwrap());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_was_away_hears_what_he_missed() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new();
    let server = Server::start(folder.path(), &world).await;
    let mut reader = listen(&server);
    world.changes.send(Change::Cluster).unwrap();
    let (first, _) = next_numbered(&mut reader);
    drop(reader);
    let mut other = listen(&server);
    world.changes.send(Change::Queue).unwrap();
    let (second, _) = next_numbered(&mut other);
    let mut again = listen_after(&server, &format!("?after={first}"));
    assert_eq!(next_numbered(&mut again), (second.clone(), serde_json::json!({ "kind": "queue" })));
    let mut of_another_run = listen_after(&server, "?after=0.0");
    let (mark, change) = next_numbered(&mut of_another_run);
    assert_eq!((mark.as_str(), change), (&*second, serde_json::json!({ "kind": "missed" })));

    let accept = ("accept", "application/json");
    let path = format!("/api/events?after={first}");
    let asked = server.client().get(&path, &[ALICE, accept]).await;
    let expected = serde_json::json!([{ "kind": "queue" }]);
    assert_eq!((asked.status, &asked.json()["changes"]), (200, &expected));
    let begin = ("last-event-id", &*second);
    let nothing = server.client().get(&path, &[ALICE, accept, begin]).await;
    assert_eq!(nothing.json()["changes"], serde_json::json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_delivered() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new();
    let server = Server::start(folder.path(), &world).await;
    let mut reader = listen(&server);
    world.changes.send(Change::Cluster).unwrap();
    assert_eq!(next_event(&mut reader), serde_json::json!({ "kind": "cluster" }));
}

#[tokio::test]
async fn the_stream_is_for_signed_in_users_of_our_pages() {
    let folder = tempfile::tempdir().unwrap();
    let client = Server::start(folder.path(), &World::new()).await.client();
    assert_eq!(client.get("/api/events", &[]).await.status, 401);
    let headers = [ALICE, ("origin", "http://evil.example")];
    assert_eq!(client.get("/api/events", &headers).await.status, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_ends_the_streams_and_takes_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &World::new()).await;
    let address = server.address;
    let mut reader = listen(&server);
    let ended = tokio::time::timeout(Duration::from_secs(10), server.stop());
    ended.await.expect("the open stream does not keep the server from stopping");
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut reader, &mut rest).unwrap();
    assert!(TcpStream::connect(address).is_err());
}
