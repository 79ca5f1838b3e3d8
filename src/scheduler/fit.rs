//! Finding places: the best node for the next task of a role, and places for a whole job.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use protocol::placement::TaskPlacement;

use crate::gpus::{self, Bits};
use crate::model::Placement;
use crate::ports;
use crate::state::{Amounts, Claim, Cluster, NodeState, View};
use crate::want::{RoleWant, Want};

/// How far a try came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The role whose task found no place, by its position among the wanted roles.
    pub(crate) role: usize,
    /// Tasks of the job that had found one.
    pub(crate) fit: u32,
}

/// Places all tasks of a job or none.
pub(crate) fn place(cluster: &mut Cluster, want: &Want, view: View) -> Result<Vec<Claim>, Failure> {
    let mut gang = Gang::new(cluster, want, view);
    for role in 0..want.roles.len() {
        let mut remaining = want.roles[role].count;
        while remaining > 0 {
            let placed =
                gang.best(role, remaining).map_or(0, |spot| gang.fill(spot, role, remaining));
            if placed == 0 {
                let fit = u32::try_from(gang.claims.len()).unwrap_or(u32::MAX);
                gang.undo();
                return Err(Failure { role, fit });
            }
            remaining -= placed;
        }
    }
    Ok(gang.claims)
}

/// Gives back what [`place`] took.
pub(crate) fn undo(cluster: &mut Cluster, want: &Want, claims: &[Claim]) {
    for claim in claims {
        cluster.give(want.account, claim);
    }
}

/// What a placed job is told.
pub(crate) fn placement(cluster: &Cluster, want: &Want, claims: &[Claim]) -> Placement {
    let mut counted = vec![0; want.roles.len()];
    let mut tasks: Vec<_> = claims
        .iter()
        .filter_map(|claim| {
            let node = &cluster.nodes[claim.node?];
            let role = &want.roles[claim.role];
            let index = counted[claim.role];
            counted[claim.role] += 1;
            let mut numbers = claim.ports.iter().copied();
            let ports: BTreeMap<_, _> = role
                .ports
                .iter()
                .map(|p| (p.label.clone(), numbers.by_ref().take(p.count as usize).collect()))
                .collect();
            Some(TaskPlacement {
                role: role.role,
                index,
                node: node.node.name.clone(),
                address: node.node.address.clone(),
                gpus: node.gpu_indices(claim.gpus),
                ports,
            })
        })
        .collect();
    tasks.sort_by_key(|task| (task.role, task.index));
    Placement { job: want.job(), tasks }
}

/// A node, the GPU type to take there, and how many tasks it could take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spot {
    pub(crate) node: usize,
    gpu_type: Option<u8>,
    tasks: i64,
}

/// A job on its way to its places.
#[derive(Debug)]
pub(crate) struct Gang<'c, 'a, 'w> {
    pub(crate) cluster: &'c mut Cluster<'a>,
    pub(crate) want: &'w Want<'w>,
    view: View,
    pub(crate) claims: Vec<Claim>,
    /// Whether the job has a task on the node already.
    joined: Vec<bool>,
    seed: u64,
}

impl<'c, 'a, 'w> Gang<'c, 'a, 'w> {
    pub(crate) fn new(cluster: &'c mut Cluster<'a>, want: &'w Want<'w>, view: View) -> Self {
        let alone = want.roles.len() == 1 && want.roles[0].count == 1;
        let joined = if alone { Vec::new() } else { vec![false; cluster.nodes.len()] };
        let seed = ports::seed(want.job().0);
        Self { cluster, want, view, claims: Vec::new(), joined, seed }
    }

    pub(crate) fn undo(self) {
        undo(self.cluster, self.want, &self.claims);
    }

    /// The best node for the next tasks of a role.
    pub(crate) fn best(&self, role: usize, remaining: u32) -> Option<Spot> {
        let wanted = &self.want.roles[role];
        let fits = Fits::new(self.cluster, self.want.account, wanted, self.view);
        if !fits.gpus_anywhere(self.cluster) {
            return None;
        }
        let mut best = None;
        for node in 0..self.cluster.nodes.len() {
            let Some(spot) = fits.spot(self.cluster, node, remaining) else { continue };
            let rank = self.rank(&spot, wanted, remaining);
            if best.as_ref().is_none_or(|(other, _)| rank < *other) {
                best = Some((rank, spot));
            }
        }
        best.map(|(_, spot)| spot)
    }

    /// The node as a spot, when it can take a task now.
    pub(crate) fn spot(&self, node: usize, role: usize, remaining: u32) -> Option<Spot> {
        let wanted = &self.want.roles[role];
        Fits::new(self.cluster, self.want.account, wanted, self.view).spot(
            self.cluster,
            node,
            remaining,
        )
    }

    /// Puts up to `remaining` tasks there; how many it were.
    pub(crate) fn fill(&mut self, spot: Spot, role: usize, remaining: u32) -> u32 {
        let mut placed = 0;
        while placed < remaining && i64::from(placed) < spot.tasks {
            let Some(claim) = self.claim(spot, role) else { break };
            self.cluster.take(self.want.account, &claim);
            self.claims.push(claim);
            placed += 1;
        }
        if let Some(joined) = self.joined.get_mut(spot.node) {
            *joined |= placed > 0;
        }
        placed
    }

    fn claim(&self, spot: Spot, role: usize) -> Option<Claim> {
        let wanted = &self.want.roles[role];
        let node = &self.cluster.nodes[spot.node];
        let of_type = spot.gpu_type.map_or(0, |gpu_type| type_bits(node, gpu_type));
        let gpus = gpus::choose(node.available_gpus(self.view) & of_type, wanted.gpus)?;
        let around = (self.seed, self.want.numbered.as_slice());
        let ports = self.cluster.ports.pick(node.pool, wanted, around, self.view)?;
        let amounts = wanted.amounts();
        Some(Claim { node: Some(spot.node), amounts, gpus, ports, role })
    }

    /// Smaller is better.
    fn rank(&self, spot: &Spot, wanted: &RoleWant, remaining: u32) -> Rank {
        let node = &self.cluster.nodes[spot.node];
        let gpus = i64::from(wanted.gpus);
        let taken = spot.tasks.min(remaining.into());
        let free_gpus = i64::from(node.available_gpus(self.view).count_ones());
        let whole = node.free_gpus == node.healthy && free_gpus > 0;
        let splits = spot.tasks < i64::from(remaining);
        let left = free_gpus - taken * gpus;
        Rank {
            avoided: self.want.avoid.binary_search(&spot.node).is_ok(),
            wastes_gpus: gpus == 0 && node.healthy != 0,
            splits,
            apart: !self.joined.get(spot.node).copied().unwrap_or(false),
            breaks: gpus > 0 && whole && left > 0,
            together: Reverse(if splits { spot.tasks } else { 0 }),
            gpus_left: left,
            cpus_left: node.available(self.view).cpus - taken * wanted.cpus,
            memory_left: node.available(self.view).memory - taken * wanted.memory,
        }
    }
}

/// What makes one node better than another, the most important first; the first node wins a tie.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// The job just failed there.
    avoided: bool,
    /// A task without GPUs on a node with GPUs.
    wastes_gpus: bool,
    /// Not all tasks that remain of the role find room there.
    splits: bool,
    /// The job has no task there yet.
    apart: bool,
    /// A whole node is broken.
    breaks: bool,
    /// Where tasks have to be split: as few nodes as possible.
    together: Reverse<i64>,
    gpus_left: i64,
    cpus_left: i64,
    memory_left: i64,
}

impl RoleWant<'_> {
    pub(crate) fn amounts(&self) -> Amounts {
        Amounts { cpus: self.cpus, memory: self.memory, disk: self.disk }
    }
}

/// Whether nodes can take a task of a role.
#[derive(Debug)]
pub(crate) struct Fits<'r, 'a> {
    role: &'r RoleWant<'a>,
    view: View,
    account: Option<usize>,
    /// GPU types of which the share has enough left for a task.
    types: Bits,
    /// Tasks that the share has CPUs and memory for.
    most: i64,
}

impl<'r, 'a> Fits<'r, 'a> {
    pub(crate) fn new(
        cluster: &Cluster,
        account: Option<usize>,
        role: &'r RoleWant<'a>,
        view: View,
    ) -> Self {
        let shares = &cluster.shares;
        let types = if role.gpus == 0 { 0 } else { shares.types_left(account, role, view) };
        Self { role, view, account, types, most: shares.tasks(account, role, view) }
    }

    /// False when no node has GPUs enough for a task, known without looking at any.
    fn gpus_anywhere(&self, cluster: &Cluster) -> bool {
        let enough = |gpu_type| cluster.most_free_gpus(gpu_type) >= self.role.gpus;
        self.role.gpus == 0 || gpus::positions(self.types).any(enough)
    }

    /// The node as a spot, when it can take a task of the role.
    pub(crate) fn spot(&self, cluster: &Cluster, node: usize, remaining: u32) -> Option<Spot> {
        let state = &cluster.nodes[node];
        let free = state.available(self.view);
        let role = self.role;
        let lacks = free.cpus < role.cpus || free.memory < role.memory || free.disk < role.disk;
        if !state.ready || lacks {
            return None;
        }
        let (gpu_type, by_gpus) = self.best_type(cluster, state)?;
        let mut tasks = by_gpus.min(self.most);
        if remaining > 1 {
            tasks = tasks.min(times(free, role.amounts()));
        }
        let tasks = cluster.ports.tasks(state.pool, role, self.view, tasks.min(remaining.into()));
        (tasks > 0).then_some(Spot { node, gpu_type, tasks })
    }

    /// The type of which the node can give to the most tasks, and the fewest would be left.
    fn best_type(&self, cluster: &Cluster, node: &NodeState) -> Option<(Option<u8>, i64)> {
        let each = i64::from(self.role.gpus);
        if each == 0 {
            return Some((None, i64::MAX));
        }
        let free = node.available_gpus(self.view);
        if i64::from(free.count_ones()) < each {
            return None;
        }
        node.types
            .iter()
            .filter(|(number, _)| self.types >> number & 1 == 1)
            .map(|(number, bits)| {
                let count = i64::from((free & bits).count_ones());
                let left = cluster.shares.gpus_left(self.account, *number, self.view);
                (*number, count, (count / each).min(left / each))
            })
            .filter(|(_, _, tasks)| *tasks > 0)
            .min_by_key(|(number, count, tasks)| (Reverse(*tasks), *count, *number))
            .map(|(number, _, tasks)| (Some(number), tasks))
    }
}

/// How many times `each` is in `free`.
pub(crate) fn times(free: Amounts, each: Amounts) -> i64 {
    let of = |free: i64, each: i64| if each > 0 { free.max(0) / each } else { i64::MAX };
    of(free.cpus, each.cpus).min(of(free.memory, each.memory)).min(of(free.disk, each.disk))
}

fn type_bits(node: &NodeState, gpu_type: u8) -> Bits {
    node.types.iter().find(|(number, _)| *number == gpu_type).map_or(0, |(_, bits)| *bits)
}

/// How many tasks of a role a node could take with these GPUs and nothing else on it.
pub(crate) fn capacity(node: &NodeState, role: &RoleWant, gpus: Bits) -> i64 {
    let of_type = |(number, bits): &(u8, Bits)| match role.types >> number & 1 {
        0 => 0,
        _ => i64::from((bits & gpus).count_ones()) / i64::from(role.gpus.max(1)),
    };
    let by_gpus = match role.gpus {
        0 => i64::MAX,
        _ => node.types.iter().map(of_type).sum(),
    };
    times(Amounts::of_node(&node.node.capacity), role.amounts()).min(by_gpus)
}
