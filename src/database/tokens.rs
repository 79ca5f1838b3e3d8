//! API tokens, by their hashes.

use protocol::ids::UserName;
use protocol::time::Timestamp;
use sea_orm::{
    ActiveValue, ColumnTrait, EntityTrait, Insert, QueryFilter, QueryOrder, QueryTrait, Set,
};

use crate::convert::millis;
use crate::error::named;
use crate::{ConnectionTrait, Error, Result};

mod row {
    use protocol::time::Timestamp;
    use sea_orm::entity::prelude::*;

    use super::TokenRecord;
    use crate::Result;
    use crate::convert::{Row, moment};

    #[sea_orm::model]
    #[derive(Clone, Debug, DeriveEntityModel)]
    #[sea_orm(table_name = "tokens")]
    pub(crate) struct Model {
        #[sea_orm(primary_key)]
        pub id: i64,
        pub hash: String,
        pub user_name: String,
        pub label: String,
        pub created_at: i64,
        pub expires_at: Option<i64>,
    }

    impl ActiveModelBehavior for ActiveModel {}

    impl Model {
        pub(crate) fn into_record(self) -> Result<TokenRecord> {
            Ok(TokenRecord {
                id: self.id,
                user: Row::new("tokens", &self.id).name(&self.user_name)?,
                label: self.label,
                created_at: Timestamp(self.created_at),
                expires_at: moment(self.expires_at),
            })
        }
    }
}

/// A token to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken {
    /// The token's hash.
    pub hash: String,
    /// Whose it is.
    pub user: UserName,
    /// What it is for.
    pub label: String,
    /// Since when.
    pub created_at: Timestamp,
    /// Until when; `None`: until it is revoked.
    pub expires_at: Option<Timestamp>,
}

/// A stored token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRecord {
    /// Database key.
    pub id: i64,
    /// Whose it is.
    pub user: UserName,
    /// What it is for.
    pub label: String,
    /// Since when.
    pub created_at: Timestamp,
    /// Until when; `None`: until it is revoked.
    pub expires_at: Option<Timestamp>,
}

/// Stores a token of an existing user and returns its database key.
///
/// # Errors
/// [`Error::Conflict`] when there is a token of that hash, [`Error::NotFound`] when there is no
/// such user.
pub async fn insert(conn: &impl ConnectionTrait, token: &NewToken) -> Result<i64> {
    let row = row::ActiveModel {
        id: ActiveValue::NotSet,
        hash: Set(token.hash.clone()),
        user_name: Set(token.user.to_string()),
        label: Set(token.label.clone()),
        created_at: Set(token.created_at.0),
        expires_at: Set(millis(token.expires_at)),
    };
    let mut statement = Insert::one(row).into_query();
    statement.returning_col(row::Column::Id);
    let stored = conn.query_one(&statement).await.map_err(|error| match error.sql_err() {
        Some(sea_orm::SqlErr::ForeignKeyConstraintViolation(_)) => {
            Error::not_found(format!("user {}", token.user))
        }
        _ => named("a token of that hash")(error),
    })?;
    let stored = stored.ok_or_else(|| Error::unavailable("a stored token has no key"))?;
    Ok(stored.try_get("", "id")?)
}

/// The token of a hash, unless it has expired by `now`.
///
/// # Errors
/// See [`Error`].
pub async fn by_hash(
    conn: &impl ConnectionTrait,
    hash: &str,
    now: Timestamp,
) -> Result<Option<TokenRecord>> {
    let found = row::Entity::find().filter(row::Column::Hash.eq(hash)).one(conn).await?;
    let valid = found.filter(|token| token.expires_at.is_none_or(|at| at > now.0));
    valid.map(row::Model::into_record).transpose()
}

/// The user's tokens, newest first, expired ones among them.
///
/// # Errors
/// See [`Error`].
pub async fn list_of(conn: &impl ConnectionTrait, user: &UserName) -> Result<Vec<TokenRecord>> {
    let query = row::Entity::find()
        .filter(row::Column::UserName.eq(user.as_str()))
        .order_by_desc(row::Column::Id);
    query.all(conn).await?.into_iter().map(row::Model::into_record).collect()
}

/// Revokes a token of this user. `false`: this user has none of that key.
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

/// Forgets tokens that have expired by `now`; returns how many.
///
/// # Errors
/// See [`Error`].
pub async fn delete_expired(conn: &impl ConnectionTrait, now: Timestamp) -> Result<u64> {
    let gone = row::Entity::delete_many().filter(row::Column::ExpiresAt.lte(now.0));
    Ok(gone.exec(conn).await?.rows_affected)
}
