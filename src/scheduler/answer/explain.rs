//! Why a job that found no room waits: the constraint that really binds.

use std::collections::BTreeMap;

use protocol::amount::Amount;
use protocol::ids::GpuType;
use protocol::resources::PortRange;
use protocol::wait::{ResourceKind, WaitReason};

use crate::cluster::Cluster;
use crate::cluster::ports::View;
use crate::cluster::spare::Spare;
use crate::model::{Request, Scarce, WHOLE_GPU};
use crate::numbers::amounts::Amounts;
use crate::numbers::gpus::{Bits, positions};
use crate::numbers::indices::NodeIndex;
use crate::numbers::kind::Kind;
use crate::numbers::request::{Class, ClassRole};
use crate::pass::fit::Failure;
use crate::share::{Lack, Which};

/// An amount that is needed, in the units of the pages: whole cores, rounded up.
pub(crate) fn needed(resource: ResourceKind, amount: i64) -> Amount {
    in_units(resource, amount, Amount::ceil)
}

/// An amount that is there: whole cores, rounded down.
pub(crate) fn had(resource: ResourceKind, amount: i64) -> Amount {
    in_units(resource, amount, Amount::floor)
}

/// Cores and GPUs are counted in thousandths here.
fn in_units(resource: ResourceKind, amount: i64, round: fn(Amount) -> u64) -> Amount {
    let amount = u64::try_from(amount).unwrap_or(0);
    match resource {
        ResourceKind::Gpu => Amount::from_milli(amount),
        ResourceKind::Cpu => Amount::whole(round(Amount::from_milli(amount))),
        ResourceKind::Memory | ResourceKind::Disk | ResourceKind::Port => Amount::whole(amount),
    }
}

/// The share that a job lacks, as a reason.
pub(crate) fn quota(cluster: &Cluster, class: &Class, lack: Lack) -> WaitReason {
    let resource = lack.which.kind();
    let gpu_type = match lack.which {
        Which::Gpus(types) if types.count_ones() == 1 => {
            positions(types).next().map(|number| cluster.names.types[number].clone())
        }
        Which::Gpus(_) | Which::Cpus | Which::Memory => None,
    };
    WaitReason::QuotaVc {
        virtual_cluster: class.of.virtual_cluster.clone(),
        resource,
        gpu_type,
        needs: needed(resource, lack.needs),
        free: had(resource, lack.free),
        share: had(resource, lack.share),
    }
}

/// The GPU types that a role asks for, each once.
fn named_types(role: &ClassRole) -> Vec<GpuType> {
    let mut types = role.gpu_types.clone();
    types.sort_unstable();
    types.dedup();
    types
}

/// A wanted GPU type that no node has, as a reason.
pub(crate) fn absent_type(cluster: &Cluster, class: &Class) -> Option<WaitReason> {
    let absent = |role: &&ClassRole| {
        role.request.gpus > 0 && role.request.types == 0 && !role.gpu_types.is_empty()
    };
    let wanted = named_types(class.roles.iter().find(absent)?);
    let types = positions(cluster.types_for(class));
    let existing = types.map(|number| cluster.names.types[number].clone()).collect();
    Some(WaitReason::TypeAbsent { wanted, existing })
}

/// Nodes that are asked for where there are none such, as a reason.
pub(crate) fn absent_nodes(cluster: &Cluster, class: &Class) -> Option<WaitReason> {
    let absent = cluster.alike(class).next().is_none();
    absent.then(|| WaitReason::NodesAbsent { wanted: class.of.nodes.clone() })
}

/// A storage that all nodes lack on which a job could start otherwise, as a reason. `lasts` says why a class
/// could never start as nodes and shares are.
pub(crate) fn absent_storage(
    cluster: &Cluster,
    class: &Class,
    lasts: impl Fn(&Class) -> Option<WaitReason>,
) -> Option<WaitReason> {
    let storage = class.of.lacks.values().next()?.clone();
    let had = Request { lacks: BTreeMap::new(), ..class.of.clone() };
    let starts = lasts(&cluster.class_without_places(&had)).is_none();
    starts.then_some(WaitReason::StorageAbsent { storage })
}

/// Ports that are wanted by number where no node gives them, as a reason.
pub(crate) fn ports_outside(cluster: &Cluster, class: &Class) -> Option<WaitReason> {
    let nowhere =
        |role: &&ClassRole| !cluster.alike(class).any(|(kind, _)| role.lies_in(kind.ports));
    let role = class.roles.iter().find(nowhere)?;
    let (first, last) = cluster.alike(class).map(|(kind, _)| kind.ports).max_by_key(|ports| {
        // The widest range is the likeliest to be meant.
        i32::from(ports.1) - i32::from(ports.0)
    })?;
    Some(WaitReason::PortsOutside {
        first: role.numbered.iter().map(|span| span.first).min()?,
        last: role.numbered.iter().map(|span| span.last).max()?,
        allowed: PortRange { first, last },
    })
}

/// A part of a GPU that is wanted where no node shares such GPUs, as a reason.
pub(crate) fn not_shared(cluster: &Cluster, class: &Class) -> Option<WaitReason> {
    let shares = |kind: &Kind, role: &ClassRole| {
        kind.shares_gpus && kind.type_mask() & role.request.types != 0
    };
    let role = class.roles.iter().find(|role| {
        role.request.shares() && !cluster.alike(class).any(|(kind, _)| shares(kind, role))
    })?;
    Some(WaitReason::GpusNotShared { wanted: role.gpu_types.clone() })
}

/// Why the nodes have no room for a job. `failure` is how far a try came that saw all that is free.
pub(crate) fn no_room(cluster: &Cluster, class: &Class, failure: Failure) -> WaitReason {
    if cluster.fixed.is_empty() {
        return WaitReason::NoNodes;
    }
    if let Some(reason) = absent_nodes(cluster, class) {
        return reason;
    }
    let down = class.roles.iter().map(|role| nodes_down(cluster, class, role)).max().unwrap_or(0);
    let unknown = cluster.alike(class).any(|(kind, _)| !kind.known);
    if down > 0 && unknown {
        return WaitReason::NodeDown { nodes: down };
    }
    let absent = absent_type(cluster, class).or_else(|| not_shared(cluster, class));
    if let Some(reason) = absent {
        return reason;
    }
    if down > 0 {
        return WaitReason::NodeDown { nodes: down };
    }
    if failure.fit > 0 {
        return WaitReason::Gang { tasks: class.tasks(), fit: failure.fit };
    }
    let role = &class.roles[failure.role];
    let Some(scarce) = scarce(cluster, class, role) else {
        return WaitReason::Gang { tasks: class.tasks(), fit: 0 };
    };
    let Scarce { resource, needs, free, best_node } = scarce;
    // All GPUs of a task are of one type, so the free ones of different types do not add up.
    if resource == ResourceKind::Gpu && free >= needs && !role.request.shares() {
        let count = |amount: Amount| u32::try_from(amount.floor()).unwrap_or(u32::MAX);
        let (needs, free, best_node) = (count(needs), count(free), count(best_node));
        return WaitReason::Fragmented { gpu_types: named_types(role), needs, free, best_node };
    }
    let gpu_types = match resource {
        ResourceKind::Gpu => named_types(role),
        ResourceKind::Cpu | ResourceKind::Memory | ResourceKind::Disk | ResourceKind::Port => {
            Vec::new()
        }
    };
    WaitReason::Short { resource, gpu_types, needs, best_node }
}

/// How many tasks of a role a node could take with these GPUs and nothing else on it.
pub(crate) fn capacity(kind: &Kind, role: &ClassRole, gpus: Bits) -> i64 {
    let request = &role.request;
    let of_type = |(number, bits): &(u8, Bits)| match request.types >> number & 1 {
        0 => 0,
        _ if request.shares() => {
            i64::from((bits & gpus).count_ones()) * i64::from(WHOLE_GPU / request.milli)
        }
        _ => i64::from((bits & gpus).count_ones()) / i64::from(request.gpus.max(1)),
    };
    let by_gpus = match request.gpus {
        0 => i64::MAX,
        _ => kind.types.iter().map(of_type).sum(),
    };
    let takes = kind.admits(request) && role.lies_in(kind.ports);
    if takes { kind.total.times(request.each).min(by_gpus) } else { 0 }
}

/// When a role has no room even on ready nodes that nothing runs on: how many others, or nodes with
/// unhealthy GPUs, would take its tasks, or might: nobody knows what they have.
fn nodes_down(cluster: &Cluster, class: &Class, role: &ClassRole) -> u32 {
    let room = |kind: &Kind, gpus: Bits| capacity(kind, role, gpus).min(role.count.into());
    let ready = cluster.alike(class).filter(|(kind, _)| kind.ready);
    let up: i64 = ready.map(|(kind, count)| count.saturating_mul(room(kind, kind.healthy))).sum();
    if up >= i64::from(role.count) {
        return 0;
    }
    let better = |(kind, _): &(&Kind, i64)| {
        let has_now = if kind.ready { room(kind, kind.healthy) } else { 0 };
        !kind.known || room(kind, Bits::MAX) > has_now
    };
    let down: i64 = cluster.alike(class).filter(better).map(|(_, count)| count).sum();
    u32::try_from(down).unwrap_or(u32::MAX)
}

/// What is free on some nodes, and of ports so many for a task of a role: in the order in which it is said to
/// be short, what it needs and what is there.
fn has(
    cluster: &Cluster,
    (spare, ports_left): (&Spare, i64),
    role: &ClassRole,
) -> [(ResourceKind, i64, i64); 5] {
    let gpus = spare.gpus_for(&cluster.kinds[spare.kind], role);
    let most = gpus.map(|gpus| gpus.most).max().unwrap_or(0);
    let Amounts { cpus, memory, disk } = spare.amounts;
    [
        (ResourceKind::Gpu, role.request.gpu_milli(), most),
        (ResourceKind::Cpu, role.request.each.cpus, cpus),
        (ResourceKind::Memory, role.request.each.memory, memory),
        (ResourceKind::Disk, role.request.each.disk, disk),
        (ResourceKind::Port, ports_of(role), ports_left),
    ]
}

/// How many ports a task of a role needs.
fn ports_of(role: &ClassRole) -> i64 {
    let numbered = role.numbered.iter().map(|span| i64::from(span.last - span.first) + 1);
    i64::from(role.any_ports) + numbered.sum::<i64>()
}

/// How many ports a node has for a task of a role: so many as it needs, or fewer.
fn ports_left(cluster: &Cluster, node: NodeIndex, role: &ClassRole) -> i64 {
    let (pool, ports) = (cluster.fixed[node].ports, ports_of(role));
    match cluster.ports.tasks(pool, role, View::Real, 1) {
        0 => cluster.ports.free(pool).clamp(0, (ports - 1).max(0)),
        _ => ports,
    }
}

/// Goes through what is free on ready nodes that a class may use: what, on how many nodes, and how many ports for a
/// task. One by one they are looked at only where it names them, or where those that have the same else may differ in ports.
fn each_spare(
    cluster: &Cluster,
    class: &Class,
    role: &ClassRole,
    mut see: impl FnMut(&Spare, i64, i64),
) {
    let by_ports = role.alone_on_address() || cluster.ports.may_lack(role.any_ports);
    if class.only.is_none() && !by_ports {
        let ports = ports_of(role);
        cluster.spares_for(class).for_each(|(spare, nodes)| see(spare, nodes, ports));
        return;
    }
    let by_node = cluster.nodes_for(class);
    by_node.for_each(|(spare, node)| see(spare, 1, ports_left(cluster, node, role)));
}

/// What all nodes have free that could take tasks of a role, and what one of them lacks that lacks least.
#[derive(Debug)]
struct Looked {
    /// In the order of [`has`].
    free: [i64; 5],
    free_of_type: Vec<i64>,
    /// What one task could have on the node that has the most free of one wanted type.
    most_gpus: i64,
    /// How many other resources it lacks, which one first, what it needs and what it has of that.
    closest: Option<(usize, ResourceKind, i64, i64)>,
}

impl Looked {
    fn see(
        &mut self,
        cluster: &Cluster,
        role: &ClassRole,
        (spare, nodes, ports): (&Spare, i64, i64),
    ) {
        let all = has(cluster, (spare, ports), role);
        for (sum, (_, _, has)) in self.free.iter_mut().zip(&all) {
            *sum = sum.saturating_add(nodes.saturating_mul(*has));
        }
        for gpus in spare.gpus_for(&cluster.kinds[spare.kind], role) {
            self.free_of_type[usize::from(gpus.gpu_type)] += nodes * gpus.all;
        }
        self.most_gpus = self.most_gpus.max(all[0].2);
        let mut lacking = all.iter().filter(|(_, needs, has)| has < needs);
        let Some(&(kind, needs, has)) = lacking.next() else { return };
        let others = lacking.count();
        let closer = self.closest.is_none_or(|(count, best_kind, _, most)| {
            others < count
                || others == count && (kind as u8) > (best_kind as u8)
                || others == count && best_kind == kind && has > most
        });
        if closer {
            self.closest = Some((others, kind, needs, has));
        }
    }
}

/// Not one task of the role fits anywhere: what it lacks where it lacks least.
pub(crate) fn scarce(cluster: &Cluster, class: &Class, role: &ClassRole) -> Option<Scarce> {
    let free_of_type = vec![0; cluster.names.types.len()];
    let mut looked = Looked { free: [0; 5], free_of_type, most_gpus: 0, closest: None };
    each_spare(cluster, class, role, |spare, nodes, ports| {
        looked.see(cluster, role, (spare, nodes, ports));
    });
    let Looked { free, free_of_type, most_gpus, closest } = looked;
    let (_, resource, needs, most) = closest?;
    let most = match resource {
        ResourceKind::Gpu if most_gpus < needs => most_gpus,
        ResourceKind::Gpu
        | ResourceKind::Cpu
        | ResourceKind::Memory
        | ResourceKind::Disk
        | ResourceKind::Port => most,
    };
    let free = match resource {
        ResourceKind::Gpu => free_of_type.into_iter().max().unwrap_or(0),
        ResourceKind::Cpu => free[1],
        ResourceKind::Memory => free[2],
        ResourceKind::Disk => free[3],
        ResourceKind::Port => free[4],
    };
    Some(Scarce {
        resource,
        needs: needed(resource, needs),
        free: had(resource, free),
        best_node: had(resource, most),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::properties::events::cases;
    use crate::properties::{Case, any_snapshot};
    use crate::state::State;
    use crate::story::{NOW, job};

    proptest! {
        #![proptest_config(cases(300))]

        #[test]
        fn what_is_scarce_is_the_same_whether_nodes_are_counted_together_or_one_by_one(
            Case(snapshot) in any_snapshot(),
            (gpus, milli, cpus) in (0..9_u32, 0..4_u32, 1..17_u32),
            (ports, first) in (1..16_u32, prop::sample::select(&[0_u16, 20_000, 20_010][..])),
        ) {
            let mut state = State::of(&snapshot);
            state.pass(NOW);
            let asked = job(1_000).gpus(gpus, &[]).cpus(cpus).port("more", first, ports);
            let mut asked = asked.request;
            if gpus == 1 {
                asked.roles[0].demand.gpu_milli = 1_000 / (1 + milli);
            }
            let together = state.cluster.class(&asked);
            asked.nodes.names = snapshot.nodes.iter().map(|node| node.name.clone()).collect();
            let one_by_one = state.cluster.class(&asked);
            let scarce = |class: &Class| scarce(&state.cluster, class, &class.roles[0]);
            prop_assert_eq!(scarce(&together), scarce(&one_by_one));
        }
    }
}
