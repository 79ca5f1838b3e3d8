//! What tasks, other sites and other users might try through the proxy, each refused by name.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use super::{DIRECT, Entered, HTML, Stage};
use crate::server::ALICE;

const PATIENCE: Duration = Duration::from_secs(30);

/// Sends a request's head as it is written here; what else it has comes from the test.
pub(super) async fn raw(stage: &Stage, entered: &Entered, line: &str, headers: &str) -> TcpStream {
    let mut stream = TcpStream::connect(stage.server.address).await.unwrap();
    let Entered { host, cookie } = entered;
    let head = format!("{line}\r\nhost: {host}\r\ncookie: {cookie}\r\n{headers}\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

/// Reads until this comes; gives all that came.
pub(super) async fn until(stream: &mut TcpStream, wanted: &str) -> String {
    let mut seen = Vec::new();
    let reading = async {
        while !String::from_utf8_lossy(&seen).contains(wanted) {
            assert_ne!(
                stream.read_buf(&mut seen).await.unwrap(),
                0,
                "{:?}",
                String::from_utf8_lossy(&seen)
            );
        }
    };
    timeout(PATIENCE, reading).await.expect(wanted);
    String::from_utf8_lossy(&seen).into_owned()
}

/// Reads so many bytes, or fewer if there are no more.
pub(super) async fn drain(stream: &mut TcpStream, size: usize) -> usize {
    let mut piece = vec![0; 1024 * 1024];
    let mut total = 0;
    while total < size {
        match stream.read(&mut piece).await.unwrap() {
            0 => break,
            length => total += length,
        }
    }
    total
}

async fn status(stage: &Stage, entered: &Entered, line: &str, headers: &str) -> String {
    let headers = format!("{headers}connection: close\r\n");
    let mut stream = raw(stage, entered, line, &headers).await;
    let seen = until(&mut stream, "\r\n").await;
    seen.split(' ').nth(1).unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn another_users_job_is_refused() {
    let stage = Stage::open().await;
    let bob = ("authorization", "Bearer token-of-bob");
    let path = "/proxy/alice~train/worker/0/http/echo/x";
    assert_eq!(stage.client.get(path, &[bob]).await.status, 403);
    let session = stage.client.sign_in("bob", "correct-horse").await;
    let page = stage.client.get(path, &[("cookie", &session), HTML]).await;
    assert_eq!(page.status, 403);
    assert!(page.text.contains("This is not yours"), "{}", page.text);
    assert_eq!(stage.upstream.asked.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_in_particular_is_refused() {
    let stage = Stage::open().await;
    assert_eq!(stage.client.get(&format!("{DIRECT}/"), &[]).await.status, 401);
    let page = stage.client.get(&format!("{DIRECT}/lab?x=1"), &[HTML]).await;
    let sign_in = "/sign-in?next=%2Fproxy%2Ftrain%2Fworker%2F0%2Fhttp%2Flab%3Fx%3D1";
    assert_eq!((page.status, page.header("location")), (303, sign_in));
    let (host, _) = stage.ticket("/").await;
    for cookie in ["a=1", "berth_task=AAAAAAAAAAAAAAAAAAAAAA", stage.session.as_str()] {
        let headers = [("host", host.as_str()), ("cookie", cookie)];
        assert_eq!(stage.client.get("/echo/x", &headers).await.status, 401, "{cookie}");
    }
    assert_eq!(stage.upstream.asked.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_is_good_once_and_for_its_host() {
    let stage = Stage::open().await;
    let (host, path) = stage.ticket("/").await;
    let other = format!("t-{}.localhost:1", "0".repeat(24));
    assert_eq!(stage.client.get(&path, &[("host", other.as_str())]).await.status, 401);
    assert_eq!(
        stage.client.get(&path, &[("host", host.as_str())]).await.status,
        401,
        "it is spent"
    );
    let (host, path) = stage.ticket("/").await;
    let headers = [("host", host.as_str())];
    assert_eq!(stage.client.get(&path, &headers).await.status, 303);
    assert_eq!(stage.client.get(&path, &headers).await.status, 401);
    let away = path.replace("to=%2F", "to=%2F%2Fevil.example%2F");
    let entered = stage.enter().await;
    let answer = stage.at(&entered, &away, &[]).await;
    assert_eq!((answer.status, answer.header("location")), (303, "/"));
}

#[tokio::test(flavor = "multi_thread")]
async fn neither_ticket_nor_grant_is_a_session_of_the_portal() {
    let stage = Stage::open().await;
    let (_, path) = stage.ticket("/").await;
    let ticket = path.split_once("ticket=").unwrap().1.split('&').next().unwrap();
    let grant = stage.enter().await.cookie;
    for secret in [ticket, grant.split_once('=').unwrap().1] {
        let cookie = format!("berth_session={secret}");
        assert_eq!(stage.client.get("/api/v2/jobs", &[("cookie", &cookie)]).await.status, 401);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grant_opens_no_other_host() {
    let stage = Stage::open().await;
    let entered = stage.enter().await;
    let other = format!("t-{}.localhost", "0".repeat(24));
    let stolen = Entered { host: other, cookie: entered.cookie };
    assert_eq!(stage.at(&stolen, "/echo/x", &[]).await.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn signing_out_closes_the_tasks_pages() {
    let stage = Stage::open().await;
    let entered = stage.enter().await;
    assert_eq!(stage.at(&entered, "/echo/x", &[]).await.status, 200);
    let own = stage.client.base.clone();
    let headers = [("cookie", stage.session.as_str()), ("origin", own.as_str())];
    assert_eq!(stage.client.send("POST", "/auth/sign-out", &headers, "").await.status, 303);
    let closed = stage.at(&entered, "/echo/x", &[HTML]).await;
    assert_eq!(closed.status, 401);
    assert!(closed.text.contains("not open any more"), "{}", closed.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tasks_page_cannot_act_in_the_portal() {
    let stage = Stage::open().await;
    let entered = stage.enter().await;
    let origin = format!("http://{}", entered.host);
    let session = stage.session.as_str();
    // What a browser says of a script on the task's page that asks the portal.
    let headers =
        [("cookie", session), ("origin", origin.as_str()), ("sec-fetch-site", "cross-site")];
    let answer = stage.client.send("POST", "/api/v2/jobs", &headers, "{}").await;
    assert_eq!(answer.status, 403);
    assert_eq!(stage.client.get("/api/events", &headers).await.status, 403);
    let read = stage.client.get("/api/v2/jobs", &headers).await;
    assert_eq!(read.header("access-control-allow-origin"), "", "it may not read the answer");
    // The task's host has none of the portal's paths.
    let other = stage.at(&entered, "/api/v2/jobs", &[("cookie", session)]).await;
    assert!(!other.text.contains("alice~train"), "{}", other.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_alone_does_nothing_but_open_pages() {
    let stage = Stage::open().await;
    let own = stage.client.base.clone();
    let headers = [("cookie", stage.session.as_str()), ("origin", own.as_str())];
    let path = format!("{DIRECT}/echo/x");
    assert_eq!(stage.client.send("POST", &path, &headers, "x").await.status, 403);
    let fetched = [headers[0], ("sec-fetch-dest", "empty"), ("sec-fetch-site", "same-origin")];
    assert_eq!(stage.client.get(&path, &fetched).await.status, 403);
    let socket = stage.websocket(&format!("{DIRECT}/socket"), &headers).await;
    assert_eq!(socket.err(), Some(403));
    assert_eq!(stage.upstream.asked.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_pages_reach_no_task() {
    let stage = Stage::open().await;
    let entered = stage.enter().await;
    let foreign: [&[(&str, &str)]; 4] = [
        &[("origin", "http://evil.example")],
        &[("origin", "null")],
        &[("sec-fetch-site", "cross-site"), ("sec-fetch-dest", "script")],
        &[("sec-fetch-site", "same-site"), ("sec-fetch-dest", "iframe")],
    ];
    for headers in foreign {
        assert_eq!(stage.at(&entered, "/echo/x", headers).await.status, 403, "{headers:?}");
    }
    let portal = stage.client.base.clone();
    for origin in ["http://evil.example", portal.as_str()] {
        let headers = [
            ("host", entered.host.as_str()),
            ("cookie", entered.cookie.as_str()),
            ("origin", origin),
        ];
        assert_eq!(stage.websocket("/socket", &headers).await.err(), Some(403), "{origin}");
    }
    assert_eq!(stage.upstream.asked.load(Ordering::SeqCst), 0);
    let link = [("sec-fetch-site", "cross-site"), ("sec-fetch-dest", "document")];
    assert_eq!(stage.at(&entered, "/echo/x", &link).await.status, 200, "a link may lead there");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_framed_twice_is_refused() {
    let stage = Stage::open().await;
    let entered = stage.enter().await;
    for headers in [
        "content-length: 4\r\ncontent-length: 5\r\n",
        "transfer-encoding: chunked, identity\r\n",
        "transfer-encoding: xchunked\r\n",
        "content-length: +4\r\n",
        "content-length : 4\r\n",
    ] {
        let status = status(&stage, &entered, "POST /count HTTP/1.1", headers).await;
        assert_eq!(status, "400", "{headers:?}");
    }
    assert_eq!(stage.upstream.asked.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_chunks_and_a_length_the_chunks_count_and_pass_alone() {
    let stage = Stage::open().await;
    let entered = stage.enter().await;
    let inner = "GET /echo/smuggled HTTP/1.1\r\nhost: x\r\n\r\n";
    let body = format!("{:x}\r\n{inner}\r\n0\r\n\r\n", inner.len());
    for headers in [
        "content-length: 4\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: chunked\r\ncontent-length: 4\r\n",
    ] {
        let mut stream = raw(&stage, &entered, "POST /count HTTP/1.1", headers).await;
        stream.write_all(body.as_bytes()).await.unwrap();
        until(&mut stream, &format!("counted {}", inner.len())).await;
    }
    assert_eq!(stage.upstream.asked.load(Ordering::SeqCst), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_request_inside_a_body_stays_a_body() {
    let stage = Stage::open().await;
    let entered = stage.enter().await;
    let inner = "0\r\n\r\nGET /echo/smuggled HTTP/1.1\r\nhost: x\r\n\r\n";
    let length = format!("content-length: {}\r\n", inner.len());
    let mut stream = raw(&stage, &entered, "POST /count HTTP/1.1", &length).await;
    stream.write_all(inner.as_bytes()).await.unwrap();
    until(&mut stream, &format!("counted {}", inner.len())).await;
    assert_eq!(stage.upstream.asked.load(Ordering::SeqCst), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_request_names_one_host() {
    let stage = Stage::open().await;
    let entered = stage.enter().await;
    let line = format!("GET http://{}/echo/x HTTP/1.1", stage.server.address);
    assert_eq!(status(&stage, &entered, &line, "").await, "400");
    let absolute = format!("GET http://{}/echo/x HTTP/1.1", entered.host);
    assert_eq!(status(&stage, &entered, &absolute, "").await, "200");
    let twice = format!("host: {}\r\n", stage.server.address);
    assert_eq!(status(&stage, &entered, "GET /echo/x HTTP/1.1", &twice).await, "400");
    for line in
        ["CONNECT evil.example:443 HTTP/1.1", "OPTIONS * HTTP/1.1", "TRACE /echo/x HTTP/1.1"]
    {
        let status = status(&stage, &entered, line, "").await;
        assert_eq!(status, "400", "{line}");
    }
    assert_eq!(stage.upstream.asked.load(Ordering::SeqCst), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_does_not_climb_out_of_the_prefix() {
    let stage = Stage::open().await;
    let entered = Entered { host: stage.server.address.to_string(), cookie: "a=1".into() };
    let token = format!("{}: {}\r\n", ALICE.0, ALICE.1);
    for rest in ["/../../../../../api/v2/jobs", "/%2e%2e/x", "/a/..%2f..%2fx", "/..\\x", "/%2E"] {
        let line = format!("GET {DIRECT}{rest} HTTP/1.1");
        assert_eq!(status(&stage, &entered, &line, &token).await, "400", "{rest}");
    }
    for path in
        ["/proxy/train/worker/0", "/proxy/train/worker/x/http/", "/proxy/a%2Fb/worker/0/http/"]
    {
        let line = format!("GET {path} HTTP/1.1");
        assert_eq!(status(&stage, &entered, &line, &token).await, "404", "{path}");
    }
    assert_eq!(stage.upstream.asked.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn forged_headers_do_not_reach_the_task() {
    let stage = Stage::open().await;
    let entered = stage.enter().await;
    let forged = [
        ("x-forwarded-for", "6.6.6.6"),
        ("x_forwarded_for", "6.6.6.6"),
        ("x-real-ip", "6.6.6.6"),
        ("connection", "close, x-forwarded-host, cookie"),
        ("te", "trailers"),
    ];
    let seen = stage.at(&entered, "/echo/x", &forged).await.json();
    let headers = seen["headers"].as_object().unwrap();
    assert_eq!(headers["x-forwarded-for"], "127.0.0.1");
    assert_eq!(headers["x-forwarded-host"], entered.host.as_str());
    for name in ["x_forwarded_for", "x-real-ip", "connection", "te", "cookie"] {
        assert!(!headers.contains_key(name), "{name}: {headers:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_to_anything_else_is_an_ordinary_request() {
    let stage = Stage::open().await;
    let entered = stage.enter().await;
    let headers =
        [("connection", "upgrade, http2-settings"), ("upgrade", "h2c"), ("http2-settings", "x")];
    let seen = stage.at(&entered, "/echo/x", &headers).await.json();
    assert!(seen["headers"].get("upgrade").is_none(), "{seen}");
    assert!(seen["headers"].get("http2-settings").is_none(), "{seen}");
}

/// A task that answers every connection with these bytes.
async fn answers(bytes: &'static [u8]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(bytes).await;
        }
    });
    port
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_speaks_nonsense_is_no_danger() {
    let stage = Stage::open().await;
    let entered = stage.enter().await;
    let nonsense: [&[u8]; 6] = [
        b"",
        b"SSH-2.0-x\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\nabcd",
        b"HTTP/1.1 200 OK\r\nset-cookie\x00: a\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n",
    ];
    for answer in nonsense {
        stage.world.upstream.store(answers(answer).await, Ordering::SeqCst);
        let got = stage.at(&entered, "/", &[]).await;
        assert_eq!(got.status, 502, "{}", String::from_utf8_lossy(answer));
    }
    // A part is not taken for the whole.
    let part = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc";
    stage.world.upstream.store(answers(part).await, Ordering::SeqCst);
    let mut stream = raw(&stage, &entered, "GET / HTTP/1.1", "").await;
    let mut seen = Vec::new();
    timeout(PATIENCE, stream.read_to_end(&mut seen)).await.unwrap().unwrap();
    let seen = String::from_utf8_lossy(&seen);
    let (head, body) = seen.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("content-length: 10") && "abc".starts_with(body), "{seen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_does_not_read_holds_no_memory() {
    let stage = Stage::open().await;
    let entered = stage.enter().await;
    let mut stream = raw(&stage, &entered, "GET /bytes HTTP/1.1", "").await;
    until(&mut stream, "\r\n\r\n").await;
    let mut sent = 0;
    loop {
        sleep(Duration::from_millis(300)).await;
        let now = stage.upstream.sent.load(Ordering::SeqCst);
        if now == sent {
            break;
        }
        sent = now;
    }
    // What the kernel's buffers hold, and little more.
    assert!(sent < 32 * 1024 * 1024, "{sent}");
}
