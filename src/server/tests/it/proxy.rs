//! Pages of tasks through the proxy: a real web server stands for the task.

mod abuse;
mod upstream;

use std::sync::atomic::Ordering;

use futures::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::handshake::client::Request;
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::fakes::World;
use crate::server::{ALICE, Answer, Client, Server};
use upstream::Upstream;

const HTML: (&str, &str) = ("accept", "text/html");
const DIRECT: &str = "/proxy/train/worker/0/http";

/// A portal, a task that serves, and alice, who is signed in.
struct Stage {
    _folder: tempfile::TempDir,
    world: World,
    server: Server,
    client: Client,
    upstream: Upstream,
    session: String,
}

/// A task's host as a browser that was let in has it.
struct Entered {
    host: String,
    cookie: String,
}

impl Stage {
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let world = World::new();
        let upstream = Upstream::start().await;
        world.upstream.store(upstream.port, Ordering::SeqCst);
        let server = Server::start(folder.path(), &world).await;
        let client = server.client();
        let session = client.sign_in("alice", "correct-horse").await;
        Self { _folder: folder, world, server, client, upstream, session }
    }

    /// Opens a port's page at the portal; gives the host and the path of the ticket.
    async fn ticket(&self, rest: &str) -> (String, String) {
        let headers = [("cookie", self.session.as_str()), HTML];
        let answer = self.client.get(&format!("{DIRECT}{rest}"), &headers).await;
        assert_eq!(answer.status, 303, "{answer:?}");
        let location = answer.header("location").strip_prefix("http://").unwrap();
        let (host, path) = location.split_once('/').unwrap();
        (host.to_owned(), format!("/{path}"))
    }

    async fn enter(&self) -> Entered {
        let (host, path) = self.ticket("/").await;
        let answer = self.client.get(&path, &[("host", host.as_str())]).await;
        assert_eq!((answer.status, answer.header("location")), (303, "/"), "{answer:?}");
        Entered { cookie: answer.cookie(), host }
    }

    /// Asks at a task's host as one of its pages does.
    async fn at(&self, entered: &Entered, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut all = vec![("host", entered.host.as_str()), ("cookie", entered.cookie.as_str())];
        all.extend(headers);
        self.client.get(path, &all).await
    }

    async fn websocket(
        &self,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<WebSocketStream<TcpStream>, u16> {
        let stream = TcpStream::connect(self.server.address).await.unwrap();
        let mut request: Request =
            format!("ws://{}{path}", self.server.address).into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        match client_async(request, stream).await {
            Ok((socket, _)) => Ok(socket),
            Err(tokio_tungstenite::tungstenite::Error::Http(answer)) => {
                Err(answer.status().as_u16())
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_is_sent_to_the_tasks_own_host() {
    let stage = Stage::open().await;
    let (host, path) = stage.ticket("/lab/tree?a=1&b=%2F").await;
    assert!(host.starts_with("t-") && host.contains(".localhost:"), "{host}");
    let entered = stage.client.get(&path, &[("host", host.as_str())]).await;
    assert_eq!(entered.header("location"), "/lab/tree?a=1&b=%2F");
    assert_eq!(entered.header("cache-control"), "no-store");
    let cookie = entered.header("set-cookie");
    for word in ["berth_task=", "HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(cookie.contains(word), "{cookie}");
    }
    assert!(!cookie.contains("Domain"), "{cookie}");
    let cookies = format!("{}; berth_session=stolen; mine=1", entered.cookie());
    let headers = [("host", host.as_str()), ("cookie", &cookies), ("authorization", "token abc")];
    let seen = stage.client.get("/echo/tree?a=1&b=%2F", &headers).await.json();
    assert_eq!(seen["target"], "/echo/tree?a=1&b=%2F");
    assert_eq!(seen["headers"]["cookie"], "mine=1");
    assert_eq!(seen["headers"]["authorization"], "token abc");
    assert_eq!(seen["headers"]["host"], stage.upstream.authority());
    assert_eq!(seen["headers"]["x-forwarded-host"], host.as_str());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_with_a_token_is_answered_below_the_prefix() {
    let stage = Stage::open().await;
    let seen = stage.client.get(&format!("{DIRECT}/echo/x?y"), &[ALICE]).await.json();
    assert_eq!(seen["target"], "/echo/x?y");
    assert_eq!(seen["headers"]["authorization"], serde_json::Value::Null);
    assert_eq!(seen["headers"]["x-forwarded-prefix"], DIRECT);
    let full = stage.client.get("/proxy/alice~train/worker/0/http/echo/x", &[ALICE]).await;
    assert_eq!(full.status, 200);
    let moved = stage.client.get(&format!("{DIRECT}/moved"), &[ALICE]).await;
    assert_eq!((moved.status, moved.header("location")), (302, "/proxy/train/worker/0/http/lab?x"));
    assert_eq!(moved.header("set-cookie"), "own=1; Path=/proxy/train/worker/0/http/lab");
    assert!(moved.header("content-security-policy").contains("sandbox"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_task_answers_stays_on_its_host() {
    let stage = Stage::open().await;
    let entered = stage.enter().await;
    let moved = stage.at(&entered, "/moved", &[]).await;
    assert_eq!((moved.status, moved.header("location")), (302, "/lab?x"));
    assert_eq!(moved.header("set-cookie"), "own=1; Path=/lab");
    // Its pages may be shown in frames by themselves, as notebooks do.
    assert_eq!(moved.header("x-frame-options"), "");
    assert_eq!(moved.header("content-security-policy"), "frame-ancestors 'self'");
    let failed = stage.at(&entered, "/api/fails", &[]).await;
    assert_eq!((failed.status, failed.text.as_str()), (404, "the task's own words"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_websocket_is_a_websocket() {
    let stage = Stage::open().await;
    let entered = stage.enter().await;
    let origin = format!("http://{}", entered.host);
    let at_host = [
        ("host", entered.host.as_str()),
        ("cookie", entered.cookie.as_str()),
        ("origin", origin.as_str()),
    ];
    let by_token = [ALICE];
    let direct = format!("{DIRECT}/socket");
    let doors: [(&str, &[(&str, &str)]); 2] = [("/socket", &at_host), (&direct, &by_token)];
    for (path, headers) in doors {
        let mut socket = stage.websocket(path, headers).await.unwrap();
        for size in [0, 1, 125, 70_000, 1_000_000] {
            let sent = Message::binary((0..size).map(|n| (n % 251) as u8).collect::<Vec<_>>());
            socket.send(sent.clone()).await.unwrap();
            assert!(socket.next().await.unwrap().unwrap() == sent, "{path} {size}");
        }
        socket.close(None).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tunnel_ends_with_the_token_that_opened_it() {
    let stage = Stage::open().await;
    let mut socket = stage.websocket(&format!("{DIRECT}/socket"), &[ALICE]).await.unwrap();
    stage.world.revoked.store(true, Ordering::SeqCst);
    while let Some(Ok(message)) = socket.next().await {
        assert!(message.is_close(), "{message:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_streams_as_it_is_made() {
    let stage = Stage::open().await;
    let entered = stage.enter().await;
    let mut stream = abuse::raw(&stage, &entered, "GET /ticks HTTP/1.1", "").await;
    let first = abuse::until(&mut stream, "tick 0").await;
    assert!(!first.contains("tick 1"), "{first}");
    stage.upstream.tick.notify_one();
    abuse::until(&mut stream, "tick 1").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn large_bodies_pass_both_ways() {
    use tokio::io::AsyncWriteExt;
    const SIZE: usize = 96 * 1024 * 1024;
    let stage = Stage::open().await;
    let entered = stage.enter().await;
    let length = format!("content-length: {SIZE}\r\n");
    let mut stream = abuse::raw(&stage, &entered, "POST /count HTTP/1.1", &length).await;
    let piece = vec![b'x'; 1024 * 1024];
    for _ in 0..SIZE / piece.len() {
        stream.write_all(&piece).await.unwrap();
    }
    abuse::until(&mut stream, &format!("counted {SIZE}")).await;
    let mut stream = abuse::raw(&stage, &entered, "GET /bytes HTTP/1.1", "").await;
    abuse::until(&mut stream, "\r\n\r\n").await;
    assert!(abuse::drain(&mut stream, SIZE).await >= SIZE);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_does_not_answer_is_explained() {
    let stage = Stage::open().await;
    let entered = stage.enter().await;
    let headers = [("host", entered.host.as_str()), ("cookie", &entered.cookie), HTML];
    stage.world.upstream.store(0, Ordering::SeqCst);
    let stopped = stage.client.get("/", &headers).await;
    assert_eq!((stopped.status, stopped.header("retry-after")), (503, "5"));
    assert!(stopped.text.contains("worker-0 does not run"), "{}", stopped.text);
    assert!(stopped.text.contains("http-equiv=\"refresh\""), "{}", stopped.text);
    stage.world.upstream.store(1, Ordering::SeqCst);
    let silent = stage.client.get("/", &headers).await;
    assert_eq!(silent.status, 502);
    assert!(silent.text.contains("Nothing listens"), "{}", silent.text);
    let chinese = [headers.as_slice(), &[("accept-language", "zh-CN,en")]].concat();
    let silent = stage.client.get("/", &chinese).await;
    assert!(silent.text.contains("尚无服务监听"), "{}", silent.text);
    let program = stage.client.get(&format!("{DIRECT}/"), &[ALICE]).await;
    assert_eq!((program.status, &program.json()["code"]), (502, &"UnavailableError".into()));
    assert_eq!(program.json()["reached"], true, "its node's ports are reached");
}
