//! The bodies of failed answers: each door has its own form.

use api::{Error, ErrorCode};
use app::i18n::Language;
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use protocol::problem::Problem;
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::{Unwritten, no_api};
use crate::functions::address as functions;
use crate::webhdfs::exception;

/// The body of every error.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Error")]
pub(crate) struct Body<'a> {
    code: ErrorCode,
    message: &'a str,
    problems: &'a [Problem],
    request_id: &'a str,
}

/// Writes the body of a failed answer. Failures that axum made itself (an unknown method, a body
/// that is too large) get the same shape. REST speaks the reader's language; the pages put words to
/// their errors themselves, and Hadoop's programs know theirs by the English.
pub(crate) fn write_body(
    response: Response,
    path: &str,
    request_id: &str,
    language: Language,
) -> Response {
    let (mut parts, body) = response.into_parts();
    let error = match parts.extensions.remove::<Unwritten>() {
        Some(Unwritten(error)) => error,
        None if foreign_error(&parts, path) => by_status(parts.status, path),
        None => return Response::from_parts(parts, body),
    };
    if parts.status.is_server_error() {
        tracing::warn!(code = %error.code, message = error.message, "request failed");
    }
    let (mut written, varies) = if exception::is_for(path) {
        (exception::response(&error), None)
    } else if path.starts_with(functions::PREFIX) {
        let failed = app::Failed { request_id: Some(request_id.to_owned()), ..error.into() };
        ((parts.status, Json(failed)).into_response(), None)
    } else {
        let response = of_rest(parts.status, worded(error, language), language, request_id);
        (response, Some(HeaderValue::from_static(BY_LANGUAGE)))
    };
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.remove(header::CONTENT_TYPE);
    written.headers_mut().extend(parts.headers);
    if let Some(varies) = varies {
        written.headers_mut().append(header::VARY, varies);
    }
    written
}

/// The language is told by these headers.
const BY_LANGUAGE: &str = "accept-language, cookie";

fn of_rest(status: StatusCode, error: Error, language: Language, request_id: &str) -> Response {
    let Error { code, message, problems } = &error;
    let text = Body { code: *code, message, problems, request_id };
    (status, [(header::CONTENT_LANGUAGE, language.tag())], Json(text)).into_response()
}

/// The error in a language, by the catalogue of the pages; codes and places stay as they are.
fn worded(error: Error, language: Language) -> Error {
    let Error { code, message, problems } = error;
    let problem = |problem: Problem| Problem {
        message: language.told(&problem.message),
        allowed: language.told(&problem.allowed),
        ..problem
    };
    let problems = problems.into_iter().map(problem).collect();
    Error { code, message: language.told(&message), problems }
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
