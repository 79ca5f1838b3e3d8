use std::fmt;

use api::{Error, ErrorCode};
use serde::{Deserialize, Serialize};
use server_fn::codec::JsonEncoding;
use server_fn::error::{FromServerFnError, ServerFnErrorErr};

use crate::edge;

/// Why a call of the pages failed: the contract's own error, and what finds it in the server's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// The contract's error.
    pub error: Error,
    /// The request's id, where the server gave one.
    pub request_id: Option<String>,
}

impl Failed {
    /// Whether the cure is to sign in again.
    #[must_use]
    pub fn is_signed_out(&self) -> bool {
        self.error.code == ErrorCode::UnauthorizedUserError
    }

    /// Whether the thing asked for does not exist.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.error.code.status() == 404
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for Failed {}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self { error, request_id: None }
    }
}

impl FromServerFnError for Failed {
    type Encoder = JsonEncoding;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        let code = match &error {
            ServerFnErrorErr::Args(_) | ServerFnErrorErr::MissingArg(_) => {
                ErrorCode::InvalidParametersError
            }
            ServerFnErrorErr::Request(_) => ErrorCode::UnavailableError,
            ServerFnErrorErr::Registration(_)
            | ServerFnErrorErr::UnsupportedRequestMethod(_)
            | ServerFnErrorErr::ServerError(_)
            | ServerFnErrorErr::MiddlewareError(_)
            | ServerFnErrorErr::Deserialization(_)
            | ServerFnErrorErr::Serialization(_)
            | ServerFnErrorErr::Response(_) => ErrorCode::UnknownError,
        };
        let message = match error {
            ServerFnErrorErr::Args(message) | ServerFnErrorErr::MissingArg(message) => message,
            other => other.to_string(),
        };
        // The framework would answer everything with 500.
        edge::failed(Error::new(code, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_argument_keeps_its_words() {
        let failed = Failed::from_server_fn_error(ServerFnErrorErr::Args("no such name".into()));
        assert_eq!(failed.error.code, ErrorCode::InvalidParametersError);
        assert_eq!(failed.to_string(), "no such name");
    }

    #[test]
    fn an_error_survives_the_wire() {
        let failed = Failed::from(Error::new(ErrorCode::NoJobError, "no such job"));
        assert_eq!(Failed::de(failed.ser()), failed);
    }
}
