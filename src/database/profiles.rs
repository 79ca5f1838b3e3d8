//! What users and their programs keep with their accounts.

use std::collections::BTreeMap;

use protocol::ids::UserName;
use protocol::person::Profile;
use sea_orm::sea_query::OnConflict;
use sea_orm::{EntityTrait, Set};

use crate::convert::to_json;
use crate::{ConnectionTrait, Result};

mod row {
    use protocol::ids::UserName;
    use protocol::person::Profile;
    use sea_orm::entity::prelude::*;

    use crate::Result;
    use crate::convert::Row;

    #[sea_orm::model]
    #[derive(Clone, Debug, DeriveEntityModel)]
    #[sea_orm(table_name = "user_profiles")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub user_name: String,
        pub profile: String,
    }

    impl ActiveModelBehavior for ActiveModel {}

    impl Model {
        pub(crate) fn into_profile(self) -> Result<(UserName, Profile)> {
            let row = Row::new("user_profiles", &self.user_name);
            Ok((row.name(&self.user_name)?, row.json(&self.profile)?))
        }
    }
}

/// Stores a user's profile in place of the one there was.
///
/// # Errors
/// See [`crate::Error`].
pub async fn save(conn: &impl ConnectionTrait, user: &UserName, profile: &Profile) -> Result<()> {
    let row = row::ActiveModel { user_name: Set(user.to_string()), profile: Set(to_json(profile)) };
    let replace =
        OnConflict::column(row::Column::UserName).update_column(row::Column::Profile).to_owned();
    row::Entity::insert(row).on_conflict(replace).exec_without_returning(conn).await?;
    Ok(())
}

/// A user's profile; an empty one where nothing is kept.
///
/// # Errors
/// See [`crate::Error`].
pub async fn get(conn: &impl ConnectionTrait, user: &UserName) -> Result<Profile> {
    let found = row::Entity::find_by_id(user.as_str()).one(conn).await?;
    let found = found.map(row::Model::into_profile).transpose()?;
    Ok(found.map(|(_, profile)| profile).unwrap_or_default())
}

/// All that are kept.
///
/// # Errors
/// See [`crate::Error`].
pub async fn list(conn: &impl ConnectionTrait) -> Result<BTreeMap<UserName, Profile>> {
    let rows = row::Entity::find().all(conn).await?;
    rows.into_iter().map(row::Model::into_profile).collect()
}
