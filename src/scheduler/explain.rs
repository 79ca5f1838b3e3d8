//! Why a job that found no room waits: the constraint that really binds.

use protocol::ids::GpuType;
use protocol::wait::{ResourceKind, WaitReason};

use crate::fit::{Failure, capacity};
use crate::gpus::{Bits, positions};
use crate::share::{Lack, Which};
use crate::state::{Cluster, NodeState, View};
use crate::want::{RoleWant, Want};

/// The share that a job lacks, as a reason.
pub(crate) fn quota(cluster: &Cluster, want: &Want, lack: Lack) -> WaitReason {
    let amount = |value: i64| u64::try_from(value).unwrap_or(0);
    let gpu_type = match lack.which {
        Which::Gpus(types) if types.count_ones() == 1 => {
            positions(types).next().map(|number| cluster.names.types[number].clone())
        }
        Which::Gpus(_) | Which::Cpus | Which::Memory => None,
    };
    WaitReason::QuotaVc {
        virtual_cluster: want.request.virtual_cluster.clone(),
        resource: lack.which.kind(),
        gpu_type,
        needs: amount(lack.needs),
        free: amount(lack.free),
        share: amount(lack.share),
    }
}

/// A wanted GPU type that no node has, as a reason.
pub(crate) fn absent_type(cluster: &Cluster, want: &Want) -> Option<WaitReason> {
    let missing = want
        .roles
        .iter()
        .find(|role| role.gpus > 0 && role.types == 0 && !role.asked.gpu_types.is_empty())?;
    let mut wanted: Vec<GpuType> = missing.asked.gpu_types.clone();
    wanted.sort_unstable();
    wanted.dedup();
    let existing = cluster.names.types.iter().map(|name| (*name).clone()).collect();
    Some(WaitReason::TypeAbsent { wanted, existing })
}

/// Why the nodes have no room for a job whose share suffices. `failure` is how far a try came that
/// saw all that is free.
pub(crate) fn no_room(cluster: &Cluster, want: &Want, failure: Failure) -> WaitReason {
    if cluster.nodes.is_empty() {
        return WaitReason::NoNodes;
    }
    if let Some(reason) = absent_type(cluster, want) {
        return reason;
    }
    let down = want.roles.iter().map(|role| nodes_down(cluster, role)).max().unwrap_or(0);
    if down > 0 {
        return WaitReason::NodeDown { nodes: down };
    }
    if failure.fit > 0 {
        return WaitReason::Gang { tasks: want.tasks(), fit: failure.fit };
    }
    short(cluster, want, &want.roles[failure.role])
}

/// When a role has no room even on ready nodes that nothing runs on: how many others, or nodes with
/// unhealthy GPUs, would take its tasks.
fn nodes_down(cluster: &Cluster, role: &RoleWant) -> u32 {
    let room = |node: &NodeState, gpus: Bits| capacity(node, role, gpus).min(role.count.into());
    let ready = cluster.alike().filter(|(node, _)| node.ready);
    let up: i64 = ready.map(|(node, count)| count.saturating_mul(room(node, node.healthy))).sum();
    if up >= i64::from(role.count) {
        return 0;
    }
    let better = |(node, _): &(&NodeState, i64)| {
        room(node, Bits::MAX) > if node.ready { room(node, node.healthy) } else { 0 }
    };
    let down: i64 = cluster.alike().filter(better).map(|(_, count)| count).sum();
    u32::try_from(down).unwrap_or(u32::MAX)
}

/// What a node has for a task of a role, in the order in which it is said to be short.
fn has(cluster: &Cluster, node: &NodeState, role: &RoleWant) -> [(ResourceKind, i64, i64); 5] {
    let free_gpus = node
        .types
        .iter()
        .filter(|(number, _)| role.types >> number & 1 == 1)
        .map(|(_, bits)| i64::from((bits & node.free_gpus).count_ones()))
        .max()
        .unwrap_or(0);
    let ports = i64::from(role.any_ports)
        + role.numbered.iter().map(|span| i64::from(span.last - span.first) + 1).sum::<i64>();
    let ports_left = match cluster.ports.tasks(node.pool, role, View::Real, 1) {
        0 => cluster.ports.free(node.pool).clamp(0, (ports - 1).max(0)),
        _ => ports,
    };
    [
        (ResourceKind::Gpu, role.gpus.into(), free_gpus),
        (ResourceKind::Cpu, role.cpus, node.free.cpus),
        (ResourceKind::Memory, role.memory, node.free.memory),
        (ResourceKind::Disk, role.disk, node.free.disk),
        (ResourceKind::Port, ports, ports_left),
    ]
}

/// Not one task of the role fits anywhere: what it lacks where it lacks least.
fn short(cluster: &Cluster, want: &Want, role: &RoleWant) -> WaitReason {
    let most = positions(role.types).map(|number| cluster.most_free_gpus(number)).max();
    if role.gpus > most.unwrap_or(0) {
        return gpus_short(cluster, role, most.unwrap_or(0));
    }
    let mut best: Option<(usize, ResourceKind, i64, i64)> = None;
    for node in cluster.nodes.iter().filter(|node| node.ready) {
        let all = has(cluster, node, role);
        let mut lacking = all.iter().filter(|(_, needs, has)| has < needs);
        let Some(&(kind, needs, has)) = lacking.next() else { continue };
        let others = lacking.count();
        let closer = best.is_none_or(|(count, best_kind, _, most)| {
            others < count || others == count && best_kind == kind && has > most
        });
        if closer {
            best = Some((others, kind, needs, has));
        }
    }
    let Some((_, resource, needs, most)) = best else {
        return WaitReason::Gang { tasks: want.tasks(), fit: 0 };
    };
    let amount = |value: i64| u64::try_from(value).unwrap_or(0);
    if resource == ResourceKind::Gpu {
        return gpus_short(cluster, role, u32::try_from(most).unwrap_or(0));
    }
    WaitReason::Short { resource, needs: amount(needs), best_node: amount(most) }
}

/// Enough free GPUs, but scattered, or too few in all.
fn gpus_short(cluster: &Cluster, role: &RoleWant, best_node: u32) -> WaitReason {
    let needs = role.gpus;
    // All GPUs of a task are of one type, so the free ones of different types do not add up.
    let free = positions(role.types).map(|number| cluster.all_free_gpus(number)).max().unwrap_or(0);
    if free >= needs {
        return WaitReason::Fragmented { needs, free, best_node };
    }
    WaitReason::Short {
        resource: ResourceKind::Gpu,
        needs: needs.into(),
        best_node: best_node.into(),
    }
}
