//! What a server does that does not lead: whatever it is asked it passes on to the one that leads, as it
//! came and for whom it came, and it says how it is itself. So it does not matter which of them somebody
//! asks, all see the same at once, and nothing in memory can be older than what another one has stored.
//!
//! One connection to the leader a request, as to a task (`proxy.rs`). All of it ends when another
//! server leads: whoever follows changes or has a terminal open connects anew.

use std::fmt::Display;
use std::net::SocketAddr;
use std::time::Duration;

use api::ErrorCode;
use axum::body::{Body, HttpBody};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderValue, StatusCode, Uri, Version, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use database::lead::Leader;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::health::{self, Check};
use crate::listen::ServersKey;
use crate::metrics;
use crate::proxy::{end_to_end, is_websocket, switch, wants_websocket};

/// How long a connection to the leader may take.
const CONNECT: Duration = Duration::from_millis(1_500);
/// How long requests may take to end that are passed on when this server stops.
const FAREWELL: Duration = Duration::from_secs(3);
/// When it may be tried again, in seconds: another server leads by then.
const MOMENT: u64 = 3;

/// Passes on to the leader.
#[derive(Debug, Clone)]
pub struct Following {
    leader: Option<Leader>,
    key: ServersKey,
    tasks: TaskTracker,
    /// Another server leads.
    over: CancellationToken,
    /// This server stops.
    stop: CancellationToken,
}

/// Nobody answers for now.
#[derive(Debug)]
struct Away;

impl Following {
    /// This one, if it is known who leads.
    #[must_use]
    pub fn new(leader: Option<Leader>, key: ServersKey, stop: CancellationToken) -> Self {
        let (tasks, over) = (TaskTracker::new(), CancellationToken::new());
        Self { leader, key, tasks, over, stop }
    }

    /// The one it follows.
    #[must_use]
    pub fn leader(&self) -> Option<&Leader> {
        self.leader.as_ref()
    }

    /// What it answers everybody.
    pub fn router(&self) -> Router {
        Router::new()
            .route("/healthz", get(health::healthz))
            .route("/readyz", get(readyz))
            .fallback(pass_on)
            .with_state(self.clone())
    }

    /// What it answers Prometheus.
    pub fn metrics_router() -> Router {
        Router::new().route(metrics::PATH, get(measured))
    }

    /// What it answers other servers, which take it for the leader: nothing goes round in circles.
    pub fn servers_router() -> Router {
        Router::new().fallback(refuse)
    }

    /// Ends what is being passed on, since another server leads.
    pub async fn end(self) {
        self.over.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    async fn connect(&self) -> Result<TcpStream, Away> {
        let leader = self.leader.as_ref().ok_or(Away)?;
        let Some(address) = &leader.server.address else {
            tracing::warn!(
                leader = leader.server.name,
                "nobody reaches it: it has no servers.listen"
            );
            return Err(Away);
        };
        match timeout(CONNECT, TcpStream::connect(address.as_str())).await {
            Ok(Ok(stream)) => Ok(stream),
            Ok(Err(error)) => Err(self.away(error)),
            Err(late) => Err(self.away(late)),
        }
    }

    fn away(&self, error: impl Display) -> Away {
        let leader = self.leader.as_ref().map(|leader| leader.server.name.as_str());
        tracing::debug!(leader, %error, "the leader does not answer");
        Away
    }

    /// A connection that lasts for one request.
    async fn speak(&self) -> Result<SendRequest<Body>, Away> {
        let stream = self.connect().await?;
        stream.set_nodelay(true).map_err(|error| self.away(error))?;
        let spoken = http1::handshake(TokioIo::new(stream)).await;
        let (sender, connection) = spoken.map_err(|error| self.away(error))?;
        let end = self.clone().ends();
        self.tasks.spawn(async move {
            tokio::select! {
                // Its errors are those of the request.
                _ended = connection.with_upgrades() => {}
                () = end => {}
            }
        });
        Ok(sender)
    }

    /// Returns when nothing is passed on any more.
    async fn ends(self) {
        let stopped = async {
            self.stop.cancelled().await;
            tokio::time::sleep(FAREWELL).await;
        };
        tokio::select! {
            () = self.over.cancelled() => {}
            () = stopped => {}
        }
    }

    async fn ask(&self, client: SocketAddr, mut request: Request) -> Result<Response, Away> {
        let mut leader = self.speak().await?;
        let near = wants_websocket(&request).then(|| hyper::upgrade::on(&mut request));
        let request = self.outgoing(client, request, near.is_some());
        let answer = tokio::select! {
            answer = leader.send_request(request) => answer.map_err(|error| self.away(error))?,
            () = self.over.cancelled() => return Err(Away),
        };
        if ServersKey::is_refused(answer.headers()) {
            tracing::error!("the leader does not know this server: their secret.key differ");
            return Err(Away);
        }
        if answer.status() == StatusCode::SWITCHING_PROTOCOLS {
            return self.switched(near.ok_or(Away)?, answer);
        }
        let (mut parts, body) = answer.into_parts();
        parts.headers = end_to_end(&parts.headers);
        parts.version = Version::HTTP_11;
        Ok(Response::from_parts(parts, Body::new(body)))
    }

    fn outgoing(&self, client: SocketAddr, request: Request, upgrade: bool) -> Request {
        let (mut parts, body) = request.into_parts();
        let mut headers = end_to_end(&parts.headers);
        if upgrade {
            switch(&mut headers);
        }
        self.key.mark(&mut headers, client);
        // HTTP/2 names the host there; the header does so as well.
        let path = parts.uri.path_and_query().map(|path| Uri::from(path.clone()));
        if let Some(path) = path.filter(|_| parts.version >= Version::HTTP_2) {
            parts.uri = path;
        }
        let body = if body.is_end_stream() { Body::empty() } else { body };
        let mut outgoing = Request::new(body);
        *outgoing.method_mut() = parts.method;
        *outgoing.uri_mut() = parts.uri;
        *outgoing.headers_mut() = headers;
        outgoing
    }

    /// Client and leader speak WebSocket from here on.
    fn switched(&self, near: OnUpgrade, mut answer: Response<Incoming>) -> Result<Response, Away> {
        if !is_websocket(answer.headers()) {
            return Err(Away);
        }
        let (far, end) = (hyper::upgrade::on(&mut answer), self.clone().ends());
        let copying = async move {
            if let Ok((near, far)) = futures::future::try_join(near, far).await {
                let (mut near, mut far) = (TokioIo::new(near), TokioIo::new(far));
                let _ended_or_broken = copy_bidirectional(&mut near, &mut far).await;
            }
        };
        self.tasks.spawn(async move {
            tokio::select! {
                () = copying => {}
                () = end => {}
            }
        });
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        *response.headers_mut() = end_to_end(answer.headers());
        switch(response.headers_mut());
        Ok(response)
    }
}

async fn pass_on(
    State(following): State<Following>,
    ConnectInfo(client): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let uri = request.uri().clone();
    following.ask(client, request).await.unwrap_or_else(|Away| nobody(&uri))
}

async fn refuse(uri: Uri) -> Response {
    nobody(&uri)
}

/// It can take requests where the leader answers it.
async fn readyz(State(following): State<Following>) -> Response {
    let mut request = Request::new(Body::empty());
    *request.uri_mut() = Uri::from_static("/healthz");
    let itself = SocketAddr::from(([127, 0, 0, 1], 0));
    let answered = timeout(CONNECT, following.ask(itself, request)).await;
    let problem = match answered {
        Ok(Ok(answer)) if answer.status() == StatusCode::OK => None,
        Ok(_) | Err(_) => Some("the server that leads is not reached".to_owned()),
    };
    let name = "leader".to_owned();
    let check = Check { name, ready: problem.is_none(), needed: true, problem };
    health::told(vec![check], false)
}

async fn measured() -> Response {
    let text = format!(
        "# HELP berth_build_info Version of the server.\n# TYPE berth_build_info gauge\n\
         berth_build_info{{version=\"{}\"}} 1\n\
         # HELP berth_leads 1 of the server that leads, 0 of the others.\n\
         # TYPE berth_leads gauge\nberth_leads 0\n# EOF\n",
        env!("CARGO_PKG_VERSION")
    );
    ([(header::CONTENT_TYPE, metrics::KIND)], text).into_response()
}

/// What is answered where no server leads for now, or the leader is not reached.
pub(crate) fn nobody(uri: &Uri) -> Response {
    let text = "No server leads for now: try again in a moment.";
    let path = uri.path();
    let is_for_programs = path.starts_with("/api/") || path.starts_with("/rest-server/");
    let mut response = if is_for_programs {
        let code = ErrorCode::UnavailableError;
        // In the shape of all errors; nobody has numbered the request.
        let body =
            serde_json::json!({ "code": code, "message": text, "problems": [], "requestId": "" });
        Json(body).into_response()
    } else {
        format!("{text}\n目前没有主服务器，请稍后再试。\n").into_response()
    };
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    let headers = response.headers_mut();
    headers.insert(header::RETRY_AFTER, HeaderValue::from(MOMENT));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
