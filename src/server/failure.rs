//! Errors on their way out. A handler answers with a [`Failure`]; the outermost layer writes its
//! body, because only there the request's id is known.

use api::{Error, ErrorCode};
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use protocol::ids::InvalidName;
use protocol::problem::Problem;
use serde::Serialize;

use crate::functions;
use crate::webhdfs::exception;

/// When it may be tried again what is too much now, in seconds.
const MOMENT: u64 = 5;

/// What went wrong, and when it may be tried again.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    /// The problem as the contract has it.
    pub(crate) error: Error,
    /// Seconds after which trying again makes sense.
    pub(crate) retry_after: Option<u64>,
}

impl Failure {
    /// A failure without problems in a text.
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Error::new(code, message).into()
    }

    /// Nobody is signed in.
    #[must_use]
    pub(crate) fn unauthorized() -> Self {
        Self::new(ErrorCode::UnauthorizedUserError, "Guest is not allowed to do this operation.")
    }

    /// The credentials that came with the request are not good.
    #[must_use]
    pub(crate) fn invalid_token() -> Self {
        Self::new(ErrorCode::UnauthorizedUserError, "Your token is invalid.")
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let retry_after = (error.code == ErrorCode::TooManyRequestsError).then_some(MOMENT);
        Self { error, retry_after }
    }
}

impl From<InvalidName> for Failure {
    fn from(error: InvalidName) -> Self {
        Error::from(error).into()
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.error.code.status())
            .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = status.into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.extensions_mut().insert(Unwritten(self.error));
        response
    }
}

/// An error whose body has still to be written.
#[derive(Debug, Clone)]
struct Unwritten(Error);

/// The body of every error.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    code: ErrorCode,
    message: &'a str,
    problems: &'a [Problem],
    request_id: &'a str,
}

/// Writes the body of a failed answer. Failures that axum made itself (an unknown method, a body
/// that is too large) get the same shape.
pub(crate) fn write_body(response: Response, path: &str, request_id: &str) -> Response {
    let (mut parts, body) = response.into_parts();
    let error = match parts.extensions.remove::<Unwritten>() {
        Some(Unwritten(error)) => error,
        None if foreign_error(&parts, path) => by_status(parts.status, path),
        None => return Response::from_parts(parts, body),
    };
    if parts.status.is_server_error() {
        tracing::warn!(code = %error.code, message = error.message, "request failed");
    }
    let mut written = if exception::is_for(path) {
        exception::response(&error)
    } else if path.starts_with(functions::PREFIX) {
        let failed = app::Failed { request_id: Some(request_id.to_owned()), ..error.into() };
        (parts.status, Json(failed)).into_response()
    } else {
        let text = Body {
            code: error.code,
            message: &error.message,
            problems: &error.problems,
            request_id,
        };
        (parts.status, Json(text)).into_response()
    };
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.remove(header::CONTENT_TYPE);
    written.headers_mut().extend(parts.headers);
    written
}

/// Whether the answer is an error of axum's own on a path for programs.
fn foreign_error(parts: &axum::http::response::Parts, path: &str) -> bool {
    let failed = parts.status.is_client_error() || parts.status.is_server_error();
    let json =
        parts.headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    let ours = path.starts_with("/api") || path.starts_with("/auth") || exception::is_for(path);
    failed && !json && ours
}

fn by_status(status: StatusCode, path: &str) -> Error {
    match status {
        StatusCode::PAYLOAD_TOO_LARGE => {
            Error::new(ErrorCode::TooLargeError, "the request is too large: at most 1 MiB")
        }
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => no_api(path),
        status if status.is_client_error() => {
            Error::new(ErrorCode::InvalidParametersError, "the request is not understood")
        }
        _ => Error::internal(),
    }
}

/// There is nothing at this address.
pub(crate) fn no_api(path: &str) -> Error {
    Error::new(ErrorCode::NoApiError, format!("API {path} is not found."))
}
