//! The same done with many jobs: Berth's own addition to version 2. Each answer says of every job whether
//! it was done, or why not.

use api::Actor;
use api::many::{self, JobOutcome, ManyAct};
use axum::Json;
use axum::extract::State;
use protocol::ids::Tag;
use protocol::spec::Priority;
use protocol::time::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use time::OffsetDateTime;

use crate::auth::Signed;
use crate::failure::Failure;
use crate::rest::body::Fields;
use crate::rest::doors::{Doors, post};
use crate::state::AppState;

type Outcomes = Result<Json<Vec<JobOutcome>>, Failure>;

pub(super) fn routes() -> Doors {
    Doors::new()
        .route("/stop", post(stop))
        .route("/delete", post(delete))
        .route("/again", post(again))
        .route("/priority", post(set_priority))
        .route("/tag", post(add_tag))
        .route("/untag", post(remove_tag))
}

/// Which jobs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Named {
    /// Each as `user~job`, 1 000 at most.
    jobs: Vec<String>,
}

/// Which jobs, and their new priority.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Prioritized {
    /// Each as `user~job`, 1 000 at most.
    jobs: Vec<String>,
    priority: Priority,
}

/// Which jobs, and which tag.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Tagged {
    /// Each as `user~job`, 1 000 at most.
    jobs: Vec<String>,
    tag: Tag,
}

/// `POST /many-jobs/stop`.
async fn stop(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Fields(Named { jobs }): Fields<Named>,
) -> Outcomes {
    each(&state, &actor, &jobs, &ManyAct::Stop).await
}

/// `POST /many-jobs/delete`: those that have ended.
async fn delete(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Fields(Named { jobs }): Fields<Named>,
) -> Outcomes {
    each(&state, &actor, &jobs, &ManyAct::Delete).await
}

/// `POST /many-jobs/again`: as they were written, under new names, as the caller's own.
async fn again(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Fields(Named { jobs }): Fields<Named>,
) -> Outcomes {
    each(&state, &actor, &jobs, &ManyAct::Again).await
}

/// `POST /many-jobs/priority`: of those that wait.
async fn set_priority(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Fields(Prioritized { jobs, priority }): Fields<Prioritized>,
) -> Outcomes {
    each(&state, &actor, &jobs, &ManyAct::Priority(priority)).await
}

/// `POST /many-jobs/tag`.
async fn add_tag(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Fields(Tagged { jobs, tag }): Fields<Tagged>,
) -> Outcomes {
    each(&state, &actor, &jobs, &ManyAct::AddTag(tag)).await
}

/// `POST /many-jobs/untag`.
async fn remove_tag(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Fields(Tagged { jobs, tag }): Fields<Tagged>,
) -> Outcomes {
    each(&state, &actor, &jobs, &ManyAct::RemoveTag(tag)).await
}

async fn each(state: &AppState, actor: &Actor, jobs: &[String], act: &ManyAct) -> Outcomes {
    let now = Timestamp(OffsetDateTime::now_utc().unix_timestamp() * 1000);
    Ok(Json(many::each(&state.backend, actor, jobs, act, now).await?))
}
