//! What a task serves.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use futures::StreamExt;
use futures::stream;
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// A web server of a task's.
pub(super) struct Upstream {
    pub(super) port: u16,
    /// Lets `/ticks` go on.
    pub(super) tick: Arc<Notify>,
    /// Requests that have reached it.
    pub(super) asked: Arc<AtomicUsize>,
    /// Bytes of `/bytes` that it has handed out.
    pub(super) sent: Arc<AtomicUsize>,
}

#[derive(Clone)]
struct Shared {
    authority: String,
    tick: Arc<Notify>,
    sent: Arc<AtomicUsize>,
}

impl Upstream {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (tick, asked, sent) = (Arc::<Notify>::default(), Arc::default(), Arc::default());
        let shared = Shared {
            authority: format!("127.0.0.1:{port}"),
            tick: Arc::clone(&tick),
            sent: Arc::clone(&sent),
        };
        let app = routes(Arc::clone(&asked)).with_state(shared);
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { port, tick, asked, sent }
    }

    pub(super) fn authority(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

fn routes(asked: Arc<AtomicUsize>) -> Router<Shared> {
    Router::new()
        .route("/echo/{*path}", any(echo))
        .route("/moved", get(moved))
        .route("/api/fails", get(async || (StatusCode::NOT_FOUND, "the task's own words")))
        .route("/socket", get(socket))
        .route("/ticks", get(ticks))
        .route("/count", post(count))
        .route("/bytes", get(bytes))
        .layer(axum::middleware::map_request(move |request: Request| {
            asked.fetch_add(1, Ordering::SeqCst);
            async { request }
        }))
}

/// What it was asked, as JSON.
async fn echo(uri: Uri, headers: HeaderMap) -> Response {
    let text = |value: &axum::http::HeaderValue| value.to_str().unwrap().to_owned();
    let headers: std::collections::BTreeMap<_, _> =
        headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
    let target = uri.path_and_query().unwrap().to_string();
    axum::Json(serde_json::json!({ "target": target, "headers": headers })).into_response()
}

/// As programs do that know nothing of proxies.
async fn moved(State(shared): State<Shared>) -> impl IntoResponse {
    let location = format!("http://{}/lab?x", shared.authority);
    let cookies = [
        (header::SET_COOKIE, "own=1; Domain=localhost; Path=/lab"),
        (header::SET_COOKIE, "berth_session=mine; Path=/"),
        (header::SET_COOKIE, "__Host-berth_task=mine; Path=/"),
    ];
    let mut headers = HeaderMap::new();
    for (name, value) in cookies {
        headers.append(name, value.parse().unwrap());
    }
    headers.append(header::LOCATION, location.parse().unwrap());
    (StatusCode::FOUND, headers)
}

async fn socket(upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(async |mut socket| {
        while let Some(Ok(message)) = socket.recv().await {
            if socket.send(message).await.is_err() {
                return;
            }
        }
    })
}

async fn ticks(State(shared): State<Shared>) -> Body {
    Body::from_stream(stream::unfold(0, move |number| {
        let tick = Arc::clone(&shared.tick);
        async move {
            if number > 0 {
                tick.notified().await;
            }
            Some((Ok::<_, std::io::Error>(Bytes::from(format!("tick {number}\n"))), number + 1))
        }
    }))
}

async fn count(request: Request) -> String {
    let mut body = request.into_body().into_data_stream();
    let mut counted = 0;
    while let Some(piece) = body.next().await {
        counted += piece.unwrap().len();
    }
    format!("counted {counted}")
}

/// Without end.
async fn bytes(State(shared): State<Shared>) -> Body {
    const PIECE: &[u8] = &[b'x'; 64 * 1024];
    Body::from_stream(stream::repeat_with(move || {
        shared.sent.fetch_add(PIECE.len(), Ordering::SeqCst);
        Ok::<_, std::io::Error>(Bytes::from_static(PIECE))
    }))
}
