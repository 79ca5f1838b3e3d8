//! What was measured of tasks, beside their kept logs, with which it goes.

use bytes::Bytes;
use protocol::ids::TaskKey;

use crate::logs::path;
use crate::{Result, Storage, StorageError, StoragePath};

/// What the name of such a file ends with.
const KIND: &str = "metrics";

impl StoragePath {
    /// Whether it is of what was measured of a task, and of no log.
    #[must_use]
    pub fn is_of_metrics(&self) -> bool {
        let kind = self.name().and_then(|name| name.rsplit_once('.'));
        kind.is_some_and(|(_, kind)| kind == KIND)
    }
}

impl Storage {
    /// Keeps what was measured of a task, in place of what was kept before.
    ///
    /// # Errors
    /// [`StorageError::Failed`].
    pub async fn keep_metrics(&self, key: &TaskKey, metrics: Bytes) -> Result<()> {
        self.create_whole(&path(key, KIND), true, metrics).await
    }

    /// What was kept of a task; `None`: nothing was.
    ///
    /// # Errors
    /// [`StorageError::Failed`].
    pub async fn kept_metrics(&self, key: &TaskKey) -> Result<Option<Bytes>> {
        match self.read(&path(key, KIND)).await {
            Ok(metrics) => Ok(Some(metrics)),
            Err(StorageError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
