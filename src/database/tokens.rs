//! API tokens, by their hashes.

use protocol::ids::UserName;
use protocol::time::Timestamp;
use sea_orm::{
    ActiveValue, ColumnTrait, Condition, EntityTrait, Insert, QueryFilter, QueryOrder, QueryTrait,
    Set,
};

use crate::convert::millis;
use crate::error::named;
use crate::{ConnectionTrait, Error, Result};

pub(crate) mod row {
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
        pub made_by: Option<i64>,
        pub by_sign_in: bool,
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
    /// The token that it was made by, with which it goes.
    pub made_by: Option<i64>,
    /// Whether it was given for a password, in place of a session.
    pub by_sign_in: bool,
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
/// such user, or the token that it was made by is gone.
pub async fn insert(conn: &impl ConnectionTrait, token: &NewToken) -> Result<i64> {
    let row = row::ActiveModel {
        id: ActiveValue::NotSet,
        hash: Set(token.hash.clone()),
        user_name: Set(token.user.to_string()),
        label: Set(token.label.clone()),
        created_at: Set(token.created_at.0),
        expires_at: Set(millis(token.expires_at)),
        made_by: Set(token.made_by),
        by_sign_in: Set(token.by_sign_in),
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

/// A user's token by its key, unless it has expired by `now`.
///
/// # Errors
/// See [`Error`].
pub async fn get(
    conn: &impl ConnectionTrait,
    user: &UserName,
    id: i64,
    now: Timestamp,
) -> Result<Option<TokenRecord>> {
    let found = row::Entity::find_by_id(id)
        .filter(row::Column::UserName.eq(user.as_str()))
        .one(conn)
        .await?;
    let valid = found.filter(|token| token.expires_at.is_none_or(|at| at > now.0));
    valid.map(row::Model::into_record).transpose()
}

/// The keys of the user's tokens of one kind that have not expired by `now`, newest first.
///
/// # Errors
/// See [`Error`].
pub async fn keys_of(
    conn: &impl ConnectionTrait,
    user: &UserName,
    by_sign_in: bool,
    now: Timestamp,
) -> Result<Vec<i64>> {
    let query = row::Entity::find()
        .filter(row::Column::UserName.eq(user.as_str()))
        .filter(row::Column::BySignIn.eq(by_sign_in))
        .order_by_desc(row::Column::Id);
    let rows = query.all(conn).await?.into_iter();
    Ok(rows.filter(|row| row.expires_at.is_none_or(|at| at > now.0)).map(|row| row.id).collect())
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

/// Revokes all tokens of a user, but one that is kept; returns how many.
///
/// # Errors
/// See [`Error`].
pub async fn remove_of(
    conn: &impl ConnectionTrait,
    user: &UserName,
    kept: Option<i64>,
) -> Result<u64> {
    if let Some(kept) = kept {
        // What it was made by goes, and would take it along.
        let alone = row::ActiveModel { made_by: Set(None), ..Default::default() };
        row::Entity::update_many().set(alone).filter(row::Column::Id.eq(kept)).exec(conn).await?;
    }
    let gone = row::Entity::delete_many()
        .filter(row::Column::UserName.eq(user.as_str()))
        .filter(row::Column::Id.ne(kept.unwrap_or(-1)));
    Ok(gone.exec(conn).await?.rows_affected)
}

/// Lets no token live beyond `latest`; returns how many that shortens.
///
/// # Errors
/// See [`Error`].
pub async fn end_by(conn: &impl ConnectionTrait, latest: Timestamp) -> Result<u64> {
    let end = row::ActiveModel { expires_at: Set(Some(latest.0)), ..Default::default() };
    let too_long = Condition::any()
        .add(row::Column::ExpiresAt.is_null())
        .add(row::Column::ExpiresAt.gt(latest.0));
    let done = row::Entity::update_many().set(end).filter(too_long).exec(conn).await?;
    Ok(done.rows_affected)
}

/// Forgets tokens that have expired by `now`; returns how many.
///
/// # Errors
/// See [`Error`].
pub async fn delete_expired(conn: &impl ConnectionTrait, now: Timestamp) -> Result<u64> {
    let gone = row::Entity::delete_many().filter(row::Column::ExpiresAt.lte(now.0));
    Ok(gone.exec(conn).await?.rows_affected)
}
