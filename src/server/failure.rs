//! Errors on their way out. A handler answers with a [`Failure`]; the outermost layer writes its
//! body ([`crate::error_body`]), because only there the request's id and its reader's language are
//! known.

use api::{Error, ErrorCode};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use protocol::ids::InvalidName;

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
pub(crate) struct Unwritten(pub(crate) Error);

/// There is nothing at this address.
pub(crate) fn no_api(path: &str) -> Error {
    Error::new(ErrorCode::NoApiError, format!("API {path} is not found."))
}
