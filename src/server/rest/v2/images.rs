//! Saved images: Berth's own addition to version 2.

use api::images::{ImageSize, SaveImage, SavedImageView, TaskOfJob};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::auth::{ClientAddress, Signed};
use crate::failure::Failure;
use crate::rest::body::Fields;
use crate::rest::job_key;
use crate::state::AppState;

/// Job, role and index of a task.
type Place = (String, String, u32);

/// How the image is to be called, and where it goes.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SaveRequest {
    name: String,
    /// Without one, `latest`.
    #[serde(default)]
    tag: String,
    /// A name in a registry: it is pushed there in place of staying on its node.
    #[serde(default)]
    registry: String,
    /// A file with the registry's credentials, as a job's `authFile`.
    #[serde(default)]
    auth_file: String,
}

/// `GET /api/v2/images`.
pub(super) async fn list(
    State(state): State<AppState>,
    Signed(actor): Signed,
) -> Result<Json<Vec<SavedImageView>>, Failure> {
    Ok(Json(state.backend.images.list(&actor).await?))
}

/// `GET /api/v2/jobs/:key/tasks/:role/:index/image`: what it would take.
pub(super) async fn size(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(place): Path<Place>,
) -> Result<Json<ImageSize>, Failure> {
    Ok(Json(state.backend.images.size(&actor, &task(place)?).await?))
}

/// `POST /api/v2/jobs/:key/tasks/:role/:index/image`.
pub(super) async fn save(
    State(state): State<AppState>,
    Signed(actor): Signed,
    ClientAddress(address): ClientAddress,
    Path(place): Path<Place>,
    Fields(request): Fields<SaveRequest>,
) -> Result<(StatusCode, Json<SavedImageView>), Failure> {
    let SaveRequest { name, tag, registry, auth_file } = request;
    let address = Some(address.to_string());
    let request = SaveImage { task: task(place)?, name, tag, registry, auth_file, address };
    let begun = state.backend.images.save(&actor, &request).await?;
    Ok((StatusCode::ACCEPTED, Json(begun)))
}

/// `DELETE /api/v2/images/:id`.
pub(super) async fn remove(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(id): Path<i64>,
) -> Result<StatusCode, Failure> {
    state.backend.images.remove(&actor, id).await?;
    Ok(StatusCode::ACCEPTED)
}

fn task((job, role, index): Place) -> Result<TaskOfJob, Failure> {
    Ok(TaskOfJob { job: job_key::parse(&job)?, role: role.parse()?, index })
}
