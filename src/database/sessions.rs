//! Browser sessions, as opaque bytes.

use protocol::ids::UserName;
use protocol::time::Timestamp;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Set};

use crate::error::named;
use crate::{ConnectionTrait, Result};

mod row {
    use protocol::time::Timestamp;
    use sea_orm::entity::prelude::*;

    use super::SessionRecord;
    use crate::Result;
    use crate::convert::Row;

    #[sea_orm::model]
    #[derive(Clone, Debug, DeriveEntityModel)]
    #[sea_orm(table_name = "sessions")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: String,
        pub data: Vec<u8>,
        pub expires_at: i64,
        pub user_name: Option<String>,
    }

    impl ActiveModelBehavior for ActiveModel {}

    impl Model {
        pub(crate) fn into_record(self) -> Result<SessionRecord> {
            let user = match &self.user_name {
                Some(name) => Some(Row::new("sessions", &"of a user").name(name)?),
                None => None,
            };
            Ok(SessionRecord {
                id: self.id,
                data: self.data,
                expires_at: Timestamp(self.expires_at),
                user,
            })
        }
    }
}

/// A session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRecord {
    /// Its id, unguessable.
    pub id: String,
    /// What it holds.
    pub data: Vec<u8>,
    /// Until when.
    pub expires_at: Timestamp,
    /// Who is signed in by it, if anybody is.
    pub user: Option<UserName>,
}

/// Stores a new session.
///
/// # Errors
/// [`crate::Error::Conflict`] when the id is taken: try another.
pub async fn create(conn: &impl ConnectionTrait, session: &SessionRecord) -> Result<()> {
    row::Entity::insert(row_of(session))
        .exec_without_returning(conn)
        .await
        .map_err(named("a session of that id"))?;
    Ok(())
}

/// Stores a session, new or not.
///
/// # Errors
/// See [`crate::Error`].
pub async fn save(conn: &impl ConnectionTrait, session: &SessionRecord) -> Result<()> {
    let replace = OnConflict::column(row::Column::Id)
        .update_columns([row::Column::Data, row::Column::ExpiresAt, row::Column::UserName])
        .to_owned();
    row::Entity::insert(row_of(session)).on_conflict(replace).exec_without_returning(conn).await?;
    Ok(())
}

fn row_of(session: &SessionRecord) -> row::ActiveModel {
    row::ActiveModel {
        id: Set(session.id.clone()),
        data: Set(session.data.clone()),
        expires_at: Set(session.expires_at.0),
        user_name: Set(session.user.as_ref().map(ToString::to_string)),
    }
}

/// The session of an id, unless it has expired by `now`.
///
/// # Errors
/// See [`crate::Error`].
pub async fn load(
    conn: &impl ConnectionTrait,
    id: &str,
    now: Timestamp,
) -> Result<Option<SessionRecord>> {
    let query = row::Entity::find_by_id(id).filter(row::Column::ExpiresAt.gt(now.0));
    query.one(conn).await?.map(row::Model::into_record).transpose()
}

/// Ends a session. `false`: there was none.
///
/// # Errors
/// See [`crate::Error`].
pub async fn delete(conn: &impl ConnectionTrait, id: &str) -> Result<bool> {
    Ok(row::Entity::delete_by_id(id).exec(conn).await?.rows_affected == 1)
}

/// Forgets sessions that have expired by `now`; returns how many.
///
/// # Errors
/// See [`crate::Error`].
pub async fn delete_expired(conn: &impl ConnectionTrait, now: Timestamp) -> Result<u64> {
    let gone = row::Entity::delete_many().filter(row::Column::ExpiresAt.lte(now.0));
    Ok(gone.exec(conn).await?.rows_affected)
}

/// Ends all sessions of a user; returns how many.
///
/// # Errors
/// See [`crate::Error`].
pub async fn delete_of_user(conn: &impl ConnectionTrait, user: &UserName) -> Result<u64> {
    let gone = row::Entity::delete_many().filter(row::Column::UserName.eq(user.as_str()));
    Ok(gone.exec(conn).await?.rows_affected)
}

/// Ends all sessions of a user but one; returns how many.
///
/// # Errors
/// See [`crate::Error`].
pub async fn delete_others_of_user(
    conn: &impl ConnectionTrait,
    user: &UserName,
    kept: &str,
) -> Result<u64> {
    let gone = row::Entity::delete_many()
        .filter(row::Column::UserName.eq(user.as_str()))
        .filter(row::Column::Id.ne(kept));
    Ok(gone.exec(conn).await?.rows_affected)
}
