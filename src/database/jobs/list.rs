use std::collections::{BTreeMap, HashMap};

use protocol::ids::{GpuType, NodeName, UserName, VirtualClusterName};
use protocol::jobs::{JobOrder, JobQuery};
use protocol::state::State;
use protocol::time::Timestamp;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{ExprTrait as _, Func, LikeExpr, SimpleExpr};
use sea_orm::{Condition, IntoSimpleExpr as _, Order, QueryOrder, QuerySelect, Select};

use super::{JobRow, row};
use crate::convert::{ROWS_A_STATEMENT, Row};
use crate::{ConnectionTrait, Result, tasks};

/// One page of jobs, and how many there are on all pages. Files are not looked at. The query's
/// times are counted from `now`.
///
/// # Errors
/// See [`crate::Error`].
pub async fn list(
    conn: &impl ConnectionTrait,
    filter: &JobQuery,
    now: Timestamp,
) -> Result<(Vec<JobRow>, u64)> {
    let total = matching(filter, true, now).count(conn).await?;
    if filter.limit == 0 || filter.offset >= total {
        return Ok((Vec::new(), total));
    }
    let direction = if filter.ascending { Order::Asc } else { Order::Desc };
    let mut page = matching(filter, true, now).select_only().column(row::Column::Id);
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
    filter: &JobQuery,
    now: Timestamp,
) -> Result<BTreeMap<State, u64>> {
    let query = matching(filter, false, now)
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

fn matching(filter: &JobQuery, by_state: bool, now: Timestamp) -> Select<row::Entity> {
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
        all = all.add(containing(
            &filter.keyword,
            &[row::Column::Name, row::Column::UserName, row::Column::VirtualCluster],
        ));
    }
    row::Entity::find().filter(all.add(asked_for(filter)).add(came_and_went(filter, now)))
}

/// The conditions on what a job asks for and on where it is or was.
fn asked_for(filter: &JobQuery) -> Condition {
    let mut all = Condition::all();
    if !filter.names.is_empty() {
        let names = filter.names.iter().map(|name| containing(name, &[row::Column::Name]));
        all = all.add(names.fold(Condition::any(), Condition::add));
    }
    let number = |milli: u64| i64::try_from(milli).unwrap_or(i64::MAX);
    all = all
        .add_option(filter.least_gpus.map(|least| row::Column::GpuMilli.gte(number(least))))
        .add_option(filter.most_gpus.map(|most| row::Column::GpuMilli.lte(number(most))));
    if !filter.gpu_types.is_empty() {
        // The column is a list in JSON, and a type has no character that JSON would escape.
        let has = |kind: &GpuType| like(row::Column::GpuTypes.into_expr(), &format!("\"{kind}\""));
        all = all.add(filter.gpu_types.iter().map(has).fold(Condition::any(), Condition::add));
    }
    if !filter.nodes.is_empty() {
        let nodes = filter.nodes.iter().map(NodeName::as_str);
        let on_nodes = tasks::of_nodes(nodes);
        all = all.add(row::Column::Id.in_subquery(on_nodes));
    }
    if !filter.priorities.is_empty() {
        let priorities = filter.priorities.iter().map(|priority| i64::from(priority.0));
        all = all.add(row::Column::Priority.is_in(priorities));
    }
    all
}

fn came_and_went(filter: &JobQuery, now: Timestamp) -> Condition {
    Condition::all()
        .add_option(filter.since.map(|since| row::Column::SubmittedAt.gte(since.at(now).0)))
        .add_option(filter.until.map(|until| row::Column::SubmittedAt.lte(until.at(now).0)))
        .add_option(filter.ended_since.map(|since| row::Column::CompletedAt.gte(since.at(now).0)))
}

/// Any of the columns has the text in it, in any case.
fn containing(text: &str, columns: &[row::Column]) -> Condition {
    let text = text.to_lowercase();
    let has = |column: &row::Column| like(Func::lower(column.into_expr()).into(), &text);
    columns.iter().map(has).fold(Condition::any(), Condition::add)
}

fn like(searched: SimpleExpr, text: &str) -> SimpleExpr {
    let mut pattern = String::from("%");
    for letter in text.chars() {
        if matches!(letter, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(letter);
    }
    pattern.push('%');
    Expr::expr(searched).like(LikeExpr::new(pattern).escape('!'))
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
