//! Job files that people share: Berth's own addition to version 2.

use api::ErrorCode;
use api::templates::{ShareTemplate, Template, TemplateView};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use protocol::ids::TemplateName;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::auth::Signed;
use crate::failure::Failure;
use crate::rest::body::Fields;
use crate::rest::message::{Message, message};
use crate::state::AppState;

/// `GET /templates`.
pub(crate) async fn list(
    State(state): State<AppState>,
    Signed(actor): Signed,
) -> Result<Json<Vec<TemplateView>>, Failure> {
    Ok(Json(state.backend.templates.list(&actor).await?))
}

/// `GET /templates/:name`.
pub(crate) async fn get(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
) -> Result<Json<Template>, Failure> {
    Ok(Json(state.backend.templates.get(&actor, &known(&name)?).await?))
}

/// What is shared under the name in the address.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shared {
    /// The job file as text, in whatever dialect.
    text: String,
    /// What it is good for.
    #[serde(default)]
    description: String,
}

/// `PUT /templates/:name`.
pub(crate) async fn save(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
    Fields(Shared { text, description }): Fields<Shared>,
) -> Result<Response, Failure> {
    let name: TemplateName = name.parse()?;
    let template = ShareTemplate { name: name.clone(), description, text };
    let is_new = state.backend.templates.save(&actor, template).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, message(format!("Share template {name} successfully."))).into_response())
}

/// `DELETE /templates/:name`.
pub(crate) async fn remove(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
) -> Result<Json<Message>, Failure> {
    state.backend.templates.remove(&actor, &known(&name)?).await?;
    Ok(message(format!("Remove template {name} successfully.")))
}

fn known(name: &str) -> Result<TemplateName, Failure> {
    let missing = || format!("Template {name} is not found.");
    name.parse().map_err(|_| Failure::new(ErrorCode::NoTemplateError, missing()))
}
