use std::fmt;

use protocol::ids::InvalidName;
use protocol::problem::Problem;
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

/// A name that nothing can have; where one is looked up, it is missing instead.
impl From<InvalidName> for Error {
    fn from(error: InvalidName) -> Self {
        Self::new(ErrorCode::InvalidParametersError, error.to_string())
    }
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
