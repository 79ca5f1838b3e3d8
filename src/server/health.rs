//! `/healthz`, `/readyz` and `/metrics`: for load balancers and Prometheus.

use async_trait::async_trait;
use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::state::AppState;

/// Asks the parts below how they are.
#[async_trait]
pub trait Probe: Send + Sync {
    /// One answer for each part that has to be well before work can be taken.
    async fn readiness(&self) -> Vec<Check>;
    /// Measurements of the loops, for Prometheus.
    async fn measurements(&self) -> Vec<Measurement>;
}

/// How one part is.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    /// `database`, `storage`, `loops`, …
    pub name: &'static str,
    /// Whether it is well.
    pub ready: bool,
}

/// Something that is measured of the loops.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// Name in the style of Prometheus, without the prefix `berth_`.
    pub name: &'static str,
    /// What it means.
    pub help: &'static str,
    /// How much.
    pub value: Value,
}

/// A measured value, as one of Prometheus' types.
#[derive(Debug, Clone, Copy)]
pub enum Value {
    /// As it is now.
    Gauge(f64),
    /// How often something happened, and all of it together.
    Summary {
        /// How often.
        count: u64,
        /// Together.
        sum: f64,
    },
}

/// The process serves.
pub(crate) async fn healthz() -> &'static str {
    "ok"
}

/// 200 when all parts are well, else 503; either way each part is named.
pub(crate) async fn readyz(State(state): State<AppState>) -> Response {
    let checks = state.probe.readiness().await;
    let ready = checks.iter().all(|check| check.ready) && !state.shutdown.is_cancelled();
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let answer = Readiness { ready, checks };
    (status, [(header::CACHE_CONTROL, "no-store")], Json(answer)).into_response()
}

/// Prometheus text.
pub(crate) async fn metrics(State(state): State<AppState>) -> Response {
    let text = state.metrics.scrape(&state.backend, state.probe.as_ref()).await;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

#[derive(Serialize)]
struct Readiness {
    ready: bool,
    checks: Vec<Check>,
}
