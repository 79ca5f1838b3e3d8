//! Virtual clusters: shares of the cluster and who may use them.

use std::collections::BTreeSet;

use protocol::cluster::VirtualClusterSettings;
use protocol::ids::VirtualClusterName;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Set};

use crate::convert::{Row, to_json};
use crate::{ConnectionTrait, Result};

mod row {
    use protocol::cluster::VirtualClusterSettings;
    use sea_orm::entity::prelude::*;

    use crate::Result;
    use crate::convert::Row;

    #[sea_orm::model]
    #[derive(Clone, Debug, DeriveEntityModel)]
    #[sea_orm(table_name = "virtual_clusters")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub name: String,
        pub settings: String,
        pub stopped: bool,
    }

    impl ActiveModelBehavior for ActiveModel {}

    impl Model {
        pub(crate) fn into_settings(self) -> Result<VirtualClusterSettings> {
            Row::new("virtual_clusters", &self.name).json(&self.settings)
        }
    }
}

/// Stores a virtual cluster, or other settings of the one of that name: whether it is stopped stays.
///
/// # Errors
/// See [`crate::Error`].
pub async fn save(conn: &impl ConnectionTrait, settings: &VirtualClusterSettings) -> Result<()> {
    let row = row::ActiveModel {
        name: Set(settings.name.to_string()),
        settings: Set(to_json(settings)),
        stopped: Set(false),
    };
    let replace =
        OnConflict::column(row::Column::Name).update_column(row::Column::Settings).to_owned();
    row::Entity::insert(row).on_conflict(replace).exec_without_returning(conn).await?;
    Ok(())
}

/// All virtual clusters by name.
///
/// # Errors
/// See [`crate::Error`].
pub async fn list(conn: &impl ConnectionTrait) -> Result<Vec<VirtualClusterSettings>> {
    let rows = row::Entity::find().order_by_asc(row::Column::Name).all(conn).await?;
    rows.into_iter().map(row::Model::into_settings).collect()
}

/// Those that take no new jobs.
///
/// # Errors
/// See [`crate::Error`].
pub async fn stopped(conn: &impl ConnectionTrait) -> Result<BTreeSet<VirtualClusterName>> {
    let query = row::Entity::find().select_only().column(row::Column::Name);
    let query = query.filter(row::Column::Stopped.eq(true));
    let names: Vec<String> = query.into_tuple().all(conn).await?;
    let read = |name: &String| Row::new("virtual_clusters", name).name::<VirtualClusterName>(name);
    names.iter().map(read).collect()
}

/// Lets a virtual cluster take new jobs, or no more. `false`: there is none such.
///
/// # Errors
/// See [`crate::Error`].
pub async fn set_stopped(
    conn: &impl ConnectionTrait,
    name: &VirtualClusterName,
    stopped: bool,
) -> Result<bool> {
    let change = row::ActiveModel { stopped: Set(stopped), ..Default::default() };
    let done = row::Entity::update_many()
        .set(change)
        .filter(row::Column::Name.eq(name.as_str()))
        .exec(conn)
        .await?;
    Ok(done.rows_affected == 1)
}

/// One virtual cluster.
///
/// # Errors
/// See [`crate::Error`].
pub async fn get(
    conn: &impl ConnectionTrait,
    name: &VirtualClusterName,
) -> Result<Option<VirtualClusterSettings>> {
    let found = row::Entity::find_by_id(name.as_str()).one(conn).await?;
    found.map(row::Model::into_settings).transpose()
}

/// Forgets a virtual cluster. `false`: there was none.
///
/// # Errors
/// See [`crate::Error`].
pub async fn remove(conn: &impl ConnectionTrait, name: &VirtualClusterName) -> Result<bool> {
    let done = row::Entity::delete_by_id(name.as_str()).exec(conn).await?;
    Ok(done.rows_affected == 1)
}
