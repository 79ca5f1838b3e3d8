//! `GET /api/events`: one stream of changes a browser.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;

use crate::auth::{Signed, Still};
use crate::failure::Failure;
use crate::state::AppState;

/// How often a quiet stream says that it is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Each event's data is one change as JSON.
pub(crate) async fn events(
    State(state): State<AppState>,
    Signed(actor): Signed,
    still: Still,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    state.origin.refuse_foreign(&headers)?;
    let place = state.streams.enter(&actor.user)?;
    let changes = state.backend.changes.subscribe(&actor).map(|change| {
        Ok::<_, Infallible>(Event::default().json_data(&change).unwrap_or_else(|error| {
            tracing::error!(%error, "a change cannot be written");
            Event::default().comment("a change could not be written")
        }))
    });
    let while_allowed = place.hold(changes).take_until(still.revoked());
    let until_shutdown = while_allowed.take_until(state.shutdown.clone().cancelled_owned());
    let heartbeat = KeepAlive::new().interval(HEARTBEAT).text("heartbeat");
    let stream = Sse::new(until_shutdown).keep_alive(heartbeat);
    Ok(([("x-accel-buffering", "no")], stream).into_response())
}
