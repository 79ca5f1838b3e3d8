//! What is written here of groups. Who is in them: [`crate::groups`].

use std::collections::BTreeSet;

use protocol::ids::GroupName;
use protocol::person::GroupSettings;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Set};

use crate::convert::{Row, to_json};
use crate::{ConnectionTrait, Result};

mod row {
    use protocol::person::GroupSettings;
    use sea_orm::entity::prelude::*;

    use crate::Result;
    use crate::convert::Row;

    #[sea_orm::model]
    #[derive(Clone, Debug, DeriveEntityModel)]
    #[sea_orm(table_name = "group_settings")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub name: String,
        pub admin: bool,
        pub settings: String,
    }

    impl ActiveModelBehavior for ActiveModel {}

    impl Model {
        pub(crate) fn into_settings(self) -> Result<GroupSettings> {
            Row::new("group_settings", &self.name).json(&self.settings)
        }
    }
}

/// Stores what is written of a group, in place of what was.
///
/// # Errors
/// See [`crate::Error`].
pub async fn save(conn: &impl ConnectionTrait, settings: &GroupSettings) -> Result<()> {
    let row = row::ActiveModel {
        name: Set(settings.name.to_string()),
        admin: Set(settings.admin),
        settings: Set(to_json(settings)),
    };
    let replace = OnConflict::column(row::Column::Name)
        .update_columns([row::Column::Admin, row::Column::Settings])
        .to_owned();
    row::Entity::insert(row).on_conflict(replace).exec_without_returning(conn).await?;
    Ok(())
}

/// All that is written of groups, by name.
///
/// # Errors
/// See [`crate::Error`].
pub async fn list(conn: &impl ConnectionTrait) -> Result<Vec<GroupSettings>> {
    let rows = row::Entity::find().order_by_asc(row::Column::Name).all(conn).await?;
    rows.into_iter().map(row::Model::into_settings).collect()
}

/// What is written of one group, if anything is.
///
/// # Errors
/// See [`crate::Error`].
pub async fn get(conn: &impl ConnectionTrait, name: &GroupName) -> Result<Option<GroupSettings>> {
    let found = row::Entity::find_by_id(name.as_str()).one(conn).await?;
    found.map(row::Model::into_settings).transpose()
}

/// The groups whose members are administrators.
///
/// # Errors
/// See [`crate::Error`].
pub async fn of_administrators(conn: &impl ConnectionTrait) -> Result<BTreeSet<GroupName>> {
    let query = row::Entity::find().select_only().column(row::Column::Name);
    let query = query.filter(row::Column::Admin.eq(true));
    let names: Vec<String> = query.into_tuple().all(conn).await?;
    names.iter().map(|name| Row::new("group_settings", name).name::<GroupName>(name)).collect()
}

/// Forgets what is written of a group.
///
/// # Errors
/// See [`crate::Error`].
pub async fn remove(conn: &impl ConnectionTrait, name: &GroupName) -> Result<()> {
    row::Entity::delete_by_id(name.as_str()).exec(conn).await?;
    Ok(())
}
