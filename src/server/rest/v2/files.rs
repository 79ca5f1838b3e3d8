//! Files by their path: read, written and removed. What else can be done with them is done through
//! WebHDFS.

use api::ErrorCode;
use api::files::{FileKind, FilePart, FilePath, FolderPage, FolderQuery, WriteMode, Writing};
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::auth::Signed;
use crate::failure::Failure;
use crate::rest::body::Params;
use crate::rest::message::message;
use crate::state::AppState;
use crate::transfer::{self, Shown};

/// Entries of a folder when nothing is said.
const PAGE: u32 = 1_000;

/// What can be said with a path.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct FileParams {
    after: Option<String>,
    limit: Option<u32>,
    download: bool,
    overwrite: Option<bool>,
    recursive: bool,
}

/// The root.
pub(crate) async fn root(
    state: State<AppState>,
    signed: Signed,
    params: Params<FileParams>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    get(state, signed, Path(String::new()), params, headers).await
}

/// A file's bytes, or a folder's entries.
pub(crate) async fn get(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(path): Path<String>,
    Params(params): Params<FileParams>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let path = absolute(&path);
    let files = &state.backend.files;
    if files.stat(&actor, &path).await?.kind == FileKind::Folder {
        let query = FolderQuery { after: params.after, limit: params.limit.unwrap_or(PAGE) };
        let page: FolderPage = files.list(&actor, &path, &query).await?;
        return Ok(Json(page).into_response());
    }
    let shown = if params.download { Shown::Download } else { Shown::Inline };
    match range(&headers) {
        None => {
            let read = files.read(&actor, &path, FilePart::default()).await?;
            Ok(transfer::whole(read, shown))
        }
        Some(part) => Ok(transfer::partial(files.read(&actor, &path, part).await?, shown)),
    }
}

/// Writes a file; one that is there is replaced unless the request says otherwise.
pub(crate) async fn put(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(path): Path<String>,
    Params(params): Params<FileParams>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Failure> {
    let mode = if params.overwrite.unwrap_or(true) { WriteMode::Replace } else { WriteMode::New };
    let writing = Writing { mode, length: transfer::length(&headers, state.upload_limit)? };
    let path = absolute(&path);
    state.backend.files.may_write(&actor, &path, writing).await?;
    let content = transfer::content(body, state.upload_limit);
    state.backend.files.write(&actor, &path, writing, content).await?;
    Ok((StatusCode::CREATED, message("the file is written")).into_response())
}

/// Removes a file or a folder.
pub(crate) async fn remove(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(path): Path<String>,
    Params(params): Params<FileParams>,
) -> Result<Response, Failure> {
    let path = absolute(&path);
    if state.backend.files.remove(&actor, &path, params.recursive).await? {
        return Ok(message("removed").into_response());
    }
    Err(Failure::new(ErrorCode::NoFileError, format!("{path} does not exist")))
}

fn absolute(path: &str) -> FilePath {
    FilePath::new(format!("/{path}"))
}

/// The one range of bytes that is asked for; anything else is as if nothing were said.
fn range(headers: &HeaderMap) -> Option<FilePart> {
    let text = headers.get(header::RANGE)?.to_str().ok()?.strip_prefix("bytes=")?;
    let (first, last) = text.split_once('-')?;
    let offset: u64 = first.parse().ok()?;
    if last.is_empty() {
        return Some(FilePart { offset, length: None });
    }
    let last: u64 = last.parse().ok()?;
    let length = last.checked_sub(offset)?.checked_add(1)?;
    Some(FilePart { offset, length: Some(length) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_is_understood() {
        let of = |text: &str| {
            let headers = HeaderMap::from_iter([(header::RANGE, text.parse().unwrap())]);
            range(&headers).map(|part| (part.offset, part.length))
        };
        assert_eq!(of("bytes=0-"), Some((0, None)));
        assert_eq!(of("bytes=5-9"), Some((5, Some(5))));
        for other in ["bytes=-5", "bytes=9-5", "bytes=0-1,5-6", "lines=0-1", "bytes=x-", "0-5"] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
