//! Users and the hashes of their passwords.

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use protocol::ids::UserName;
use protocol::time::Timestamp;
use sea_orm::{
    ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Set,
};

use crate::convert::ROWS_A_STATEMENT;
use crate::error::named;
use crate::{ConnectionTrait, Result, secrets, sessions, user_names};

pub(crate) mod row {
    use protocol::time::Timestamp;
    use sea_orm::entity::prelude::*;

    use super::UserRecord;
    use crate::Result;
    use crate::convert::Row;

    #[sea_orm::model]
    #[derive(Clone, Debug, DeriveEntityModel)]
    #[sea_orm(table_name = "users")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub name: String,
        pub password_hash: String,
        pub admin: bool,
        pub created_at: i64,
        pub password_changed_at: i64,
        pub password_temporary: bool,
    }

    impl ActiveModelBehavior for ActiveModel {}

    impl Model {
        pub(crate) fn into_record(self) -> Result<UserRecord> {
            Ok(UserRecord {
                name: Row::new("users", &self.name).name(&self.name)?,
                password_hash: self.password_hash,
                admin: self.admin,
                created_at: Timestamp(self.created_at),
                password_changed_at: Timestamp(self.password_changed_at),
                password_temporary: self.password_temporary,
            })
        }
    }
}

/// A user.
#[derive(Clone, PartialEq, Eq)]
pub struct UserRecord {
    /// Name.
    pub name: UserName,
    /// The password's hash, in the PHC notation.
    pub password_hash: String,
    /// Administrator.
    pub admin: bool,
    /// Since when.
    pub created_at: Timestamp,
    /// Since when the password is this one.
    pub password_changed_at: Timestamp,
    /// Somebody else has set it, and it is good for choosing another one alone.
    pub password_temporary: bool,
}

impl fmt::Debug for UserRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserRecord")
            .field("name", &self.name)
            .field("admin", &self.admin)
            .finish_non_exhaustive()
    }
}

/// Stores a user, whose name is nobody else's from then on; see [`user_names`].
///
/// # Errors
/// [`crate::Error::Conflict`] when the name is or was somebody's.
pub async fn insert(conn: &impl ConnectionTrait, user: &UserRecord) -> Result<()> {
    user_names::take(conn, &user.name).await?;
    let row = row::ActiveModel {
        name: Set(user.name.to_string()),
        password_hash: Set(user.password_hash.clone()),
        admin: Set(user.admin),
        created_at: Set(user.created_at.0),
        password_changed_at: Set(user.password_changed_at.0),
        password_temporary: Set(user.password_temporary),
    };
    row::Entity::insert(row)
        .exec_without_returning(conn)
        .await
        .map_err(named(format!("user {}", user.name)))?;
    Ok(())
}

/// One user.
///
/// # Errors
/// See [`crate::Error`].
pub async fn get(conn: &impl ConnectionTrait, name: &UserName) -> Result<Option<UserRecord>> {
    let found = row::Entity::find_by_id(name.as_str()).one(conn).await?;
    found.map(row::Model::into_record).transpose()
}

/// All users by name.
///
/// # Errors
/// See [`crate::Error`].
pub async fn list(conn: &impl ConnectionTrait) -> Result<Vec<UserRecord>> {
    let rows = row::Entity::find().order_by_asc(row::Column::Name).all(conn).await?;
    rows.into_iter().map(row::Model::into_record).collect()
}

/// The names of all users.
///
/// # Errors
/// See [`crate::Error`].
pub async fn names(conn: &impl ConnectionTrait) -> Result<HashSet<String>> {
    let query = row::Entity::find().select_only().column(row::Column::Name);
    let names: Vec<String> = query.into_tuple().all(conn).await?;
    Ok(names.into_iter().collect())
}

/// Stores another password, with whether it is good for choosing another one alone. `false`: there is
/// no such user.
///
/// # Errors
/// See [`crate::Error`].
pub async fn set_password(
    conn: &impl ConnectionTrait,
    name: &UserName,
    (password_hash, temporary): (&str, bool),
    at: Timestamp,
) -> Result<bool> {
    let change = row::ActiveModel {
        password_hash: Set(password_hash.to_owned()),
        password_changed_at: Set(at.0),
        password_temporary: Set(temporary),
        ..Default::default()
    };
    let done = row::Entity::update_many()
        .set(change)
        .filter(row::Column::Name.eq(name.as_str()))
        .exec(conn)
        .await?;
    Ok(done.rows_affected == 1)
}

/// Which of these are users. They stay users until the transaction ends.
///
/// # Errors
/// See [`crate::Error`].
pub async fn present(
    conn: &impl ConnectionTrait,
    names: &BTreeSet<UserName>,
) -> Result<HashSet<String>> {
    let mut found = HashSet::new();
    let names: Vec<&str> = names.iter().map(UserName::as_str).collect();
    for names in names.chunks(ROWS_A_STATEMENT) {
        let query = row::Entity::find().filter(row::Column::Name.is_in(names.iter().copied()));
        let query = query.select_only().column(row::Column::Name).lock_shared();
        found.extend(query.into_tuple::<String>().all(conn).await?);
    }
    Ok(found)
}

/// Makes a user an administrator, or no more. `false`: there is no such user.
///
/// # Errors
/// See [`crate::Error`].
pub async fn set_admin(conn: &impl ConnectionTrait, name: &UserName, admin: bool) -> Result<bool> {
    let change = row::ActiveModel { admin: Set(admin), ..Default::default() };
    let done = row::Entity::update_many()
        .set(change)
        .filter(row::Column::Name.eq(name.as_str()))
        .exec(conn)
        .await?;
    Ok(done.rows_affected == 1)
}

/// Forgets a user with all tokens, sessions, public keys and the secrets of his jobs. The name is
/// never given again. `false`: there was none.
///
/// # Errors
/// See [`crate::Error`].
pub async fn remove(conn: &impl ConnectionTrait, name: &UserName, at: Timestamp) -> Result<bool> {
    sessions::delete_of_user(conn, name).await?;
    secrets::remove_of_user(conn, name).await?;
    user_names::leave(conn, name, at).await?;
    let done = row::Entity::delete_by_id(name.as_str()).exec(conn).await?;
    Ok(done.rows_affected == 1)
}

/// How many users there are.
///
/// # Errors
/// See [`crate::Error`].
pub async fn count(conn: &impl ConnectionTrait) -> Result<u64> {
    Ok(row::Entity::find().count(conn).await?)
}
