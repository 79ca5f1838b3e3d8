//! What a job's tasks use over time: Berth's own addition.

use api::metrics::{JobMetrics, MetricsAsk};
use axum::Json;
use axum::extract::{Path, State};
use protocol::ids::RoleName;
use protocol::time::Timestamp;
use serde::Deserialize;

use crate::auth::Signed;
use crate::failure::Failure;
use crate::rest::body::Params;
use crate::rest::job_key;
use crate::state::AppState;

/// Which tasks, when, and how finely. Moments are milliseconds.
#[derive(Debug, Default, Deserialize)]
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
