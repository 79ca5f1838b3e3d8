//! Jobs beside each other: Berth's own addition to version 2.

use api::ErrorCode;
use api::compare::{Comparison, compare};
use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::auth::Signed;
use crate::failure::Failure;
use crate::rest::body::Params;
use crate::rest::job_query::flag;
use crate::state::AppState;

/// Which jobs.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct CompareParams {
    /// Each as `user~job`, or by its name alone one's own, with commas between; the first six are compared.
    jobs: String,
    /// Also what is the same in all job files.
    #[serde(deserialize_with = "flag")]
    all: bool,
}

/// `GET /compare?jobs=USER~JOB,USER~JOB`.
pub(crate) async fn jobs(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Params(CompareParams { jobs, all }): Params<CompareParams>,
) -> Result<Json<Comparison>, Failure> {
    let jobs: Vec<String> = jobs.split(',').map(str::to_owned).collect();
    let compared = compare(&state.backend, &actor, &jobs, all).await?;
    if compared.jobs.is_empty() {
        let message = "name the jobs that are to be compared: jobs=USER~JOB,USER~JOB";
        return Err(Failure::new(ErrorCode::InvalidParametersError, message));
    }
    Ok(Json(compared))
}
