//! Logs as plain text, whole or followed: Berth's own addition to both versions.

use api::logs::{
    JobMatches, LogMatches, LogPlace, LogText, LogWindow, SearchAsk, TaskRef, Together,
    TogetherAsk, TogetherPlace, WindowAsk,
};
use api::{Actor, Backend, ErrorCode};
use axum::Json;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use protocol::ids::{JobKey, RoleName};
use protocol::time::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::auth::Still;
use crate::failure::Failure;
use crate::state::AppState;

/// How much of a log is given at once without following it.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// Offsets of one log that are farther apart are counted from different moments.
const COMPARABLE: u64 = 1 << 32;

/// Which task, which part.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct LogParams {
    role: Option<String>,
    index: u32,
    attempt: Option<u32>,
    offset: u64,
    tail: Option<u64>,
    follow: bool,
    download: bool,
}

/// The log of one task. Without a role, of the first task of the first role.
pub(crate) async fn logs(
    state: &AppState,
    (actor, still): (&Actor, Still),
    job: JobKey,
    params: LogParams,
) -> Result<Response, Failure> {
    let role = role(&state.backend, actor, &job, params.role.as_deref()).await?;
    let file = format!("{}-{role}-{}.log", job.name, params.index);
    let task = TaskRef { job, attempt: params.attempt, role, index: params.index };
    let mut response = if params.follow {
        followed(state, (actor, still), &task, params.offset).await?
    } else if params.download && params.tail.is_none() && params.offset == 0 {
        whole(state, (actor, still), &task).await?
    } else {
        let tail = params.tail.unwrap_or(MOST_BYTES).min(MOST_BYTES);
        piece(state.backend.logs.tail(actor, &task, tail).await?, params.offset)
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    if params.download
        && let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{file}\""))
    {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    Ok(response)
}

async fn role(
    backend: &Backend,
    actor: &Actor,
    job: &JobKey,
    named: Option<&str>,
) -> Result<RoleName, Failure> {
    if let Some(name) = named {
        return Ok(name.parse()?);
    }
    let detail = backend.jobs.get(actor, job).await?;
    let first = detail.roles.into_iter().next().map(|role| role.name);
    first.ok_or_else(|| Failure::new(ErrorCode::NoTaskLogError, "Log of task is not found."))
}

/// From `offset` on until the task has ended, the reader may no more, or the server stops. An error
/// in the middle breaks the connection off, so that nobody takes the part for the whole.
async fn followed(
    state: &AppState,
    (actor, still): (&Actor, Still),
    task: &TaskRef,
    offset: u64,
) -> Result<Response, Failure> {
    let place = state.streams.enter(&actor.user)?;
    let stream = state.backend.logs.follow(actor, task, offset).await?;
    let stream = place.hold(stream).take_until(still.revoked());
    let stream = stream.take_until(state.shutdown.clone().cancelled_owned());
    Ok(Body::from_stream(stream).into_response())
}

/// All that there is now.
async fn whole(
    state: &AppState,
    (actor, still): (&Actor, Still),
    task: &TaskRef,
) -> Result<Response, Failure> {
    let place = state.streams.enter(&actor.user)?;
    let stream = state.backend.logs.whole(actor, task).await?;
    let stream = place.hold(stream).take_until(still.revoked());
    Ok(Body::from_stream(stream).into_response())
}

/// Which task, which of its lines.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct LineParams {
    role: Option<String>,
    index: u32,
    attempt: Option<u32>,
    from: Option<u64>,
    around: Option<u64>,
    time: Option<i64>,
    count: Option<u32>,
    after: Option<u64>,
    text: String,
    pattern: bool,
    case: bool,
}

/// So many lines are given if nobody says how many.
const LINES: u32 = 200;

/// Some lines of any place, with their numbers and times.
pub(crate) async fn lines(
    state: &AppState,
    actor: &Actor,
    job: JobKey,
    params: LineParams,
) -> Result<Json<LogWindow>, Failure> {
    let place = match (params.from, params.around, params.time) {
        (Some(line), _, _) => LogPlace::From(line),
        (None, Some(line), _) => LogPlace::Around(line),
        (None, None, Some(moment)) => LogPlace::Time(Timestamp(moment)),
        (None, None, None) => LogPlace::End,
    };
    let count = params.count.unwrap_or(LINES);
    let ask = WindowAsk { place, count, after: params.after };
    let task = task(state, actor, job, &params).await?;
    let window = state.backend.logs.window(actor, &task, &ask);
    tokio::select! {
        window = window => Ok(Json(window?)),
        () = state.shutdown.cancelled() => Err(restarting()),
    }
}

/// Which lines of all tasks. Places are numbers of lines, one a task, with commas.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct TogetherParams {
    attempt: Option<u32>,
    from: Option<String>,
    before: Option<String>,
    time: Option<i64>,
    count: Option<u32>,
    after: Option<u64>,
    download: bool,
}

/// The whole logs of all tasks as a file, or some lines of them in the order of time.
pub(crate) async fn of_all(
    state: &AppState,
    (actor, still): (&Actor, Still),
    job: JobKey,
    params: TogetherParams,
) -> Result<Response, Failure> {
    if params.download {
        return each(state, (actor, still), job, params.attempt).await;
    }
    Ok(together(state, actor, job, params).await?.into_response())
}

/// The whole logs of all tasks, one after the other.
async fn each(
    state: &AppState,
    (actor, still): (&Actor, Still),
    job: JobKey,
    attempt: Option<u32>,
) -> Result<Response, Failure> {
    let place = state.streams.enter(&actor.user)?;
    let logs = state.backend.logs.whole_of_all(actor, &job, attempt).await?;
    let file = format!("attachment; filename=\"{}.log\"", job.name);
    let stream = place.hold(logs).take_until(still.revoked());
    let mut response = Body::from_stream(stream).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    if let Ok(file) = HeaderValue::from_str(&file) {
        headers.insert(header::CONTENT_DISPOSITION, file);
    }
    Ok(response)
}

/// Some lines of all tasks, in the order of time.
async fn together(
    state: &AppState,
    actor: &Actor,
    job: JobKey,
    params: TogetherParams,
) -> Result<Json<Together>, Failure> {
    let TogetherParams { attempt, from, before, time, count, after, download: _ } = params;
    let place = match (from, before, time) {
        (Some(from), _, _) => TogetherPlace::From(numbers(&from)?),
        (None, Some(before), _) => TogetherPlace::Before(numbers(&before)?),
        (None, None, Some(moment)) => TogetherPlace::Time(Timestamp(moment)),
        (None, None, None) => TogetherPlace::End,
    };
    let ask = TogetherAsk { place, count: count.unwrap_or(LINES), after };
    let together = state.backend.logs.together(actor, &job, attempt, &ask);
    tokio::select! {
        together = together => Ok(Json(together?)),
        () = state.shutdown.cancelled() => Err(restarting()),
    }
}

fn numbers(text: &str) -> Result<Vec<u64>, Failure> {
    let numbers = text.split(',').filter(|number| !number.is_empty()).map(str::parse::<u64>);
    numbers.collect::<Result<Vec<_>, _>>().map_err(|_| {
        let message = format!("{text:?} are no numbers of lines: allowed is 1,20,0");
        Failure::new(ErrorCode::InvalidParametersError, message)
    })
}

fn restarting() -> Failure {
    Failure::new(ErrorCode::UnavailableError, "the server is being restarted")
}

/// The lines in which something is.
pub(crate) async fn search(
    state: &AppState,
    actor: &Actor,
    job: JobKey,
    params: LineParams,
) -> Result<Json<LogMatches>, Failure> {
    let task = task(state, actor, job, &params).await?;
    let LineParams { text, pattern, case, from, .. } = params;
    let ask = SearchAsk { text, pattern, case, near: from.unwrap_or(1) };
    Ok(Json(state.backend.logs.search(actor, &task, &ask).await?))
}

/// What is looked for in the logs of all tasks, and near which line of which of them, from 0.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct SearchAllParams {
    attempt: Option<u32>,
    text: String,
    pattern: bool,
    case: bool,
    task: u32,
    from: Option<u64>,
}

/// The lines of all tasks in which something is.
pub(crate) async fn search_all(
    state: &AppState,
    actor: &Actor,
    job: &JobKey,
    params: SearchAllParams,
) -> Result<Json<JobMatches>, Failure> {
    let SearchAllParams { attempt, text, pattern, case, task, from } = params;
    let ask = SearchAsk { text, pattern, case, near: from.unwrap_or(1) };
    Ok(Json(state.backend.logs.search_all(actor, job, attempt, task, &ask).await?))
}

async fn task(
    state: &AppState,
    actor: &Actor,
    job: JobKey,
    params: &LineParams,
) -> Result<TaskRef, Failure> {
    let role = role(&state.backend, actor, &job, params.role.as_deref()).await?;
    Ok(TaskRef { job, attempt: params.attempt, role, index: params.index })
}

/// What there is now; the headers say where it begins and ends, whether more can come, and whether it is lost.
fn piece(log: LogText, offset: u64) -> Response {
    let LogText { text, offset: begin, end, complete, lost } = log;
    // What was counted from another moment is not comparable: all is given then.
    let skip = if offset.abs_diff(end) < COMPARABLE { offset.saturating_sub(begin) } else { 0 };
    let skip = usize::try_from(skip).unwrap_or(usize::MAX);
    let skip = text.ceil_char_boundary(skip.min(text.len()));
    let said = |so: bool| HeaderValue::from_static(if so { "true" } else { "false" });
    let numbers = [
        ("x-log-offset", HeaderValue::from(begin + skip as u64)),
        ("x-log-end", HeaderValue::from(end)),
        ("x-log-complete", said(complete)),
        ("x-log-lost", said(lost)),
    ];
    let headers: HeaderMap = numbers
        .into_iter()
        .map(|(name, value)| (axum::http::HeaderName::from_static(name), value))
        .collect();
    (headers, text[skip..].to_owned()).into_response()
}
