//! Logs as plain text, whole or followed: Berth's own addition to both versions.

use api::logs::{LogText, TaskRef};
use api::{Actor, Backend, ErrorCode};
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use protocol::ids::{JobKey, RoleName};
use serde::Deserialize;

use crate::auth::Still;
use crate::failure::Failure;
use crate::state::AppState;

/// How much of a log is given at once without following it.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// Offsets of one log that are farther apart are counted from different moments.
const COMPARABLE: u64 = 1 << 32;

/// Which task, which part.
#[derive(Debug, Default, Deserialize)]
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
        return name.parse().map_err(|error: protocol::ids::InvalidName| {
            Failure::new(ErrorCode::InvalidParametersError, error.to_string())
        });
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

/// What there is now; the headers say where it begins and ends, and whether more can come.
fn piece(log: LogText, offset: u64) -> Response {
    let LogText { text, offset: begin, end, complete } = log;
    // What was counted from another moment is not comparable: all is given then.
    let skip = if offset.abs_diff(end) < COMPARABLE { offset.saturating_sub(begin) } else { 0 };
    let skip = usize::try_from(skip).unwrap_or(usize::MAX);
    let skip = text.ceil_char_boundary(skip.min(text.len()));
    let numbers = [
        ("x-log-offset", HeaderValue::from(begin + skip as u64)),
        ("x-log-end", HeaderValue::from(end)),
        ("x-log-complete", HeaderValue::from_static(if complete { "true" } else { "false" })),
    ];
    let headers: HeaderMap = numbers
        .into_iter()
        .map(|(name, value)| (axum::http::HeaderName::from_static(name), value))
        .collect();
    (headers, text[skip..].to_owned()).into_response()
}
