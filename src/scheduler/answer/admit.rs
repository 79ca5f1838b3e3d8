//! What can never be met, whatever the load. Only what is certain is refused: nodes that are out of
//! contact, draining or have unhealthy GPUs may come back, and one that has not answered yet may have
//! anything.

use std::collections::BTreeSet;

use protocol::wait::{ResourceKind, WaitReason};

use crate::answer::{explain, level};
use crate::cluster::Cluster;
use crate::cluster::workload::Workload;
use crate::model::{Node, Request, Snapshot, VirtualCluster, WHOLE_GPU};
use crate::numbers::gpus::Bits;
use crate::numbers::indices::AccountIndex;
use crate::numbers::kind::Kind;
use crate::numbers::request::{Class, ClassRole};

/// All that the nodes have and the virtual clusters are guaranteed, to be asked of each job that comes.
/// It holds whatever runs, as long as the virtual clusters stay and the nodes are alike
/// ([`Node::is_like`]).
#[derive(Debug)]
pub struct Admission(Cluster);

impl Admission {
    /// Of these nodes and virtual clusters.
    #[must_use]
    pub fn new(nodes: &[Node], virtual_clusters: &[VirtualCluster]) -> Self {
        let mut cluster = Cluster::new(nodes, virtual_clusters, Workload::default());
        // What it answers goes by kinds of nodes: it is kept for long, and lists of GPUs are most of a node.
        cluster.fixed.iter_mut().for_each(|fixed| fixed.node.capacity.gpus = Vec::new());
        Self(cluster)
    }

    /// Checks a request against all that the nodes have and against its virtual cluster's share.
    ///
    /// # Errors
    /// [`WaitReason::NodesAbsent`], [`WaitReason::TypeAbsent`], [`WaitReason::GpusNotShared`],
    /// [`WaitReason::PortsOutside`], [`WaitReason::LevelTooSmall`] or [`WaitReason::Impossible`]: it
    /// could never start. A cluster without nodes refuses nothing.
    pub fn admit(&self, request: &Request) -> Result<(), WaitReason> {
        let class = self.0.class_without_places(request);
        never(&self.0, &class).map_or(Ok(()), Err)
    }
}

/// Checks a request against all that a snapshot has.
///
/// # Errors
/// See [`Admission::admit`].
pub fn admit(snapshot: &Snapshot, request: &Request) -> Result<(), WaitReason> {
    Admission::new(&snapshot.nodes, &snapshot.virtual_clusters).admit(request)
}

/// Why a job can never start on a cluster in which nothing runs; `None` when it may.
pub(crate) fn never(cluster: &Cluster, class: &Class) -> Option<WaitReason> {
    if cluster.fixed.is_empty() || class.roles.is_empty() {
        return None;
    }
    let absent = explain::absent_nodes(cluster, class);
    if absent.is_some() || cluster.alike(class).any(|(kind, _)| !kind.known) {
        return absent;
    }
    explain::absent_type(cluster, class)
        .or_else(|| explain::not_shared(cluster, class))
        .or_else(|| explain::ports_outside(cluster, class))
        .or_else(|| class.roles.iter().find_map(|role| task_too_large(cluster, class, role)))
        .or_else(|| ports_too_many(cluster, class))
        .or_else(|| class.roles.iter().find_map(|role| role_too_large(cluster, class, role)))
        .or_else(|| job_too_large(cluster, class))
        .or_else(|| level::too_small(cluster, class))
        .or_else(|| share_too_small(cluster, class))
        .or_else(|| cells_too_small(cluster, class))
}

fn impossible(resource: ResourceKind, needs: i64, largest: i64) -> WaitReason {
    let (needs, largest) = (explain::needed(resource, needs), explain::had(resource, largest));
    WaitReason::Impossible { resource, needs, largest, virtual_cluster: None }
}

/// What one task needs of a resource and what a node has of it.
type Amount = fn(&ClassRole) -> i64;
type Holding = fn(&Kind, &ClassRole) -> i64;

const KINDS: [(ResourceKind, Amount, Holding); 4] = [
    (ResourceKind::Gpu, |role| role.request.gpu_milli(), most_gpus),
    (ResourceKind::Cpu, |role| role.request.each.cpus, |node, _| node.total.cpus),
    (ResourceKind::Memory, |role| role.request.each.memory, |node, _| node.total.memory),
    (ResourceKind::Disk, |role| role.request.each.disk, |node, _| node.total.disk),
];

/// Thousandths of the node's GPUs of the wanted type of which it has the most.
fn most_gpus(node: &Kind, role: &ClassRole) -> i64 {
    gpus_of_types(node, role).max().unwrap_or(0)
}

/// Thousandths of the node's GPUs of each wanted type.
fn gpus_of_types(node: &Kind, role: &ClassRole) -> impl Iterator<Item = i64> {
    let (types, admits) = (role.request.types, node.shares_gpus || !role.request.shares());
    let wanted = node.types.iter().filter(move |(number, _)| admits && types >> number & 1 == 1);
    wanted.map(|(_, bits)| i64::from(bits.count_ones()) * i64::from(WHOLE_GPU))
}

/// No node is large enough for one task.
fn task_too_large(cluster: &Cluster, class: &Class, role: &ClassRole) -> Option<WaitReason> {
    let in_range = |(node, _): &(&Kind, i64)| role.lies_in(node.ports);
    let mut nodes: Vec<_> = cluster.alike(class).filter(in_range).map(|(node, _)| node).collect();
    for (kind, amount, holding) in KINDS {
        let needs = amount(role);
        let largest = nodes.iter().map(|node| holding(node, role)).max().unwrap_or(0);
        if largest < needs {
            return Some(impossible(kind, needs, largest));
        }
        nodes.retain(|node| holding(node, role) >= needs);
    }
    let range = |node: &&Kind| {
        let (first, last) = node.ports;
        let taken: i64 = role.numbered.iter().map(|s| s.shared(first, last)).sum();
        i64::from(last) - i64::from(first) + 1 - taken
    };
    let largest = nodes.iter().map(range).max().unwrap_or(0);
    (largest < role.any_ports.into())
        .then(|| impossible(ResourceKind::Port, role.any_ports.into(), largest))
}

/// Ports that more tasks ask for than there are addresses.
fn ports_too_many(cluster: &Cluster, class: &Class) -> Option<WaitReason> {
    let mut changes: Vec<_> = class
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
    let addresses = match &class.only {
        Some(only) => {
            let pools: BTreeSet<_> = only.iter().map(|node| cluster.fixed[*node].ports).collect();
            pools.len()
        }
        None => cluster.ports.addresses(),
    };
    let addresses = i64::try_from(addresses).unwrap_or(i64::MAX);
    (most > addresses).then(|| impossible(ResourceKind::Port, most, addresses))
}

/// The nodes together have no room for all tasks of one role.
fn role_too_large(cluster: &Cluster, class: &Class, role: &ClassRole) -> Option<WaitReason> {
    let count = i64::from(role.count);
    let room = |node: &Kind| explain::capacity(node, role, Bits::MAX).min(count);
    let fit: i64 = cluster.alike(class).map(|(node, alike)| alike.saturating_mul(room(node))).sum();
    if fit >= count {
        return None;
    }
    // The resource that alone bounds it the most is the one to name.
    let by = |(_, amount, holding): &(ResourceKind, Amount, Holding)| -> i64 {
        let tasks = |node: &Kind| (holding(node, role) / amount(role).max(1)).min(count);
        cluster.alike(class).map(|(node, alike)| alike.saturating_mul(tasks(node))).sum()
    };
    let asked = KINDS.iter().filter(|(_, amount, _)| amount(role) > 0);
    let (kind, amount, _) = asked.min_by_key(|kind| by(kind))?;
    let each = amount(role);
    Some(impossible(*kind, count.saturating_mul(each), fit.saturating_mul(each)))
}

/// The nodes together have too little for all roles.
fn job_too_large(cluster: &Cluster, class: &Class) -> Option<WaitReason> {
    let gpus = class.roles.iter().filter(|role| role.request.gpus > 0).find_map(|widest| {
        let within =
            class.roles.iter().filter(|role| role.request.types & !widest.request.types == 0);
        let needs = within.map(|role| i64::from(role.count) * role.request.gpu_milli()).sum();
        let of_types = |node: &Kind| -> i64 { gpus_of_types(node, widest).sum() };
        let all = cluster.alike(class).map(|(node, alike)| alike * of_types(node)).sum();
        (needs > all).then(|| impossible(ResourceKind::Gpu, needs, all))
    });
    let [_, others @ ..] = KINDS;
    gpus.or_else(|| {
        others.into_iter().find_map(|(kind, amount, holding)| {
            let of_role = |role: &ClassRole| i64::from(role.count).saturating_mul(amount(role));
            let needs = class.roles.iter().map(of_role).fold(0, i64::saturating_add);
            let all = cluster
                .alike(class)
                .map(|(node, alike)| alike.saturating_mul(holding(node, &class.roles[0])));
            let all = all.fold(0, i64::saturating_add);
            (needs > all).then(|| impossible(kind, needs, all))
        })
    })
}

/// The whole share would not do.
fn share_too_small(cluster: &Cluster, class: &Class) -> Option<WaitReason> {
    let lack = cluster.beyond_share(class)?;
    let resource = lack.which.kind();
    Some(WaitReason::Impossible {
        resource,
        needs: explain::needed(resource, lack.needs),
        largest: explain::had(resource, lack.share),
        virtual_cluster: Some(class.of.virtual_cluster.clone()),
    })
}

/// No cell is large enough for one task, and nothing may be borrowed.
fn cells_too_small(cluster: &Cluster, class: &Class) -> Option<WaitReason> {
    if cluster.may_borrow(class) {
        return None;
    }
    let accounts = cluster.accounts(class.cluster);
    let role = class.roles.iter().find(|role| {
        let fits = |(kind, part): &(&Kind, Kind)| {
            gpus_of_types(kind, role).next().is_some() && holds(part, role)
                || role.request.gpus == 0 && holds(part, role)
        };
        !accounts.iter().any(|account| cells(cluster, class, *account).any(|cell| fits(&cell)))
    })?;
    let all: Vec<_> = accounts.iter().flat_map(|account| cells(cluster, class, *account)).collect();
    let short = KINDS.into_iter().find_map(|(kind, amount, holding)| {
        let largest = all.iter().map(|(_, part)| holding(part, role)).max().unwrap_or(0);
        (largest < amount(role)).then_some((kind, amount(role), largest))
    });
    let (resource, needs, largest) =
        short.unwrap_or((ResourceKind::Gpu, role.request.gpu_milli(), 0));
    Some(WaitReason::Impossible {
        resource,
        needs: explain::needed(resource, needs),
        largest: explain::had(resource, largest),
        virtual_cluster: Some(class.of.virtual_cluster.clone()),
    })
}

fn holds(part: &Kind, role: &ClassRole) -> bool {
    part.total.covers(role.request.each) && part.size >= role.request.gpus
}

/// The cells of an account on nodes that a class may use: each with the kind of node it is cut from,
/// and as a node of its own.
fn cells<'c>(
    cluster: &'c Cluster,
    class: &'c Class,
    account: AccountIndex,
) -> impl Iterator<Item = (&'c Kind, Kind)> {
    let account = cluster.cells.owner(account);
    cluster.alike(class).flat_map(move |(kind, _)| {
        let pool = &cluster.cells.pools[kind.pool];
        let whole = pool.is_free_to(account).then_some(pool.size);
        let level = move |level: &usize| pool.cells(account, *level) > 0;
        let sizes = (0..pool.levels.len()).filter(level).map(|level| pool.levels[level]);
        whole.into_iter().chain(sizes).map(move |size| (kind, kind.piece(size)))
    })
}
