//! Where a copy is put.

use std::fs::File;
use std::path::{Path, PathBuf};

use sea_orm::DatabaseConnection;

use super::{CopyError, postgres, sqlite};

/// A database that is to be filled, which no server uses.
#[derive(Debug)]
pub struct Place {
    kind: Kind,
    replace: bool,
}

#[derive(Debug)]
enum Kind {
    Sqlite {
        path: PathBuf,
        /// Held so that no server begins to use it meanwhile.
        _lock: File,
    },
    Postgres(DatabaseConnection),
}

impl Place {
    /// Looks whether a database may be filled: whether it is empty or to be replaced, and whether a
    /// server uses it.
    ///
    /// # Errors
    /// [`CopyError::Taken`], [`CopyError::InUse`].
    pub async fn open(url: &str, replace: bool) -> Result<Self, CopyError> {
        let kind = match url.strip_prefix("sqlite://") {
            Some(path) => Self::open_file(path.into(), replace)?,
            None => Kind::Postgres(postgres::open(url, replace).await?),
        };
        Ok(Self { kind, replace })
    }

    fn open_file(path: PathBuf, replace: bool) -> Result<Kind, CopyError> {
        let lock = sqlite::lock(&path)?;
        if !replace && sqlite::is_taken(&path) {
            return Err(CopyError::Taken { place: path.display().to_string() });
        }
        Ok(Kind::Sqlite { path, _lock: lock })
    }

    /// Fills it with a copy that is ready, with all of it or not at all. A file takes the copy's own
    /// place, which is therefore to be on the same file system, and what was there is set aside; what
    /// was in a PostgreSQL database is gone.
    ///
    /// # Errors
    /// [`CopyError`].
    pub async fn fill(self, copy: &Path) -> Result<(), CopyError> {
        match self.kind {
            Kind::Sqlite { path, _lock } => sqlite::fill(copy, &path),
            Kind::Postgres(target) => {
                postgres::fill(copy, &target, self.replace).await?;
                Ok(target.close().await?)
            }
        }
    }
}
