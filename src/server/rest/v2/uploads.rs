//! Files that are sent in parts: whoever was interrupted asks how much has arrived and goes on.

use api::files::{FilePath, Upload};
use api::{Error, ErrorCode};
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use futures::{StreamExt, TryStreamExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::auth::Signed;
use crate::failure::Failure;
use crate::rest::body::Params;
use crate::state::AppState;
use crate::transfer;

/// Which file it is.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct UploadParams {
    /// By which the sender knows the content again: 1 to 200 bytes.
    id: String,
    /// Bytes of the whole file.
    length: u64,
    /// The byte with which the part begins.
    #[serde(default)]
    offset: u64,
    overwrite: Option<bool>,
}

/// How much has arrived.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Arrived {
    arrived: u64,
}

impl UploadParams {
    fn upload(&self, state: &AppState) -> Result<Upload, Failure> {
        transfer::allowed(self.length, state.upload_limit)?;
        let replace = self.overwrite.unwrap_or(true);
        Ok(Upload { id: self.id.clone(), length: self.length, replace })
    }
}

/// `GET /api/v2/uploads/…`: how much has arrived.
pub(crate) async fn get(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(path): Path<String>,
    Params(params): Params<UploadParams>,
) -> Result<Json<Arrived>, Failure> {
    let upload = params.upload(&state)?;
    let arrived = state.backend.files.arrived(&actor, &absolute(&path), &upload).await?;
    Ok(Json(Arrived { arrived }))
}

/// `PATCH /api/v2/uploads/…`: the body is the next part, of any length. 201 says that the file is
/// whole, and there.
pub(crate) async fn patch(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(path): Path<String>,
    Params(params): Params<UploadParams>,
    body: Body,
) -> Result<Response, Failure> {
    let upload = params.upload(&state)?;
    let rest = upload.length.saturating_sub(params.offset);
    let content = transfer::content(body, rest).map_err(move |error| match error.code {
        ErrorCode::TooLargeError => too_much(rest),
        _ => error,
    });
    let files = &state.backend.files;
    let arrived =
        files.upload(&actor, &absolute(&path), &upload, params.offset, content.boxed()).await?;
    let status = if arrived == upload.length { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(Arrived { arrived })).into_response())
}

fn too_much(rest: u64) -> Error {
    let message = format!("the part is longer than the file, of which {rest} bytes are missing");
    Error::new(ErrorCode::TooLargeError, message)
}

fn absolute(path: &str) -> FilePath {
    FilePath::new(format!("/{path}"))
}
