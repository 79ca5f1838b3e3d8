//! What people want to be told, and what they are still to be told: the outbox. What is put into it is
//! stored with what it tells of, and leaves it once it was sent.

use std::collections::BTreeMap;

use protocol::ids::UserName;
use protocol::notifications::{Notice, Wishes};
use protocol::time::Timestamp;
use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{
    ActiveValue, ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect,
    Set,
};

use crate::convert::{ROWS_A_STATEMENT, in_forms, readable, to_json};
use crate::{ConnectionTrait, Result};

mod wishes {
    use protocol::ids::UserName;
    use protocol::notifications::Wishes;
    use sea_orm::entity::prelude::*;

    use crate::Result;
    use crate::convert::Row;

    #[sea_orm::model]
    #[derive(Clone, Debug, DeriveEntityModel)]
    #[sea_orm(table_name = "notification_wishes")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub user_name: String,
        pub wishes: String,
    }

    impl ActiveModelBehavior for ActiveModel {}

    impl Model {
        pub(crate) fn into_wishes(self) -> Result<(UserName, Wishes)> {
            let row = Row::new("notification_wishes", &self.user_name);
            Ok((row.name(&self.user_name)?, row.json(&self.wishes)?))
        }
    }
}

mod outbox {
    use protocol::time::Timestamp;
    use sea_orm::entity::prelude::*;

    use super::{Entry, NewEntry, Way};
    use crate::Result;
    use crate::convert::Row;

    #[sea_orm::model]
    #[derive(Clone, Debug, DeriveEntityModel)]
    #[sea_orm(table_name = "outbox")]
    pub(crate) struct Model {
        #[sea_orm(primary_key)]
        pub id: i64,
        pub user_name: String,
        pub way: String,
        pub notice: String,
        pub at: i64,
        pub due: i64,
        pub tries: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}

    impl Model {
        pub(crate) fn into_entry(self) -> Result<Entry> {
            let row = Row::new("outbox", &self.id);
            let new = NewEntry {
                user: row.name(&self.user_name)?,
                way: row.word(&self.way, Way::from_word)?,
                notice: row.json(&self.notice)?,
                at: Timestamp(self.at),
                due: Timestamp(self.due),
            };
            Ok(Entry { id: self.id, tries: row.number(self.tries)?, new })
        }
    }
}

/// How somebody is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// By mail.
    Mail,
    /// By a call.
    Webhook,
}

impl Way {
    fn as_str(self) -> &'static str {
        match self {
            Self::Mail => "mail",
            Self::Webhook => "webhook",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        [Self::Mail, Self::Webhook].into_iter().find(|way| way.as_str() == word)
    }
}

/// What somebody is to be told, to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEntry {
    /// Who.
    pub user: UserName,
    /// How.
    pub way: Way,
    /// What.
    pub notice: Notice,
    /// When it happened.
    pub at: Timestamp,
    /// It is sent then at the earliest.
    pub due: Timestamp,
}

/// What somebody is to be told, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Database key, ascending in the order of storing.
    pub id: i64,
    /// How often it was tried in vain.
    pub tries: u32,
    /// What is to be told.
    pub new: NewEntry,
}

/// Stores what a user wants to be told.
///
/// # Errors
/// See [`crate::Error`].
pub async fn save(conn: &impl ConnectionTrait, user: &UserName, wanted: &Wishes) -> Result<()> {
    let row =
        wishes::ActiveModel { user_name: Set(user.to_string()), wishes: Set(to_json(wanted)) };
    let replace = OnConflict::column(wishes::Column::UserName)
        .update_column(wishes::Column::Wishes)
        .to_owned();
    wishes::Entity::insert(row).on_conflict(replace).exec_without_returning(conn).await?;
    Ok(())
}

/// What all users want to be told who have said so.
///
/// # Errors
/// See [`crate::Error`].
pub async fn list(conn: &impl ConnectionTrait) -> Result<BTreeMap<UserName, Wishes>> {
    let rows = wishes::Entity::find().all(conn).await?;
    Ok(readable(rows.into_iter().map(wishes::Model::into_wishes)).into_iter().collect())
}

/// Puts something into the outbox.
///
/// # Errors
/// See [`crate::Error`].
pub async fn put(conn: &impl ConnectionTrait, entries: &[NewEntry]) -> Result<()> {
    for entries in in_forms(entries) {
        outbox::Entity::insert_many(entries.iter().map(row_of))
            .exec_without_returning(conn)
            .await?;
    }
    Ok(())
}

fn row_of(entry: &NewEntry) -> outbox::ActiveModel {
    let NewEntry { user, way, notice, at, due } = entry;
    outbox::ActiveModel {
        id: ActiveValue::NotSet,
        user_name: Set(user.to_string()),
        way: Set(way.as_str().to_owned()),
        notice: Set(to_json(notice)),
        at: Set(at.0),
        due: Set(due.0),
        tries: Set(0),
    }
}

/// What is due to be told in this way, in the order in which it became so, at most so much.
///
/// # Errors
/// See [`crate::Error`].
pub async fn due(
    conn: &impl ConnectionTrait,
    way: Way,
    now: Timestamp,
    most: u64,
) -> Result<Vec<Entry>> {
    let query = outbox::Entity::find()
        .filter(outbox::Column::Due.lte(now.0))
        .filter(outbox::Column::Way.eq(way.as_str()))
        .order_by_asc(outbox::Column::Due)
        .order_by_asc(outbox::Column::Id)
        .limit(most);
    let rows = query.all(conn).await?;
    Ok(readable(rows.into_iter().map(outbox::Model::into_entry)))
}

/// How much there is in the outbox.
///
/// # Errors
/// See [`crate::Error`].
pub async fn count(conn: &impl ConnectionTrait) -> Result<u64> {
    Ok(outbox::Entity::find().count(conn).await?)
}

/// Takes what was sent, or what is given up, out of the outbox.
///
/// # Errors
/// See [`crate::Error`].
pub async fn remove(conn: &impl ConnectionTrait, entries: &[i64]) -> Result<()> {
    for entries in entries.chunks(ROWS_A_STATEMENT) {
        let gone = outbox::Column::Id.is_in(entries.iter().copied());
        outbox::Entity::delete_many().filter(gone).exec(conn).await?;
    }
    Ok(())
}

/// Has these tried again from then on, after so many tries.
///
/// # Errors
/// See [`crate::Error`].
pub async fn put_off(
    conn: &impl ConnectionTrait,
    entries: &[i64],
    due: Timestamp,
    tries: u32,
) -> Result<()> {
    for entries in entries.chunks(ROWS_A_STATEMENT) {
        outbox::Entity::update_many()
            .col_expr(outbox::Column::Due, Expr::value(due.0))
            .col_expr(outbox::Column::Tries, Expr::value(i64::from(tries)))
            .filter(outbox::Column::Id.is_in(entries.iter().copied()))
            .exec(conn)
            .await?;
    }
    Ok(())
}
