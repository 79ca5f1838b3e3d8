//! One request to a task and its answer, on a connection of their own.

use std::time::Duration;

use api::proxy::{NoWay, Upstream};
use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Version, header};
use axum::response::Response;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use protocol::ids::UserName;
use tokio::time::timeout;

use super::body::{Activity, noted, relayed};
use super::headers::{self, Ends};
use super::page::Reason;
use super::places::Place;
use super::stream::Bytes;
use super::tunnel::{self, StillAllowed};
use super::{Proxy, requests};

/// How long a connection to a task may take.
const CONNECT: Duration = Duration::from_secs(30);
/// How long a task may think about its answer, from the last piece of the request on.
const THOUGHT: Duration = Duration::from_secs(300);
/// Headers in an answer, and their bytes.
const HEADERS: usize = 256;
const HEAD: usize = 128 * 1024;

/// What a request passes through.
pub(super) struct Passage {
    pub(super) upstream: Upstream,
    pub(super) ends: Ends,
    pub(super) user: UserName,
    /// Path and query, as the task gets them.
    pub(super) target: String,
}

/// Passes it on and gives the task's answer.
pub(super) async fn forward(
    proxy: &Proxy,
    passage: Passage,
    mut request: Request,
    still_allowed: StillAllowed,
) -> Result<Response, Reason> {
    let Passage { upstream, ends, user, target } = passage;
    let place = proxy.places.take(&user).ok_or(Reason::Busy)?;
    let mut task = connect(proxy, &upstream).await?;
    let client = wants_websocket(&request).then(|| hyper::upgrade::on(&mut request));
    let activity = Activity::begin();
    let request = outgoing(request, &ends, &target, client.is_some(), &activity)?;
    let answer = tokio::select! {
        answer = task.send_request(request) => answer,
        () = activity.silent_for(THOUGHT) => return Err(Reason::Silent),
    };
    let answer = answer.map_err(|error| {
        tracing::debug!(%error, "a task did not answer as a web server does");
        Reason::Broken
    })?;
    if answer.status() == StatusCode::SWITCHING_PROTOCOLS {
        let client = client.ok_or(Reason::Broken)?;
        return switched(proxy, client, answer, &ends, place, still_allowed);
    }
    let (mut parts, body) = answer.into_parts();
    parts.headers = headers::of_response(&parts.headers, &ends);
    parts.version = Version::HTTP_11;
    let state = &proxy.state;
    let beside = (&state.tasks, state.shutdown.clone());
    let body = relayed(Body::new(body), place, beside, still_allowed);
    Ok(Response::from_parts(parts, body))
}

async fn connect(proxy: &Proxy, upstream: &Upstream) -> Result<SendRequest<Body>, Reason> {
    let connected = timeout(CONNECT, upstream.way.connect()).await;
    let stream = connected.unwrap_or(Err(NoWay::Unreachable)).map_err(|reason| match reason {
        NoWay::NotListening => Reason::NotListening(upstream.port),
        NoWay::Unreachable => Reason::Unreachable,
    })?;
    let mut http = http1::Builder::new();
    http.max_headers(HEADERS).max_buf_size(HEAD);
    let (sender, connection) =
        http.handshake(TokioIo::new(Bytes(stream))).await.map_err(|_| Reason::Broken)?;
    let stop = proxy.state.shutdown.clone();
    proxy.state.tasks.spawn(async move {
        tokio::select! {
            // Its errors are those of the request.
            _ended = connection.with_upgrades() => {}
            () = stop.cancelled() => {}
        }
    });
    Ok(sender)
}

fn outgoing(
    request: Request,
    ends: &Ends,
    target: &str,
    upgrade: bool,
    activity: &Activity,
) -> Result<Request<Body>, Reason> {
    let (parts, body) = request.into_parts();
    let mut headers = headers::of_request(&parts.headers, ends);
    if upgrade {
        switch(&mut headers);
    }
    let body = match body.is_end_stream() {
        true => Body::empty(),
        false => noted(body, activity.clone()),
    };
    let mut outgoing = Request::builder().method(parts.method).uri(target).body(body);
    let request = outgoing.as_mut().map_err(|_| Reason::Malformed)?;
    *request.headers_mut() = headers;
    outgoing.map_err(|_| Reason::Malformed)
}

/// Both sides agree to speak WebSocket from here on.
fn switched(
    proxy: &Proxy,
    client: OnUpgrade,
    mut answer: Response<Incoming>,
    ends: &Ends,
    place: Place,
    still_allowed: StillAllowed,
) -> Result<Response, Reason> {
    if !is_websocket(answer.headers()) {
        return Err(Reason::Broken);
    }
    let task = hyper::upgrade::on(&mut answer);
    let stop = proxy.state.shutdown.clone();
    let copying = async move {
        if let Ok((client, task)) = futures::future::try_join(client, task).await {
            tunnel::run(client, task, &still_allowed).await;
        }
    };
    proxy.state.tasks.spawn(async move {
        tokio::select! {
            () = copying => {}
            () = stop.cancelled() => {}
        }
        drop(place);
    });
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    *response.headers_mut() = headers::of_response(answer.headers(), ends);
    switch(response.headers_mut());
    Ok(response)
}

/// WebSockets are all that a connection may become.
pub(crate) fn wants_websocket(request: &Request) -> bool {
    request.method() == Method::GET
        && request.version() == Version::HTTP_11
        && requests::asks_for_upgrade(request.headers())
        && is_websocket(request.headers())
}

/// Whether these agree to become one.
pub(crate) fn is_websocket(headers: &HeaderMap) -> bool {
    headers.get(header::UPGRADE).is_some_and(|to| to.as_bytes().eq_ignore_ascii_case(b"websocket"))
}

/// Agrees to become one.
pub(crate) fn switch(headers: &mut HeaderMap) {
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
}
