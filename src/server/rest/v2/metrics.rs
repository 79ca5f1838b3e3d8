//! What a job's tasks and nodes use over time: Berth's own addition.

use api::metrics::{JobMetrics, JobUse, MetricsAsk, NodeMetrics, NodeMetricsAsk};
use axum::Json;
use axum::extract::{Path, State};
use protocol::ids::{NodeName, RoleName};
use protocol::time::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::auth::Signed;
use crate::failure::Failure;
use crate::rest::body::Params;
use crate::rest::job_key;
use crate::state::AppState;

/// Which tasks, when, and how finely. Moments are milliseconds.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct MetricsParams {
    attempt: Option<u32>,
    /// With a role, only its task of this index.
    role: Option<RoleName>,
    index: u32,
    from: Option<i64>,
    until: Option<i64>,
    points: Option<u32>,
}

/// `GET /jobs/:key/metrics`.
pub(crate) async fn of_job(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(key): Path<String>,
    Params(params): Params<MetricsParams>,
) -> Result<Json<JobMetrics>, Failure> {
    let MetricsParams { attempt, role, index, from, until, points } = params;
    let ask = MetricsAsk {
        job: job_key::parse(&key)?,
        attempt,
        task: role.map(|role| (role, index)),
        from: from.map(Timestamp),
        until: until.map(Timestamp),
        points,
    };
    Ok(Json(state.backend.metrics.of_job(&actor, &ask).await?))
}

/// `GET /jobs/:key/use`.
pub(crate) async fn use_of_job(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(key): Path<String>,
) -> Result<Json<JobUse>, Failure> {
    Ok(Json(state.backend.metrics.use_of_job(&actor, &job_key::parse(&key)?).await?))
}

/// When, and how finely. Moments are milliseconds.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct NodeMetricsParams {
    from: Option<i64>,
    until: Option<i64>,
    points: Option<u32>,
}

/// `GET /nodes/:name/metrics`.
pub(crate) async fn of_node(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
    Params(params): Params<NodeMetricsParams>,
) -> Result<Json<NodeMetrics>, Failure> {
    let NodeMetricsParams { from, until, points } = params;
    let node: NodeName = name.parse()?;
    let (from, until) = (from.map(Timestamp), until.map(Timestamp));
    let ask = NodeMetricsAsk { node, from, until, points };
    Ok(Json(state.backend.metrics.of_node(&actor, &ask).await?))
}
