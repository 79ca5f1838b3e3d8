//! What can never be met, whatever the load. Only what is certain is refused: nodes that are out of
//! contact, draining or have unhealthy GPUs may come back.

use protocol::wait::{ResourceKind, WaitReason};

use crate::explain;
use crate::fit::capacity;
use crate::gpus::Bits;
use crate::model::{Request, Snapshot};
use crate::state::{Amounts, Cluster, NodeState};
use crate::want::{RoleWant, Want};

/// Checks a request against all that the cluster has and against its virtual cluster's share.
///
/// # Errors
/// [`WaitReason::TypeAbsent`] or [`WaitReason::Impossible`]: it could never start. A cluster without
/// nodes refuses nothing.
pub fn admit(snapshot: &Snapshot, request: &Request) -> Result<(), WaitReason> {
    let cluster = Cluster::empty(snapshot);
    let want = Want::new(request, &cluster.names);
    never(&cluster, &want).map_or(Ok(()), Err)
}

/// Why a job can never start on a cluster in which nothing runs; `None` when it may.
pub(crate) fn never(cluster: &Cluster, want: &Want) -> Option<WaitReason> {
    if cluster.nodes.is_empty() || want.roles.is_empty() {
        return None;
    }
    explain::absent_type(cluster, want)
        .or_else(|| want.roles.iter().find_map(|role| task_too_large(cluster, role)))
        .or_else(|| ports_too_many(cluster, want))
        .or_else(|| want.roles.iter().find_map(|role| role_too_large(cluster, role)))
        .or_else(|| job_too_large(cluster, want))
        .or_else(|| share_too_small(cluster, want))
}

fn impossible(resource: ResourceKind, needs: i64, largest: i64) -> WaitReason {
    let amount = |value: i64| u64::try_from(value).unwrap_or(0);
    let (needs, largest) = (amount(needs), amount(largest));
    WaitReason::Impossible { resource, needs, largest, virtual_cluster: None }
}

/// What one task needs of a resource and what a node has of it.
type Amount = fn(&RoleWant) -> i64;
type Holding = fn(&NodeState, &RoleWant) -> i64;

const KINDS: [(ResourceKind, Amount, Holding); 4] = [
    (ResourceKind::Gpu, |role| role.gpus.into(), most_gpus),
    (ResourceKind::Cpu, |role| role.cpus, |node, _| all_of(node).cpus),
    (ResourceKind::Memory, |role| role.memory, |node, _| all_of(node).memory),
    (ResourceKind::Disk, |role| role.disk, |node, _| all_of(node).disk),
];

fn all_of(node: &NodeState) -> Amounts {
    Amounts::of_node(&node.node.capacity)
}

/// The node's GPUs of the wanted type of which it has the most.
fn most_gpus(node: &NodeState, role: &RoleWant) -> i64 {
    let types = node.types.iter().filter(|(number, _)| role.types >> number & 1 == 1);
    types.map(|(_, bits)| i64::from(bits.count_ones())).max().unwrap_or(0)
}

/// No node is large enough for one task.
fn task_too_large(cluster: &Cluster, role: &RoleWant) -> Option<WaitReason> {
    let mut nodes: Vec<_> = cluster.alike().map(|(node, _)| node).collect();
    for (kind, amount, holding) in KINDS {
        let needs = amount(role);
        let largest = nodes.iter().map(|node| holding(node, role)).max().unwrap_or(0);
        if largest < needs {
            return Some(impossible(kind, needs, largest));
        }
        nodes.retain(|node| holding(node, role) >= needs);
    }
    let range = |node: &&NodeState| {
        let ports = node.node.ports;
        let taken: i64 = role.numbered.iter().map(|s| s.shared(ports.first, ports.last)).sum();
        i64::from(ports.last) - i64::from(ports.first) + 1 - taken
    };
    let largest = nodes.iter().map(range).max().unwrap_or(0);
    (largest < role.any_ports.into())
        .then(|| impossible(ResourceKind::Port, role.any_ports.into(), largest))
}

/// Ports that do not exist, or that more tasks ask for than there are addresses.
fn ports_too_many(cluster: &Cluster, want: &Want) -> Option<WaitReason> {
    if let Some(span) = want.numbered.iter().find(|span| span.last > u16::MAX.into()) {
        return Some(impossible(ResourceKind::Port, span.last.into(), u16::MAX.into()));
    }
    let mut changes: Vec<_> = want
        .roles
        .iter()
        .flat_map(|role| role.numbered.iter().map(move |span| (span, i64::from(role.count))))
        .flat_map(|(span, count)| [(span.first, count), (span.last + 1, -count)])
        .collect();
    changes.sort_unstable();
    let mut asking = 0;
    let mut most = 0;
    for (_, change) in changes {
        asking += change;
        most = most.max(asking);
    }
    let addresses = cluster.ports.addresses();
    (most > addresses).then(|| impossible(ResourceKind::Port, most, addresses))
}

/// The nodes together have no room for all tasks of one role.
fn role_too_large(cluster: &Cluster, role: &RoleWant) -> Option<WaitReason> {
    let count = i64::from(role.count);
    let room = |node: &NodeState| capacity(node, role, Bits::MAX).min(count);
    let fit: i64 = cluster.alike().map(|(node, alike)| alike.saturating_mul(room(node))).sum();
    if fit >= count {
        return None;
    }
    // The resource that alone bounds it the most is the one to name.
    let by = |(_, amount, holding): &(ResourceKind, Amount, Holding)| -> i64 {
        let tasks = |node: &NodeState| (holding(node, role) / amount(role).max(1)).min(count);
        cluster.alike().map(|(node, alike)| alike.saturating_mul(tasks(node))).sum()
    };
    let asked = KINDS.iter().filter(|(_, amount, _)| amount(role) > 0);
    let (kind, amount, _) = asked.min_by_key(|kind| by(kind))?;
    let each = amount(role);
    Some(impossible(*kind, count.saturating_mul(each), fit.saturating_mul(each)))
}

/// The nodes together have too little for all roles.
fn job_too_large(cluster: &Cluster, want: &Want) -> Option<WaitReason> {
    let gpus = want.roles.iter().filter(|role| role.gpus > 0).find_map(|widest| {
        let within = want.roles.iter().filter(|role| role.types & !widest.types == 0);
        let needs = within.map(|role| i64::from(role.count) * i64::from(role.gpus)).sum();
        let of_types = |node: &NodeState| -> i64 {
            let types = node.types.iter().filter(|(number, _)| widest.types >> number & 1 == 1);
            types.map(|(_, bits)| i64::from(bits.count_ones())).sum()
        };
        let all = cluster.alike().map(|(node, alike)| alike * of_types(node)).sum();
        (needs > all).then(|| impossible(ResourceKind::Gpu, needs, all))
    });
    let [_, others @ ..] = KINDS;
    gpus.or_else(|| {
        others.into_iter().find_map(|(kind, amount, holding)| {
            let of_role = |role: &RoleWant| i64::from(role.count).saturating_mul(amount(role));
            let needs = want.roles.iter().map(of_role).fold(0, i64::saturating_add);
            let all = cluster
                .alike()
                .map(|(node, alike)| alike.saturating_mul(holding(node, &want.roles[0])));
            let all = all.fold(0, i64::saturating_add);
            (needs > all).then(|| impossible(kind, needs, all))
        })
    })
}

/// The whole share would not do.
fn share_too_small(cluster: &Cluster, want: &Want) -> Option<WaitReason> {
    let lack = cluster.shares.lacks(want, true).into_iter().next()?;
    let amount = |value: i64| u64::try_from(value).unwrap_or(0);
    Some(WaitReason::Impossible {
        resource: lack.which.kind(),
        needs: amount(lack.needs),
        largest: amount(lack.share),
        virtual_cluster: Some(want.request.virtual_cluster.clone()),
    })
}
