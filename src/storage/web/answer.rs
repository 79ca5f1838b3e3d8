use ::http::{Response, StatusCode, header};
use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use serde::Deserialize;

use crate::error::{Result, StorageError, failed};
use crate::path::StoragePath;

/// The most that is read of an answer that is not a file.
const LONGEST: usize = 1024 * 1024;

/// How the server ended an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It says that it is done.
    Done,
    /// It says that it is not, and not why.
    NotDone,
    /// It only says that all is well.
    Silent,
}

#[derive(Deserialize)]
struct Boolean {
    boolean: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Location {
    location: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Refusal {
    remote_exception: RemoteException,
}

#[derive(Deserialize)]
struct RemoteException {
    #[serde(default)]
    exception: String,
    #[serde(default)]
    message: String,
}

/// What became of an operation.
pub(super) async fn outcome(path: &StoragePath, answer: Response<Incoming>) -> Result<Outcome> {
    let (status, body) = read(path, answer).await?;
    if !status.is_success() {
        return Err(refusal(path, status, &body));
    }
    match serde_json::from_slice::<Boolean>(&body) {
        Ok(Boolean { boolean: true }) => Ok(Outcome::Done),
        Ok(Boolean { boolean: false }) => Ok(Outcome::NotDone),
        Err(_) => Ok(Outcome::Silent),
    }
}

/// The address of whoever takes the bytes of a file: in a header, or in the body of servers that
/// do not redirect.
pub(super) async fn taker(path: &StoragePath, answer: Response<Incoming>) -> Result<String> {
    let status = answer.status();
    let location = answer.headers().get(header::LOCATION).and_then(|value| value.to_str().ok());
    if status.is_redirection()
        && let Some(location) = location
    {
        return Ok(location.to_owned());
    }
    let (status, body) = read(path, answer).await?;
    match serde_json::from_slice::<Location>(&body) {
        Ok(Location { location }) if status.is_success() => Ok(location),
        Ok(_) | Err(_) => Err(refusal(path, status, &body)),
    }
}

async fn read(path: &StoragePath, answer: Response<Incoming>) -> Result<(StatusCode, Bytes)> {
    let (parts, body) = answer.into_parts();
    let body = Limited::new(body, LONGEST).collect().await.map_err(|error| failed(path, error))?;
    Ok((parts.status, body.to_bytes()))
}

fn refusal(path: &StoragePath, status: StatusCode, body: &[u8]) -> StorageError {
    let told = serde_json::from_slice::<Refusal>(body).map(|refusal| refusal.remote_exception);
    let RemoteException { exception, message } = told.unwrap_or_else(|_| RemoteException {
        exception: String::new(),
        message: String::from_utf8_lossy(&body[..body.len().min(200)]).into_owned(),
    });
    let text = path.to_string();
    match exception.as_str() {
        "FileNotFoundException" => StorageError::NotFound { path: text },
        "FileAlreadyExistsException" => StorageError::Exists { path: text },
        "PathIsNotEmptyDirectoryException" => StorageError::NotEmpty { path: text },
        "ParentNotDirectoryException" => StorageError::NotFolder { path: text },
        _ if status == StatusCode::NOT_FOUND => StorageError::NotFound { path: text },
        _ => failed(path, format!("the server answered {status}: {exception} {message}")),
    }
}
