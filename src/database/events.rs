//! What happened, to jobs and to the cluster.

use protocol::ids::{JobId, UserName};
use protocol::time::Timestamp;
use sea_orm::{
    ActiveValue, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Set, Statement,
    Value,
};

use crate::convert::{amount, in_forms};
use crate::{ConnectionTrait, Result, states};

mod row {
    use protocol::ids::JobId;
    use protocol::time::Timestamp;
    use sea_orm::entity::prelude::*;

    use super::{Event, NewEvent};
    use crate::Result;
    use crate::convert::Row;

    #[sea_orm::model]
    #[derive(Clone, Debug, DeriveEntityModel)]
    #[sea_orm(table_name = "events")]
    pub(crate) struct Model {
        #[sea_orm(primary_key)]
        pub id: i64,
        pub job: Option<i64>,
        pub at: i64,
        pub kind: String,
        pub message: String,
        pub attempt: Option<i64>,
        pub warning: bool,
        pub actor: Option<String>,
    }

    impl ActiveModelBehavior for ActiveModel {}

    impl Model {
        pub(crate) fn into_event(self) -> Result<Event> {
            let row = Row::new("events", &self.id);
            let actor = match &self.actor {
                Some(name) => Some(row.name(name)?),
                None => None,
            };
            let attempt = row.number_if(self.attempt)?;
            let event = NewEvent {
                job: self.job.map(JobId),
                at: Timestamp(self.at),
                kind: self.kind,
                message: self.message,
                attempt,
                warning: self.warning,
                actor,
            };
            Ok(Event { id: self.id, event })
        }
    }
}

/// Something that happened, to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// The job it happened to; `None`: to the cluster.
    pub job: Option<JobId>,
    /// When.
    pub at: Timestamp,
    /// A stable word.
    pub kind: String,
    /// In words, English.
    pub message: String,
    /// The attempt it belongs to.
    pub attempt: Option<u32>,
    /// Whether it is worth a second look.
    pub warning: bool,
    /// Who did it, where it was a person.
    pub actor: Option<UserName>,
}

/// Something that happened, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Database key, ascending in the order of storing.
    pub id: i64,
    /// What happened.
    pub event: NewEvent,
}

/// Stores events in their order.
///
/// # Errors
/// See [`crate::Error`].
pub async fn insert_many(conn: &impl ConnectionTrait, events: &[NewEvent]) -> Result<()> {
    for events in in_forms(events) {
        row::Entity::insert_many(events.iter().map(row_of)).exec_without_returning(conn).await?;
    }
    Ok(())
}

fn row_of(event: &NewEvent) -> row::ActiveModel {
    let NewEvent { job, at, kind, message, attempt, warning, actor } = event;
    row::ActiveModel {
        id: ActiveValue::NotSet,
        job: Set(job.map(|job| job.0)),
        at: Set(at.0),
        kind: Set(kind.clone()),
        message: Set(message.clone()),
        attempt: Set(attempt.map(i64::from)),
        warning: Set(*warning),
        actor: Set(actor.as_ref().map(ToString::to_string)),
    }
}

/// The job's latest events, newest first.
///
/// # Errors
/// See [`crate::Error`].
pub async fn of_job(conn: &impl ConnectionTrait, job: JobId, limit: u64) -> Result<Vec<Event>> {
    let query = row::Entity::find()
        .filter(row::Column::Job.eq(job.0))
        .order_by_desc(row::Column::Id)
        .limit(limit);
    query.all(conn).await?.into_iter().map(row::Model::into_event).collect()
}

/// The latest events of all jobs and of the cluster, newest first.
///
/// # Errors
/// See [`crate::Error`].
pub async fn recent(conn: &impl ConnectionTrait, limit: u64) -> Result<Vec<Event>> {
    let query = row::Entity::find().order_by_desc(row::Column::Id).limit(limit);
    query.all(conn).await?.into_iter().map(row::Model::into_event).collect()
}

/// Forgets events from before a moment, the oldest first, at most so many; returns how many. Those of
/// jobs that have not ended are kept.
///
/// # Errors
/// See [`crate::Error`].
pub async fn prune(conn: &impl ConnectionTrait, before: Timestamp, most: u64) -> Result<u64> {
    let sql = format!(
        "DELETE FROM events WHERE id IN (SELECT events.id FROM events WHERE events.at < $1 \
         AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.id = events.job AND jobs.state NOT IN {}) \
         ORDER BY events.at LIMIT $2)",
        states::ended()
    );
    let values = [Value::from(before.0), Value::from(amount(most))];
    let statement = Statement::from_sql_and_values(conn.get_database_backend(), sql, values);
    Ok(conn.execute_raw(statement).await?.rows_affected())
}
