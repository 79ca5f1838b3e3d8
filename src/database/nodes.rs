//! Nodes: as administrators describe them, and as they were last seen.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

use protocol::cluster::{Closed, NodeSettings};
use protocol::gpus::GpuReport;
use protocol::health::Health;
use protocol::ids::NodeName;
use protocol::resources::{Capacity, Taken};
use protocol::time::Timestamp;
use sea_orm::sea_query::OnConflict;
use sea_orm::{
    ActiveValue, ColumnTrait, EntityTrait, QueryFilter, QuerySelect, Set, Statement, Value,
};

use crate::convert::{ROWS_A_STATEMENT, millis, parameters, readable, to_json};
use crate::{ConnectionTrait, Result};

mod row;

/// A node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeRecord {
    /// As described.
    pub settings: NodeSettings,
    /// Described in the configuration file, and so not to be changed by the pages.
    pub from_file: bool,
    /// An administrator wants it empty: it takes nothing new.
    pub draining: bool,
    /// And what is there is to go at once.
    pub emptied: bool,
    /// Why it takes nothing new by itself, when it does not.
    pub closed: Option<Closed>,
    /// How well it is.
    pub health: Health,
    /// As last seen; `None`: nobody has looked yet. Whoever looks has it as well.
    pub observed: Option<Arc<NodeObserved>>,
}

/// What was last seen of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeObserved {
    /// Whether it answered.
    pub reachable: bool,
    /// Why it did not, in words.
    pub problem: Option<String>,
    /// When it last answered.
    pub last_seen: Option<Timestamp>,
    /// Its engine's kind and version.
    pub engine: Option<String>,
    /// By which its engine is told from others, where that is this node's and nobody else's.
    pub engine_id: Option<String>,
    /// What it has, once it has answered.
    pub capacity: Option<Capacity>,
    /// The address of its tasks, where they have a network of their own.
    pub tasks_address: Option<IpAddr>,
    /// What its drivers said of its GPUs, once they were asked.
    pub gpus: Option<GpuReport>,
    /// What of it is taken by what is no job's.
    pub taken: Taken,
}

/// Stores a node, or other settings of the one of that name: whether it drains or is closed and what
/// was seen of it stay.
///
/// # Errors
/// See [`crate::Error`].
pub async fn save(
    conn: &impl ConnectionTrait,
    settings: &NodeSettings,
    from_file: bool,
) -> Result<()> {
    let node = row::ActiveModel {
        name: Set(settings.name.to_string()),
        settings: Set(to_json(settings)),
        from_file: Set(from_file),
        draining: Set(false),
        emptied: Set(false),
        closed: ActiveValue::NotSet,
        health: ActiveValue::NotSet,
        reachable: ActiveValue::NotSet,
        problem: ActiveValue::NotSet,
        last_seen: ActiveValue::NotSet,
        engine: ActiveValue::NotSet,
        engine_id: ActiveValue::NotSet,
        capacity: ActiveValue::NotSet,
        tasks_address: ActiveValue::NotSet,
        gpu_report: ActiveValue::NotSet,
        taken: ActiveValue::NotSet,
    };
    let replace = OnConflict::column(row::Column::Name)
        .update_columns([row::Column::Settings, row::Column::FromFile])
        .to_owned();
    row::Entity::insert(node).on_conflict(replace).exec_without_returning(conn).await?;
    Ok(())
}

/// Takes nothing new any more (`draining`), and what is there goes at once (`emptied`). `false`:
/// there is no such node.
///
/// # Errors
/// See [`crate::Error`].
pub async fn set_draining(
    conn: &impl ConnectionTrait,
    name: &NodeName,
    draining: bool,
    emptied: bool,
) -> Result<bool> {
    let (draining, emptied) = (Set(draining), Set(emptied));
    change(conn, name, row::ActiveModel { draining, emptied, ..Default::default() }).await
}

/// Takes nothing new by itself, for that reason. `false`: there is no such node.
///
/// # Errors
/// See [`crate::Error`].
pub async fn close_for(
    conn: &impl ConnectionTrait,
    name: &NodeName,
    closed: &Closed,
) -> Result<bool> {
    let closed = Set(Some(to_json(closed)));
    change(conn, name, row::ActiveModel { closed, ..Default::default() }).await
}

/// Is closed by itself no more. `false`: it was not.
///
/// # Errors
/// See [`crate::Error`].
pub async fn open(conn: &impl ConnectionTrait, name: &NodeName) -> Result<bool> {
    let done = row::Entity::update_many()
        .set(row::ActiveModel { closed: Set(None), ..Default::default() })
        .filter(row::Column::Name.eq(name.as_str()))
        .filter(row::Column::Closed.is_not_null())
        .exec(conn)
        .await?;
    Ok(done.rows_affected == 1)
}

/// Stores how well a node is. `false`: there is no such node.
///
/// # Errors
/// See [`crate::Error`].
pub async fn set_health(
    conn: &impl ConnectionTrait,
    name: &NodeName,
    health: &Health,
) -> Result<bool> {
    let health = Set((*health != Health::default()).then(|| to_json(health)));
    change(conn, name, row::ActiveModel { health, ..Default::default() }).await
}

/// A node has another engine than the one that was seen of it: by what that is told is nobody's now.
///
/// # Errors
/// See [`crate::Error`].
pub async fn forget_engine(conn: &impl ConnectionTrait, name: &NodeName) -> Result<()> {
    let forgotten = row::ActiveModel { engine_id: Set(None), ..Default::default() };
    change(conn, name, forgotten).await.map(drop)
}

/// No node is described in the configuration file any more: what it still says is saved again.
///
/// # Errors
/// See [`crate::Error`].
pub async fn leave_file(conn: &impl ConnectionTrait) -> Result<()> {
    let none = row::ActiveModel { from_file: Set(false), ..Default::default() };
    row::Entity::update_many().set(none).exec(conn).await?;
    Ok(())
}

/// Stores what was seen of nodes, by few statements. A node is named at most once; one that is not
/// there stays away.
///
/// # Errors
/// See [`crate::Error`].
pub async fn set_observed(
    conn: &impl ConnectionTrait,
    seen: &[(NodeName, Arc<NodeObserved>)],
) -> Result<()> {
    for seen in seen.chunks(ROWS_A_STATEMENT) {
        let sql = format!(
            "WITH news (name, reachable, problem, last_seen, engine, capacity, tasks_address, \
             gpu_report, taken, engine_id) AS (VALUES {}) \
             UPDATE nodes SET reachable = news.reachable, problem = news.problem, \
             last_seen = news.last_seen, engine = news.engine, capacity = news.capacity, \
             tasks_address = news.tasks_address, gpu_report = news.gpu_report, taken = news.taken, \
             engine_id = news.engine_id FROM news WHERE nodes.name = news.name",
            parameters(conn.get_database_backend(), seen.len(), 10)
        );
        let values = seen.iter().flat_map(|(name, observed)| {
            let NodeObserved { reachable, problem, last_seen, engine, engine_id, .. } = &**observed;
            let NodeObserved { capacity, tasks_address, gpus, taken, .. } = &**observed;
            [
                Value::from(name.as_str()),
                Value::from(*reachable),
                Value::from(problem.clone()),
                Value::from(millis(*last_seen)),
                Value::from(engine.clone()),
                Value::from(capacity.as_ref().map(to_json)),
                Value::from(tasks_address.map(|address| address.to_string())),
                Value::from(gpus.as_ref().map(to_json)),
                Value::from((!taken.is_nothing()).then(|| to_json(taken))),
                Value::from(engine_id.clone()),
            ]
        });
        execute(conn, sql, values).await?;
    }
    Ok(())
}

/// Stores when nodes last answered, by few statements. A node is named at most once; one that is not
/// there stays away.
///
/// # Errors
/// See [`crate::Error`].
pub async fn set_last_seen(
    conn: &impl ConnectionTrait,
    seen: &[(NodeName, Timestamp)],
) -> Result<()> {
    for seen in seen.chunks(ROWS_A_STATEMENT) {
        let sql = format!(
            "WITH news (name, last_seen) AS (VALUES {}) \
             UPDATE nodes SET last_seen = news.last_seen FROM news WHERE nodes.name = news.name",
            parameters(conn.get_database_backend(), seen.len(), 2)
        );
        let values =
            seen.iter().flat_map(|(name, at)| [Value::from(name.as_str()), Value::from(at.0)]);
        execute(conn, sql, values).await?;
    }
    Ok(())
}

async fn execute(
    conn: &impl ConnectionTrait,
    sql: String,
    values: impl IntoIterator<Item = Value>,
) -> Result<()> {
    let statement = Statement::from_sql_and_values(conn.get_database_backend(), sql, values);
    conn.execute_raw(statement).await?;
    Ok(())
}

async fn change(
    conn: &impl ConnectionTrait,
    name: &NodeName,
    change: row::ActiveModel,
) -> Result<bool> {
    let done = row::Entity::update_many()
        .set(change)
        .filter(row::Column::Name.eq(name.as_str()))
        .exec(conn)
        .await?;
    Ok(done.rows_affected == 1)
}

/// Those of the names that a node has. Until the transaction ends none of them is removed.
///
/// # Errors
/// See [`crate::Error`].
pub async fn keep(
    conn: &impl ConnectionTrait,
    names: &BTreeSet<&NodeName>,
) -> Result<BTreeSet<NodeName>> {
    let names: Vec<&NodeName> = names.iter().copied().collect();
    let mut kept = BTreeSet::new();
    for names in names.chunks(ROWS_A_STATEMENT) {
        let named = row::Column::Name.is_in(names.iter().map(|name| name.as_str()));
        let query = row::Entity::find().select_only().column(row::Column::Name).filter(named);
        let found: Vec<String> = query.lock_shared().into_tuple().all(conn).await?;
        let there = names.iter().filter(|name| found.iter().any(|f| f == name.as_str()));
        kept.extend(there.map(|name| NodeName::clone(name)));
    }
    Ok(kept)
}

/// Whether there is such a node. Until the transaction ends nothing is placed there.
///
/// # Errors
/// See [`crate::Error`].
pub async fn close(conn: &impl ConnectionTrait, name: &NodeName) -> Result<bool> {
    let found = row::Entity::find_by_id(name.as_str()).lock_exclusive().one(conn).await?;
    Ok(found.is_some())
}

/// All nodes by name, in the order in which people count. One whose settings cannot be read is left
/// out, as one that nobody can reach.
///
/// # Errors
/// See [`crate::Error`].
pub async fn list(conn: &impl ConnectionTrait) -> Result<Vec<NodeRecord>> {
    let rows = row::Entity::find().all(conn).await?;
    let mut nodes = readable(rows.into_iter().map(row::Model::into_record));
    nodes.sort_by(|one, other| one.settings.name.cmp(&other.settings.name));
    Ok(nodes)
}

/// One node.
///
/// # Errors
/// See [`crate::Error`].
pub async fn get(conn: &impl ConnectionTrait, name: &NodeName) -> Result<Option<NodeRecord>> {
    let found = row::Entity::find_by_id(name.as_str()).one(conn).await?;
    found.map(row::Model::into_record).transpose()
}

/// Forgets a node. `false`: there was none.
///
/// # Errors
/// See [`crate::Error`].
pub async fn remove(conn: &impl ConnectionTrait, name: &NodeName) -> Result<bool> {
    let done = row::Entity::delete_by_id(name.as_str()).exec(conn).await?;
    Ok(done.rows_affected == 1)
}
