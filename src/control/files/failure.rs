use api::files::FilePath;
use api::{Error, ErrorCode};
use storage::{StorageError, StoragePath};

use crate::error::internal;
use crate::shared::Shared;

/// A path, checked.
pub(crate) fn path_of(shared: &Shared, path: &FilePath) -> api::Result<StoragePath> {
    shared.storage.resolve(path.as_str()).map_err(failure)
}

/// A failure of the storage, as the user sees it.
pub(crate) fn failure(error: StorageError) -> Error {
    let message = error.to_string();
    let code = match error {
        StorageError::Path { .. } => ErrorCode::InvalidParametersError,
        StorageError::NotFound { .. } => ErrorCode::NoFileError,
        StorageError::Exists { .. }
        | StorageError::IsFolder { .. }
        | StorageError::NotFolder { .. } => ErrorCode::ConflictFileError,
        StorageError::NotEmpty { .. } => ErrorCode::FolderNotEmptyError,
        StorageError::TooLarge { .. } => ErrorCode::TooLargeError,
        StorageError::Content { source, .. } => return senders(source.as_ref(), message),
        StorageError::Failed { path, source } => {
            tracing::warn!(path, error = %chain(source.as_ref()), "the storage failed");
            let message = "the storage does not answer as it should; try again";
            return Error::new(ErrorCode::UnavailableError, message);
        }
        StorageError::Root { .. } => return internal(message),
    };
    Error::new(code, message)
}

/// Why the sender broke off, where it is an error of ours.
fn senders(source: &(dyn std::error::Error + 'static), message: String) -> Error {
    let mut cause = Some(source);
    while let Some(found) = cause {
        if let Some(error) = found.downcast_ref::<Error>() {
            return error.clone();
        }
        cause = found.source();
    }
    Error::new(ErrorCode::InvalidParametersError, message)
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(found) = cause {
        text.push_str(": ");
        text.push_str(&found.to_string());
        cause = found.source();
    }
    text
}
