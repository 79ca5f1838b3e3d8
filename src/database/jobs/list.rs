use std::collections::{BTreeMap, HashMap};

use protocol::ids::{UserName, VirtualClusterName};
use protocol::state::State;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{ExprTrait as _, Func, LikeExpr, SimpleExpr};
use sea_orm::{Condition, IntoSimpleExpr as _, Order, QueryOrder, QuerySelect, Select};

use super::{JobRow, row};
use crate::convert::{ROWS_A_STATEMENT, Row};
use crate::{ConnectionTrait, Result};

/// Which jobs, in which order, which page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobFilter {
    /// Owners; empty: all.
    pub users: Vec<UserName>,
    /// States; empty: all.
    pub states: Vec<State>,
    /// Virtual clusters; empty: all.
    pub virtual_clusters: Vec<VirtualClusterName>,
    /// Part of the name, the owner or the virtual cluster, in any case; empty: all.
    pub keyword: String,
    /// Order.
    pub order: JobOrder,
    /// Ascending instead of descending.
    pub ascending: bool,
    /// How many jobs to leave out.
    pub offset: u64,
    /// How many jobs at most.
    pub limit: u64,
}

/// Columns a list can be ordered by. Jobs that are equal in it follow the time of submission (of
/// users, virtual clusters and states) and then their ids, in the same direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum JobOrder {
    /// When it was submitted.
    #[default]
    Submitted,
    /// When it ended; jobs that have not come last ascending, first descending.
    Completed,
    /// Name.
    Name,
    /// Owner.
    User,
    /// Virtual cluster.
    VirtualCluster,
    /// State, by its word.
    State,
    /// GPUs.
    Gpus,
    /// Tasks.
    Tasks,
    /// Further attempts of both kinds.
    Retries,
}

/// One page of jobs, and how many there are on all pages. Files are not looked at.
///
/// # Errors
/// See [`crate::Error`].
pub async fn list(conn: &impl ConnectionTrait, filter: &JobFilter) -> Result<(Vec<JobRow>, u64)> {
    let total = matching(filter, true).count(conn).await?;
    if filter.limit == 0 || filter.offset >= total {
        return Ok((Vec::new(), total));
    }
    let direction = if filter.ascending { Order::Asc } else { Order::Desc };
    let mut page = matching(filter, true).select_only().column(row::Column::Id);
    for part in sorting(filter.order) {
        page = page.order_by(part, direction.clone());
    }
    let page = page.offset(filter.offset).limit(filter.limit);
    let ids: Vec<i64> = page.into_tuple().all(conn).await?;
    Ok((rows(conn, &ids).await?, total))
}

/// The rows of these ids in this order. The page is found in an index alone; only its own rows
/// are read.
async fn rows(conn: &impl ConnectionTrait, ids: &[i64]) -> Result<Vec<JobRow>> {
    let mut found = HashMap::with_capacity(ids.len());
    for ids in ids.chunks(ROWS_A_STATEMENT) {
        let query = row::Entity::find().filter(row::Column::Id.is_in(ids.iter().copied()));
        found.extend(query.all(conn).await?.into_iter().map(|row| (row.id, row)));
    }
    ids.iter().filter_map(|id| found.remove(id)).map(row::Model::into_row).collect()
}

/// How many of the jobs of `filter` are in each state; the states it names are left out of
/// account, and so are order and page. States without jobs are not in the map.
///
/// # Errors
/// See [`crate::Error`].
pub async fn counts(
    conn: &impl ConnectionTrait,
    filter: &JobFilter,
) -> Result<BTreeMap<State, u64>> {
    let query = matching(filter, false)
        .select_only()
        .column(row::Column::State)
        .column_as(row::Column::Id.count(), "jobs")
        .group_by(row::Column::State);
    let counted: Vec<(String, i64)> = query.into_tuple().all(conn).await?;
    counted
        .into_iter()
        .map(|(word, count)| {
            let row = Row::new("jobs", &word);
            Ok((row.state(&word)?, row.number(count)?))
        })
        .collect()
}

fn matching(filter: &JobFilter, by_state: bool) -> Select<row::Entity> {
    let mut all = Condition::all();
    if !filter.users.is_empty() {
        let users = filter.users.iter().map(UserName::as_str);
        all = all.add(row::Column::UserName.is_in(users));
    }
    if by_state && !filter.states.is_empty() {
        let states = filter.states.iter().map(|state| state.as_str());
        all = all.add(row::Column::State.is_in(states));
    }
    if !filter.virtual_clusters.is_empty() {
        let names = filter.virtual_clusters.iter().map(VirtualClusterName::as_str);
        all = all.add(row::Column::VirtualCluster.is_in(names));
    }
    if !filter.keyword.is_empty() {
        all = all.add(containing(&filter.keyword));
    }
    row::Entity::find().filter(all)
}

fn containing(keyword: &str) -> Condition {
    let mut pattern = String::from("%");
    for letter in keyword.to_lowercase().chars() {
        if matches!(letter, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(letter);
    }
    pattern.push('%');
    [row::Column::Name, row::Column::UserName, row::Column::VirtualCluster].into_iter().fold(
        Condition::any(),
        |any, column| {
            let like = LikeExpr::new(pattern.clone()).escape('!');
            any.add(Expr::expr(Func::lower(column.into_expr())).like(like))
        },
    )
}

/// What an order compares, one after the other. Each has an index of just these expressions.
fn sorting(order: JobOrder) -> Vec<SimpleExpr> {
    let mut parts: Vec<SimpleExpr> = match order {
        JobOrder::Submitted => vec![row::Column::SubmittedAt.into_simple_expr()],
        JobOrder::Completed => {
            vec![Expr::cust("coalesce(completed_at, 9223372036854775807)")]
        }
        JobOrder::Name => vec![row::Column::Name.into_simple_expr()],
        JobOrder::User => then_submitted(row::Column::UserName),
        JobOrder::VirtualCluster => then_submitted(row::Column::VirtualCluster),
        JobOrder::State => then_submitted(row::Column::State),
        JobOrder::Gpus => vec![row::Column::GpuMilli.into_simple_expr()],
        JobOrder::Tasks => vec![row::Column::Tasks.into_simple_expr()],
        JobOrder::Retries => vec![Expr::cust("user_retries + platform_retries")],
    };
    parts.push(row::Column::Id.into_simple_expr());
    parts
}

fn then_submitted(column: row::Column) -> Vec<SimpleExpr> {
    vec![column.into_simple_expr(), row::Column::SubmittedAt.into_simple_expr()]
}
