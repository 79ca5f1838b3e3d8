//! Finding places: the best node for the next tasks of a role, and places for a whole job.

use protocol::ids::JobId;
use protocol::placement::{TaskPlacement, TaskPorts};

use crate::cluster::Cluster;
use crate::cluster::allocation::{Piece, Right, TaskAllocation};
use crate::cluster::index::RankingKey;
use crate::cluster::ports::View;
use crate::cluster::score::{Mode, Score, Spot};
use crate::model::{Placement, QosClass};
use crate::numbers::gpus;
use crate::numbers::indices::{AccountIndex, NodeIndex};
use crate::numbers::request::{Class, ClassRole, Wanted};

/// Tasks looked at together: more do not go to one node at once.
const TOGETHER: u32 = 16;

/// The looks that find guaranteed places of an account, one after the other: for a single task what
/// its cells are best used for comes first, even if others have to leave; a gang rather stays
/// together.
pub(crate) fn guaranteed_looks(
    cluster: &Cluster,
    class: &Class,
    account: AccountIndex,
) -> Vec<Look> {
    let owner = cluster.cells.owner(account);
    let steps = cluster.cells.pools.iter().map(|pool| match pool.is_free_to(owner) {
        true => 0,
        false => pool.levels.len(),
    });
    match steps.max() {
        Some(steps) if steps > 0 && class.tasks() == 1 => {
            (0..=steps).map(|step| Look::Step(account, step)).collect()
        }
        Some(_) | None => vec![Look::Guaranteed(account)],
    }
}

/// How far a try came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The role whose task found no place, by its position among the wanted roles.
    pub(crate) role: usize,
    /// Tasks of the job that had found one.
    pub(crate) fit: u32,
    /// There is room for all tasks, but in no place of the level that the job requires.
    pub(crate) apart: bool,
}

/// By what right a job looks for places, and what it may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// On this account's cells.
    Guaranteed(AccountIndex),
    /// The same in only one step: its cells that are bound already (0), or those that are not, from
    /// the smallest that will do (1) to the largest.
    Step(AccountIndex, usize),
    /// What is idle and kept for nobody.
    Lend,
    /// All that is idle: what is kept for a reservation as well.
    Borrow,
}

impl Look {
    fn right(self) -> Right {
        match self {
            Look::Guaranteed(account) | Look::Step(account, _) => Right::Of(account),
            Look::Lend | Look::Borrow => Right::Borrowed,
        }
    }

    pub(crate) fn qos_class(self) -> QosClass {
        match self {
            Look::Guaranteed(_) | Look::Step(..) => QosClass::Guaranteed,
            Look::Lend | Look::Borrow => QosClass::Borrowed,
        }
    }

    fn view(self) -> View {
        match self {
            Look::Guaranteed(_) | Look::Step(..) | Look::Lend => View::Outside,
            Look::Borrow => View::Real,
        }
    }
}

/// Places all tasks of a job or none, on these nodes alone if any are named.
pub(crate) fn place_within(
    cluster: &mut Cluster,
    Wanted { job, class }: Wanted,
    look: Look,
    within: Option<&[NodeIndex]>,
) -> Result<Vec<TaskAllocation>, Failure> {
    let mut gang = Gang { within, ..Gang::new(cluster, Wanted { job, class }, look) };
    for role in 0..class.roles.len() {
        let mut remaining = class.roles[role].count;
        while remaining > 0 {
            let placed = match gang.best(role, remaining) {
                Some(found) => gang.fill(found, role, remaining),
                None => 0,
            };
            if placed == 0 {
                let fit = u32::try_from(gang.allocations.len()).unwrap_or(u32::MAX);
                gang.undo();
                return Err(Failure { role, fit, apart: false });
            }
            remaining -= placed;
        }
    }
    // Whoever gets these places keeps them: one task leaves no room for three more.
    gang.allocations.shrink_to_fit();
    Ok(gang.allocations)
}

/// Gives back what [`place_within`] took.
pub(crate) fn undo(cluster: &mut Cluster, allocations: &[TaskAllocation]) {
    for allocation in allocations.iter().rev() {
        cluster.give(allocation);
    }
}

/// What a placed job is told.
pub(crate) fn placement(
    cluster: &Cluster,
    Wanted { job, class }: Wanted,
    allocations: &[TaskAllocation],
    qos_class: QosClass,
) -> Placement {
    let mut counted = vec![0; class.roles.len()];
    let mut tasks: Vec<_> = allocations
        .iter()
        .filter_map(|allocation| {
            let node = &cluster.fixed[allocation.node?];
            let role = &class.roles[allocation.role];
            let index = counted[allocation.role];
            counted[allocation.role] += 1;
            Some(TaskPlacement {
                role: role.role,
                index,
                node: node.node.name.clone(),
                address: node.node.address.clone(),
                gpus: node.gpu_indices(allocation.gpus),
                ports: labelled(role, &allocation.ports),
            })
        })
        .collect();
    tasks.sort_by_key(|task| (task.role, task.index));
    Placement { job, qos_class, tasks, weighed_milli: cluster.owners.weigh(allocations) }
}

fn labelled(role: &ClassRole, ports: &[u16]) -> TaskPorts {
    let mut numbers = ports.iter().copied();
    let of = |count: u32, numbers: &mut std::iter::Copied<_>| {
        numbers.by_ref().take(count as usize).collect()
    };
    role.ports.iter().map(|p| (p.label.clone(), of(p.count, &mut numbers))).collect()
}

/// A node and where on it tasks may go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    pub(crate) node: NodeIndex,
    mode: Mode,
    spot: Spot,
}

/// A job on its way to its places.
#[derive(Debug)]
pub(crate) struct Gang<'c, 'w> {
    pub(crate) cluster: &'c mut Cluster,
    pub(crate) job: JobId,
    pub(crate) class: &'w Class,
    pub(crate) look: Look,
    pub(crate) allocations: Vec<TaskAllocation>,
    /// The only nodes that are looked at, ascending.
    pub(crate) within: Option<&'w [NodeIndex]>,
}

impl<'c, 'w> Gang<'c, 'w> {
    pub(crate) fn new(
        cluster: &'c mut Cluster,
        Wanted { job, class }: Wanted<'w>,
        look: Look,
    ) -> Self {
        Self { cluster, job, class, look, allocations: Vec::new(), within: None }
    }

    pub(crate) fn undo(self) {
        undo(self.cluster, &self.allocations);
    }

    /// The best node for the next tasks of a role.
    pub(crate) fn best(&mut self, role: usize, remaining: u32) -> Option<Found> {
        let remaining = remaining.min(TOGETHER);
        let mut best: Option<(Rank, Found)> = None;
        let mut consider = |rank: Rank, found: Found| {
            if best.as_ref().is_none_or(|(other, _)| rank < *other) {
                best = Some((rank, found));
            }
        };
        let modes = modes(self.cluster, &self.class.roles[role], self.look);
        for (order, mode) in modes.iter().enumerate() {
            if let Some((node, spot)) = self.best_of(role, *mode, remaining) {
                let found = Found { node, mode: *mode, spot };
                consider(self.rank(node, &spot, order), found);
            }
        }
        for node in self.joined() {
            for (order, mode) in modes.iter().enumerate() {
                if let Some(spot) = self.spot(node, role, *mode, remaining) {
                    consider(self.rank(node, &spot, order), Found { node, mode: *mode, spot });
                }
            }
        }
        best.map(|(_, found)| found)
    }

    fn rank(&self, node: NodeIndex, spot: &Spot, order: usize) -> Rank {
        Rank {
            avoided: self.class.avoid.binary_search(&node).is_ok()
                || self.cluster.kind_of(node).doubtful,
            splits: spot.score.missing > 0,
            apart: !self.allocations.iter().any(|allocation| allocation.node == Some(node)),
            missing: spot.score.missing,
            order: if spot.score.missing == 0 { order } else { 0 },
            score: spot.score,
        }
    }

    /// Whether a node is one of those that are looked at.
    pub(crate) fn is_within(&self, node: NodeIndex) -> bool {
        self.within.is_none_or(|within| within.binary_search(&node).is_ok())
    }

    /// Nodes on which the job has a task already, the last few.
    fn joined(&self) -> Vec<NodeIndex> {
        let mut nodes: Vec<_> =
            self.allocations.iter().rev().take(8).filter_map(|c| c.node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// By the index; where nodes in the same state differ for the job, or only some are looked at, by
    /// looking at each.
    fn best_of(&mut self, role: usize, mode: Mode, remaining: u32) -> Option<(NodeIndex, Spot)> {
        let by_index = !self.class.is_particular() && self.within.is_none();
        if by_index && mode != Mode::Borrow {
            let wanted = &self.class.roles[role];
            let key = RankingKey { request: wanted.number, mode, remaining };
            let node = best_by_index(self.cluster, wanted, key)?;
            if let Some(spot) = self.spot(node, role, mode, remaining) {
                return Some((node, spot));
            }
        }
        let named = self.within.or(self.class.only.as_deref());
        let nodes = match (named, mode) {
            (Some(named), _) => named.to_vec(),
            (None, Mode::Borrow) => self.cluster.held.iter().copied().collect(),
            (None, Mode::Lend | Mode::Own(_) | Mode::Open(..)) => {
                self.cluster.states.numbers().collect()
            }
        };
        let mut best: Option<((Rank, NodeIndex), Spot)> = None;
        for node in nodes {
            let Some(spot) = self.spot(node, role, mode, remaining) else { continue };
            let rank = (self.rank(node, &spot, 0), node);
            if best.as_ref().is_none_or(|(other, _)| rank < *other) {
                best = Some((rank, spot));
            }
        }
        best.map(|((_, node), spot)| (node, spot))
    }

    /// Where on the node tasks may go now; ports and the cells of others allowing.
    fn spot(&mut self, node: NodeIndex, role: usize, mode: Mode, remaining: u32) -> Option<Spot> {
        if !self.class.allows(node) || !self.is_within(node) {
            return None;
        }
        let wanted = &self.class.roles[role];
        let state = &self.cluster.states[node];
        if let Mode::Open(pool, _) = mode
            && self.cluster.kinds[state.kind].pool != pool
        {
            return None;
        }
        let measure = self.cluster.measure(state.kind);
        let spot = measure.spot(state, &wanted.request, mode, remaining)?;
        let limit = spot.tasks.min(remaining.into());
        let pool = self.cluster.fixed[node].ports;
        let tasks = self.cluster.ports.tasks(pool, wanted, self.look.view(), limit);
        if let (Mode::Open(_, level), Right::Of(account), Some(bits)) =
            (mode, self.look.right(), spot.room.block)
            && !self.cluster.may_bind(node, account, Piece { bits, level })
        {
            return None;
        }
        (tasks > 0).then_some(Spot { tasks, ..spot })
    }

    /// Where on this node the next tasks of a role may go.
    pub(crate) fn found_on(
        &mut self,
        node: NodeIndex,
        role: usize,
        remaining: u32,
    ) -> Option<Found> {
        let remaining = remaining.min(TOGETHER);
        let mut best: Option<(Rank, Found)> = None;
        for (order, mode) in
            modes(self.cluster, &self.class.roles[role], self.look).iter().enumerate()
        {
            let Some(spot) = self.spot(node, role, *mode, remaining) else { continue };
            let rank = self.rank(node, &spot, order);
            if best.as_ref().is_none_or(|(other, _)| rank < *other) {
                best = Some((rank, Found { node, mode: *mode, spot }));
            }
        }
        best.map(|(_, found)| found)
    }

    /// Puts up to `remaining` tasks there; how many it were.
    pub(crate) fn fill(&mut self, found: Found, role: usize, remaining: u32) -> u32 {
        let mut placed = 0;
        let most = found.spot.tasks.min(remaining.into());
        let mut next = Some((found.mode, found.spot));
        while let Some((mode, spot)) = next.take() {
            let Some(allocation) = self.allocation(found.node, (mode, &spot), role) else { break };
            self.cluster.take(&allocation);
            self.allocations.push(allocation);
            placed += 1;
            if i64::from(placed) < most {
                let mode = match (mode, self.look.right()) {
                    (Mode::Open(..), Right::Of(account)) => {
                        Mode::Own(self.cluster.cells.owner(account))
                    }
                    (mode, _) => mode,
                };
                next = self.spot(found.node, role, mode, 1).map(|spot| (mode, spot));
            }
        }
        placed
    }

    fn allocation(
        &self,
        node: NodeIndex,
        (mode, spot): (Mode, &Spot),
        role: usize,
    ) -> Option<TaskAllocation> {
        let wanted = &self.class.roles[role];
        let request = &wanted.request;
        let state = &self.cluster.states[node];
        let measure = self.cluster.measure(state.kind);
        let gpus = if request.shares() {
            let left = state.free.plus(-1, request.each);
            let (_, position) = measure.part_of(state, request, (&spot.room, spot.gpu_type), left);
            1 << position?
        } else {
            gpus::choose(measure.free_of(&spot.room, spot.gpu_type), request.gpus)?
        };
        let around = (self.job, self.class.numbered.as_slice());
        let pool = self.cluster.fixed[node].ports;
        let ports = self.cluster.ports.pick(pool, wanted, around, self.look.view())?;
        Some(TaskAllocation {
            node: Some(node),
            amounts: request.each,
            gpus,
            milli: request.milli,
            gpu_type: spot.gpu_type.unwrap_or(0),
            ports,
            role,
            right: self.look.right(),
            block: spot.room.block.map(|bits| Piece { bits, level: level_of(state, mode, bits) }),
        })
    }
}

fn level_of(state: &crate::cluster::node::NodeState, mode: Mode, bits: gpus::Bits) -> usize {
    match mode {
        Mode::Open(_, level) => level,
        Mode::Own(_) | Mode::Lend | Mode::Borrow => {
            state.blocks.iter().find(|block| block.bits == bits).map_or(0, |block| block.level)
        }
    }
}

/// What makes one node better than another, the most important first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// The job just failed there, or something is wrong with it.
    avoided: bool,
    /// Not all tasks that are looked at find room there.
    splits: bool,
    /// The job has no task there yet.
    apart: bool,
    missing: u32,
    /// Cells that are bound already come before others, small ones before large ones.
    order: usize,
    score: Score,
}

/// Where a task may look, best first.
pub(crate) fn modes(cluster: &Cluster, role: &ClassRole, look: Look) -> Vec<Mode> {
    let (account, step) = match look {
        Look::Lend => return vec![Mode::Lend],
        Look::Borrow => return vec![Mode::Lend, Mode::Borrow],
        Look::Guaranteed(account) => (account, None),
        Look::Step(account, step) => (account, Some(step)),
    };
    let account = cluster.cells.owner(account);
    let mut modes = vec![Mode::Own(account)];
    if step == Some(0) {
        return modes;
    }
    let mut sizes = Vec::new();
    for (number, pool) in cluster.cells.pools.numbered() {
        let wanted = role.request.gpus == 0 || pool.types & role.request.types != 0;
        if !wanted || pool.is_free_to(account) {
            continue;
        }
        for (level, size) in pool.levels.iter().enumerate().rev() {
            let part = pool.part(level);
            if *size >= role.request.gpus
                && part.covers(role.request.each)
                && pool.unbound(account, level) > 0
            {
                modes.push(Mode::Open(number, level));
                sizes.push((*size, Mode::Open(number, level)));
            }
        }
    }
    let Some(step) = step else { return modes };
    let mut known: Vec<u32> = sizes.iter().map(|(size, _)| *size).collect();
    known.sort_unstable();
    known.dedup();
    let wanted = known.get(step - 1).copied();
    sizes.retain(|(size, _)| Some(*size) == wanted);
    sizes.into_iter().map(|(_, mode)| mode).collect()
}

fn best_by_index(cluster: &mut Cluster, role: &ClassRole, key: RankingKey) -> Option<NodeIndex> {
    let Cluster { index, kinds, cells, workload, .. } = cluster;
    // An account that has all cells sees what everybody does: one ranking serves both.
    let mode = match key.mode {
        Mode::Own(account) if cells.pools.iter().all(|pool| pool.is_free_to(account)) => Mode::Lend,
        mode => mode,
    };
    index.best(RankingKey { mode, ..key }, |state| {
        let kind = &kinds[state.kind];
        if let Mode::Open(pool, _) = mode
            && pool != kind.pool
        {
            return None;
        }
        let pool = &cells.pools[kind.pool];
        let measure = crate::cluster::score::Measure { kind, pool, losses: &workload.losses };
        measure.spot(state, &role.request, mode, key.remaining).map(|spot| spot.score)
    })
}
