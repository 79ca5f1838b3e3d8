//! One connection from its first byte to its last.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderValue, Request, Response, StatusCode, Version, header};
use axum::response::IntoResponse;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tower::ServiceExt as _;

use super::body::{Attended, Late, Patient};
use super::limits::Place;
use super::pulse::{Felt, Pulse, Stream};
use super::{Door, ServersKey, hosts};

/// The bytes of a request's head.
const HEAD: u32 = 64 * 1024;
/// Requests at once on one connection of HTTP/2.
const STREAMS: u32 = 128;
/// Requests that a client may take back before they are begun, and resets that it may cause, until
/// it is taken for a flood.
const RESETS: usize = 20;
const ERRORS: usize = 256;
/// What a client may send of all its requests, and of one, before it is read.
const WINDOW: u32 = 1024 * 1024;
const STREAM_WINDOW: u32 = 256 * 1024;
/// After such a time without a word the other side is asked whether it is still there, and so long
/// it may think about it.
const ASK: Duration = Duration::from_secs(30);
const THINK: Duration = Duration::from_secs(20);

/// A connection that was let in.
pub(super) struct Connection {
    pub(super) door: Arc<Door>,
    pub(super) place: Place,
    pub(super) peer: SocketAddr,
    pub(super) local: SocketAddr,
    pub(super) stop: CancellationToken,
}

/// What is spoken on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speech {
    Http1,
    Http2,
}

impl Connection {
    /// Answers what is asked on it, until it ends.
    pub(super) async fn run(self, stream: io::Result<std::net::TcpStream>, router: Router) {
        // From now on it is watched by the runtime that this is in.
        let stream = match stream.and_then(TcpStream::from_std) {
            Ok(stream) => stream,
            Err(error) => {
                tracing::debug!(peer = %self.peer, %error, "a connection was lost as it came");
                return;
            }
        };
        prepare(&stream);
        let (stream, speech): (Box<dyn Stream>, _) = match &self.door.tls {
            None => (Box::new(stream), Speech::Http1),
            Some(tls) => {
                let shaken = timeout(self.door.limits.head, tls.accept(stream)).await;
                match shaken {
                    Ok(Ok(Some((stream, http2)))) => {
                        let speech = if http2 { Speech::Http2 } else { Speech::Http1 };
                        (Box::new(stream), speech)
                    }
                    Ok(Ok(None)) | Err(_) => return,
                    Ok(Err(error)) => {
                        tracing::debug!(peer = %self.peer, %error, "no TLS came about");
                        return;
                    }
                }
            }
        };
        self.speak(stream, speech, router).await;
    }

    async fn speak(self, stream: Box<dyn Stream>, speech: Speech, router: Router) {
        let pulse = Pulse::new(self.door.limits.clone(), speech == Speech::Http2);
        let Self { door, place, peer, local, stop } = self;
        let io = TokioIo::new(Felt::new(stream, Arc::clone(&pulse), place));
        let asked = Arc::new(Asked { door, router, peer, local, pulse: Arc::clone(&pulse) });
        let service = service_fn(move |request| {
            let asked = Arc::clone(&asked);
            async move { Ok::<_, Infallible>(asked.answer(request).await) }
        });
        let ended = match speech {
            Speech::Http1 => {
                let connection = http1().serve_connection(io, service).with_upgrades();
                attend(connection, http1::UpgradeableConnection::graceful_shutdown, &pulse, &stop)
                    .await
            }
            Speech::Http2 => {
                let connection = http2().serve_connection(io, service);
                attend(connection, http2::Connection::graceful_shutdown, &pulse, &stop).await
            }
        };
        match ended {
            Some(Ok(())) => {}
            Some(Err(error)) => tracing::debug!(%peer, %error, "a connection broke off"),
            None => tracing::debug!(%peer, "a connection was closed: nothing happened on it"),
        }
    }
}

/// Answers are short and keys are typed one by one: neither waits for more to go with it. Who has
/// gone without a word is noticed.
fn prepare(stream: &TcpStream) {
    let alive = TcpKeepalive::new().with_time(2 * ASK).with_interval(ASK);
    let prepared =
        stream.set_nodelay(true).and_then(|()| SockRef::from(stream).set_tcp_keepalive(&alive));
    if let Err(error) = prepared {
        tracing::debug!(%error, "a connection stays as it came");
    }
}

fn http1() -> http1::Builder {
    let mut builder = http1::Builder::new();
    // The pulse has a time for heads, and another one for the silence between them.
    builder.header_read_timeout(None).max_header_size(HEAD as usize);
    builder
}

fn http2() -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .max_header_list_size(HEAD)
        .max_pending_accept_reset_streams(RESETS)
        .max_local_error_reset_streams(ERRORS)
        .initial_connection_window_size(WINDOW)
        .initial_stream_window_size(STREAM_WINDOW)
        .keep_alive_interval(ASK)
        .keep_alive_timeout(THINK);
    builder
}

/// Lets a connection run as long as its pulse allows; `None`: that was too long.
async fn attend<C: Future>(
    connection: C,
    part: impl Fn(Pin<&mut C>),
    pulse: &Pulse,
    stop: &CancellationToken,
) -> Option<C::Output> {
    let mut connection = std::pin::pin!(connection);
    let mut stopping = std::pin::pin!(stop.cancelled());
    let mut alarm = std::pin::pin!(tokio::time::sleep(Duration::ZERO));
    let mut stopped = false;
    std::future::poll_fn(|cx| {
        if !stopped && stopping.as_mut().poll(cx).is_ready() {
            stopped = true;
            part(connection.as_mut());
        }
        loop {
            if let Poll::Ready(ended) = connection.as_mut().poll(cx) {
                return Poll::Ready(Some(ended));
            }
            if !rings(alarm.as_mut(), pulse.deadline(), cx) {
                return Poll::Pending;
            }
            // A quiet one is told to end, and polled again to hear it; any other one is cut off.
            if !pulse.part() {
                return Poll::Ready(None);
            }
            part(connection.as_mut());
        }
    })
    .await
}

fn rings(mut alarm: Pin<&mut Sleep>, deadline: Option<Instant>, cx: &mut Context<'_>) -> bool {
    let Some(deadline) = deadline else { return false };
    if alarm.deadline() != deadline {
        alarm.as_mut().reset(deadline);
    }
    alarm.poll(cx).is_ready()
}

/// What answers the requests of one connection.
struct Asked {
    door: Arc<Door>,
    router: Router,
    peer: SocketAddr,
    local: SocketAddr,
    pulse: Arc<Pulse>,
}

impl Asked {
    async fn answer(&self, request: Request<Incoming>) -> Response<Attended> {
        let answering = self.pulse.answering();
        let response = self.pass_on(request).await;
        response.map(|body| Attended::new(body, answering))
    }

    async fn pass_on(&self, request: Request<Incoming>) -> Response<Body> {
        let (mut parts, body) = request.into_parts();
        let http1 = parts.version < Version::HTTP_2;
        let Door { hosts, trusted, servers, .. } = &*self.door;
        let peer = match servers.as_ref().map(|key| key.client(&mut parts.headers)) {
            None => self.peer,
            Some(Some(client)) => client,
            Some(None) => return ServersKey::refusal(),
        };
        let passed_on = servers.is_some();
        let asked = hosts::Asked { peer: peer.ip(), local: self.local, trusted, passed_on };
        if let Err(refusal) = hosts.receive(&mut parts, &asked) {
            return refusal.into_response();
        }
        parts.extensions.insert(ConnectInfo(peer));
        let late = Late::default();
        let body = Patient::new(body, self.door.limits.body, late.clone());
        let request = Request::from_parts(parts, Body::new(body));
        let response = self.respond(request).await;
        if late.is() { too_late(http1) } else { response }
    }

    /// What only looks is answered here, and what changes something with all else that is done.
    async fn respond(&self, request: Request<Body>) -> Response<Body> {
        let only_looks = request.method().is_safe();
        let responding = self.router.clone().oneshot(request);
        let Ok(response) = if only_looks {
            responding.await
        } else {
            // It goes when nobody waits for it any more, as it would here.
            match AbortOnDropHandle::new(self.door.doing.spawn(responding)).await {
                Ok(response) => response,
                Err(ended) => match ended.try_into_panic() {
                    Ok(panic) => std::panic::resume_unwind(panic),
                    Err(_stopped) => Ok(StatusCode::SERVICE_UNAVAILABLE.into_response()),
                },
            }
        };
        response
    }
}

fn too_late(http1: bool) -> Response<Body> {
    let text = "The rest of the request did not come in time.\n请求的其余部分未及时到达。\n";
    let mut response = (StatusCode::REQUEST_TIMEOUT, text).into_response();
    if http1 {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}
