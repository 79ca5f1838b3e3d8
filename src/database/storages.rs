//! Storages that administrators have set up beside the users' own files.

use protocol::ids::StorageName;
use protocol::storages::StorageSettings;
use sea_orm::sea_query::OnConflict;
use sea_orm::{EntityTrait, QueryOrder, Set};

use crate::convert::to_json;
use crate::{ConnectionTrait, Result};

mod row {
    use sea_orm::entity::prelude::*;

    use super::Storage;
    use crate::Result;
    use crate::convert::Row;

    #[sea_orm::model]
    #[derive(Clone, Debug, DeriveEntityModel)]
    #[sea_orm(table_name = "storages")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub name: String,
        pub settings: String,
        pub password: Option<Vec<u8>>,
    }

    impl ActiveModelBehavior for ActiveModel {}

    impl Model {
        pub(crate) fn into_storage(self) -> Result<Storage> {
            let settings = Row::new("storages", &self.name).json(&self.settings)?;
            Ok(Storage { settings, password: self.password })
        }
    }
}

/// A storage as it is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Storage {
    /// All that is said of it but its password.
    pub settings: StorageSettings,
    /// The password of its server, encrypted by whoever stores it.
    pub password: Option<Vec<u8>>,
}

/// Stores a storage, or another description of the one of that name.
///
/// # Errors
/// See [`crate::Error`].
pub async fn save(conn: &impl ConnectionTrait, storage: &Storage) -> Result<()> {
    let row = row::ActiveModel {
        name: Set(storage.settings.name.to_string()),
        settings: Set(to_json(&storage.settings)),
        password: Set(storage.password.clone()),
    };
    let replace = OnConflict::column(row::Column::Name)
        .update_columns([row::Column::Settings, row::Column::Password])
        .to_owned();
    row::Entity::insert(row).on_conflict(replace).exec_without_returning(conn).await?;
    Ok(())
}

/// All storages by name.
///
/// # Errors
/// See [`crate::Error`].
pub async fn list(conn: &impl ConnectionTrait) -> Result<Vec<Storage>> {
    let rows = row::Entity::find().order_by_asc(row::Column::Name).all(conn).await?;
    rows.into_iter().map(row::Model::into_storage).collect()
}

/// Forgets a storage. `false`: there was none.
///
/// # Errors
/// See [`crate::Error`].
pub async fn remove(conn: &impl ConnectionTrait, name: &StorageName) -> Result<bool> {
    let done = row::Entity::delete_by_id(name.as_str()).exec(conn).await?;
    Ok(done.rows_affected == 1)
}
