//! Single facts of the installation, by name.

use sea_orm::sea_query::OnConflict;
use sea_orm::{EntityTrait, Set};

use crate::{ConnectionTrait, Error, Result};

mod row {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, DeriveEntityModel)]
    #[sea_orm(table_name = "settings")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub name: String,
        pub value: String,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

/// The fact of that name.
///
/// # Errors
/// See [`Error`].
pub async fn get(conn: &impl ConnectionTrait, name: &str) -> Result<Option<String>> {
    Ok(row::Entity::find_by_id(name).one(conn).await?.map(|row| row.value))
}

/// Stores a fact, whatever there was of that name.
///
/// # Errors
/// See [`Error`].
pub async fn set(conn: &impl ConnectionTrait, name: &str, value: &str) -> Result<()> {
    let row = row::ActiveModel { name: Set(name.to_owned()), value: Set(value.to_owned()) };
    let replace =
        OnConflict::column(row::Column::Name).update_column(row::Column::Value).to_owned();
    row::Entity::insert(row).on_conflict(replace).exec_without_returning(conn).await?;
    Ok(())
}

/// Stores a fact unless there is one of that name, and returns the one that holds from now on:
/// of several servers that start together all get the same.
///
/// # Errors
/// See [`Error`].
pub async fn set_once(conn: &impl ConnectionTrait, name: &str, value: &str) -> Result<String> {
    let row = row::ActiveModel { name: Set(name.to_owned()), value: Set(value.to_owned()) };
    let keep = OnConflict::column(row::Column::Name).do_nothing().to_owned();
    row::Entity::insert(row).on_conflict(keep).exec_without_returning(conn).await?;
    get(conn, name).await?.ok_or_else(|| Error::not_found(format!("setting {name}")))
}
