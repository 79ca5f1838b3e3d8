//! The cluster as it stands: what is free, who has what, and by what right. Everything is changed
//! by taking and giving back [`TaskAllocation`]s, so that a try can be undone.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use protocol::ids::JobId;
use protocol::placement::TaskPlacement;

use crate::cluster::allocation::{Piece, Right, TaskAllocation};
use crate::cluster::index::Index;
use crate::cluster::limits::Limits;
use crate::cluster::node::{Block, Fixed, NodeState};
use crate::cluster::owners::Owners;
use crate::cluster::placed::{PlacedJob, Stay};
use crate::cluster::ports::Ports;
use crate::cluster::ranks::Ranks;
use crate::cluster::score::Measure;
use crate::cluster::spare::Spare;
use crate::cluster::topology::Topology;
use crate::cluster::workload::{Workload, guess};
use crate::model::remaining::Remaining;
use crate::model::{Demand, Node, QosClass, Request, Running, VirtualCluster};
use crate::numbers::amounts::Amounts;
use crate::numbers::gpus::{Bits, positions};
use crate::numbers::indices::{
    AccountIndex, By, ClusterIndex, KindIndex, NodeIndex, TaskRequestIndex,
};
use crate::numbers::kind::Kind;
use crate::numbers::names::Names;
use crate::numbers::quick::Quick;
use crate::numbers::request::{Class, TaskRequest};
use crate::share::cells::{Cells, Pool};
use crate::share::peers::{Peers, peers};
use crate::share::{Lack, Shares};

pub(crate) mod allocation;
pub(crate) mod index;
mod learning;
pub(crate) mod limits;
mod members;
pub(crate) mod node;
pub(crate) mod nodes;
pub(crate) mod owners;
pub(crate) mod placed;
pub(crate) mod ports;
pub(crate) mod ranks;
pub(crate) mod score;
pub(crate) mod spare;
pub(crate) mod topology;
pub(crate) mod usable;
pub(crate) mod workload;

/// The cluster.
#[derive(Debug, Clone)]
pub(crate) struct Cluster {
    pub(crate) names: Names,
    /// By node.
    pub(crate) fixed: By<NodeIndex, Fixed>,
    pub(crate) kinds: By<KindIndex, Kind>,
    /// By kind: how many nodes there are of it.
    pub(crate) alike: By<KindIndex, i64>,
    /// The kinds' numbers.
    pub(crate) numbered: HashMap<Kind, KindIndex>,
    pub(crate) cells: Cells,
    pub(crate) shares: Shares,
    pub(crate) topology: Topology,
    pub(crate) ports: Ports,
    pub(crate) workload: Workload,
    pub(crate) placed_jobs: HashMap<JobId, PlacedJob, Quick>,
    pub(crate) states: By<NodeIndex, NodeState>,
    /// By node: who is there.
    pub(crate) guests: By<NodeIndex, Vec<JobId>>,
    /// By account: nodes on which it has a block.
    pub(crate) lodgings: By<AccountIndex, BTreeSet<NodeIndex>>,
    /// By account: jobs that run in its cells.
    pub(crate) counting: By<AccountIndex, BTreeMap<JobId, Stay>>,
    /// By node and account: GPUs its guaranteed work had there when the cluster was made.
    pub(crate) together: HashMap<(NodeIndex, AccountIndex), Bits>,
    /// Jobs on nodes that are everybody's.
    pub(crate) in_the_open: BTreeMap<JobId, Stay>,
    /// Jobs that run on borrowed resources.
    pub(crate) borrowed: BTreeSet<JobId>,
    /// What each user's jobs have.
    pub(crate) owners: Owners,
    /// What users and groups may have running, and have.
    pub(crate) limits: Limits,
    /// Who runs in each virtual cluster, by turn.
    pub(crate) ranks: Ranks,
    /// Nodes on which something is kept for a reservation.
    pub(crate) held: BTreeSet<NodeIndex>,
    /// By account.
    pub(crate) peers: By<AccountIndex, Peers>,
    /// By node: its state in the index.
    numbers: By<NodeIndex, u32>,
    pub(crate) index: Index,
    requests: HashMap<TaskRequest, TaskRequestIndex>,
    guess: Vec<TaskRequest>,
}

impl Cluster {
    /// A cluster in which nothing runs.
    pub(crate) fn new(nodes: &[Node], clusters: &[VirtualCluster], mut workload: Workload) -> Self {
        let names = Names::new(nodes, clusters);
        workload.renumber(&names.types);
        let (ports, of_nodes) = Ports::new(nodes.iter().map(|n| (n.address.as_str(), n.ports)));
        let mut kinds: By<KindIndex, Kind> = By::default();
        let mut alike: By<KindIndex, i64> = By::default();
        let mut numbered: HashMap<Kind, KindIndex> = HashMap::new();
        let mut fixed: By<NodeIndex, Fixed> = By::default();
        for (node, ports) in nodes.iter().zip(of_nodes) {
            let kind = Kind::new(node, &names);
            let number = *numbered.entry(kind).or_insert_with_key(|kind| {
                alike.push(0);
                kinds.push(kind.clone())
            });
            alike[number] += 1;
            fixed.push(Fixed::new(node, number, ports));
        }
        let mut cells = Cells::new(clusters, &mut kinds, &names);
        for (kind, count) in kinds.iter().zip(&alike) {
            let pool = &mut cells.pools[kind.pool];
            pool.nodes += count;
            if kind.ready {
                pool.count_open(kind.healthy, *count);
            }
        }
        cells.cut(clusters, &names);
        let states =
            fixed.iter().map(|node| NodeState::new(node.kind, &kinds[node.kind])).collect();
        let mut cluster = Self {
            shares: Shares::new(clusters, &names),
            topology: Topology::new(nodes),
            guess: guess(&kinds),
            guests: By::from(vec![Vec::new(); nodes.len()]),
            lodgings: By::from(vec![BTreeSet::new(); clusters.len() + 1]),
            counting: By::from(vec![BTreeMap::new(); clusters.len() + 1]),
            together: HashMap::new(),
            in_the_open: BTreeMap::new(),
            borrowed: BTreeSet::new(),
            owners: Owners::default(),
            limits: Limits::new(clusters),
            ranks: Ranks::new(clusters.len()),
            held: BTreeSet::new(),
            peers: peers(&cells, clusters.len() + 1),
            numbers: By::default(),
            index: Index::default(),
            requests: HashMap::new(),
            placed_jobs: HashMap::default(),
            names,
            fixed,
            kinds,
            alike,
            numbered,
            cells,
            ports,
            workload,
            states,
        };
        cluster.learn();
        cluster.renew();
        cluster
    }

    /// Makes the index of nodes anew.
    fn renew(&mut self) {
        self.index = Index::default();
        let Self { states, kinds, index, .. } = self;
        let of = |(node, state): (NodeIndex, &NodeState)| {
            index.set(node, None, (state, &kinds[state.kind]))
        };
        self.numbers = states.numbered().map(of).collect();
    }

    /// Keeps the index small.
    pub(crate) fn tidy(&mut self) {
        if self.index.is_stale(self.states.len()) {
            self.renew();
        }
    }

    /// A class of requests in the cluster's numbers.
    pub(crate) fn class(&mut self, request: &Request) -> Class {
        let mut class = self.class_without_places(request);
        for role in &mut class.roles {
            let next = TaskRequestIndex::from(self.requests.len());
            role.number = match self.requests.get(&role.request) {
                Some(number) => *number,
                None => *self.requests.entry(role.request.clone()).or_insert(next),
            };
        }
        class
    }

    /// The same for which no places are looked for: the index does not know what it asks.
    pub(crate) fn class_without_places(&self, request: &Request) -> Class {
        let mut class = Class::new(request, &self.names);
        if !request.nodes.is_any() || !request.lacks.is_empty() {
            let types = self.types_for(&class);
            class.roles.iter_mut().for_each(|role| role.request.types &= types);
        }
        class.beyond_share = self.beyond_share(&class).is_some();
        class
    }

    /// What the whole share of a class's virtual cluster lacks for it, and those that it is a part of as
    /// well.
    pub(crate) fn beyond_share(&self, class: &Class) -> Option<Lack> {
        if class.opportunistic {
            return None;
        }
        let lacks =
            |account: &AccountIndex| self.shares.lacks(*account, class, true).into_iter().next();
        let lacks = self.accounts(class.cluster).iter().map(lacks);
        lacks.collect::<Option<Vec<_>>>()?.into_iter().next()
    }

    /// The accounts that guaranteed work of a virtual cluster may count on.
    pub(crate) fn accounts(&self, cluster: Option<ClusterIndex>) -> &[AccountIndex] {
        let chain = cluster.and_then(|cluster| self.cells.chains.get(cluster));
        chain.unwrap_or(&self.cells.everybody)
    }

    /// Whether jobs of a class may run on what others do not use.
    pub(crate) fn may_borrow(&self, class: &Class) -> bool {
        let borrows = class.cluster.and_then(|cluster| self.cells.borrows.get(cluster));
        !class.beyond_share && (class.opportunistic || borrows.is_none_or(|borrows| *borrows))
    }

    pub(crate) fn kind_of(&self, node: NodeIndex) -> &Kind {
        &self.kinds[self.fixed[node].kind]
    }

    pub(crate) fn measure(&self, kind: KindIndex) -> Measure<'_> {
        let kind = &self.kinds[kind];
        Measure { kind, pool: &self.cells.pools[kind.pool], losses: &self.workload.losses }
    }

    pub(crate) fn take(&mut self, allocation: &TaskAllocation) {
        let Some(node) = allocation.node else { return };
        self.charge(allocation, 1);
        let state = &mut self.states[node];
        state.free = state.free.plus(-1, allocation.amounts);
        state.take_gpus(allocation.gpus, allocation.milli);
        self.pin(node, allocation, 1);
        self.ports.set(self.fixed[node].ports, &allocation.ports, true);
        self.touch(node);
    }

    pub(crate) fn give(&mut self, allocation: &TaskAllocation) {
        let Some(node) = allocation.node else { return };
        self.charge(allocation, -1);
        let healthy = self.kind_of(node).healthy;
        let state = &mut self.states[node];
        state.free = state.free.plus(1, allocation.amounts);
        state.give_gpus(allocation.gpus, allocation.milli, healthy);
        self.pin(node, allocation, -1);
        self.ports.set(self.fixed[node].ports, &allocation.ports, false);
        self.touch(node);
    }

    fn charge(&mut self, allocation: &TaskAllocation, sign: i64) {
        if let Right::Of(account) = allocation.right {
            self.shares.charge(account, &allocation.usage(), sign);
        }
    }

    /// Whether a borrowed allocation that was given back could be taken again.
    pub(crate) fn has_back(&self, allocation: &TaskAllocation) -> bool {
        let Some(node) = allocation.node else { return true };
        let state = &self.states[node];
        let gpus =
            positions(allocation.gpus).all(|position| state.left_of(position) >= allocation.milli);
        gpus && state.free.covers(allocation.amounts)
            && self.ports.are_free(self.fixed[node].ports, &allocation.ports)
    }

    /// Tells the index what became of a node.
    pub(crate) fn touch(&mut self, node: NodeIndex) {
        let state = &self.states[node];
        let known = (state, &self.kinds[state.kind]);
        self.numbers[node] = self.index.set(node, Some(self.numbers[node]), known);
    }

    /// What is free on a node.
    pub(crate) fn spare_of(&self, node: NodeIndex) -> &Spare {
        self.index.spare(self.numbers[node])
    }

    /// Adds the allocation to its block, which is bound with the first and let go with the last.
    pub(crate) fn pin(&mut self, node: NodeIndex, allocation: &TaskAllocation, sign: i64) {
        let (Right::Of(account), Some(Piece { bits, level })) =
            (allocation.right, allocation.block)
        else {
            return;
        };
        let account = self.cells.owner(account);
        let kind = &self.kinds[self.fixed[node].kind];
        let pool = &mut self.cells.pools[kind.pool];
        let state = &mut self.states[node];
        let of = |block: &Block| block.bits == bits && block.account == account;
        if !state.blocks.iter().any(of) {
            count_open(pool, kind, state, -1);
            state.blocks.push(Block {
                account,
                level,
                bits,
                used: Amounts::default(),
                milli: 0,
                pins: 0,
            });
            state.blocks.sort_unstable_by_key(|block| block.bits);
            count_open(pool, kind, state, 1);
            pool.bind(account, level, 1);
            self.lodgings[account].insert(node);
        }
        let Some(at) = state.blocks.iter().position(of) else { return };
        let block = &mut state.blocks[at];
        block.used = block.used.plus(sign, allocation.amounts);
        if allocation.amounts != Amounts::default() {
            block.milli += sign * allocation.gpu_milli();
        }
        block.pins = if sign > 0 { block.pins + 1 } else { block.pins.saturating_sub(1) };
        if block.pins == 0 {
            count_open(pool, kind, state, -1);
            state.blocks.remove(at);
            count_open(pool, kind, state, 1);
            pool.bind(account, level, -1);
            if !state.blocks.iter().any(|block| block.account == account) {
                self.lodgings[account].remove(&node);
            }
        }
    }

    /// Whether a piece can be bound such that all other cells still can be.
    pub(crate) fn may_bind(
        &mut self,
        node: NodeIndex,
        account: AccountIndex,
        piece: Piece,
    ) -> bool {
        let account = self.cells.owner(account);
        let kind = &self.kinds[self.fixed[node].kind];
        let pool = &mut self.cells.pools[kind.pool];
        if pool.unbound(account, piece.level) <= 0 {
            return false;
        }
        let before = pool.deficit();
        let free = self.states[node].unbound(kind.healthy);
        pool.count_open(free, -1);
        pool.count_open(free & !piece.bits, 1);
        pool.bind(account, piece.level, 1);
        let after = pool.deficit();
        pool.bind(account, piece.level, -1);
        pool.count_open(free & !piece.bits, -1);
        pool.count_open(free, 1);
        after <= before
    }

    /// A job comes to hold its allocations, which are taken.
    pub(crate) fn settle(&mut self, job: JobId, placed: PlacedJob) {
        for node in placed.allocations.iter().filter_map(|allocation| allocation.node) {
            if !self.guests[node].contains(&job) {
                self.guests[node].push(job);
            }
        }
        if placed.qos_class == QosClass::Borrowed {
            self.borrowed.insert(job);
        }
        let stay = placed.stay();
        for allocation in &placed.allocations {
            if let Right::Of(account) = allocation.right {
                self.counting[self.cells.owner(account)].insert(job, stay);
            }
            if allocation.node.is_some_and(|node| self.kind_of(node).size == 0) {
                self.in_the_open.insert(job, stay);
            }
        }
        self.owners.count(&placed, 1);
        self.limits.count(&placed, 1);
        self.ranks.enter(job, &placed);
        self.placed_jobs.insert(job, placed);
    }

    /// Something else is expected of a running job.
    pub(crate) fn expects(&mut self, job: JobId, remaining: Remaining) {
        let Some(placed) =
            self.placed_jobs.get_mut(&job).filter(|placed| placed.remaining != remaining)
        else {
            return;
        };
        placed.remaining = remaining;
        let lists = self.counting.iter_mut().chain([&mut self.in_the_open]);
        lists.filter_map(|list| list.get_mut(&job)).for_each(|known| known.remaining = remaining);
    }

    /// A job ends: all it has is given back.
    pub(crate) fn leave(&mut self, job: JobId) -> Option<PlacedJob> {
        let placed = self.placed_jobs.remove(&job)?;
        self.owners.count(&placed, -1);
        self.limits.count(&placed, -1);
        self.ranks.leave(job, &placed);
        self.borrowed.remove(&job);
        self.in_the_open.remove(&job);
        for allocation in &placed.allocations {
            if let Right::Of(account) = allocation.right {
                self.counting[self.cells.owner(account)].remove(&job);
            }
        }
        for allocation in &placed.allocations {
            self.give(allocation);
            if let Some(node) = allocation.node {
                self.guests[node].retain(|guest| *guest != job);
            }
        }
        Some(placed)
    }

    /// A job comes to hold places that others have not left yet (`sign` 1), or waits for that no more (-1).
    pub(crate) fn count_coming(&mut self, placed: &PlacedJob, sign: i64) {
        self.owners.count(placed, sign);
        self.limits.count(placed, sign);
    }

    /// A job that gave its places to others is there still (`sign` 1), or is no more (-1).
    pub(crate) fn count_leaving(&mut self, placed: &PlacedJob, sign: i64) {
        self.owners.count_leaving(placed, sign);
        self.limits.count(placed, sign);
    }

    /// What a job has that is running already, before it is known by what right.
    pub(crate) fn placed(&self, running: &Running) -> PlacedJob {
        let allocation = |(task, demand): &(TaskPlacement, Demand)| {
            let node = self.names.nodes.get(&task.node).copied();
            let gpus = node.map_or(0, |node| self.fixed[node].gpu_bits(&task.gpus));
            let types = node.map(|node| &self.kind_of(node).types);
            let of = types.and_then(|types| types.iter().find(|(_, bits)| bits & gpus != 0));
            TaskAllocation {
                node,
                amounts: Amounts::of(demand),
                gpus,
                milli: demand.each_gpu_milli(),
                gpu_type: of.map_or(0, |(number, _)| *number),
                ports: task.ports.values().flatten().copied().collect(),
                role: 0,
                right: Right::Borrowed,
                block: None,
            }
        };
        PlacedJob {
            cluster: self.names.clusters.get(&running.virtual_cluster).copied(),
            name: running.virtual_cluster.clone(),
            user: running.user.clone(),
            allocations: running.tasks.iter().map(allocation).collect(),
            qos_class: running.qos_class,
            turn: running.turn,
            remaining: running.remaining(),
            gave_way: running.gave_way,
            stopping: running.stopping,
        }
    }
}

/// Counts (`sign` 1) or forgets (`sign` -1) the open pieces of a node.
pub(crate) fn count_open(pool: &mut Pool, kind: &Kind, state: &NodeState, sign: i64) {
    if kind.ready {
        pool.count_open(state.unbound(kind.healthy), sign);
    }
}
