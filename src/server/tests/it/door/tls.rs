use std::io;
use std::path::Path;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{CertificateParams, KeyPair};
use server::listen::redirect;
use server::listen::tls::{Source, Tls};
use server::state::StateOptions;
use tokio::io::AsyncWriteExt;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tokio_util::task::TaskTracker;

use super::*;
use crate::fakes::World;
use crate::server::{FORM, Server};

pub(super) const NAME: &str = "berth.test";

/// A certificate for [`NAME`] that vouches for itself, and its key, both in PEM.
pub(super) fn pair() -> (rcgen::Certificate, KeyPair) {
    let key = KeyPair::generate().unwrap();
    let names = vec![NAME.to_owned(), "localhost".to_owned(), "127.0.0.1".to_owned()];
    let certificate = CertificateParams::new(names).unwrap().self_signed(&key).unwrap();
    (certificate, key)
}

/// Writes a new pair into these two files of a folder.
fn renew(folder: &Path) -> CertificateDer<'static> {
    let (certificate, key) = pair();
    std::fs::write(folder.join("cert.pem"), certificate.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), key.serialize_pem()).unwrap();
    certificate.der().clone()
}

fn source(folder: &Path) -> Source {
    let every = Duration::from_millis(50);
    Source::Files { certificate: folder.join("cert.pem"), key: folder.join("key.pem"), every }
}

/// Speaks to somebody who proves to be [`NAME`] by these roots.
pub(super) async fn connect(
    address: SocketAddr,
    root: CertificateDer<'static>,
    protocol: &str,
) -> io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(root).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().unwrap();
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from(NAME).unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await
}

/// A portal that encrypts.
struct Encrypted {
    folder: tempfile::TempDir,
    server: Server,
    root: CertificateDer<'static>,
    _stop: tokio_util::sync::DropGuard,
}

impl Encrypted {
    async fn open(limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = renew(folder.path());
        let stop = CancellationToken::new();
        let tls = Tls::start(source(folder.path()), (&TaskTracker::new(), &stop), &Arc::default())
            .unwrap();
        let options = StateOptions { tls: true, ..StateOptions::default() };
        let backend = World::new().backend();
        let server = Server::behind(folder.path(), backend, options, limits, Some(tls)).await;
        Self { folder, server, root, _stop: stop.drop_guard() }
    }

    async fn connect(&self, protocol: &str) -> TlsStream<TcpStream> {
        connect(self.server.address, self.root.clone(), protocol).await.unwrap()
    }

    /// One request by HTTP/1.1.
    async fn ask(&self, text: &str) -> String {
        let mut stream = self.connect("http/1.1").await;
        let head = format!("{text}connection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut seen = Vec::new();
        let reading = stream.read_to_end(&mut seen);
        timeout(PATIENCE, reading).await.expect("it is answered").unwrap();
        String::from_utf8_lossy(&seen).into_owned()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_certificates_names_are_ours_and_promised_to_stay_encrypted() {
    let portal = Encrypted::open(Limits::default()).await;
    let seen = portal.ask("GET /sign-in HTTP/1.1\r\nhost: berth.test\r\n").await;
    assert!(seen.starts_with("HTTP/1.1 200"), "{seen}");
    assert!(seen.contains("strict-transport-security: max-age="), "{seen}");
    let seen = portal.ask("GET /sign-in HTTP/1.1\r\nhost: other.test\r\n").await;
    assert!(seen.starts_with("HTTP/1.1 421"), "{seen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_requests_share_a_connection_and_sign_in_on_it() {
    let portal = Encrypted::open(Limits::default()).await;
    let stream = portal.connect("h2").await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let (sender, connection) =
        http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let at = |path: &str| Request::builder().uri(format!("https://{NAME}{path}"));
    let send = |request: Request<Body>| {
        let mut sender = sender.clone();
        async move { timeout(PATIENCE, sender.send_request(request)).await.unwrap().unwrap() }
    };
    let many = (0..64).map(|_| send(at("/healthz").body(Body::empty()).unwrap()));
    for response in futures::future::join_all(many).await {
        let body = to_bytes(Body::new(response.into_body()), 9).await.unwrap();
        assert_eq!(body, "ok");
    }
    let form = Body::from("username=alice&password=correct-horse&next=/jobs");
    let enter = at("/auth/sign-in").method("POST").header(FORM.0, FORM.1);
    let enter = enter.header("origin", format!("https://{NAME}")).body(form).unwrap();
    let answer = send(enter).await;
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    assert_eq!(answer.headers()["location"], "/jobs");
    let cookies = answer.headers().get_all("set-cookie").iter();
    let cookie = cookies.map(|set| set.to_str().unwrap().split(';').next().unwrap()).next_back();
    let cookie = cookie.unwrap();
    assert!(cookie.starts_with("__Host-berth_session="), "{cookie}");
    let jobs = at("/api/v2/jobs").header("cookie", "a=1").header("cookie", cookie);
    assert_eq!(send(jobs.body(Body::empty()).unwrap()).await.status(), StatusCode::OK);
    let foreign = at("/x").body(Body::empty()).unwrap();
    let (mut parts, body) = foreign.into_parts();
    parts.uri = "https://evil.example/".parse().unwrap();
    let answer = send(Request::from_parts(parts, body)).await;
    assert_eq!(answer.status(), StatusCode::MISDIRECTED_REQUEST);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_certificate_is_used_at_once_and_a_bad_one_never() {
    let portal = Encrypted::open(Limits::default()).await;
    let address = portal.server.address;
    let shown = async |root: &CertificateDer<'static>| {
        let stream = connect(address, root.clone(), "http/1.1").await.ok()?;
        let shown = stream.get_ref().1.peer_certificates()?.first()?.clone();
        (shown == *root).then_some(())
    };
    let second = renew(portal.folder.path());
    until("the new one is used", async || shown(&second).await).await;
    for bad in ["nonsense", ""] {
        std::fs::write(portal.folder.path().join("key.pem"), bad).unwrap();
        std::fs::write(portal.folder.path().join("cert.pem"), pair().0.pem()).unwrap();
        for _ in 0..8 {
            shown(&second).await.expect("the old one stays");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    let third = renew(portal.folder.path());
    until("the next good one is used", async || shown(&third).await).await;
}

#[tokio::test]
async fn what_cannot_be_used_is_refused_by_key_and_value() {
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        let keeping = (&TaskTracker::new(), &CancellationToken::new());
        let error = Tls::start(source(folder.path()), keeping, &Arc::default());
        error.unwrap_err().to_string()
    };
    let error = start();
    assert!(error.contains("tls.certificate") && error.contains("cert.pem"), "{error}");
    renew(folder.path());
    std::fs::write(folder.path().join("key.pem"), "nonsense").unwrap();
    let error = start();
    assert!(error.contains("tls.key") && error.contains("key.pem"), "{error}");
    std::fs::write(folder.path().join("key.pem"), pair().1.serialize_pem()).unwrap();
    let error = start();
    assert!(error.contains("tls.certificate and tls.key"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn half_a_handshake_keeps_no_connection() {
    let head = Duration::from_secs(2);
    let portal = Encrypted::open(Limits { head, ..Limits::default() }).await;
    let mut open = Vec::new();
    for number in 0..40 {
        let mut stream = TcpStream::connect(portal.server.address).await.unwrap();
        let hello: &[u8] = if number % 2 == 0 { b"" } else { &[22, 3, 1, 2, 0, 1] };
        stream.write_all(hello).await.unwrap();
        open.push(stream);
    }
    portal.connect("http/1.1").await;
    for mut stream in open {
        assert_eq!(rest(&mut stream).await, "");
    }
    let mut idle = portal.connect("h2").await;
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    idle.write_all(preface).await.unwrap();
    let mut seen = Vec::new();
    let closed = async { while !matches!(idle.read_buf(&mut seen).await, Ok(0) | Err(_)) {} };
    timeout(PATIENCE, closed).await.expect("who asks nothing is closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_comes_in_clear_is_led_to_where_it_is_encrypted() {
    let bare = Bare::open(redirect(None, None, 8443), Limits::default());
    let ask = async |host: &str| {
        let mut stream = bare.connect().await;
        let head = format!("GET /jobs?a=b HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        rest(&mut stream).await
    };
    let seen = ask("localhost:80").await;
    assert!(seen.starts_with("HTTP/1.1 308"), "{seen}");
    assert!(seen.contains("location: https://localhost:8443/jobs?a=b\r\n"), "{seen}");
    assert!(ask("evil.example").await.starts_with("HTTP/1.1 421"));
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_http_is_not_answered_where_it_is_encrypted() {
    let portal = Encrypted::open(Limits::default()).await;
    let mut stream = TcpStream::connect(portal.server.address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    assert!(!rest(&mut stream).await.contains("HTTP"));
}
