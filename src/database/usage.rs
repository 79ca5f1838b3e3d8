//! What jobs have used, by day: it outlives them.

use std::collections::{BTreeMap, HashSet};
use std::ops::RangeInclusive;

use protocol::ids::{GpuType, JobId, UserName, VirtualClusterName};
use sea_orm::{ColumnTrait, DbBackend, EntityTrait, QueryFilter, QueryOrder, Statement, Value};

use crate::convert::{ROWS_A_STATEMENT, amount, ids, parameters};
use crate::{ConnectionTrait, Result, Transaction, states};

mod row {
    use sea_orm::entity::prelude::*;

    use super::{Usage, UsageKey};
    use crate::Result;
    use crate::convert::Row;

    #[sea_orm::model]
    #[derive(Clone, Debug, DeriveEntityModel)]
    #[sea_orm(table_name = "usage_days")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub day: i64,
        #[sea_orm(primary_key, auto_increment = false)]
        pub user_name: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub virtual_cluster: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub gpu_type: String,
        pub jobs: i64,
        pub gpu_ms: i64,
        pub used_ms: i64,
        pub measured_ms: i64,
        pub preempted_ms: i64,
        pub wasted_ms: i64,
        pub queue_ms: i64,
        pub asked_ms: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}

    impl Model {
        pub(crate) fn into_record(self) -> Result<(UsageKey, Usage)> {
            let row = Row::new("usage_days", &self.day);
            let gpu_type = Some(self.gpu_type.as_str()).filter(|word| !word.is_empty());
            let key = UsageKey {
                day: self.day,
                user: row.name(&self.user_name)?,
                virtual_cluster: row.name(&self.virtual_cluster)?,
                gpu_type: row.name_if(gpu_type)?,
            };
            let usage = Usage {
                jobs: row.number(self.jobs)?,
                gpu_ms: row.number(self.gpu_ms)?,
                used_ms: row.number(self.used_ms)?,
                measured_ms: row.number(self.measured_ms)?,
                preempted_ms: row.number(self.preempted_ms)?,
                wasted_ms: row.number(self.wasted_ms)?,
                queue_ms: row.number(self.queue_ms)?,
                asked_ms: row.number(self.asked_ms)?,
            };
            Ok((key, usage))
        }
    }
}

/// Who used what, and when.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UsageKey {
    /// The day of UTC, counted from 1970-01-01.
    pub day: i64,
    /// Who.
    pub user: UserName,
    /// Where.
    pub virtual_cluster: VirtualClusterName,
    /// On which GPUs; `None`: on none, or on those of a node that is not known any more.
    pub gpu_type: Option<GpuType>,
}

/// How much was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Jobs that ended that day; one that had GPUs of several types is among those of the type of
    /// which it had most.
    pub jobs: u64,
    /// Milliseconds of one GPU.
    pub gpu_ms: u64,
    /// Those of them in which the GPU was busy, as far as that was measured.
    pub used_ms: u64,
    /// Those of `gpu_ms` in which it was measured.
    pub measured_ms: u64,
    /// Those of `gpu_ms` that attempts held which gave way to others.
    pub preempted_ms: u64,
    /// Those that attempts held which failed, whoever's fault that was.
    pub wasted_ms: u64,
    /// Milliseconds for which the jobs have waited.
    pub queue_ms: u64,
    /// Milliseconds of one GPU for which the jobs wanted it, from when they were submitted until they ended.
    pub asked_ms: u64,
}

impl Usage {
    /// Adds more.
    pub fn add(&mut self, more: Usage) {
        let Usage { jobs, gpu_ms, used_ms, measured_ms, .. } = more;
        let Usage { preempted_ms, wasted_ms, queue_ms, asked_ms, .. } = more;
        self.jobs = self.jobs.saturating_add(jobs);
        self.gpu_ms = self.gpu_ms.saturating_add(gpu_ms);
        self.used_ms = self.used_ms.saturating_add(used_ms);
        self.measured_ms = self.measured_ms.saturating_add(measured_ms);
        self.preempted_ms = self.preempted_ms.saturating_add(preempted_ms);
        self.wasted_ms = self.wasted_ms.saturating_add(wasted_ms);
        self.queue_ms = self.queue_ms.saturating_add(queue_ms);
        self.asked_ms = self.asked_ms.saturating_add(asked_ms);
    }
}

/// Jobs that have ended and whose use was not counted yet, at most so many.
///
/// # Errors
/// See [`crate::Error`].
pub async fn to_count(conn: &impl ConnectionTrait, most: u64) -> Result<Vec<JobId>> {
    let found = conn.query_all_raw(uncounted(conn.get_database_backend(), most)).await?;
    found.iter().map(|row| Ok(JobId(row.try_get("", "id")?))).collect()
}

/// The index `jobs_to_count` is made for exactly these words.
fn uncounted(backend: DbBackend, most: u64) -> Statement {
    let sql = format!(
        "SELECT id FROM jobs WHERE NOT counted AND completed_at > 0 AND {} \
         ORDER BY completed_at LIMIT $1",
        states::has_ended()
    );
    Statement::from_sql_and_values(backend, sql, [Value::from(amount(most))])
}

/// Notes that the use of these jobs is counted. Says of which it was not: those that have ended.
///
/// # Errors
/// See [`crate::Error`].
pub async fn mark(transaction: &Transaction, jobs: &[JobId]) -> Result<HashSet<JobId>> {
    let mut marked = HashSet::with_capacity(jobs.len());
    let backend = transaction.get_database_backend();
    for jobs in jobs.chunks(ROWS_A_STATEMENT) {
        for row in transaction.query_all_raw(marking(backend, jobs)).await? {
            marked.insert(JobId(row.try_get("", "id")?));
        }
    }
    Ok(marked)
}

fn marking(backend: DbBackend, jobs: &[JobId]) -> Statement {
    let sql = format!(
        "UPDATE jobs SET counted = TRUE WHERE id IN {} AND NOT counted AND {} RETURNING id",
        parameters(backend, 1, jobs.len()),
        states::has_ended()
    );
    Statement::from_sql_and_values(backend, sql, ids(jobs).map(Value::from))
}

/// Adds to what was used.
///
/// # Errors
/// See [`crate::Error`].
pub async fn add(transaction: &Transaction, used: &BTreeMap<UsageKey, Usage>) -> Result<()> {
    let used: Vec<(&UsageKey, &Usage)> = used.iter().collect();
    let backend = transaction.get_database_backend();
    for used in used.chunks(ROWS_A_STATEMENT) {
        let sql = format!(
            "INSERT INTO usage_days (day, user_name, virtual_cluster, gpu_type, jobs, gpu_ms, \
             used_ms, measured_ms, preempted_ms, wasted_ms, queue_ms, asked_ms) \
             VALUES {} ON CONFLICT (day, user_name, virtual_cluster, gpu_type) DO UPDATE SET \
             jobs = usage_days.jobs + excluded.jobs, gpu_ms = usage_days.gpu_ms + excluded.gpu_ms, \
             used_ms = usage_days.used_ms + excluded.used_ms, \
             measured_ms = usage_days.measured_ms + excluded.measured_ms, \
             preempted_ms = usage_days.preempted_ms + excluded.preempted_ms, \
             wasted_ms = usage_days.wasted_ms + excluded.wasted_ms, \
             queue_ms = usage_days.queue_ms + excluded.queue_ms, \
             asked_ms = usage_days.asked_ms + excluded.asked_ms",
            parameters(backend, used.len(), 12)
        );
        let values = used.iter().flat_map(|(key, usage)| {
            [
                Value::from(key.day),
                Value::from(key.user.as_str()),
                Value::from(key.virtual_cluster.as_str()),
                Value::from(key.gpu_type.as_ref().map_or("", GpuType::as_str)),
                Value::from(amount(usage.jobs)),
                Value::from(amount(usage.gpu_ms)),
                Value::from(amount(usage.used_ms)),
                Value::from(amount(usage.measured_ms)),
                Value::from(amount(usage.preempted_ms)),
                Value::from(amount(usage.wasted_ms)),
                Value::from(amount(usage.queue_ms)),
                Value::from(amount(usage.asked_ms)),
            ]
        });
        transaction.execute_raw(Statement::from_sql_and_values(backend, sql, values)).await?;
    }
    Ok(())
}

/// What was used on these days, by one user or by all, in the order of the keys.
///
/// # Errors
/// See [`crate::Error`].
pub async fn list(
    conn: &impl ConnectionTrait,
    days: &RangeInclusive<i64>,
    user: Option<&UserName>,
) -> Result<Vec<(UsageKey, Usage)>> {
    let mut query = row::Entity::find()
        .filter(row::Column::Day.gte(*days.start()))
        .filter(row::Column::Day.lte(*days.end()))
        .order_by_asc(row::Column::Day)
        .order_by_asc(row::Column::UserName)
        .order_by_asc(row::Column::VirtualCluster)
        .order_by_asc(row::Column::GpuType);
    if let Some(user) = user {
        query = query.filter(row::Column::UserName.eq(user.as_str()));
    }
    query.all(conn).await?.into_iter().map(row::Model::into_record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan;

    #[tokio::test]
    async fn of_those_that_have_ended_only_those_to_count_are_come_past() {
        let steps = plan::of(uncounted(DbBackend::Sqlite, 100)).await;
        assert!(steps[0].contains("USING INDEX jobs_to_count"), "{steps:?}");
        let jobs: Vec<JobId> = (1..=100).map(JobId).collect();
        let steps = plan::of(marking(DbBackend::Sqlite, &jobs)).await;
        assert!(steps[0].contains("USING INTEGER PRIMARY KEY"), "{steps:?}");
    }
}
