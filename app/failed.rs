use std::fmt;

use api::{Error, ErrorCode};
use serde::{Deserialize, Serialize};
use server_fn::error::{FromServerFnError, ServerFnErrorErr};

use crate::edge;
use crate::i18n::mistakes::worded;
use crate::i18n::words::Texts;
use crate::json::Json;

/// Why a call of the pages failed: the contract's own error, and what finds it in the server's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// The contract's error.
    pub error: Error,
    /// The request's id, where the server gave one.
    pub request_id: Option<String>,
    /// Nothing answered at all. The server never says so.
    #[serde(skip)]
    pub unanswered: bool,
}

impl Failed {
    /// Whether the cure is to sign in again.
    #[must_use]
    pub fn is_signed_out(&self) -> bool {
        self.error.code == ErrorCode::UnauthorizedUserError
    }

    /// Whether it is nothing about what was asked for, and will pass.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        let code = self.error.code;
        self.unanswered || code.status() >= 500 || code == ErrorCode::TooManyRequestsError
    }

    /// Why it failed, in a reader's language.
    pub(crate) fn words(&self, texts: &'static Texts) -> String {
        match self.unanswered {
            true => texts.outage.unanswered.to_owned(),
            false => (texts.said)(&self.error.message),
        }
    }

    /// The same, a sentence for each mistake where it was one.
    pub(crate) fn sentences(&self, texts: &'static Texts) -> Vec<String> {
        match self.error.problems.as_slice() {
            [] => vec![self.words(texts)],
            problems => {
                let worded = problems.iter().map(|problem| worded(problem, texts.said));
                worded.map(|problem| (texts.said)(&problem.to_string())).collect()
            }
        }
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
        Self { error, request_id: None, unanswered: false }
    }
}

impl FromServerFnError for Failed {
    type Encoder = Json;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        let unanswered = matches!(error, ServerFnErrorErr::Request(_));
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
            ServerFnErrorErr::Args(message)
            | ServerFnErrorErr::MissingArg(message)
            | ServerFnErrorErr::Deserialization(message) => message,
            other => other.to_string(),
        };
        // The framework would answer everything with 500.
        Self { unanswered, ..edge::failed(Error::new(code, message)) }
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
    fn an_outage_is_told_from_what_the_server_says_of_the_question() {
        let unanswered = ServerFnErrorErr::Request("TypeError: Failed to fetch".into());
        assert!(Failed::from_server_fn_error(unanswered).unanswered);
        for (code, outage) in [
            (ErrorCode::UnavailableError, true),
            (ErrorCode::UnknownError, true),
            (ErrorCode::TooManyRequestsError, true),
            (ErrorCode::LimitReachedError, false),
            (ErrorCode::NoJobError, false),
            (ErrorCode::UnauthorizedUserError, false),
            (ErrorCode::ForbiddenUserError, false),
        ] {
            let failed = Failed::from(Error::new(code, "no"));
            assert_eq!((failed.is_outage(), failed.unanswered), (outage, false), "{code:?}");
        }
    }

    #[test]
    fn an_error_survives_the_wire() {
        let failed = Failed::from(Error::new(ErrorCode::NoJobError, "no such job"));
        assert_eq!(Failed::de(failed.ser()), failed);
    }
}
