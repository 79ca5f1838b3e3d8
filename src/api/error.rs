use std::fmt;

use protocol::problem::Problem;
use protocol::trouble::{OwnTrouble, Trouble};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What every operation answers.
pub type Result<T> = std::result::Result<T, Error>;

/// The one problem type at the edge: it tells the user what to do and leaks nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// A stable word for programs.
    pub code: ErrorCode,
    /// One sentence for people.
    pub message: String,
    /// What is wrong in the text or the settings that were sent, all of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

impl Error {
    /// An error without problems.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), problems: Vec::new() }
    }

    /// A job file with mistakes; the message says how many and names the first.
    #[must_use]
    pub fn invalid_job(problems: Vec<Problem>) -> Self {
        let message = match problems.as_slice() {
            [] => "the job file is not valid".to_owned(),
            [only] => only.to_string(),
            [first, rest @ ..] => format!("{first} (and {} more)", rest.len()),
        };
        Self { code: ErrorCode::InvalidJob, message, problems }
    }

    /// Settings with mistakes; the message names them all, a line each.
    #[must_use]
    pub fn invalid_settings(problems: Vec<Problem>) -> Self {
        let lines: Vec<_> = problems.iter().map(ToString::to_string).collect();
        Self { code: ErrorCode::InvalidParametersError, message: lines.join("\n"), problems }
    }

    /// Something of ours failed; the details are in the log.
    #[must_use]
    pub fn internal() -> Self {
        Self::new(
            ErrorCode::UnknownError,
            "something went wrong on the server; the request id finds it in the log",
        )
    }

    /// The database is out of reach or has no room: the same may succeed later.
    #[must_use]
    pub fn no_database() -> Self {
        Self::new(
            ErrorCode::UnavailableError,
            "the database cannot be used now: try again in a moment",
        )
    }

    /// Whether the server failed, so that nothing is said of what was asked for.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.code == ErrorCode::UnknownError || *self == Self::no_database()
    }
}

/// Whatever fails beneath the operations, as the user sees it; what he does not see is logged by then.
impl<E: OwnTrouble> From<E> for Error {
    fn from(error: E) -> Self {
        let (code, message) = match error.answer() {
            Trouble::Ours => return Self::internal(),
            Trouble::NoDatabase => return Self::no_database(),
            Trouble::BrokenOff { source, message } => return senders(source.as_ref(), message),
            Trouble::Damaged(what) => (
                ErrorCode::UnknownError,
                format!("{what} cannot be read: tell an administrator, who finds more in the log"),
            ),
            Trouble::NoStorage => (
                ErrorCode::UnavailableError,
                "the storage does not answer as it should; try again".to_owned(),
            ),
            Trouble::Invalid(message) => (ErrorCode::InvalidParametersError, message),
            Trouble::NoFile(message) => (ErrorCode::NoFileError, message),
            Trouble::InTheWay(message) => (ErrorCode::ConflictFileError, message),
            Trouble::NotEmpty(message) => (ErrorCode::FolderNotEmptyError, message),
            Trouble::TooLarge(message) => (ErrorCode::TooLargeError, message),
        };
        Self::new(code, message)
    }
}

/// Why the sender broke off, where it is an error of ours.
fn senders(source: &(dyn std::error::Error + 'static), message: String) -> Error {
    let mut cause = Some(source);
    while let Some(found) = cause {
        if let Some(error) = found.downcast_ref::<Error>() {
            return error.clone();
        }
        // What an error of input or output wraps is not its source, but the source of that is.
        cause = match found.downcast_ref::<std::io::Error>() {
            Some(wrapping) => {
                wrapping.get_ref().map(|inner| inner as &(dyn std::error::Error + 'static))
            }
            None => found.source(),
        };
    }
    Error::new(ErrorCode::InvalidParametersError, message)
}

/// Stable error words. Those of OpenPAI keep its spelling, so that its clients go on working.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum ErrorCode {
    /// 400: a job file with mistakes.
    #[serde(rename = "InvalidProtocolError")]
    InvalidJob,
    /// 400: another value is not allowed.
    InvalidParametersError,
    /// 400: the request can never be met.
    ImpossibleRequestError,
    /// 401: nobody is signed in.
    UnauthorizedUserError,
    /// 400 as OpenPAI answers: the password is wrong.
    IncorrectPasswordError,
    /// 403: the password is right, and good for choosing another one alone.
    TemporaryPasswordError,
    /// 403: this user may not.
    ForbiddenUserError,
    /// 404.
    NoJobError,
    /// 404.
    NoJobConfigError,
    /// 404: no such task, or it has no such port.
    NoTaskError,
    /// 404: no such file.
    NoFileError,
    /// 404.
    NoTaskLogError,
    /// 404: there is no way in.
    NoJobSshInfoError,
    /// 404.
    NoVirtualClusterError,
    /// 404.
    NoUserError,
    /// 404.
    NoGroupError,
    /// 404: the job has no such tag.
    NoTagError,
    /// 404.
    NoStorageError,
    /// 404.
    NoTemplateError,
    /// 404.
    NoNodeError,
    /// 404: no such saved image.
    NoImageError,
    /// 404: no such path.
    NoApiError,
    /// 409: the name is taken, or the job does not wait any more, or has not ended.
    ConflictJobError,
    /// 409: the name is taken.
    ConflictUserError,
    /// 409: the name is taken, or a virtual cluster would be everybody's without it.
    ConflictGroupError,
    /// 409: the name is taken, or it is still in use.
    ConflictVcError,
    /// 409: the name is taken, or it is still in use.
    ConflictNodeError,
    /// 409: the name is taken, or something is a folder where a file is needed, or the reverse.
    ConflictFileError,
    /// 409: the file goes on at another place; ask how much of it has arrived.
    ConflictUploadError,
    /// 409: the name is taken, or a job needs it.
    ConflictImageError,
    /// 409: the folder is not empty.
    FolderNotEmptyError,
    /// 403: the user's files take all the room that they may.
    NoEnoughQuotaError,
    /// 413.
    TooLargeError,
    /// 429: the user, or a group of his, has as many jobs waiting in the virtual cluster, or submitted so
    /// many within a minute, as he may.
    LimitReachedError,
    /// 429.
    TooManyRequestsError,
    /// 503: not ready; try again.
    UnavailableError,
    /// 500.
    UnknownError,
}

impl ErrorCode {
    /// The HTTP status that goes with it.
    #[must_use]
    pub fn status(self) -> u16 {
        match self {
            ErrorCode::InvalidJob
            | ErrorCode::InvalidParametersError
            | ErrorCode::ImpossibleRequestError
            | ErrorCode::IncorrectPasswordError => 400,
            ErrorCode::UnauthorizedUserError => 401,
            ErrorCode::TemporaryPasswordError
            | ErrorCode::ForbiddenUserError
            | ErrorCode::NoEnoughQuotaError => 403,
            ErrorCode::NoJobError
            | ErrorCode::NoJobConfigError
            | ErrorCode::NoTaskError
            | ErrorCode::NoFileError
            | ErrorCode::NoTaskLogError
            | ErrorCode::NoJobSshInfoError
            | ErrorCode::NoVirtualClusterError
            | ErrorCode::NoUserError
            | ErrorCode::NoGroupError
            | ErrorCode::NoTagError
            | ErrorCode::NoStorageError
            | ErrorCode::NoTemplateError
            | ErrorCode::NoNodeError
            | ErrorCode::NoImageError
            | ErrorCode::NoApiError => 404,
            ErrorCode::ConflictJobError
            | ErrorCode::ConflictUserError
            | ErrorCode::ConflictGroupError
            | ErrorCode::ConflictVcError
            | ErrorCode::ConflictNodeError
            | ErrorCode::ConflictFileError
            | ErrorCode::ConflictUploadError
            | ErrorCode::ConflictImageError
            | ErrorCode::FolderNotEmptyError => 409,
            ErrorCode::TooLargeError => 413,
            ErrorCode::LimitReachedError | ErrorCode::TooManyRequestsError => 429,
            ErrorCode::UnavailableError => 503,
            ErrorCode::UnknownError => 500,
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Failed(Trouble);

    impl OwnTrouble for Failed {
        fn answer(self) -> Trouble {
            self.0
        }
    }

    fn seen(trouble: Trouble) -> Error {
        Failed(trouble).into()
    }

    fn broken_off(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Trouble {
        Trouble::BrokenOff { source: source.into(), message: "a did not arrive".to_owned() }
    }

    #[test]
    fn trouble_of_ours_is_told_from_what_the_asker_can_mend() {
        let text = || "/a".to_owned();
        for (trouble, status, is_ours) in [
            (Trouble::Ours, 500, true),
            (Trouble::NoDatabase, 503, true),
            (Trouble::Damaged(text()), 500, true),
            (Trouble::NoStorage, 503, false),
            (Trouble::Invalid(text()), 400, false),
            (Trouble::NoFile(text()), 404, false),
            (Trouble::InTheWay(text()), 409, false),
            (Trouble::NotEmpty(text()), 409, false),
            (Trouble::TooLarge(text()), 413, false),
            (broken_off("the line is dead"), 400, false),
        ] {
            let words = format!("{trouble:?}");
            let seen = seen(trouble);
            assert_eq!((seen.code.status(), seen.is_ours()), (status, is_ours), "{words}");
        }
    }

    #[test]
    fn who_broke_off_for_a_reason_of_ours_is_told_that_reason() {
        let reason = Error::new(ErrorCode::NoEnoughQuotaError, "no room is left");
        assert_eq!(seen(broken_off(std::io::Error::other(reason.clone()))), reason);
        assert_eq!(seen(broken_off("the line is dead")).message, "a did not arrive");
    }
}
