//! Lists of jobs that users have given names: Berth's own addition to version 2.

use api::saved_views::SavedView;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::auth::Signed;
use crate::failure::Failure;
use crate::rest::body::Fields;
use crate::rest::doors::{Doors, get, put};
use crate::state::AppState;

pub(super) fn routes() -> Doors {
    Doors::new()
        .route("/", get(list))
        .route("/{name}", put(save).says(204).delete(remove).says(204))
        .route("/{name}/name", put(rename).says(204))
}

/// `GET /saved-views`.
async fn list(
    State(state): State<AppState>,
    Signed(actor): Signed,
) -> Result<Json<Vec<SavedView>>, Failure> {
    Ok(Json(state.backend.saved_views.list(&actor).await?))
}

/// A view without its name, which the address says.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Shown {
    /// The words of the filter.
    filter: String,
    /// Everybody's jobs.
    all: bool,
    /// As `name` or `-gpus`.
    sort: String,
}

/// `PUT /saved-views/:name`.
async fn save(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
    Fields(Shown { filter, all, sort }): Fields<Shown>,
) -> Result<StatusCode, Failure> {
    let view = SavedView { name, filter, all, sort };
    state.backend.saved_views.save(&actor, view).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `{"value": "nightly"}`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewName {
    value: String,
}

/// `PUT /saved-views/:name/name`.
async fn rename(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
    Fields(NewName { value }): Fields<NewName>,
) -> Result<StatusCode, Failure> {
    state.backend.saved_views.rename(&actor, &name, &value).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /saved-views/:name`.
async fn remove(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
) -> Result<StatusCode, Failure> {
    state.backend.saved_views.remove(&actor, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}
