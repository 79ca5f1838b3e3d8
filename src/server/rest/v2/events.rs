//! What happened to a job, newest first, in the shape of OpenPAI's events.

use api::jobs::EventView;
use axum::Json;
use axum::extract::{Path, State};
use protocol::ids::JobKey;
use protocol::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::auth::Signed;
use crate::failure::Failure;
use crate::rest::body::Params;
use crate::rest::job_key;
use crate::state::AppState;

/// In place of a task's index: OpenPAI's clients want a number.
const NO_TASK: i32 = -1;

/// Which events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum Kind {
    Normal,
    Warning,
}

/// `?type=Warning` or `?type=Normal`; all when it is not given.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct EventParams {
    #[serde(rename = "type")]
    kind: Option<Kind>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Page {
    total_count: usize,
    data: Vec<Event>,
}

#[derive(Debug, Serialize, JsonSchema)]
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
    first_timestamp: String,
    last_timestamp: String,
    count: u32,
    source_component: &'static str,
    /// Events are of jobs: what names a task is empty, and its index is none.
    pod_uid: &'static str,
    taskrole_name: &'static str,
    task_name: &'static str,
    task_index: i32,
    source_host: &'static str,
}

impl Event {
    fn new(key: &JobKey, number: usize, event: EventView) -> Self {
        let at = date_time(event.at);
        Self {
            uid: format!("{key}-{number}"),
            framework_name: key.to_string(),
            kind: if event.warning { Kind::Warning } else { Kind::Normal },
            reason: event.kind,
            message: event.message,
            attempt_index: event.attempt,
            first_timestamp: at.clone(),
            last_timestamp: at,
            count: 1,
            source_component: "berth",
            pod_uid: "",
            taskrole_name: "",
            task_name: "",
            task_index: NO_TASK,
            source_host: "",
        }
    }
}

/// A moment as OpenPAI's clients read it (RFC 3339); as texts these are in the order of time.
pub(super) fn date_time(at: Timestamp) -> String {
    let at = OffsetDateTime::from_unix_timestamp_nanos(i128::from(at.0) * 1_000_000);
    let at = at.unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let (year, month, day) = at.to_calendar_date();
    let (hour, minute, second, milli) = at.time().as_hms_milli();
    let month = u8::from(month);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
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
    data.sort_by(|one, other| other.first_timestamp.cmp(&one.first_timestamp));
    Ok(Json(Page { total_count: data.len(), data }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_told_as_dates() {
        assert_eq!(date_time(Timestamp(0)), "1970-01-01T00:00:00.000Z");
        assert_eq!(date_time(Timestamp(1_609_459_261_007)), "2021-01-01T00:01:01.007Z");
        assert_eq!(date_time(Timestamp(i64::MAX)), "1970-01-01T00:00:00.000Z");
    }
}
