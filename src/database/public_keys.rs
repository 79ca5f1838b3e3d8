//! The public keys by which users enter their tasks.

use protocol::ids::UserName;
use protocol::time::Timestamp;
use sea_orm::{
    ActiveValue, ColumnTrait, EntityTrait, Insert, QueryFilter, QueryOrder, QueryTrait, Set,
};

use crate::error::named;
use crate::{ConnectionTrait, Error, Result};

mod row {
    use protocol::time::Timestamp;
    use sea_orm::entity::prelude::*;

    use super::PublicKeyRecord;

    #[sea_orm::model]
    #[derive(Clone, Debug, DeriveEntityModel)]
    #[sea_orm(table_name = "public_keys")]
    pub(crate) struct Model {
        #[sea_orm(primary_key)]
        pub id: i64,
        pub user_name: String,
        pub fingerprint: String,
        pub line: String,
        pub label: String,
        pub created_at: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}

    impl Model {
        pub(crate) fn into_record(self) -> PublicKeyRecord {
            PublicKeyRecord {
                id: self.id,
                fingerprint: self.fingerprint,
                line: self.line,
                label: self.label,
                created_at: Timestamp(self.created_at),
            }
        }
    }
}

/// A stored public key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKeyRecord {
    /// Database key; of one to be stored it says nothing.
    pub id: i64,
    /// `SHA256:…`, by which a user has it once.
    pub fingerprint: String,
    /// As OpenSSH writes it: kind, key, comment.
    pub line: String,
    /// What the user calls it.
    pub label: String,
    /// Since when.
    pub created_at: Timestamp,
}

/// Stores a key of an existing user and returns its database key.
///
/// # Errors
/// [`Error::Conflict`] when the user has it already, [`Error::NotFound`] when there is no such user.
pub async fn insert(
    conn: &impl ConnectionTrait,
    user: &UserName,
    key: &PublicKeyRecord,
) -> Result<i64> {
    let row = row::ActiveModel {
        id: ActiveValue::NotSet,
        user_name: Set(user.to_string()),
        fingerprint: Set(key.fingerprint.clone()),
        line: Set(key.line.clone()),
        label: Set(key.label.clone()),
        created_at: Set(key.created_at.0),
    };
    let mut statement = Insert::one(row).into_query();
    statement.returning_col(row::Column::Id);
    let stored = conn.query_one(&statement).await.map_err(|error| match error.sql_err() {
        Some(sea_orm::SqlErr::ForeignKeyConstraintViolation(_)) => {
            Error::not_found(format!("user {user}"))
        }
        _ => named("this key")(error),
    })?;
    let stored = stored.ok_or_else(|| Error::unavailable("a stored key has no key"))?;
    Ok(stored.try_get("", "id")?)
}

/// The user's keys, oldest first.
///
/// # Errors
/// See [`Error`].
pub async fn list_of(conn: &impl ConnectionTrait, user: &UserName) -> Result<Vec<PublicKeyRecord>> {
    let query = row::Entity::find()
        .filter(row::Column::UserName.eq(user.as_str()))
        .order_by_asc(row::Column::Id);
    Ok(query.all(conn).await?.into_iter().map(row::Model::into_record).collect())
}

/// Forgets a key of this user. `false`: this user has none of that database key.
///
/// # Errors
/// See [`Error`].
pub async fn remove(conn: &impl ConnectionTrait, user: &UserName, id: i64) -> Result<bool> {
    let done = row::Entity::delete_many()
        .filter(row::Column::Id.eq(id))
        .filter(row::Column::UserName.eq(user.as_str()))
        .exec(conn)
        .await?;
    Ok(done.rows_affected == 1)
}
