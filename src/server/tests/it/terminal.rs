//! Terminals by WebSocket: who gets one, and what is said through it.

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::fakes::World;
use crate::server::{ALICE, Server};

pub(crate) type Socket = WebSocketStream<TcpStream>;

pub(crate) const PATH: &str = "/api/v1/jobs/train/terminal?role=worker&index=0&columns=100&rows=30";

pub(crate) async fn open(
    server: &Server,
    path: &str,
    headers: &[(&str, &str)],
) -> Result<Socket, u16> {
    let stream = TcpStream::connect(server.address).await.unwrap();
    let mut request = format!("ws://{}{path}", server.address).into_client_request().unwrap();
    for (name, value) in headers {
        let name: axum::http::HeaderName = name.parse().unwrap();
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    match client_async(request, stream).await {
        Ok((socket, _)) => Ok(socket),
        Err(Error::Http(answer)) => Err(answer.status().as_u16()),
        Err(error) => panic!("{error}"),
    }
}

pub(crate) async fn next(socket: &mut Socket) -> Message {
    loop {
        match socket.next().await.unwrap().unwrap() {
            Message::Ping(_) => {}
            message => return message,
        }
    }
}

pub(crate) async fn told(socket: &mut Socket) -> Value {
    serde_json::from_str(next(socket).await.to_text().unwrap()).unwrap()
}

async fn say(socket: &mut Socket, said: Value) {
    socket.send(Message::text(said.to_string())).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_is_typed_into_resized_and_closed() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &World::new()).await;
    let mut socket = open(&server, PATH, &[ALICE]).await.unwrap();
    let opened = json!({ "type": "opened", "session": "shell", "resumed": false, "offset": 0 });
    assert_eq!(told(&mut socket).await, opened);
    let keys = Message::binary(vec![0xff, 0, b'x', 0x1b]);
    socket.send(keys.clone()).await.unwrap();
    assert_eq!(next(&mut socket).await, keys, "bytes stay bytes");
    say(&mut socket, json!({ "resize": { "columns": 120, "rows": 40 } })).await;
    assert_eq!(next(&mut socket).await.into_data(), "[120x40]");
    say(&mut socket, json!({ "received": 4 })).await;
    assert_eq!(next(&mut socket).await.into_data(), "[4]");
    say(&mut socket, json!("close")).await;
    assert_eq!(told(&mut socket).await, json!({ "type": "ended", "reason": "closed" }));
    assert!(next(&mut socket).await.is_close());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &World::new()).await;
    let path = format!("{PATH}&session=mine&received=77");
    let mut socket = open(&server, &path, &[ALICE]).await.unwrap();
    let opened = json!({ "type": "opened", "session": "mine", "resumed": true, "offset": 77 });
    assert_eq!(told(&mut socket).await, opened);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_hinders_is_said_through_the_socket() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &World::new()).await;
    let path = PATH.replace("index=0", "index=1");
    let mut socket = open(&server, &path, &[ALICE]).await.unwrap();
    let error = json!({
        "type": "error", "code": "UnavailableError", "message": "worker-1 does not run",
    });
    assert_eq!(told(&mut socket).await, error);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_its_owner_gets_one_and_only_from_our_pages() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &World::new()).await;
    let client = server.client();
    let cookie = client.sign_in("alice", "correct-horse").await;
    let cookie = ("cookie", cookie.as_str());
    let own = ("origin", client.base.as_str());
    assert!(open(&server, PATH, &[cookie, own]).await.is_ok());
    let task = format!("http://t-{}.localhost:{}", "0".repeat(24), server.address.port());
    type Refused<'a> = (&'a str, &'a [(&'a str, &'a str)], u16);
    let refused: [Refused; 8] = [
        ("nobody", &[], 401),
        ("a cookie without an origin", &[cookie], 403),
        ("another site", &[cookie, ("origin", "http://evil.example")], 403),
        ("a page without an origin", &[cookie, ("origin", "null")], 403),
        ("a task's page", &[cookie, ("origin", &task)], 403),
        ("another site with a token", &[ALICE, ("origin", "http://evil.example")], 403),
        ("another user", &[("authorization", "Bearer token-of-bob")], 403),
        ("a bad token", &[("authorization", "Bearer x")], 401),
    ];
    let full = PATH.replace("/jobs/train/", "/user/alice/jobs/train/");
    for (who, headers, status) in refused {
        assert_eq!(open(&server, &full, headers).await.err(), Some(status), "{who}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_ends_with_the_token_that_opened_it() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new();
    let server = Server::start(folder.path(), &world).await;
    let mut socket = open(&server, PATH, &[ALICE]).await.unwrap();
    told(&mut socket).await;
    world.revoked.store(true, std::sync::atomic::Ordering::SeqCst);
    loop {
        match next(&mut socket).await {
            Message::Text(text) => {
                let ended: Value = serde_json::from_str(&text).unwrap();
                assert_eq!(ended, json!({ "type": "ended", "reason": "revoked" }));
                return;
            }
            _what_the_shell_says => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_types_without_end_is_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &World::new()).await;
    let mut socket = open(&server, PATH, &[ALICE]).await.unwrap();
    told(&mut socket).await;
    // More than one message may hold.
    socket.send(Message::binary(vec![b'x'; 100 * 1024])).await.unwrap();
    while let Some(Ok(message)) = socket.next().await {
        assert!(message.is_ping() || message.is_close(), "{message:?}");
    }
    let mut socket = open(&server, PATH, &[ALICE]).await.unwrap();
    told(&mut socket).await;
    socket.send(Message::text("no JSON")).await.unwrap();
    while let Some(Ok(message)) = socket.next().await {
        assert!(message.is_ping() || message.is_close(), "{message:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_is_a_websocket_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let client = Server::start(folder.path(), &World::new()).await.client();
    let answer = client.get(PATH, &[ALICE]).await;
    assert_eq!((answer.status, &answer.json()["code"]), (400, &"InvalidParametersError".into()));
    let unsized_ = "/api/v1/jobs/train/terminal?role=worker&index=x";
    assert_eq!(client.get(unsized_, &[ALICE]).await.status, 400);
}
