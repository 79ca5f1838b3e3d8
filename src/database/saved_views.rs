//! Lists of jobs that users have given names.

use protocol::ids::UserName;
use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{ActiveValue, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, Set};

use crate::error::named;
use crate::{ConnectionTrait, Result};

mod row {
    use sea_orm::entity::prelude::*;

    use super::SavedViewRecord;

    #[sea_orm::model]
    #[derive(Clone, Debug, DeriveEntityModel)]
    #[sea_orm(table_name = "saved_views")]
    pub(crate) struct Model {
        #[sea_orm(primary_key)]
        pub id: i64,
        pub user_name: String,
        pub name: String,
        pub words: String,
        pub everybody: bool,
        pub sort: String,
    }

    impl ActiveModelBehavior for ActiveModel {}

    impl Model {
        pub(crate) fn into_record(self) -> SavedViewRecord {
            let Self { name, words, everybody, sort, .. } = self;
            SavedViewRecord { name, words, everybody, sort }
        }
    }
}

/// A list with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedViewRecord {
    /// What its user calls it, by which he has it once.
    pub name: String,
    /// The words of the filter.
    pub words: String,
    /// Everybody's jobs instead of the user's own.
    pub everybody: bool,
    /// The column by which it is ordered; empty: as it comes.
    pub sort: String,
}

/// Stores a view of an existing user, whatever he had of that name.
///
/// # Errors
/// See [`crate::Error`].
pub async fn save(
    conn: &impl ConnectionTrait,
    user: &UserName,
    view: &SavedViewRecord,
) -> Result<()> {
    let row = row::ActiveModel {
        id: ActiveValue::NotSet,
        user_name: Set(user.to_string()),
        name: Set(view.name.clone()),
        words: Set(view.words.clone()),
        everybody: Set(view.everybody),
        sort: Set(view.sort.clone()),
    };
    let replace = OnConflict::columns([row::Column::UserName, row::Column::Name])
        .update_columns([row::Column::Words, row::Column::Everybody, row::Column::Sort])
        .to_owned();
    row::Entity::insert(row).on_conflict(replace).exec_without_returning(conn).await?;
    Ok(())
}

/// The user's views, oldest first.
///
/// # Errors
/// See [`crate::Error`].
pub async fn list_of(conn: &impl ConnectionTrait, user: &UserName) -> Result<Vec<SavedViewRecord>> {
    let query = row::Entity::find()
        .filter(row::Column::UserName.eq(user.as_str()))
        .order_by_asc(row::Column::Id);
    Ok(query.all(conn).await?.into_iter().map(row::Model::into_record).collect())
}

/// Gives a view of this user another name. `false`: he has none of that name.
///
/// # Errors
/// [`crate::Error::Conflict`] when he has one of the new name already.
pub async fn rename(
    conn: &impl ConnectionTrait,
    user: &UserName,
    from: &str,
    to: &str,
) -> Result<bool> {
    if !may_be_there(from) {
        return Ok(false);
    }
    let done = row::Entity::update_many()
        .col_expr(row::Column::Name, Expr::value(to))
        .filter(row::Column::UserName.eq(user.as_str()))
        .filter(row::Column::Name.eq(from))
        .exec(conn)
        .await
        .map_err(named("this view"))?;
    Ok(done.rows_affected == 1)
}

/// Forgets a view of this user. `false`: he has none of that name.
///
/// # Errors
/// See [`crate::Error`].
pub async fn remove(conn: &impl ConnectionTrait, user: &UserName, name: &str) -> Result<bool> {
    if !may_be_there(name) {
        return Ok(false);
    }
    let done = row::Entity::delete_many()
        .filter(row::Column::UserName.eq(user.as_str()))
        .filter(row::Column::Name.eq(name))
        .exec(conn)
        .await?;
    Ok(done.rows_affected == 1)
}

/// Whether anything stored can be called so: PostgreSQL keeps no NUL, and does not answer to one.
fn may_be_there(name: &str) -> bool {
    !name.contains('\0')
}
