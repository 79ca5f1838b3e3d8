use api::logs::JobMatches;
use api::metrics::IdleJob;
use api::usage::{UsageOfDay, UsageQuery};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use protocol::ids::{JobKey, Tag};
use protocol::spec::TimeLimit;
use protocol::words::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answers::warned;
use super::execution::Execution;
use super::wire::{JobItem, JobWire};
use crate::auth::{Signed, Still};
use crate::failure::Failure;
use crate::rest::body::{Fields, JobFile, Params};
use crate::rest::job_logs::{self, LineParams, LogParams, SearchAllParams, TogetherParams};
use crate::rest::job_query::JobParams;
use crate::rest::{config_file, job_key};
use crate::state::AppState;

const DEFAULT_LIMIT: u64 = 5_000;

/// The answer to a change, with its status said twice as version 2 does.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Accepted {
    status: u16,
    pub(crate) message: String,
}

/// What was asked for is done, or will be.
pub(crate) fn accepted(message: String) -> Response {
    let status = StatusCode::ACCEPTED;
    (status, Json(Accepted { status: status.as_u16(), message })).into_response()
}

/// What was asked for is done.
fn done(message: String) -> Json<Accepted> {
    Json(Accepted { status: StatusCode::OK.as_u16(), message })
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Page {
    total_count: u64,
    data: Vec<JobItem>,
}

pub(crate) async fn list(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Params(params): Params<JobParams>,
) -> Result<Response, Failure> {
    let page = state.backend.jobs.list(&actor, &params.query(&actor.user, DEFAULT_LIMIT)?).await?;
    let data: Vec<_> = page.jobs.iter().map(JobItem::from).collect();
    Ok(if params.with_total_count {
        Json(Page { total_count: page.total, data }).into_response()
    } else {
        Json(data).into_response()
    })
}

pub(crate) async fn submit(
    State(state): State<AppState>,
    Signed(actor): Signed,
    file: JobFile,
) -> Result<Response, Failure> {
    let submitted = state.backend.jobs.submit(&actor, file.submission(None)).await?;
    let key = submitted.key;
    let mut response =
        accepted(format!("Update job {} for user {} successfully.", key.name, key.user));
    for warning in
        submitted.warnings.iter().filter_map(|text| HeaderValue::from_bytes(text.as_bytes()).ok())
    {
        response.headers_mut().append("x-warning", warning);
    }
    Ok(response)
}

pub(crate) async fn get(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(key): Path<String>,
) -> Result<Json<JobWire>, Failure> {
    let detail = state.backend.jobs.get(&actor, &job_key::parse(&key)?).await?;
    Ok(Json(JobWire::from(&detail)))
}

/// `{"value": "nightly"}`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TagValue {
    value: String,
}

/// `PUT /jobs/:key/tag`.
pub(crate) async fn add_tag(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(key): Path<String>,
    Fields(TagValue { value }): Fields<TagValue>,
) -> Result<Json<Accepted>, Failure> {
    let (key, tag): (JobKey, Tag) = (job_key::parse(&key)?, value.parse()?);
    state.backend.jobs.add_tag(&actor, &key, &tag).await?;
    Ok(done(format!("Add tag {tag} for job {key} successfully.")))
}

/// For how long a job is kept.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Keep {
    hours: u32,
}

/// `PUT /jobs/:key/keep`.
pub(crate) async fn keep(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(key): Path<String>,
    Fields(Keep { hours }): Fields<Keep>,
) -> Result<Json<Accepted>, Failure> {
    let key = job_key::parse(&key)?;
    state.backend.jobs.keep(&actor, &key, hours).await?;
    let hours = counted(hours, "hour");
    Ok(done(format!("Keep job {key} for {hours} successfully.")))
}

/// How long a job may run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewTimeLimit {
    /// From when its current attempt began.
    seconds: TimeLimit,
}

/// `PUT /jobs/:key/time-limit`: of a job that runs.
pub(crate) async fn set_time_limit(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(key): Path<String>,
    Fields(NewTimeLimit { seconds }): Fields<NewTimeLimit>,
) -> Result<Json<Accepted>, Failure> {
    let key = job_key::parse(&key)?;
    state.backend.jobs.set_time_limit(&actor, &key, seconds).await?;
    Ok(done(format!("Set the time limit of job {key} to {seconds} successfully.")))
}

/// `GET /idle-jobs`: everybody's for administrators, for others their own.
pub(crate) async fn idle(
    State(state): State<AppState>,
    Signed(actor): Signed,
) -> Result<Json<Vec<IdleJob>>, Failure> {
    let own = (!actor.admin).then_some(&actor.user);
    Ok(Json(state.backend.jobs.idle(&actor, own).await?))
}

/// `DELETE /jobs/:key/tag`.
pub(crate) async fn remove_tag(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(key): Path<String>,
    Fields(TagValue { value }): Fields<TagValue>,
) -> Result<Json<Accepted>, Failure> {
    let (key, tag): (JobKey, Tag) = (job_key::parse(&key)?, value.parse()?);
    state.backend.jobs.remove_tag(&actor, &key, &tag).await?;
    Ok(done(format!("Delete tag {tag} from job {key} successfully.")))
}

/// `DELETE /jobs/:key`.
pub(crate) async fn remove(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(key): Path<String>,
) -> Result<Response, Failure> {
    let key = job_key::parse(&key)?;
    state.backend.jobs.delete(&actor, &key).await?;
    Ok(accepted(format!("Delete job {key} successfully.")))
}

/// `GET /usage`: Berth's own addition to version 2.
pub(crate) async fn usage(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Params(query): Params<UsageQuery>,
) -> Result<Json<Vec<UsageOfDay>>, Failure> {
    Ok(Json(state.backend.jobs.usage(&actor, &query).await?))
}

/// `GET /usage.csv`: the same for spreadsheets.
pub(crate) async fn usage_table(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Params(query): Params<UsageQuery>,
) -> Result<Response, Failure> {
    let used = state.backend.jobs.usage(&actor, &query).await?;
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"usage.csv\""),
    ];
    Ok((headers, api::usage::csv(&used)).into_response())
}

pub(crate) async fn config(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(key): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    config_file::yaml_first(&state, &actor, &job_key::parse(&key)?, &headers).await
}

pub(crate) async fn execute(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(key): Path<String>,
    Fields(execution): Fields<Execution>,
) -> Result<Response, Failure> {
    let key = job_key::parse(&key)?;
    let warning = execution.of(&state, &actor, &key).await?;
    let done = accepted(format!("Execute job {key} successfully."));
    Ok(match warning {
        Some(warning) => warned(done, warning),
        None => done,
    })
}

pub(crate) async fn logs(
    State(state): State<AppState>,
    Signed(actor): Signed,
    still: Still,
    Path(key): Path<String>,
    Params(params): Params<LogParams>,
) -> Result<Response, Failure> {
    job_logs::logs(&state, (&actor, still), job_key::parse(&key)?, params).await
}

pub(crate) async fn log_lines(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(key): Path<String>,
    Params(params): Params<LineParams>,
) -> Result<Response, Failure> {
    let lines = job_logs::lines(&state, &actor, job_key::parse(&key)?, params).await?;
    Ok(lines.into_response())
}

pub(crate) async fn log_search(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(key): Path<String>,
    Params(params): Params<LineParams>,
) -> Result<Response, Failure> {
    let matches = job_logs::search(&state, &actor, job_key::parse(&key)?, params).await?;
    Ok(matches.into_response())
}

pub(crate) async fn log_together(
    State(state): State<AppState>,
    Signed(actor): Signed,
    still: Still,
    Path(key): Path<String>,
    Params(params): Params<TogetherParams>,
) -> Result<Response, Failure> {
    job_logs::of_all(&state, (&actor, still), job_key::parse(&key)?, params).await
}

pub(crate) async fn log_search_all(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(key): Path<String>,
    Params(params): Params<SearchAllParams>,
) -> Result<Json<JobMatches>, Failure> {
    job_logs::search_all(&state, &actor, &job_key::parse(&key)?, params).await
}
