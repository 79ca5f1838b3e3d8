//! Jobs whose owners keep them, though their GPUs do nothing.

use std::collections::HashMap;

use protocol::ids::JobId;
use protocol::time::Timestamp;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Set};

use crate::convert::{ROWS_A_STATEMENT, ids};
use crate::{ConnectionTrait, Result};

mod row {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, DeriveEntityModel)]
    #[sea_orm(table_name = "kept_jobs")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub job: i64,
        pub until: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

/// Keeps a job until then, whatever was said before.
///
/// # Errors
/// See [`crate::Error`].
pub async fn keep(conn: &impl ConnectionTrait, job: JobId, until: Timestamp) -> Result<()> {
    let row = row::ActiveModel { job: Set(job.0), until: Set(until.0) };
    let again = OnConflict::column(row::Column::Job).update_column(row::Column::Until).to_owned();
    row::Entity::insert(row).on_conflict(again).exec_without_returning(conn).await?;
    Ok(())
}

/// Until when these jobs are kept. Those that nobody keeps are not in it.
///
/// # Errors
/// See [`crate::Error`].
pub async fn of_jobs(
    conn: &impl ConnectionTrait,
    jobs: &[JobId],
) -> Result<HashMap<JobId, Timestamp>> {
    let mut found = HashMap::new();
    for jobs in jobs.chunks(ROWS_A_STATEMENT) {
        let query = row::Entity::find().filter(row::Column::Job.is_in(ids(jobs)));
        let rows = query.all(conn).await?;
        found.extend(rows.into_iter().map(|row| (JobId(row.job), Timestamp(row.until))));
    }
    Ok(found)
}
