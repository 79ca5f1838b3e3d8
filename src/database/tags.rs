//! What people call jobs beside their names, to find them again.

use std::collections::{HashMap, HashSet};

use protocol::ids::{JobId, Tag};
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Set};

use crate::convert::{ROWS_A_STATEMENT, Row, any_of};
use crate::{ConnectionTrait, Result};

mod row {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, DeriveEntityModel)]
    #[sea_orm(table_name = "job_tags")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub job: i64,
        #[sea_orm(primary_key, auto_increment = false)]
        pub tag: String,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

/// Gives a job a tag. One that it has already stays.
///
/// # Errors
/// See [`crate::Error`].
pub async fn add(conn: &impl ConnectionTrait, job: JobId, tag: &Tag) -> Result<()> {
    let row = row::ActiveModel { job: Set(job.0), tag: Set(tag.to_string()) };
    let again = OnConflict::columns([row::Column::Job, row::Column::Tag])
        .update_column(row::Column::Tag)
        .to_owned();
    row::Entity::insert(row).on_conflict(again).exec_without_returning(conn).await?;
    Ok(())
}

/// Takes a tag from a job. `false`: it has none such.
///
/// # Errors
/// See [`crate::Error`].
pub async fn remove(conn: &impl ConnectionTrait, job: JobId, tag: &Tag) -> Result<bool> {
    let done = row::Entity::delete_many()
        .filter(row::Column::Job.eq(job.0))
        .filter(row::Column::Tag.eq(tag.as_str()))
        .exec(conn)
        .await?;
    Ok(done.rows_affected == 1)
}

/// The tags of these jobs, in alphabetical order. Jobs without any are not in it.
///
/// # Errors
/// See [`crate::Error`].
pub async fn of_jobs(
    conn: &impl ConnectionTrait,
    jobs: &[JobId],
) -> Result<HashMap<JobId, Vec<Tag>>> {
    let mut found = HashMap::<JobId, Vec<Tag>>::new();
    for jobs in jobs.chunks(ROWS_A_STATEMENT) {
        let query = row::Entity::find()
            .filter(row::Column::Job.is_in(any_of(jobs)))
            .order_by_asc(row::Column::Tag);
        for row in query.all(conn).await? {
            let tag = Row::new("job_tags", &row.job).name(&row.tag)?;
            found.entry(JobId(row.job)).or_default().push(tag);
        }
    }
    Ok(found)
}

/// The jobs that have any of these tags.
///
/// # Errors
/// See [`crate::Error`].
pub(crate) async fn jobs_with(conn: &impl ConnectionTrait, tags: &[Tag]) -> Result<HashSet<i64>> {
    let mut found = HashSet::new();
    for tags in tags.chunks(ROWS_A_STATEMENT) {
        let query = row::Entity::find()
            .select_only()
            .column(row::Column::Job)
            .filter(row::Column::Tag.is_in(tags.iter().map(Tag::as_str)));
        found.extend(query.into_tuple::<i64>().all(conn).await?);
    }
    Ok(found)
}
