//! Jobs by which nodes are tried: by their names, which are written down before they are submitted.

use protocol::ids::JobKey;
use protocol::time::Timestamp;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, Set};

use crate::convert::Row;
use crate::{ConnectionTrait, Result};

mod row {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, DeriveEntityModel)]
    #[sea_orm(table_name = "trials")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub user_name: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub job_name: String,
        pub until: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

/// A job of this name is to be gone then.
///
/// # Errors
/// See [`crate::Error`].
pub async fn begin(conn: &impl ConnectionTrait, job: &JobKey, until: Timestamp) -> Result<()> {
    let row = row::ActiveModel {
        user_name: Set(job.user.to_string()),
        job_name: Set(job.name.to_string()),
        until: Set(until.0),
    };
    let again = OnConflict::columns([row::Column::UserName, row::Column::JobName])
        .update_column(row::Column::Until)
        .to_owned();
    row::Entity::insert(row).on_conflict(again).exec_without_returning(conn).await?;
    Ok(())
}

/// Those whose time is over: it was to end before `now`, or is after `latest`, to which nobody was ever
/// given, so that the clock was set back.
///
/// # Errors
/// See [`crate::Error`].
pub async fn over(
    conn: &impl ConnectionTrait,
    now: Timestamp,
    latest: Timestamp,
) -> Result<Vec<JobKey>> {
    let over =
        Condition::any().add(row::Column::Until.lte(now.0)).add(row::Column::Until.gt(latest.0));
    let query = row::Entity::find().filter(over).order_by_asc(row::Column::Until);
    let rows = query.all(conn).await?;
    let key = |row: row::Model| {
        let of = Row::new("trials", &row.job_name);
        Ok(JobKey { user: of.name(&row.user_name)?, name: of.name(&row.job_name)? })
    };
    rows.into_iter().map(key).collect()
}

/// It is gone.
///
/// # Errors
/// See [`crate::Error`].
pub async fn end(conn: &impl ConnectionTrait, job: &JobKey) -> Result<()> {
    row::Entity::delete_many()
        .filter(row::Column::UserName.eq(job.user.as_str()))
        .filter(row::Column::JobName.eq(job.name.as_str()))
        .exec(conn)
        .await?;
    Ok(())
}
