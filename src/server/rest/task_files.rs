//! Single files in and out of running tasks: Berth's own addition to both versions.

use api::task_files::{Content, TaskFile};
use api::{Error, ErrorCode};
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures::{StreamExt, TryStreamExt};
use protocol::ids::RoleName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::body::Params;
use super::job_key;
use crate::auth::{ClientAddress, Signed};
use crate::failure::Failure;
use crate::state::AppState;

/// Which file of which task.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct FileParams {
    role: String,
    index: u32,
    path: String,
}

/// What became of a file that was sent.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Written {
    path: String,
    bytes: u64,
}

/// `GET /api/v1/user/:user/jobs/:name/files`.
pub(crate) async fn read(
    State(state): State<AppState>,
    Signed(actor): Signed,
    ClientAddress(address): ClientAddress,
    Path((user, name)): Path<(String, String)>,
    Params(params): Params<FileParams>,
) -> Result<Response, Failure> {
    let file = file(&user, &name, params, address.to_string())?;
    let Content { size, bytes } = state.backend.task_files.read(&actor, &file).await?;
    let until_shutdown = bytes.take_until(state.shutdown.clone().cancelled_owned());
    let mut response = Body::from_stream(until_shutdown).into_response();
    let headers = response.headers_mut();
    if size > 0 {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(size));
    }
    let kind = HeaderValue::from_static("application/octet-stream");
    headers.insert(header::CONTENT_TYPE, kind);
    if let Ok(value) = HeaderValue::from_str(&disposition(&file.path)) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    Ok(response)
}

/// `PUT /api/v1/user/:user/jobs/:name/files`: the body becomes the file.
pub(crate) async fn write(
    State(state): State<AppState>,
    Signed(actor): Signed,
    ClientAddress(address): ClientAddress,
    Path((user, name)): Path<(String, String)>,
    Params(params): Params<FileParams>,
    body: Body,
) -> Result<Json<Written>, Failure> {
    let file = file(&user, &name, params, address.to_string())?;
    let cut_off =
        |_| Error::new(ErrorCode::InvalidParametersError, "the file did not arrive completely");
    let bytes = body.into_data_stream().map_err(cut_off).boxed();
    let bytes = state.backend.task_files.write(&actor, &file, bytes).await?;
    Ok(Json(Written { path: file.path, bytes }))
}

fn file(user: &str, name: &str, params: FileParams, address: String) -> Result<TaskFile, Failure> {
    let FileParams { role, index, path } = params;
    let role: RoleName = role.parse()?;
    if path.is_empty() || path.contains('\0') {
        let message = "path: allowed is the path of a file in the container";
        return Err(Failure::new(ErrorCode::InvalidParametersError, message));
    }
    Ok(TaskFile { job: job_key::of_user(user, name)?, role, index, path, address })
}

/// The file's own name, in the two forms that browsers read.
fn disposition(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let simple: String = name.chars().map(|c| if plain(c) { c } else { '_' }).collect();
    let encoded: String = name
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect();
    format!("attachment; filename=\"{simple}\"; filename*=UTF-8''{encoded}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_files_name_is_quoted_for_every_browser() {
        let expected = "attachment; filename=\"a__b.txt\"; filename*=UTF-8''a%22%E4%B8%ADb.txt";
        assert_eq!(disposition("/tmp/x/a\"中b.txt"), expected);
    }
}
