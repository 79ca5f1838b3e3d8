//! Who is let in: at `/proxy/…` of the portal, and at a task's host.

use std::net::IpAddr;

use api::Actor;
use axum::body::Body;
use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::{Deserialize, Serialize};
use tower_sessions::Session;

use super::forward::{Passage, forward};
use super::grants::{self, Grant};
use super::headers::Ends;
use super::page::{self, Reason};
use super::requests::{self, Address};
use super::tunnel::StillAllowed;
use super::{Proxy, client_address};
use crate::auth::sign_in::local_path;
use crate::auth::{Caller, Still};
use crate::failure::Failure;
use crate::task_hosts::TaskHosts;

/// Paths that a task's host has for us. Everything else is the task's.
const OURS: &str = "/.berth/";
/// Where a ticket is redeemed.
const ENTER: &str = "/.berth/enter";

/// What comes to [`ENTER`].
#[derive(Serialize, Deserialize)]
struct Ticket {
    ticket: String,
    /// Where to go then.
    to: String,
}

/// `/proxy/…` of the portal: programs with a token are answered, browsers are sent to the task's
/// host.
pub(super) async fn portal(proxy: &Proxy, session: &Session, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let Some(actor) = parts.extensions.get::<Caller>().cloned().unwrap_or_default().actor else {
        return stranger(&parts);
    };
    let headers = parts.headers.clone();
    let answer = async {
        requests::check(&parts)?;
        let address = Address::read(parts.uri.path(), &actor.user).ok_or(Reason::NoAddress)?;
        if headers.contains_key(header::AUTHORIZATION) {
            let still = Still::from_request_parts(&mut parts, &proxy.state).await;
            let still = still.map_err(|failure| Reason::from(failure.error))?;
            direct(proxy, (actor, still), address, parts, body).await
        } else {
            let client = client_address(&mut parts, &proxy.state).await;
            hand_over(proxy, session, (actor, client), address, &parts).await
        }
    };
    answer.await.unwrap_or_else(|reason| page::refusal(&reason, &headers))
}

fn stranger(request: &Parts) -> Response {
    if requests::opens(request) && page::wants_html(&request.headers) {
        let next = request.uri.path_and_query().map_or("/", |path| path.as_str());
        let query = serde_urlencoded::to_string([("next", next)]).unwrap_or_default();
        return Redirect::to(&format!("/sign-in?{query}")).into_response();
    }
    Failure::unauthorized().into_response()
}

/// Passes a request with a token on from here.
async fn direct(
    proxy: &Proxy,
    (actor, holder): (Actor, Still),
    address: Address,
    mut parts: Parts,
    body: Body,
) -> Result<Response, Reason> {
    let Address { port, prefix, rest } = address;
    let upstream = proxy.state.backend.proxy.upstream(&actor, &port).await?;
    let own = proxy.state.origin.address(&parts.headers);
    let target = target(&rest, &parts);
    let client = client_address(&mut parts, &proxy.state).await;
    let authority = authority(&upstream.address, upstream.port);
    let ends = Ends { upstream: authority, own, client, prefix: Some(prefix) };
    let backend = proxy.state.backend.clone();
    let user = actor.user.clone();
    let still: StillAllowed = Box::new(move || {
        let (backend, actor, port) = (backend.clone(), actor.clone(), port.clone());
        let holder = holder.clone();
        Box::pin(async move {
            holder.allowed().await && backend.proxy.upstream(&actor, &port).await.is_ok()
        })
    });
    let request = Request::from_parts(parts, body);
    forward(proxy, Passage { upstream, ends, user, target }, request, still).await
}

/// Sends a browser to the task's host, with a ticket.
async fn hand_over(
    proxy: &Proxy,
    session: &Session,
    (actor, client): (Actor, IpAddr),
    address: Address,
    request: &Parts,
) -> Result<Response, Reason> {
    if !requests::opens(request) {
        return Err(Reason::OpenOnly);
    }
    let Address { port, rest, .. } = address;
    // Whoever may not is told so here, where he is signed in.
    proxy.state.backend.proxy.enter(&actor, &port, &client.to_string()).await?;
    let own = proxy.state.origin.address(&request.headers);
    let label = TaskHosts::label_of(&port);
    let origin = proxy.state.task_hosts.origin(&own, &label).ok_or(Reason::NoHost)?;
    let session = session.id().map(|id| grants::session_name(&id)).ok_or(Reason::Expired)?;
    let grant = Grant { user: actor.user, port, label, session };
    let ticket = proxy.grants.ticket(&grant).await?;
    let query = serde_urlencoded::to_string(Ticket { ticket, to: target(&rest, request) })
        .map_err(|_| Reason::Malformed)?;
    let mut response = Redirect::to(&format!("{origin}{ENTER}?{query}")).into_response();
    let never_kept = HeaderValue::from_static("no-store");
    response.headers_mut().insert(header::CACHE_CONTROL, never_kept);
    Ok(response)
}

/// A request for a task's host.
pub(super) async fn host(proxy: &Proxy, label: &str, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let headers = parts.headers.clone();
    let answer = async {
        requests::check(&parts)?;
        let host = requests::host(&parts.uri, &parts.headers)?.unwrap_or_default();
        let portal = proxy.state.origin.address(&parts.headers);
        let scheme = proxy.state.task_hosts.scheme(&portal);
        let own = format!("{scheme}://{host}");
        if parts.uri.path().starts_with(OURS) {
            return redeem(proxy, label, scheme == "https", &parts).await;
        }
        if !requests::is_own_or_opening(&parts, &own) {
            return Err(Reason::Foreign);
        }
        granted(proxy, label, own, parts, body).await
    };
    answer.await.unwrap_or_else(|reason| page::refusal(&reason, &headers))
}

async fn redeem(
    proxy: &Proxy,
    label: &str,
    https: bool,
    request: &Parts,
) -> Result<Response, Reason> {
    if request.uri.path() != ENTER || !requests::opens(request) {
        return Err(Reason::NoAddress);
    }
    let query = request.uri.query().unwrap_or_default();
    let Ticket { ticket, to } = serde_urlencoded::from_str(query).map_err(|_| Reason::NoAddress)?;
    let secret = proxy.grants.redeem(&ticket, label).await?;
    let known = proxy.grants.find(&request.headers, label, https).await?;
    if secret.is_none() && known.is_none() {
        return Err(Reason::Expired);
    }
    let location = HeaderValue::from_str(local_path(&to)).map_err(|_| Reason::Malformed)?;
    let mut response = StatusCode::SEE_OTHER.into_response();
    let headers = response.headers_mut();
    headers.insert(header::LOCATION, location);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    if let Some(secret) = secret {
        headers.insert(header::SET_COOKIE, grants::cookie(&secret, https));
    }
    Ok(response)
}

async fn granted(
    proxy: &Proxy,
    label: &str,
    own: String,
    mut parts: Parts,
    body: Body,
) -> Result<Response, Reason> {
    let https = own.starts_with("https://");
    let grant = proxy.grants.find(&parts.headers, label, https).await?;
    let grant = grant.ok_or(Reason::Expired)?;
    let upstream = allowed(proxy, &grant).await?;
    let target = target(parts.uri.path(), &parts);
    let client = client_address(&mut parts, &proxy.state).await;
    let authority = authority(&upstream.address, upstream.port);
    let ends = Ends { upstream: authority, own, client, prefix: None };
    let user = grant.user.clone();
    let asker = proxy.clone();
    let still: StillAllowed = Box::new(move || {
        let (asker, grant) = (asker.clone(), grant.clone());
        Box::pin(async move {
            // If the database is silent for a moment nothing is cut off.
            asker.grants.lasts(&grant).await.unwrap_or(true)
                && match allowed(&asker, &grant).await {
                    Ok(_) => true,
                    Err(reason) => matches!(reason, Reason::Refused(error) if error.is_ours()),
                }
        })
    });
    let request = Request::from_parts(parts, body);
    forward(proxy, Passage { upstream, ends, user, target }, request, still).await
}

/// Where the port of a grant is, if its user still may.
async fn allowed(proxy: &Proxy, grant: &Grant) -> Result<api::proxy::Upstream, Reason> {
    let backend = &proxy.state.backend;
    let actor = backend.users.actor(&grant.user).await?.ok_or(Reason::Expired)?;
    Ok(backend.proxy.upstream(&actor, &grant.port).await?)
}

/// A path with the request's query.
fn target(path: &str, request: &Parts) -> String {
    match request.uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    }
}

fn authority(address: &str, port: u16) -> String {
    match address.contains(':') {
        true => format!("[{address}]:{port}"),
        false => format!("{address}:{port}"),
    }
}
