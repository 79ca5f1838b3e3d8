//! One job as lists know it.

use sea_orm::QueryResult;

use super::super::row;
use crate::Result;

/// What is read of each job, in the order of the fields of [`Entry`].
pub(super) const COLUMNS: [row::Column; 13] = [
    row::Column::Id,
    row::Column::UserName,
    row::Column::Name,
    row::Column::VirtualCluster,
    row::Column::State,
    row::Column::Priority,
    row::Column::GpuTypes,
    row::Column::GpuMilli,
    row::Column::Tasks,
    row::Column::UserRetries,
    row::Column::PlatformRetries,
    row::Column::SubmittedAt,
    row::Column::CompletedAt,
];

/// What is read of a job, as it is stored.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) id: i64,
    pub(super) user: String,
    pub(super) name: String,
    pub(super) virtual_cluster: String,
    pub(super) state: String,
    pub(super) priority: i64,
    pub(super) gpu_types: String,
    pub(super) gpu_milli: i64,
    pub(super) tasks: i64,
    pub(super) retries: i64,
    pub(super) submitted_at: i64,
    pub(super) completed_at: Option<i64>,
}

impl Entry {
    pub(super) fn read(row: &QueryResult) -> Result<Self> {
        let (user_retries, platform_retries): (i64, i64) =
            (row.try_get_by_index(9)?, row.try_get_by_index(10)?);
        Ok(Self {
            id: row.try_get_by_index(0)?,
            user: row.try_get_by_index(1)?,
            name: row.try_get_by_index(2)?,
            virtual_cluster: row.try_get_by_index(3)?,
            state: row.try_get_by_index(4)?,
            priority: row.try_get_by_index(5)?,
            gpu_types: row.try_get_by_index(6)?,
            gpu_milli: row.try_get_by_index(7)?,
            tasks: row.try_get_by_index(8)?,
            retries: user_retries.saturating_add(platform_retries),
            submitted_at: row.try_get_by_index(11)?,
            completed_at: row.try_get_by_index(12)?,
        })
    }
}
