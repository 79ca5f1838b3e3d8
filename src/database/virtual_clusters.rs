//! Virtual clusters: shares of the cluster and who may use them.

use protocol::cluster::VirtualClusterSettings;
use protocol::ids::VirtualClusterName;
use sea_orm::sea_query::OnConflict;
use sea_orm::{EntityTrait, QueryOrder, Set};

use crate::convert::to_json;
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
    }

    impl ActiveModelBehavior for ActiveModel {}

    impl Model {
        pub(crate) fn into_settings(self) -> Result<VirtualClusterSettings> {
            Row::new("virtual_clusters", &self.name).json(&self.settings)
        }
    }
}

/// Stores a virtual cluster, or other settings of the one of that name.
///
/// # Errors
/// See [`crate::Error`].
pub async fn save(conn: &impl ConnectionTrait, settings: &VirtualClusterSettings) -> Result<()> {
    let row =
        row::ActiveModel { name: Set(settings.name.to_string()), settings: Set(to_json(settings)) };
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
