//! The credentials of registries that lie in users' files.

use api::Error;
use engine::EngineError;
use protocol::ids::UserName;
use protocol::spec::RegistryAuth;
use storage::StorageError;

use crate::code;
use crate::shared::Shared;

/// Reads an `authFile`, as this user may: three lines, registry, user name, password.
pub(crate) async fn auth(
    shared: &Shared,
    user: &UserName,
    file: &str,
) -> engine::Result<RegistryAuth> {
    let refused = |message: String| EngineError::Refused(format!("authFile {file}: {message}"));
    let path = code::readable(shared, user, file).await.map_err(|error| {
        code::refused(Error { message: format!("authFile {file}: {}", error.message), ..error })
    })?;
    let text = shared.storage.read(&path).await.map_err(|error| match error {
        StorageError::Failed { .. } | StorageError::Root { .. } => {
            EngineError::Content(format!("authFile {file}: {error}"))
        }
        other => refused(other.to_string()),
    })?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let mut lines = text.lines().map(str::trim);
    match (lines.next(), lines.next(), lines.next()) {
        (Some(registry), Some(user), Some(password)) if !user.is_empty() => Ok(RegistryAuth {
            registry: registry.to_owned(),
            user: user.to_owned(),
            password: password.to_owned(),
        }),
        _ => Err(refused("it has three lines: registry, user name, password".into())),
    }
}
