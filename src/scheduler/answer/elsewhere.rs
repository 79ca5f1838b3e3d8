//! Shares that lie elsewhere: what a virtual cluster is guaranteed on the nodes that a job may use never
//! holds all its tasks, whatever runs.

use std::collections::BTreeMap;

use protocol::wait::WaitReason;

use crate::answer::explain::capacity;
use crate::cluster::Cluster;
use crate::numbers::gpus::Bits;
use crate::numbers::indices::{AccountIndex, PoolIndex};
use crate::numbers::kind::Kind;
use crate::numbers::request::{Class, ClassRole};

/// Nodes of one pool: one of their kinds, how many there are, and how many tasks of a role they could
/// take in all.
struct Nodes<'k> {
    kind: &'k Kind,
    count: i64,
    room: i64,
}

/// Why a job that borrows nothing would wait for ever, though each of its tasks fits a cell; `None` when
/// it would not, as far as is certain.
pub(crate) fn elsewhere(cluster: &Cluster, class: &Class) -> Option<WaitReason> {
    let is_known = cluster.alike(class).all(|(kind, _)| kind.known);
    if cluster.fixed.is_empty() || cluster.may_borrow(class) || !is_known {
        return None;
    }
    let fit = |account: &AccountIndex| {
        let owner = cluster.cells.owner(*account);
        let held = class.roles.iter().map(|role| held(cluster, class, role, owner));
        held.fold(0, u32::saturating_add)
    };
    let fit = cluster.accounts(class.cluster).iter().map(fit).max()?;
    let (virtual_cluster, tasks) = (class.of.virtual_cluster.clone(), class.tasks());
    (fit < tasks).then_some(WaitReason::ShareElsewhere { virtual_cluster, tasks, fit })
}

/// The most tasks of a role that an account's cells on the nodes that a class may use hold.
fn held(cluster: &Cluster, class: &Class, role: &ClassRole, owner: AccountIndex) -> u32 {
    let mut pools: BTreeMap<PoolIndex, Nodes> = BTreeMap::new();
    for (kind, count) in cluster.alike(class) {
        let room = capacity(kind, role, Bits::MAX);
        if room > 0 {
            let nodes = pools.entry(kind.pool).or_insert(Nodes { kind, count: 0, room: 0 });
            nodes.count += count;
            nodes.room = nodes.room.saturating_add(count.saturating_mul(room));
        }
    }
    let held = pools.into_values().map(|nodes| in_pool(cluster, &nodes, role, owner));
    let held = held.fold(0, i64::saturating_add).min(role.count.into());
    u32::try_from(held).unwrap_or(role.count)
}

fn in_pool(cluster: &Cluster, nodes: &Nodes, role: &ClassRole, owner: AccountIndex) -> i64 {
    let pool = &cluster.cells.pools[nodes.kind.pool];
    if pool.is_free_to(owner) {
        return nodes.room;
    }
    let levels = pool.levels.iter().enumerate().map(|(level, size)| {
        let on_these = nodes.count.saturating_mul(i64::from(pool.size / size));
        let cells = pool.cells(owner, level).min(on_these);
        cells.saturating_mul(capacity(&nodes.kind.piece(*size), role, Bits::MAX))
    });
    levels.fold(0, i64::saturating_add).min(nodes.room)
}
