//! What was measured of tasks, beside their kept logs.

use bytes::Bytes;
use protocol::ids::TaskKey;

use crate::logs::path;
use crate::{Result, Storage, StorageError};

/// What the name of such a file ends with.
const KIND: &str = "metrics";

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
