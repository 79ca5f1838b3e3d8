//! `GET /api/events`: what changes, told to all who watch. Each change is numbered and written once,
//! whoever listens; the last ones are remembered, so that a listener who comes back goes on where he
//! was. Where streams are cut on the way, the same is asked for as JSON.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use api::changes::Mark;
use axum::Json;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::{Stream, StreamExt, stream};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::auth::{Signed, Still};
use crate::change_log::ChangeLog;
use crate::failure::Failure;
use crate::state::AppState;

/// How often a quiet stream says that it is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// What it says then, and at its begin: pages see by it that streams are not held up on the way.
const ALIVE: &[u8] = b"event: alive\ndata: {}\n\n";

/// From where on somebody listens; from now on where nothing is said.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct From {
    after: Option<String>,
}

/// Each event's data is one change as JSON, its id the mark up to which the listener has heard. Who
/// accepts JSON gets what there is at once.
pub(crate) async fn events(
    State(state): State<AppState>,
    Signed(actor): Signed,
    still: Still,
    Query(from): Query<From>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    state.origin.refuse_foreign(&headers)?;
    let mark = mark(from, &headers);
    if wants_json(&headers) {
        let kept_by_nobody = [(header::CACHE_CONTROL, "no-store")];
        return Ok((kept_by_nobody, Json(state.change_log.after(mark))).into_response());
    }
    let place = state.streams.enter(&actor.user)?;
    let told = place.hold(told(Arc::clone(&state.change_log), mark));
    let while_allowed = told.take_until(still.revoked());
    let until_shutdown = while_allowed.take_until(state.shutdown.clone().cancelled_owned());
    let headers = [
        (header::CONTENT_TYPE.as_str(), "text/event-stream"),
        (header::CACHE_CONTROL.as_str(), "no-cache"),
        ("x-accel-buffering", "no"),
    ];
    Ok((headers, Body::from_stream(until_shutdown.map(Ok::<_, Infallible>))).into_response())
}

/// A browser that opens a broken stream anew says by itself up to where it has heard.
fn mark(from: From, headers: &HeaderMap) -> Option<Mark> {
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    last.or(from.after.as_deref()).and_then(|text| text.parse().ok())
}

fn wants_json(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.starts_with("application/json"))
}

/// What is said to one listener.
fn told(change_log: Arc<ChangeLog>, mark: Option<Mark>) -> impl Stream<Item = Bytes> {
    let begin = stream::once(std::future::ready(Bytes::from_static(ALIVE)));
    let ticker = change_log.ticker();
    let mark = mark.unwrap_or_else(|| change_log.mark());
    let rest =
        stream::unfold((change_log, ticker, mark), async |(change_log, mut ticker, mark)| {
            loop {
                if let Some((records, mark)) = change_log.records_after(mark) {
                    return Some((records, (change_log, ticker, mark)));
                }
                match tokio::time::timeout(HEARTBEAT, ticker.changed()).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_closed)) => return None,
                    Err(_quiet) => {
                        return Some((Bytes::from_static(ALIVE), (change_log, ticker, mark)));
                    }
                }
            }
        });
    begin.chain(rest)
}
