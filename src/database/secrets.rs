//! Values of jobs' secrets, encrypted by whoever stores them. They go with their job: as long as it is
//! there, it may be cloned with them.

use std::collections::BTreeMap;

use protocol::ids::{JobId, UserName};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Set};

use crate::convert::ROWS_A_STATEMENT;
use crate::error::named;
use crate::{ConnectionTrait, Result, jobs};

mod row {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, DeriveEntityModel)]
    #[sea_orm(table_name = "secrets")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub job: i64,
        #[sea_orm(primary_key, auto_increment = false)]
        pub name: String,
        pub ciphertext: Vec<u8>,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

/// One secret of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// The job.
    pub job: JobId,
    /// The secret's name in the job's file.
    pub name: String,
    /// Its encrypted value.
    pub ciphertext: Vec<u8>,
}

/// Stores secrets: all of them or none.
///
/// # Errors
/// [`crate::Error::Conflict`] when a job has a secret of that name already.
pub async fn insert_many(conn: &impl ConnectionTrait, secrets: &[Secret]) -> Result<()> {
    for secrets in secrets.chunks(ROWS_A_STATEMENT) {
        let rows = secrets.iter().map(|secret| row::ActiveModel {
            job: Set(secret.job.0),
            name: Set(secret.name.clone()),
            ciphertext: Set(secret.ciphertext.clone()),
        });
        row::Entity::insert_many(rows)
            .exec_without_returning(conn)
            .await
            .map_err(named("a secret of that name"))?;
    }
    Ok(())
}

/// The job's secrets by name, encrypted.
///
/// # Errors
/// See [`crate::Error`].
pub async fn of_job(conn: &impl ConnectionTrait, job: JobId) -> Result<BTreeMap<String, Vec<u8>>> {
    let rows = row::Entity::find().filter(row::Column::Job.eq(job.0)).all(conn).await?;
    Ok(rows.into_iter().map(|row| (row.name, row.ciphertext)).collect())
}

/// Forgets the secrets of all of a user's jobs; returns how many.
///
/// # Errors
/// See [`crate::Error`].
pub async fn remove_of_user(conn: &impl ConnectionTrait, user: &UserName) -> Result<u64> {
    let theirs = jobs::ids_of(user);
    let gone = row::Entity::delete_many().filter(row::Column::Job.in_subquery(theirs));
    Ok(gone.exec(conn).await?.rows_affected)
}
