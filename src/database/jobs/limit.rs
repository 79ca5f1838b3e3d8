use protocol::ids::JobId;
use protocol::spec::TimeLimit;
use protocol::state::State;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use super::row;
use crate::{ConnectionTrait, Result};

/// Gives a job another time limit. `false`: it has no place any more, or somebody wants it stopped; nothing
/// changed then.
///
/// # Errors
/// See [`crate::Error`].
pub async fn set_time_limit(
    conn: &impl ConnectionTrait,
    id: JobId,
    limit: TimeLimit,
) -> Result<bool> {
    let placed = |state: &State| !state.is_final() && *state != State::Waiting;
    let placed = State::ALL.into_iter().filter(placed).map(State::as_str);
    let done = row::Entity::update_many()
        .filter(row::Column::Id.eq(id.0))
        .filter(row::Column::State.is_in(placed))
        .filter(row::Column::StopAt.is_null())
        .col_expr(row::Column::TimeLimit, Expr::value(i64::from(limit.seconds())))
        .exec(conn)
        .await?;
    Ok(done.rows_affected == 1)
}
