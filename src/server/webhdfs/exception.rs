//! Errors in Hadoop's words.

use api::{Error, ErrorCode};
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::address::PREFIX;

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Body<'a> {
    remote_exception: RemoteException<'a>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RemoteException<'a> {
    exception: &'a str,
    java_class_name: &'a str,
    message: &'a str,
}

/// Whether a path is one of those whose errors are told so.
pub(crate) fn is_for(path: &str) -> bool {
    path.strip_prefix(PREFIX).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The answer that tells an error.
pub(crate) fn response(error: &Error) -> Response {
    let (status, class) = class(error.code);
    let exception = class.rsplit('.').next().unwrap_or(class);
    let remote_exception =
        RemoteException { exception, java_class_name: class, message: &error.message };
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, Json(Body { remote_exception })).into_response()
}

/// Status and class as Hadoop gives them, so that its clients raise what they should.
fn class(code: ErrorCode) -> (u16, &'static str) {
    match code {
        ErrorCode::UnauthorizedUserError => (401, "java.lang.SecurityException"),
        ErrorCode::ForbiddenUserError | ErrorCode::TemporaryPasswordError => {
            (403, "org.apache.hadoop.security.AccessControlException")
        }
        ErrorCode::NoFileError => (404, "java.io.FileNotFoundException"),
        ErrorCode::ConflictFileError | ErrorCode::ConflictUploadError => {
            (403, "org.apache.hadoop.fs.FileAlreadyExistsException")
        }
        ErrorCode::FolderNotEmptyError => {
            (403, "org.apache.hadoop.fs.PathIsNotEmptyDirectoryException")
        }
        ErrorCode::NoEnoughQuotaError => {
            (403, "org.apache.hadoop.hdfs.protocol.DSQuotaExceededException")
        }
        ErrorCode::NoApiError => (400, "java.lang.UnsupportedOperationException"),
        ErrorCode::TooLargeError => (413, "java.io.IOException"),
        ErrorCode::TooManyRequestsError | ErrorCode::LimitReachedError => {
            (429, "org.apache.hadoop.ipc.RetriableException")
        }
        ErrorCode::UnavailableError => (503, "org.apache.hadoop.ipc.RetriableException"),
        ErrorCode::InvalidJob
        | ErrorCode::InvalidParametersError
        | ErrorCode::ImpossibleRequestError
        | ErrorCode::IncorrectPasswordError => (400, "java.lang.IllegalArgumentException"),
        ErrorCode::NoJobError
        | ErrorCode::NoJobConfigError
        | ErrorCode::NoJobSshInfoError
        | ErrorCode::NoTaskError
        | ErrorCode::NoTaskLogError
        | ErrorCode::NoVirtualClusterError
        | ErrorCode::NoUserError
        | ErrorCode::NoGroupError
        | ErrorCode::NoTagError
        | ErrorCode::NoStorageError
        | ErrorCode::NoTemplateError
        | ErrorCode::NoNodeError
        | ErrorCode::NoImageError => (404, "java.io.FileNotFoundException"),
        ErrorCode::ConflictJobError
        | ErrorCode::ConflictUserError
        | ErrorCode::ConflictGroupError
        | ErrorCode::ConflictVcError
        | ErrorCode::ConflictNodeError
        | ErrorCode::ConflictImageError => (403, "java.io.IOException"),
        ErrorCode::UnknownError => (500, "java.lang.RuntimeException"),
    }
}
