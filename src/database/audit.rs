//! Who did what. No query changes an entry, and none removes a single one: the oldest go in time.

use protocol::ids::UserName;
use protocol::time::Timestamp;
use sea_orm::{
    ActiveValue, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Set, Statement,
    Value,
};

use crate::convert::amount;
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

/// So many entries are looked through at a time, and in so many times.
const AT_A_TIME: u64 = 1_000;
const TIMES: u32 = 200;

/// The same of those that are as wanted, as far as they are looked through.
///
/// # Errors
/// See [`crate::Error`].
pub async fn find(
    conn: &impl ConnectionTrait,
    mut before: Option<i64>,
    limit: u64,
    is: impl Fn(&NewEntry) -> bool,
) -> Result<Vec<Entry>> {
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut found = Vec::new();
    for _ in 0..TIMES {
        let some = list(conn, before, AT_A_TIME).await?;
        let Some(last) = some.last() else { break };
        before = Some(last.id);
        found.extend(some.into_iter().filter(|entry| is(&entry.entry)));
        if found.len() >= most {
            break;
        }
    }
    found.truncate(most);
    Ok(found)
}

/// Forgets entries from before a moment, looking at so many of the oldest; returns how many.
///
/// # Errors
/// See [`crate::Error`].
pub async fn prune(conn: &impl ConnectionTrait, before: Timestamp, most: u64) -> Result<u64> {
    // They are written in the order of time: no index of it is needed.
    let sql = "DELETE FROM audit WHERE at < $1 \
        AND id IN (SELECT oldest.id FROM audit AS oldest ORDER BY oldest.id LIMIT $2)";
    let values = [Value::from(before.0), Value::from(amount(most))];
    let statement = Statement::from_sql_and_values(conn.get_database_backend(), sql, values);
    Ok(conn.execute_raw(statement).await?.rows_affected())
}
