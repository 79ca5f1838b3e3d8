//! `/healthz`, `/readyz` and `/metrics`: for load balancers and Prometheus.

use api::ErrorCode;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::auth::Signed;
use crate::failure::Failure;
use crate::metrics::{KIND, PATH};
use crate::state::AppState;

mod of_control;

pub use crate::probe::{Check, Histogram, Labels, Measurement, Probe, Value};
pub use of_control::OfControl;

/// The process serves.
pub(crate) async fn healthz() -> &'static str {
    "ok"
}

/// 200 when all parts are well that are needed, else 503; either way each part is named, and what is
/// wrong with it.
pub(crate) async fn readyz(State(state): State<AppState>) -> Response {
    let mut checks = state.probe.readiness().await;
    checks.extend(state.steady.iter().map(|(name, steady)| {
        let (name, problem) = (format!("loop {name}"), steady.problem());
        Check { name, ready: problem.is_none(), needed: false, problem }
    }));
    if state.shutdown.is_cancelled() {
        let (name, problem) = ("server".to_owned(), Some("it takes no more requests".to_owned()));
        checks.push(Check { name, ready: false, needed: true, problem });
    }
    told(checks, true)
}

/// How a server is that leads or follows.
pub(crate) fn told(checks: Vec<Check>, leads: bool) -> Response {
    let ready = checks.iter().all(|check| check.ready || !check.needed);
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let answer = Readiness { ready, leads, checks };
    (status, [(header::CACHE_CONTROL, "no-store")], Json(answer)).into_response()
}

/// Prometheus text, for administrators.
pub(crate) async fn metrics(
    State(state): State<AppState>,
    Signed(actor): Signed,
) -> Result<Response, Failure> {
    match actor.admin {
        true => Ok(measured(&state).await),
        false => Err(Failure::new(
            ErrorCode::ForbiddenUserError,
            "measurements are for administrators and whoever has metrics.token",
        )),
    }
}

/// Answers whoever has the token of the configuration, before it is taken for a user's.
pub(crate) async fn metrics_by_token(
    State(state): State<AppState>,
    request: Request,
    next: Next,
) -> Response {
    let is_asked = request.uri().path() == PATH && request.method() == Method::GET;
    match is_asked && has_token(&state, request.headers()) {
        true => measured(&state).await,
        false => next.run(request).await,
    }
}

/// Answers everybody who reaches the door of its own; who has the token, where there is one.
pub(crate) async fn metrics_at_own_door(
    State(state): State<AppState>,
    headers: HeaderMap,
) -> Response {
    match state.metrics_token.is_none() || has_token(&state, &headers) {
        true => measured(&state).await,
        false => StatusCode::UNAUTHORIZED.into_response(),
    }
}

/// Compares digests: how long that takes tells nothing of the token.
fn has_token(state: &AppState, headers: &HeaderMap) -> bool {
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let given = given.and_then(|value| value.split_once(' '));
    let given = given.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    match (&state.metrics_token, given) {
        (Some(token), Some((_, given))) => {
            Sha256::digest(token.as_bytes()) == Sha256::digest(given.trim().as_bytes())
        }
        _ => false,
    }
}

async fn measured(state: &AppState) -> Response {
    let text = state.metrics.scrape(&state.backend, state.probe.as_ref()).await;
    ([(header::CONTENT_TYPE, KIND)], text).into_response()
}

#[derive(Serialize)]
struct Readiness {
    ready: bool,
    /// Whether this server leads, or passes on to the one that does.
    leads: bool,
    checks: Vec<Check>,
}
