//! The credentials of registries that lie in users' files.

use api::Error;
use protocol::ids::UserName;
use protocol::spec::RegistryAuth;

use crate::accounts::people::People;
use crate::container::code::{self, LookError};
use crate::records::store::Store;

/// Reads an `authFile`, as this user may: three lines, registry, user name, password.
pub(crate) async fn auth(
    store: &Store,
    people: &People,
    user: &UserName,
    file: &str,
) -> Result<RegistryAuth, LookError> {
    let path = code::readable(store, people, user, file).await.map_err(|error| {
        let message = format!("authFile {file}: {}", error.message);
        LookError::from(Error { message, ..error })
    })?;
    let text = store.storage.read(&path).await;
    let text = text.map_err(|error| LookError::of(format_args!("authFile {file}"), error))?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let mut lines = text.lines().map(str::trim);
    match (lines.next(), lines.next(), lines.next()) {
        (Some(registry), Some(user), Some(password)) if !user.is_empty() => Ok(RegistryAuth {
            registry: registry.to_owned(),
            user: user.to_owned(),
            password: password.to_owned(),
        }),
        _ => {
            let message = "it has three lines: registry, user name, password";
            Err(LookError::Refused(format!("authFile {file}: {message}")))
        }
    }
}
