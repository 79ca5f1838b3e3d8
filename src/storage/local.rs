//! A local folder as the storage.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use opendal::Operator;
use opendal::services::Fs;

use crate::path::OWN_FOLDER;
use crate::{Error, Result, StoragePath};

pub(crate) async fn open(root: &str) -> Result<(Operator, PathBuf)> {
    let wrong = |message: String| Error::Root { root: root.to_owned(), message };
    let folder = match root.strip_prefix("file://") {
        Some(path) if path.starts_with('/') => path,
        Some(_) => return Err(wrong("a file address is file:///folder".into())),
        None if root.contains("://") => {
            return Err(wrong("only file:///folder and plain paths are understood".into()));
        }
        None => root,
    };
    let temporary = Path::new(folder).join(OWN_FOLDER).join("temporary");
    let made = tokio::fs::create_dir_all(&temporary).await;
    made.map_err(|error| wrong(format!("the folder cannot be made: {error}")))?;
    let folder = tokio::fs::canonicalize(folder).await;
    let folder = folder.map_err(|error| wrong(format!("the folder cannot be used: {error}")))?;
    let path = folder.to_str().ok_or_else(|| wrong("its path is not UTF-8".into()))?;
    let temporary = format!("{path}/{OWN_FOLDER}/temporary");
    let service = Fs::default().root(path).atomic_write_dir(&temporary);
    let operator = Operator::new(service).map_err(|error| wrong(error.to_string()))?;
    Ok((operator, folder))
}

/// Whether the path exists; an error when a symbolic link takes it, or what of it exists, out of
/// the storage or into Berth's own folder.
pub(crate) async fn stays_inside(root: &Path, path: &StoragePath) -> Result<bool> {
    let wanted = root.join(path.as_str());
    let mut existing = wanted.as_path();
    loop {
        match tokio::fs::canonicalize(existing).await {
            Ok(real) => {
                if !real.starts_with(root) || real.starts_with(root.join(OWN_FOLDER)) {
                    let message = "leads out of the storage".to_owned();
                    return Err(Error::Path { path: path.to_string(), message });
                }
                return Ok(existing == wanted);
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                // A dangling link would be followed when something is made there.
                if tokio::fs::symlink_metadata(existing).await.is_ok() {
                    let message = "is a symbolic link to nothing".to_owned();
                    return Err(Error::Path { path: path.to_string(), message });
                }
                match existing.parent() {
                    Some(parent) => existing = parent,
                    None => return Ok(false),
                }
            }
            Err(error) => return Err(Error::of(path.to_string(), error)),
        }
    }
}
