//! What changes a waiting job's turn.

use protocol::ids::JobId;
use protocol::jobs::Hold;
use protocol::spec::Priority;
use protocol::state::State;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, Statement, UpdateMany, Value};

use super::row;
use crate::convert::{ROWS_A_STATEMENT, parameters};
use crate::{ConnectionTrait, Result, Transaction};

/// An update of a job that still waits and that nobody wants stopped.
fn waiting(id: JobId) -> UpdateMany<row::Entity> {
    row::Entity::update_many()
        .filter(row::Column::Id.eq(id.0))
        .filter(row::Column::State.eq(State::Waiting.as_str()))
        .filter(row::Column::StopAt.is_null())
}

/// Holds a waiting job. An administrator's hold takes the place of an owner's, never the reverse.
/// `false`: it does not wait any more, or is held like this already; nothing changed then.
///
/// # Errors
/// See [`crate::Error`].
pub async fn hold(conn: &impl ConnectionTrait, id: JobId, hold: &Hold) -> Result<bool> {
    let mut over = Condition::any().add(row::Column::HeldAt.is_null());
    if hold.administrator {
        over = over.add(row::Column::HeldByAdministrator.eq(false));
    }
    let done = waiting(id)
        .col_expr(row::Column::HeldBy, Expr::value(hold.by.as_str()))
        .col_expr(row::Column::HeldAt, Expr::value(hold.at.0))
        .col_expr(row::Column::HeldByAdministrator, Expr::value(hold.administrator))
        .filter(over)
        .exec(conn)
        .await?;
    Ok(done.rows_affected == 1)
}

/// Lets a held job go; one that an administrator holds, only when an `administrator` does.
/// `false`: it is not held, or not to be released by this; nothing changed then.
///
/// # Errors
/// See [`crate::Error`].
pub async fn release(conn: &impl ConnectionTrait, id: JobId, administrator: bool) -> Result<bool> {
    let none = Option::<i64>::None;
    let mut update = waiting(id)
        .col_expr(row::Column::HeldBy, Expr::value(Option::<String>::None))
        .col_expr(row::Column::HeldAt, Expr::value(none))
        .filter(row::Column::HeldAt.is_not_null());
    if !administrator {
        update = update.filter(row::Column::HeldByAdministrator.eq(false));
    }
    Ok(update.exec(conn).await?.rows_affected == 1)
}

/// Gives a waiting job another priority; `most` is the highest that its owner may give it from now
/// on, where that changes. `false`: it does not wait any more.
///
/// # Errors
/// See [`crate::Error`].
pub async fn set_priority(
    transaction: &Transaction,
    id: JobId,
    priority: Priority,
    most: Option<Priority>,
) -> Result<bool> {
    let mut update =
        waiting(id).col_expr(row::Column::Priority, Expr::value(i64::from(priority.0)));
    if let Some(most) = most {
        update = update.col_expr(row::Column::MostPriority, Expr::value(i64::from(most.0)));
    }
    let changed = update.exec(transaction).await?.rows_affected == 1;
    transaction.lists(changed.then_some(id));
    Ok(changed)
}

/// Moves waiting jobs in the queue: sets each one's `moved_ms`.
///
/// # Errors
/// See [`crate::Error`].
pub async fn move_many(conn: &impl ConnectionTrait, moves: &[(JobId, i64)]) -> Result<()> {
    let backend = conn.get_database_backend();
    for moves in moves.chunks(ROWS_A_STATEMENT) {
        let sql = format!(
            "WITH news (id, moved_ms) AS (VALUES {}) \
             UPDATE jobs SET moved_ms = news.moved_ms FROM news \
             WHERE jobs.id = news.id AND jobs.state = '{}'",
            parameters(backend, moves.len(), 2),
            State::Waiting.as_str()
        );
        let values =
            moves.iter().flat_map(|(job, moved_ms)| [Value::from(job.0), Value::from(*moved_ms)]);
        conn.execute_raw(Statement::from_sql_and_values(backend, sql, values)).await?;
    }
    Ok(())
}
