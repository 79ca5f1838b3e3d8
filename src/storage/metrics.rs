//! What was measured of tasks, beside their kept logs, with which it goes, and of nodes.

use bytes::Bytes;
use protocol::ids::{NodeName, TaskKey};

use crate::error::{Result, StorageError};
use crate::logs::path;
use crate::path::StoragePath;
use crate::storage::Storage;

/// What the name of such a file ends with.
const KIND: &str = "metrics";
/// The folder of what was measured of nodes.
const NODES: &str = "nodes";

impl StoragePath {
    /// Whether it is of what was measured of a task, and of no log.
    #[must_use]
    pub fn is_of_metrics(&self) -> bool {
        let kind = self.name().and_then(|name| name.rsplit_once('.'));
        kind.is_some_and(|(_, kind)| kind == KIND)
    }
}

fn path_of(node: &NodeName) -> StoragePath {
    StoragePath::own(&format!("{NODES}/{node}.{KIND}"))
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
        self.some(&path(key, KIND)).await
    }

    /// Keeps what was measured of a node, in place of what was kept before.
    ///
    /// # Errors
    /// [`StorageError::Failed`].
    pub async fn keep_node_metrics(&self, node: &NodeName, metrics: Bytes) -> Result<()> {
        self.create_whole(&path_of(node), true, metrics).await
    }

    /// What was kept of a node; `None`: nothing was.
    ///
    /// # Errors
    /// [`StorageError::Failed`].
    pub async fn kept_node_metrics(&self, node: &NodeName) -> Result<Option<Bytes>> {
        self.some(&path_of(node)).await
    }

    /// Removes what was kept of a node.
    ///
    /// # Errors
    /// [`StorageError::Failed`].
    pub async fn forget_node_metrics(&self, node: &NodeName) -> Result<()> {
        self.remove(&path_of(node), false).await?;
        Ok(())
    }

    async fn some(&self, path: &StoragePath) -> Result<Option<Bytes>> {
        match self.read(path).await {
            Ok(metrics) => Ok(Some(metrics)),
            Err(StorageError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
