//! What happened to a job, newest first, in the shape of OpenPAI's events.

use api::jobs::EventView;
use axum::Json;
use axum::extract::{Path, State};
use protocol::ids::JobKey;
use protocol::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::auth::Signed;
use crate::failure::Failure;
use crate::rest::body::Params;
use crate::rest::job_key;
use crate::state::AppState;

/// Which events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    Normal,
    Warning,
}

/// `?type=Warning` or `?type=Normal`; all when it is not given.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct EventParams {
    #[serde(rename = "type")]
    kind: Option<Kind>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Page {
    total_count: usize,
    data: Vec<Event>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    uid: String,
    framework_name: String,
    #[serde(rename = "type")]
    kind: Kind,
    /// A stable word.
    reason: String,
    message: String,
    /// The attempt it belongs to.
    attempt_index: Option<u32>,
    first_timestamp: Timestamp,
    last_timestamp: Timestamp,
    count: u32,
    source_component: &'static str,
}

impl Event {
    fn new(key: &JobKey, number: usize, event: EventView) -> Self {
        Self {
            uid: format!("{key}-{number}"),
            framework_name: key.to_string(),
            kind: if event.warning { Kind::Warning } else { Kind::Normal },
            reason: event.kind,
            message: event.message,
            attempt_index: event.attempt,
            first_timestamp: event.at,
            last_timestamp: event.at,
            count: 1,
            source_component: "berth",
        }
    }
}

/// `GET /jobs/:key/events`.
pub(crate) async fn list(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(key): Path<String>,
    Params(params): Params<EventParams>,
) -> Result<Json<Page>, Failure> {
    let key = job_key::parse(&key)?;
    let events = state.backend.jobs.events(&actor, &key).await?;
    let data = events.into_iter().enumerate().map(|(at, event)| Event::new(&key, at, event));
    let wanted = |event: &Event| params.kind.is_none_or(|kind| kind == event.kind);
    let mut data: Vec<_> = data.filter(wanted).collect();
    data.sort_by_key(|event| std::cmp::Reverse(event.first_timestamp));
    Ok(Json(Page { total_count: data.len(), data }))
}
