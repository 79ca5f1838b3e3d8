use api::ErrorCode;
use api::jobs::Submission;
use axum::extract::rejection::{BytesRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use protocol::ids::{JobKey, JobName};
use protocol::problem::Problem;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::auth::sign_in::{is_json, parse};
use crate::failure::Failure;
use crate::rest::doors::{Content, Input, Operation, schema};
use crate::rest::form;

/// The bytes of a request, whatever media type it says; too many are 413.
struct Sent(axum::body::Bytes);

impl<S: Send + Sync> FromRequest<S> for Sent {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        let bytes = axum::body::Bytes::from_request(request, state).await;
        bytes.map(Self).map_err(|rejection: BytesRejection| match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => {
                Failure::new(ErrorCode::TooLargeError, "the request is too large: at most 1 MiB")
            }
            _ => Failure::new(
                ErrorCode::InvalidParametersError,
                "the request's body did not arrive completely",
            ),
        })
    }
}

/// Whether the request says that it is a form.
fn is_form(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/x-www-form-urlencoded"))
}

/// JSON or a form, as the request says; without a word, JSON.
pub(crate) struct Fields<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Fields<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        let headers = request.headers();
        let json = is_json(headers) || !is_form(headers);
        let Sent(bytes) = Sent::from_request(request, state).await?;
        parse(&bytes, json).map(Self)
    }
}

/// Parameters of an address; mistakes are named in our own shape.
pub(crate) struct Params<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Params<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let query = Query::<T>::from_request_parts(parts, state).await;
        query.map(|Query(params)| Self(params)).map_err(|rejection: QueryRejection| {
            Failure::new(ErrorCode::InvalidParametersError, rejection.body_text())
        })
    }
}

/// A job file that was sent, in whatever notation; as a form, it is put into JSON.
pub(crate) struct JobFile {
    text: String,
    cloned_from: Option<JobKey>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CloneParams {
    cloned_from: Option<String>,
}

impl JobFile {
    /// What to submit; the name in the address of a `PUT` must be the file's.
    pub(crate) fn submission(self, expected_name: Option<JobName>) -> Submission {
        Submission { text: self.text, cloned_from: self.cloned_from, expected_name }
    }
}

impl<S: Send + Sync> FromRequest<S> for JobFile {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        let (mut parts, body) = request.into_parts();
        let Params(CloneParams { cloned_from }) =
            Params::from_request_parts(&mut parts, state).await?;
        let cloned_from = cloned_from.map(|key| key.parse()).transpose();
        let cloned_from = cloned_from.map_err(|error: protocol::ids::InvalidName| {
            Failure::new(ErrorCode::InvalidParametersError, format!("clonedFrom: {error}"))
        })?;
        let says_form = is_form(&parts.headers);
        let request = Request::from_parts(parts, body);
        let Sent(bytes) = Sent::from_request(request, state).await?;
        let text = String::from_utf8(bytes.into()).map_err(|error| not_utf8(error.as_bytes()))?;
        let text = if says_form && form::is_one(&text) { form::to_json(&text)? } else { text };
        Ok(Self { text, cloned_from })
    }
}

impl Input for JobFile {
    fn describe(operation: &mut Operation) {
        operation.query.push(schema::<CloneParams>);
        operation.takes.extend(["text/yaml", "application/json"].map(Content::Raw));
    }
}

fn not_utf8(bytes: &[u8]) -> Failure {
    let good = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let line = good.matches('\n').count() + 1;
    let column = good.rsplit('\n').next().unwrap_or(good).chars().count() + 1;
    api::Error::invalid_job(vec![Problem {
        path: String::new(),
        line: u32::try_from(line).unwrap_or(u32::MAX),
        column: u32::try_from(column).unwrap_or(u32::MAX),
        message: "the text is not UTF-8".to_owned(),
        allowed: "JSON or YAML in UTF-8".to_owned(),
    }])
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_bad_byte_is_named() {
        let failure = not_utf8(b"a\nb\xc3\xa4\xff");
        let problem = &failure.error.problems[0];
        assert_eq!((problem.line, problem.column), (2, 3));
    }
}
