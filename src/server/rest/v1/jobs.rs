use api::Actor;
use api::jobs::Submitted;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use protocol::ids::{JobKey, JobName, UserName};

use super::wire::{JobItem, JobWire};
use crate::auth::{Signed, Still};
use crate::failure::Failure;
use crate::rest::body::{Fields, JobFile, Params};
use crate::rest::job_logs::{self, LogParams};
use crate::rest::job_query::JobParams;
use crate::rest::message::message;
use crate::rest::v2::answers::warned;
use crate::rest::v2::execution::Execution;
use crate::rest::{config_file, job_key};
use crate::state::AppState;

/// Version 1 knew no pages: without a limit, everything that one answer may have.
const DEFAULT_LIMIT: u64 = 50_000;

pub(crate) async fn list(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Params(params): Params<JobParams>,
) -> Result<Json<Vec<JobItem>>, Failure> {
    let page = state.backend.jobs.list(&actor, &params.query(&actor.user, DEFAULT_LIMIT)?).await?;
    Ok(Json(page.jobs.iter().map(JobItem::from).collect()))
}

pub(crate) async fn list_of_user(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(user): Path<UserName>,
    Params(params): Params<JobParams>,
) -> Result<Json<Vec<JobItem>>, Failure> {
    let mut query = params.query(&actor.user, DEFAULT_LIMIT)?;
    query.users = vec![user];
    let page = state.backend.jobs.list(&actor, &query).await?;
    Ok(Json(page.jobs.iter().map(JobItem::from).collect()))
}

pub(crate) async fn submit(
    State(state): State<AppState>,
    Signed(actor): Signed,
    file: JobFile,
) -> Result<Response, Failure> {
    accept(&state, &actor, file, None).await
}

pub(crate) async fn submit_named(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<JobName>,
    file: JobFile,
) -> Result<Response, Failure> {
    accept(&state, &actor, file, Some(name)).await
}

pub(crate) async fn submit_of_user(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(user): Path<String>,
    file: JobFile,
) -> Result<Response, Failure> {
    job_key::own_name_space(&actor, &user)?;
    accept(&state, &actor, file, None).await
}

pub(crate) async fn submit_named_of_user(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path((user, name)): Path<(String, JobName)>,
    file: JobFile,
) -> Result<Response, Failure> {
    job_key::own_name_space(&actor, &user)?;
    accept(&state, &actor, file, Some(name)).await
}

async fn accept(
    state: &AppState,
    actor: &Actor,
    file: JobFile,
    name: Option<JobName>,
) -> Result<Response, Failure> {
    let Submitted { key, warnings, .. } =
        state.backend.jobs.submit(actor, file.submission(name)).await?;
    let text = message(format!("update job {} successfully", key.name));
    let mut response = (StatusCode::ACCEPTED, text).into_response();
    let headers = response.headers_mut();
    let place = format!("/api/v1/user/{}/jobs/{}", key.user, key.name);
    if let Ok(place) = HeaderValue::from_str(&place) {
        headers.insert(header::LOCATION, place);
    }
    for warning in warnings.iter().filter_map(|text| HeaderValue::from_bytes(text.as_bytes()).ok())
    {
        headers.append("x-warning", warning);
    }
    Ok(response)
}

pub(crate) async fn get(
    State(state): State<AppState>,
    Signed(actor): Signed,
    headers: HeaderMap,
    Path(name): Path<String>,
) -> Result<Json<JobWire>, Failure> {
    let key = job_key::find(&state.backend, &actor, &name).await?;
    detail(&state, &actor, &headers, &key).await
}

pub(crate) async fn get_of_user(
    State(state): State<AppState>,
    Signed(actor): Signed,
    headers: HeaderMap,
    Path((user, name)): Path<(String, String)>,
) -> Result<Json<JobWire>, Failure> {
    detail(&state, &actor, &headers, &job_key::of_user(&user, &name)?).await
}

async fn detail(
    state: &AppState,
    actor: &Actor,
    headers: &HeaderMap,
    key: &JobKey,
) -> Result<Json<JobWire>, Failure> {
    let job = state.backend.jobs.get(actor, key).await?;
    Ok(Json(JobWire::of(&job, &state.origin.address(headers))))
}

pub(crate) async fn remove(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
) -> Result<Response, Failure> {
    let key = job_key::find(&state.backend, &actor, &name).await?;
    delete(&state, &actor, &key).await
}

pub(crate) async fn remove_of_user(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path((user, name)): Path<(String, String)>,
) -> Result<Response, Failure> {
    delete(&state, &actor, &job_key::of_user(&user, &name)?).await
}

async fn delete(state: &AppState, actor: &Actor, key: &JobKey) -> Result<Response, Failure> {
    state.backend.jobs.delete(actor, key).await?;
    let text = message(format!("deleted job {} successfully", key.name));
    Ok((StatusCode::ACCEPTED, text).into_response())
}

pub(crate) async fn config(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let key = job_key::find(&state.backend, &actor, &name).await?;
    config_file::negotiated(&state, &actor, &key, &headers).await
}

pub(crate) async fn config_of_user(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path((user, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    config_file::negotiated(&state, &actor, &job_key::of_user(&user, &name)?, &headers).await
}

pub(crate) async fn execute(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
    Fields(execution): Fields<Execution>,
) -> Result<Response, Failure> {
    let key = job_key::find(&state.backend, &actor, &name).await?;
    stop(&state, &actor, &key, &execution).await
}

pub(crate) async fn execute_of_user(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path((user, name)): Path<(String, String)>,
    Fields(execution): Fields<Execution>,
) -> Result<Response, Failure> {
    stop(&state, &actor, &job_key::of_user(&user, &name)?, &execution).await
}

async fn stop(
    state: &AppState,
    actor: &Actor,
    key: &JobKey,
    execution: &Execution,
) -> Result<Response, Failure> {
    let warning = execution.of(state, actor, key).await?;
    let text = message(format!("execute job {} successfully", key.name));
    let done = (StatusCode::ACCEPTED, text);
    Ok(match warning {
        Some(warning) => warned(done, warning),
        None => done.into_response(),
    })
}

pub(crate) async fn logs(
    State(state): State<AppState>,
    Signed(actor): Signed,
    still: Still,
    Path(name): Path<String>,
    Params(params): Params<LogParams>,
) -> Result<Response, Failure> {
    let key = job_key::find(&state.backend, &actor, &name).await?;
    job_logs::logs(&state, (&actor, still), key, params).await
}

pub(crate) async fn logs_of_user(
    State(state): State<AppState>,
    Signed(actor): Signed,
    still: Still,
    Path((user, name)): Path<(String, String)>,
    Params(params): Params<LogParams>,
) -> Result<Response, Failure> {
    job_logs::logs(&state, (&actor, still), job_key::of_user(&user, &name)?, params).await
}
