//! Files on their way through the server, a piece after the other.

use std::ops::Range;
use std::time::Duration;

use api::files::{FileContent, FileKind, FileStream};
use api::{Error, ErrorCode};
use axum::body::{Body, BodyDataStream, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use futures::stream;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::failure::Failure;

/// A sender may be silent for so long.
const SILENCE: Duration = Duration::from_secs(60);

/// What a browser does with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Keeps it.
    Download,
    /// Shows it, if it is a picture or plain text.
    Inline,
}

/// How many bytes will come, if that is said.
///
/// # Errors
/// 413 for more than `limit`.
pub(crate) fn length(headers: &HeaderMap, limit: u64) -> Result<Option<u64>, Failure> {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    let length = length.and_then(|text| text.parse().ok());
    length.map_or(Ok(()), |length| allowed(length, limit))?;
    Ok(length)
}

/// Whether so many bytes are taken.
///
/// # Errors
/// 413 for more than `limit`.
pub(crate) fn allowed(length: u64, limit: u64) -> Result<(), Failure> {
    if length > limit { Err(too_large(limit).into()) } else { Ok(()) }
}

/// A body as it comes; one of more than `limit` bytes ends with an error, and so does one whose
/// sender falls silent.
pub(crate) fn content(body: Body, limit: u64) -> FileStream {
    let state = Some((body.into_data_stream(), 0));
    let pieces = stream::unfold(state, move |state| async move {
        let (mut body, received) = state?;
        match next(&mut body, received, limit).await? {
            Ok(piece) => {
                let received = received + piece.len() as u64;
                Some((Ok(piece), Some((body, received))))
            }
            Err(error) => Some((Err(error), None)),
        }
    });
    pieces.boxed()
}

async fn next(
    body: &mut BodyDataStream,
    received: u64,
    limit: u64,
) -> Option<Result<Bytes, Error>> {
    let invalid = |message| Error::new(ErrorCode::InvalidParametersError, message);
    let Ok(piece) = tokio::time::timeout(SILENCE, body.next()).await else {
        return Some(Err(invalid("the sender was silent for too long")));
    };
    Some(match piece? {
        Ok(piece) if received + piece.len() as u64 > limit => Err(too_large(limit)),
        Ok(piece) => Ok(piece),
        Err(_) => Err(invalid("the content did not arrive completely")),
    })
}

/// Takes a body that nobody wants, up to a limit: whoever sends it reads no answer before.
pub(crate) async fn overlook(body: Body, limit: u64) {
    let mut content = content(body, limit);
    while let Some(Ok(_)) = content.next().await {}
}

fn too_large(limit: u64) -> Error {
    let message = format!("the file is too large: at most {limit} bytes are taken");
    Error::new(ErrorCode::TooLargeError, message)
}

/// A file, or the part of it that was asked for, as it is read.
pub(crate) fn whole(read: FileContent, shown: Shown) -> Response {
    let FileContent { file, range, content } = read;
    debug_assert_eq!(file.kind, FileKind::File);
    let mut response = Body::from_stream(content).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(range.end - range.start));
    let (kind, disposition) = match (shown, harmless(&file.name)) {
        (Shown::Inline, Some(kind)) => (kind, "inline"),
        (Shown::Inline | Shown::Download, _) => ("application/octet-stream", "attachment"),
    };
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    let name = utf8_percent_encode(&file.name, NON_ALPHANUMERIC);
    if let Ok(value) = HeaderValue::from_str(&format!("{disposition}; filename*=UTF-8''{name}")) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    response
}

/// The same as an answer to a range of HTTP's.
pub(crate) fn partial(read: FileContent, shown: Shown) -> Response {
    let Range { start, end } = read.range.clone();
    let size = read.file.size;
    let mut response = whole(read, shown);
    if start >= end {
        *response.status_mut() = StatusCode::RANGE_NOT_SATISFIABLE;
    } else {
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    }
    let range = if start < end {
        format!("bytes {start}-{}/{size}", end - 1)
    } else {
        format!("bytes */{size}")
    };
    if let Ok(value) = HeaderValue::from_str(&range) {
        response.headers_mut().insert(header::CONTENT_RANGE, value);
    }
    response
}

/// The type of what a browser may show: nothing that can hold a script.
fn harmless(name: &str) -> Option<&'static str> {
    let (_, kind) = name.rsplit_once('.')?;
    Some(match kind.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "bmp" => "image/bmp",
        "txt" | "log" | "md" | "csv" => "text/plain; charset=utf-8",
        _ => return None,
    })
}
