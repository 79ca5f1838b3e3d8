//! A folder for the meantime, which goes away with whoever made it.

use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// A folder that nobody else may look into.
#[derive(Debug)]
pub(crate) struct Staging(PathBuf);

impl Staging {
    /// Makes it. What a run before this one left there, when it was broken off, is removed.
    pub(crate) fn new(folder: PathBuf) -> anyhow::Result<Self> {
        let cleared = match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        };
        let made = cleared.and_then(|()| DirBuilder::new().mode(0o700).create(&folder));
        made.with_context(|| format!("the folder {} cannot be made", folder.display()))?;
        Ok(Self(folder))
    }

    /// Where a file of it is.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            eprintln!("berth: {} cannot be removed: {error}", self.0.display());
        }
    }
}

/// The path of a name that is longer by `suffix`.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
