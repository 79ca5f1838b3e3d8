//! Names that are or were somebody's. Each is given once, so that nobody finds what another has
//! left; names that differ in nothing but capital letters are the same.

use protocol::ids::UserName;
use protocol::time::Timestamp;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Set};

use crate::error::named;
use crate::{ConnectionTrait, Result};

mod row {
    use sea_orm::entity::prelude::*;

    use super::GivenName;
    use crate::Result;
    use crate::convert::{Row, moment};

    #[sea_orm::model]
    #[derive(Clone, Debug, DeriveEntityModel)]
    #[sea_orm(table_name = "user_names")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub folded: String,
        pub name: String,
        pub removed_at: Option<i64>,
    }

    impl ActiveModelBehavior for ActiveModel {}

    impl Model {
        pub(crate) fn into_record(self) -> Result<GivenName> {
            Ok(GivenName {
                name: Row::new("user_names", &self.folded).name(&self.name)?,
                removed_at: moment(self.removed_at),
            })
        }
    }
}

/// A name that is or was somebody's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenName {
    /// As it was given.
    pub name: UserName,
    /// Since when it is nobody's any more.
    pub removed_at: Option<Timestamp>,
}

fn folded(name: &UserName) -> String {
    name.as_str().to_ascii_lowercase()
}

/// Gives a name.
///
/// # Errors
/// [`crate::Error::Conflict`] when it was given before.
pub(crate) async fn take(conn: &impl ConnectionTrait, name: &UserName) -> Result<()> {
    let row = row::ActiveModel {
        folded: Set(folded(name)),
        name: Set(name.to_string()),
        removed_at: Set(None),
    };
    row::Entity::insert(row)
        .exec_without_returning(conn)
        .await
        .map_err(named(format!("user {name}")))?;
    Ok(())
}

/// Notes that nobody has the name any more.
pub(crate) async fn leave(
    conn: &impl ConnectionTrait,
    name: &UserName,
    at: Timestamp,
) -> Result<()> {
    let left = row::ActiveModel { removed_at: Set(Some(at.0)), ..Default::default() };
    row::Entity::update_many()
        .set(left)
        .filter(row::Column::Folded.eq(folded(name)))
        .filter(row::Column::Name.eq(name.as_str()))
        .exec(conn)
        .await?;
    Ok(())
}

/// Who has or had this name, however it is written.
///
/// # Errors
/// See [`crate::Error`].
pub async fn find(conn: &impl ConnectionTrait, name: &UserName) -> Result<Option<GivenName>> {
    let found = row::Entity::find_by_id(folded(name)).one(conn).await?;
    found.map(row::Model::into_record).transpose()
}
