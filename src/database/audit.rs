//! Who did what. There is no query that changes or removes an entry.

use protocol::ids::UserName;
use protocol::time::Timestamp;
use sea_orm::{ActiveValue, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Set};

use crate::{ConnectionTrait, Result};

mod row {
    use protocol::time::Timestamp;
    use sea_orm::entity::prelude::*;

    use super::{Entry, NewEntry};
    use crate::Result;
    use crate::convert::Row;

    #[sea_orm::model]
    #[derive(Clone, Debug, DeriveEntityModel)]
    #[sea_orm(table_name = "audit")]
    pub(crate) struct Model {
        #[sea_orm(primary_key)]
        pub id: i64,
        pub at: i64,
        pub actor: String,
        pub action: String,
        pub object: String,
        pub detail: String,
        pub address: Option<String>,
    }

    impl ActiveModelBehavior for ActiveModel {}

    impl Model {
        pub(crate) fn into_entry(self) -> Result<Entry> {
            let entry = NewEntry {
                at: Timestamp(self.at),
                actor: Row::new("audit", &self.id).name(&self.actor)?,
                action: self.action,
                object: self.object,
                detail: self.detail,
                address: self.address,
            };
            Ok(Entry { id: self.id, entry })
        }
    }
}

/// An entry to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEntry {
    /// When.
    pub at: Timestamp,
    /// Who, whether there still is such a user or not.
    pub actor: UserName,
    /// A stable word.
    pub action: String,
    /// To what.
    pub object: String,
    /// What else there is to say.
    pub detail: String,
    /// Where the request came from.
    pub address: Option<String>,
}

/// An entry as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Database key, ascending in the order of writing.
    pub id: i64,
    /// What it says.
    pub entry: NewEntry,
}

/// Writes an entry.
///
/// # Errors
/// See [`crate::Error`].
pub async fn insert(conn: &impl ConnectionTrait, entry: &NewEntry) -> Result<()> {
    let NewEntry { at, actor, action, object, detail, address } = entry;
    let row = row::ActiveModel {
        id: ActiveValue::NotSet,
        at: Set(at.0),
        actor: Set(actor.to_string()),
        action: Set(action.clone()),
        object: Set(object.clone()),
        detail: Set(detail.clone()),
        address: Set(address.clone()),
    };
    row::Entity::insert(row).exec_without_returning(conn).await?;
    Ok(())
}

/// The newest entries of those with a key below `before`, newest first.
///
/// # Errors
/// See [`crate::Error`].
pub async fn list(
    conn: &impl ConnectionTrait,
    before: Option<i64>,
    limit: u64,
) -> Result<Vec<Entry>> {
    let query = row::Entity::find()
        .filter(row::Column::Id.lt(before.unwrap_or(i64::MAX)))
        .order_by_desc(row::Column::Id)
        .limit(limit);
    query.all(conn).await?.into_iter().map(row::Model::into_entry).collect()
}
