//! What tasks serve (Jupyter, TensorBoard, a program of one's own), for their owners and
//! administrators: `/proxy/<job>/<role>/<index>/<port>/…`, or `<user>~<job>` for a job of somebody
//! else. A port is named by its label or its number.
//!
//! **A task's pages are not ours.** They come from whatever runs in the container, so they must be
//! unable to act as their reader in the portal. What keeps them from it is what browsers are built
//! on: another origin. Each port of each task has a host name of its own below one that holds
//! nothing else: `t-<hash>.localhost` where the portal is reached by a loopback address, and else
//! below the name that `proxy.url` says (`https://*.tasks.example.org`). All of them arrive at the
//! same listener and are told apart by the `Host` header, before anything else looks at them. There
//! a task has all paths to itself, which is why programs that know nothing of proxies work as they
//! are. Scripts, storage, service workers and cookies of one task reach neither the portal nor
//! another task.
//!
//! **How a browser gets there.** `/proxy/…` of the portal finds out who asks, asks
//! [`api::proxy::Proxy`] whether he may, and redirects to the task's host with a ticket: valid for
//! seconds, for one use, for that host. There it becomes a cookie of that host only, which opens
//! this one port, and only as long as the portal's session it came from lasts: whoever signs out has
//! closed all of them. Every request asks anew whether its user may. See [`grants`].
//!
//! **How a program gets there.** With a token in `Authorization` the answer comes right below
//! `/proxy/…`; paths in `Location` and `Set-Cookie` are put below that prefix. A page that comes this
//! way is told to be `sandbox`ed, so that a browser that was talked into sending a token gains the
//! page nothing.
//!
//! **Who answers.** A connection goes through the task's guest, which is known by its host key and
//! connects to nobody but the task's own programs; see [`api::proxy::Way`].
//!
//! **What passes.** One connection to the task a request, never shared, so that nothing of a request
//! or an answer can be taken for a part of another. Our cookies and our token never reach a task,
//! and none of its answers sets a cookie that could be taken for ours; see [`headers`]. Bodies
//! stream both ways, some tens of KiB of each in memory; see [`body`]. WebSockets become a pair of
//! byte streams; see [`tunnel`].

#[cfg(test)]
mod any;
mod body;
mod enter;
mod forward;
mod grants;
mod headers;
mod page;
mod places;
mod requests;
mod stream;
mod tunnel;

use std::net::IpAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::Response;
use axum::routing::any;
use tower_sessions::Session;

use crate::auth::ClientAddress;
use crate::auth::session_store::Store;
use crate::state::AppState;
pub(crate) use forward::{is_websocket, switch, wants_websocket};
use grants::Grants;
pub(crate) use headers::end_to_end;
use places::Places;

/// What the proxy works with.
#[derive(Clone)]
pub(crate) struct Proxy {
    state: AppState,
    grants: Grants,
    places: Arc<Places>,
}

impl Proxy {
    pub(crate) fn new(state: AppState, sessions: Store) -> Self {
        Self { state, grants: Grants::new(sessions), places: Arc::default() }
    }

    /// `/proxy/…` of the portal.
    pub(crate) fn routes(&self) -> Router<AppState> {
        let proxy = self.clone();
        let handler = move |session: Session, request: Request| async move {
            enter::portal(&proxy, &session, request).await
        };
        Router::new().route("/proxy/{*path}", any(handler))
    }
}

/// Requests for a task's host are answered here; all others go on to the portal.
pub(crate) async fn by_host(State(proxy): State<Proxy>, request: Request, next: Next) -> Response {
    let host = match requests::host(request.uri(), request.headers()) {
        Ok(host) => host,
        Err(reason) => return page::refusal(&reason, request.headers()),
    };
    let Some(label) = host.and_then(|host| proxy.state.task_hosts.label(&host)) else {
        return next.run(request).await;
    };
    let began = std::time::Instant::now();
    let method = request.method().clone();
    let response = enter::host(&proxy, &label, request).await;
    let status = response.status().as_u16();
    proxy.state.metrics.request(&method, "task", status, began.elapsed());
    response
}

async fn client_address(parts: &mut Parts, state: &AppState) -> IpAddr {
    match ClientAddress::from_request_parts(parts, state).await {
        Ok(ClientAddress(address)) => address,
        Err(never) => match never {},
    }
}
