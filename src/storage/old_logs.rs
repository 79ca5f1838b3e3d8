//! Kept logs that are old, or nobody's any more: which there are, and their removal.

use std::collections::BTreeMap;

use protocol::ids::JobId;

use crate::error::{Result, StorageError};
use crate::path::StoragePath;
use crate::storage::{Place, Storage};

/// The folder of all kept logs.
const LOGS: &str = "logs";

impl Storage {
    /// The folders of kept logs, each with those of a thousand jobs, the oldest first.
    ///
    /// # Errors
    /// [`StorageError::Failed`].
    pub async fn log_folders(&self) -> Result<Vec<StoragePath>> {
        let all = StoragePath::own(LOGS);
        let names = match &self.place {
            Place::Folder(folder) => folder.names(&all).await?,
            Place::Web(web) => web.folders(&all).await?,
        };
        let mut numbers: Vec<i64> = names.iter().filter_map(|name| name.parse().ok()).collect();
        numbers.sort_unstable();
        Ok(numbers.into_iter().map(folder).collect())
    }

    /// The kept logs in one of these folders, and what was measured beside them, by job.
    ///
    /// # Errors
    /// [`StorageError::Failed`].
    pub async fn logs_in(&self, folder: &StoragePath) -> Result<BTreeMap<JobId, Vec<StoragePath>>> {
        let mut logs: BTreeMap<JobId, Vec<StoragePath>> = BTreeMap::new();
        for name in self.own_names(folder).await? {
            if let (Some(job), Some(path)) = (job_of(&name), folder.child(&name)) {
                logs.entry(job).or_default().push(path);
            }
        }
        Ok(logs)
    }

    /// Removes a folder of logs in which none is left; one in which one is stays.
    ///
    /// # Errors
    /// [`StorageError::Failed`].
    pub async fn remove_log_folder(&self, folder: &StoragePath) -> Result<()> {
        if !self.own_names(folder).await?.is_empty() {
            return Ok(());
        }
        match self.remove(folder, false).await {
            // One has just been kept.
            Ok(_) | Err(StorageError::NotEmpty { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Removes all kept logs of a job, and what was measured beside them.
    ///
    /// # Errors
    /// [`StorageError::Failed`].
    pub async fn forget_logs(&self, job: JobId) -> Result<()> {
        let mut logs = self.logs_in(&folder_of(job)).await?;
        for log in logs.remove(&job).unwrap_or_default() {
            self.remove(&log, false).await?;
        }
        Ok(())
    }
}

/// The logs of a thousand jobs share a folder.
pub(crate) fn folder_of(job: JobId) -> StoragePath {
    folder(job.0 / 1000)
}

fn folder(number: i64) -> StoragePath {
    StoragePath::own(&format!("{LOGS}/{number}"))
}

/// The job whose log is called so.
fn job_of(name: &str) -> Option<JobId> {
    let (job, _task) = name.split_once("-a")?;
    job.parse().ok().map(JobId)
}
