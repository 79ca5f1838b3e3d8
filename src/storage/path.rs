use std::fmt;

use crate::{Error, Result};

/// The folder Berth keeps for itself: no user's path leads there.
pub(crate) const OWN_FOLDER: &str = ".berth";

/// A path inside the storage, relative to its root, without `.` and `..`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoragePath(String);

impl StoragePath {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StoragePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}", self.0)
    }
}

pub(crate) fn resolve(uri: &str, text: &str) -> Result<StoragePath> {
    let wrong = |message: String| Err(Error::Path { path: text.to_owned(), message });
    let path = match text.strip_prefix(uri) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
        Some(_) | None if text.starts_with('/') => text,
        Some(_) | None => {
            return wrong(format!("is not in this storage: begin it with {uri}/ or with /"));
        }
    };
    if path.contains('\0') {
        return wrong("has a NUL character".into());
    }
    let parts: Vec<&str> =
        path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.contains(&"..") {
        return wrong("has a part `..`: name the folder itself".into());
    }
    if parts.first() == Some(&OWN_FOLDER) {
        return wrong("is Berth's own".into());
    }
    Ok(StoragePath(parts.join("/")))
}
