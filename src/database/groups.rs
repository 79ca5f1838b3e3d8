//! Which groups users are in, and who says so.

use protocol::ids::{GroupName, UserName};
use protocol::person::Source;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, Set};

use crate::convert::ROWS_A_STATEMENT;
use crate::{ConnectionTrait, Result};

pub(crate) mod row {
    use sea_orm::entity::prelude::*;

    use super::Membership;
    use crate::Result;
    use crate::convert::Row;

    #[sea_orm::model]
    #[derive(Clone, Debug, DeriveEntityModel)]
    #[sea_orm(table_name = "user_groups")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub user_name: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub source: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub name: String,
    }

    impl ActiveModelBehavior for ActiveModel {}

    impl Model {
        pub(crate) fn into_membership(self) -> Result<Membership> {
            let row = Row::new("user_groups", &self.user_name);
            Ok(Membership {
                user: row.name(&self.user_name)?,
                group: row.name(&self.name)?,
                source: row.name(&self.source)?,
            })
        }
    }
}

/// A user is in a group, because somebody says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// Who is in it.
    pub user: UserName,
    /// The group.
    pub group: GroupName,
    /// Who says so.
    pub source: Source,
}

/// The groups of one user, by source and name.
///
/// # Errors
/// See [`crate::Error`].
pub async fn of_user(conn: &impl ConnectionTrait, user: &UserName) -> Result<Vec<Membership>> {
    let query = row::Entity::find()
        .filter(row::Column::UserName.eq(user.as_str()))
        .order_by_asc(row::Column::Source)
        .order_by_asc(row::Column::Name);
    query.all(conn).await?.into_iter().map(row::Model::into_membership).collect()
}

/// All memberships, by group, user and source.
///
/// # Errors
/// See [`crate::Error`].
pub async fn list(conn: &impl ConnectionTrait) -> Result<Vec<Membership>> {
    let query = row::Entity::find()
        .order_by_asc(row::Column::Name)
        .order_by_asc(row::Column::UserName)
        .order_by_asc(row::Column::Source);
    query.all(conn).await?.into_iter().map(row::Model::into_membership).collect()
}

/// Says anew in which groups a user is according to a source; what it said before is forgotten.
///
/// # Errors
/// See [`crate::Error`].
pub async fn set(
    conn: &impl ConnectionTrait,
    user: &UserName,
    source: &Source,
    groups: &[GroupName],
) -> Result<()> {
    row::Entity::delete_many()
        .filter(row::Column::UserName.eq(user.as_str()))
        .filter(row::Column::Source.eq(source.to_string()))
        .exec(conn)
        .await?;
    let mut groups = groups.to_vec();
    groups.sort_unstable();
    groups.dedup();
    for part in groups.chunks(ROWS_A_STATEMENT) {
        let rows = part.iter().map(|group| row::ActiveModel {
            user_name: Set(user.to_string()),
            source: Set(source.to_string()),
            name: Set(group.to_string()),
        });
        row::Entity::insert_many(rows).exec_without_returning(conn).await?;
    }
    Ok(())
}

/// Forgets what all sources say of a user.
///
/// # Errors
/// See [`crate::Error`].
pub async fn remove_all_of(conn: &impl ConnectionTrait, user: &UserName) -> Result<()> {
    let gone = row::Entity::delete_many().filter(row::Column::UserName.eq(user.as_str()));
    gone.exec(conn).await?;
    Ok(())
}

/// Takes everybody out of a group who is in it because somebody wrote so here.
///
/// # Errors
/// See [`crate::Error`].
pub async fn dissolve(conn: &impl ConnectionTrait, group: &GroupName) -> Result<()> {
    let gone = row::Entity::delete_many()
        .filter(row::Column::Name.eq(group.as_str()))
        .filter(row::Column::Source.eq(Source::LOCAL));
    gone.exec(conn).await?;
    Ok(())
}
