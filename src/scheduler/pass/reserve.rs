//! The reservation of the first job of a virtual cluster that finds no room: where it will start
//! and whose ends it waits for. What it needs beyond what those give back is held, so that nothing
//! that starts earlier delays it.

use std::collections::{BTreeMap, BTreeSet};

use protocol::ids::JobId;
use protocol::time::Timestamp;

use crate::cluster::Cluster;
use crate::cluster::allocation::{Right, TaskAllocation};
use crate::cluster::node::{Block, NodeState};
use crate::model::{QosClass, Reservation, WHOLE_GPU};
use crate::numbers::amounts::Amounts;
use crate::numbers::gpus::{self, Bits, positions};
use crate::numbers::indices::{AccountIndex, NodeIndex, PortsIndex};
use crate::numbers::request::{Class, Span, Wanted};
use crate::pass::claimant::Preemptor;
use crate::pass::fit::{Look, undo};
use crate::pass::together::place_as_required;
use crate::share::reserved::ReservedSums;

/// What is reserved for a job.
#[derive(Debug, Clone)]
pub(crate) struct Reserved {
    pub(crate) reservation: Reservation,
    nodes: BTreeMap<NodeIndex, ReservedOnNode>,
    /// Cells that stay bound, or are bound ahead.
    pins: Vec<TaskAllocation>,
    numbered: Vec<(PortsIndex, Vec<Span>)>,
    /// What of its account's sums.
    sums: ReservedSums,
    /// So many places those it waits for had.
    awaited: usize,
}

/// What is reserved on a node.
#[derive(Debug, Clone, Default)]
struct ReservedOnNode {
    amounts: Amounts,
    gpus: Bits,
    /// Thousandths of partly used GPUs.
    parts: Vec<(u8, u32)>,
    ports: i64,
}

impl Reserved {
    /// The nodes on which something is reserved.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = NodeIndex> {
        self.nodes.keys().copied()
    }

    /// Whether all that it waits for is there still: else what that gave back has to be kept as well.
    pub(crate) fn is_sound(&self, cluster: &Cluster) -> bool {
        let awaits = &self.reservation.awaits;
        let all_run = awaits.iter().all(|job| cluster.placed_jobs.contains_key(job));
        all_run && places_of(cluster, awaits) == self.awaited
    }
}

/// How many places jobs have.
fn places_of(cluster: &Cluster, jobs: &BTreeSet<JobId>) -> usize {
    jobs.iter()
        .filter_map(|job| cluster.placed_jobs.get(job))
        .map(|placed| placed.allocations.len())
        .sum()
}

/// Reserves places for a job on the account's cells, where they will be free first. A job that had
/// a reservation waits for nobody else than before, if that is possible. `None`, and nothing is
/// held, when it has no room even if all that runs there ends.
pub(crate) fn reserve(
    cluster: &mut Cluster,
    Wanted { job, class }: Wanted,
    (account, claimant): (AccountIndex, &Preemptor),
    last: Option<&Reservation>,
    now: Timestamp,
) -> Option<Reserved> {
    let last = last.filter(|last| last.job == job);
    let lower = cluster.leave_for(class, claimant.turn(), now);
    let by = GiveWay { claimant, lower: &lower };
    let among = |cluster: &mut Cluster, only: Option<&BTreeSet<JobId>>| {
        let ends = match only {
            Some(only) => ends_of(cluster, by, only, now),
            None => ends(cluster, by, account, now),
        };
        first_room(cluster, Wanted { job, class }, account, ends)
    };
    let found = last.and_then(|last| among(cluster, Some(&last.awaits)));
    let (allocations, awaits, start) = found.or_else(|| among(cluster, None))?;
    let awaited = awaited(cluster, account, &allocations, awaits);
    let reservation = Reservation { job, awaits: awaited, start: start.max(now) };
    let sums = sums(cluster, account, &allocations, &reservation.awaits);
    let (allocations, pins) = keepable(cluster, account, allocations, &reservation.awaits);
    let reserved =
        Reserved { pins, sums, ..kept(cluster, (class, claimant), &allocations, reservation) };
    keep(cluster, &reserved);
    Some(reserved)
}

/// An allocation's cell, without what is used of it.
fn cell(allocation: &TaskAllocation) -> TaskAllocation {
    TaskAllocation { amounts: Amounts::default(), ..allocation.clone() }
}

/// Gives an allocation back, or takes it again. Its cell stays where it is: only those that are bound now
/// can be kept.
fn set_aside(cluster: &mut Cluster, allocation: &TaskAllocation, aside: bool) {
    let Some(node) = allocation.node else { return };
    if aside {
        cluster.pin(node, &cell(allocation), 1);
        cluster.give(allocation);
    } else {
        cluster.take(allocation);
        cluster.pin(node, &cell(allocation), -1);
    }
}

/// Who leaves as soon as a claimant needs their places: who borrows and gives way to him, and who is of a
/// lower class of his virtual cluster.
#[derive(Debug, Clone, Copy)]
struct GiveWay<'a> {
    claimant: &'a Preemptor,
    lower: &'a BTreeSet<JobId>,
}

/// Those whose end makes room on the account's cells, or leaves more of the sums that bound it, the first to end
/// first. What gives way to the claimant does so whenever it is needed, and so do those who are of a lower class.
fn ends(
    cluster: &Cluster,
    by: GiveWay,
    account: AccountIndex,
    now: Timestamp,
) -> Vec<(Timestamp, JobId)> {
    let sharing = cluster.shares.sharing(account).into_iter().chain([account]);
    let owners: BTreeSet<_> = sharing.map(|account| cluster.cells.owner(account)).collect();
    let counting = owners.into_iter().flat_map(|owner| &cluster.counting[owner]);
    let there = counting.chain(&cluster.in_the_open);
    let stay = there.filter(|(job, _)| !cluster.borrowed.contains(job));
    let stay = stay.map(|(job, stay)| match by.lower.contains(job) {
        true => (now, *job),
        false => (stay.remaining.expected_end(now).0, *job),
    });
    let lent = cluster.borrowed.iter().filter_map(|job| end(cluster, by, *job, now));
    in_order(stay.chain(lent).collect())
}

/// The same of these alone.
fn ends_of(
    cluster: &Cluster,
    by: GiveWay,
    jobs: &BTreeSet<JobId>,
    now: Timestamp,
) -> Vec<(Timestamp, JobId)> {
    in_order(jobs.iter().filter_map(|job| end(cluster, by, *job, now)).collect())
}

fn end(cluster: &Cluster, by: GiveWay, job: JobId, now: Timestamp) -> Option<(Timestamp, JobId)> {
    let placed = cluster.placed_jobs.get(&job)?;
    let lent = placed.qos_class == QosClass::Borrowed && by.claimant.moves(placed);
    let at_once = lent || by.lower.contains(&job);
    Some((if at_once { now } else { placed.remaining.expected_end(now).0 }, job))
}

fn in_order(mut ends: Vec<(Timestamp, JobId)>) -> Vec<(Timestamp, JobId)> {
    ends.sort_unstable();
    ends.dedup();
    ends
}

/// The places of a job once the first so many have ended, who they are, and when.
fn first_room(
    cluster: &mut Cluster,
    Wanted { job, class }: Wanted,
    account: AccountIndex,
    ends: Vec<(Timestamp, JobId)>,
) -> Option<(Vec<TaskAllocation>, Vec<JobId>, Timestamp)> {
    let claims_of =
        |cluster: &Cluster, at: usize| cluster.placed_jobs[&ends[at].1].allocations.clone();
    let move_to = |cluster: &mut Cluster, from: usize, to: usize| {
        for at in from..to {
            claims_of(cluster, at)
                .iter()
                .for_each(|allocation| set_aside(cluster, allocation, true));
        }
        for at in (to..from).rev() {
            claims_of(cluster, at)
                .iter()
                .for_each(|allocation| set_aside(cluster, allocation, false));
        }
    };
    let fits = |cluster: &mut Cluster| {
        if !cluster.shares.lacks(account, class, false).is_empty() {
            return None;
        }
        // Where it will be nearer together than it must is seen when it starts: more may be free by then.
        let look = Look::Guaranteed(account);
        let allocations = place_as_required(cluster, Wanted { job, class }, look).ok()?;
        undo(cluster, &allocations);
        Some(allocations)
    };
    let (mut below, mut ended, mut step) = (0, 0, 1);
    let mut found = None;
    while found.is_none() && ended < ends.len() {
        below = ended;
        let next = (ended + step).min(ends.len());
        move_to(cluster, ended, next);
        ended = next;
        step *= 2;
        found = fits(cluster).map(|allocations| (allocations, ended));
    }
    // It fits once `ended` have ended, and did not after `below`.
    while let Some((_, enough)) = found.as_ref()
        && enough - below > 1
    {
        let middle = below.midpoint(*enough);
        move_to(cluster, ended, middle);
        ended = middle;
        match fits(cluster) {
            Some(allocations) => found = Some((allocations, middle)),
            None => below = middle,
        }
    }
    move_to(cluster, ended, 0);
    let (allocations, enough) = found?;
    let awaits = ends[..enough].iter().map(|(_, job)| *job).collect();
    let start = ends[enough.checked_sub(1)?].0;
    Some((allocations, awaits, start))
}

/// Those among the ended that had something where the job will be, or cells or a part of the share
/// that it needs.
fn awaited(
    cluster: &Cluster,
    account: AccountIndex,
    allocations: &[TaskAllocation],
    ended: Vec<JobId>,
) -> BTreeSet<JobId> {
    let nodes: BTreeSet<_> = allocations.iter().filter_map(|allocation| allocation.node).collect();
    let bounded = allocations.iter().any(|allocation| allocation.block.is_some())
        || !cluster.shares.is_unbounded(account);
    let counting = &cluster.counting[cluster.cells.owner(account)];
    let counts = |job: &JobId| bounded && counting.contains_key(job);
    let sharing = cluster.shares.sharing(account);
    let of = |allocation: &TaskAllocation| match allocation.right {
        Right::Of(other) => sharing.contains(&other),
        Right::Borrowed => false,
    };
    let there =
        |allocation: &TaskAllocation| allocation.node.is_some_and(|node| nodes.contains(&node));
    let awaited = |job: &JobId| {
        counts(job)
            || cluster.placed_jobs[job]
                .allocations
                .iter()
                .any(|allocation| there(allocation) || of(allocation))
    };
    ended.into_iter().filter(awaited).collect()
}

/// What of the account's sums the job will use beyond what those it waits for give back.
fn sums(
    cluster: &mut Cluster,
    account: AccountIndex,
    allocations: &[TaskAllocation],
    awaits: &BTreeSet<JobId>,
) -> ReservedSums {
    if cluster.shares.is_unbounded(account) {
        return ReservedSums::new();
    }
    let awaited = awaits.iter().flat_map(|job| &cluster.placed_jobs[job].allocations);
    let given_back: Vec<_> = awaited
        .filter_map(|allocation| match allocation.right {
            Right::Of(account) => Some((account, allocation.usage())),
            Right::Borrowed => None,
        })
        .collect();
    cluster.shares.kept(account, allocations.iter().map(TaskAllocation::usage), &given_back)
}

/// What the job needs of a node, less what those it waits for give back.
#[derive(Debug, Default)]
struct Needs {
    amounts: Amounts,
    gpus: Bits,
    /// Thousandths by GPU.
    milli: BTreeMap<usize, u32>,
    given_back: BTreeMap<usize, u32>,
    lent: Bits,
    ports: i64,
}

impl Needs {
    /// The GPUs that are wholly free once those who are awaited have left them.
    fn cleared(&self, state: &NodeState) -> Bits {
        let cleared = self.given_back.iter().filter(|(position, milli)| {
            state.left_of(**position).saturating_add(**milli) >= WHOLE_GPU
        });
        cleared.fold(0, |bits, (position, _)| bits | 1 << position)
    }

    /// The GPUs that are lent and that it needs whole, or that nobody else has a part of.
    fn lent(&self, state: &NodeState) -> Bits {
        let part = |position: &usize| {
            let shared = state.shared.iter().any(|(other, _)| usize::from(*other) == *position);
            shared && self.milli.get(position).is_some_and(|milli| *milli < WHOLE_GPU)
        };
        positions(self.lent).filter(part).fold(self.lent, |bits, position| bits & !(1 << position))
    }

    /// What of the GPUs that are partly used now it needs beyond what is given back of them.
    fn parts(&self, state: &NodeState) -> Vec<(u8, u32)> {
        let of = |(position, _): &(u8, u32)| {
            let at = usize::from(*position);
            let back = self.given_back.get(&at).copied().unwrap_or(0);
            let keeps = self.milli.get(&at)?.saturating_sub(back);
            (keeps > 0).then_some((*position, keeps))
        };
        state.shared.iter().filter_map(of).collect()
    }
}

fn add_milli(sums: &mut BTreeMap<usize, u32>, allocation: &TaskAllocation) {
    for position in positions(allocation.gpus) {
        *sums.entry(position).or_default() += allocation.milli;
    }
}

fn kept(
    cluster: &Cluster,
    (class, claimant): (&Class, &Preemptor),
    allocations: &[TaskAllocation],
    reservation: Reservation,
) -> Reserved {
    let mut nodes: BTreeMap<NodeIndex, Needs> = BTreeMap::new();
    for allocation in allocations {
        let Some(node) = allocation.node else { continue };
        let needs = nodes.entry(node).or_default();
        needs.amounts = needs.amounts.plus(1, allocation.amounts);
        needs.gpus |= allocation.gpus;
        add_milli(&mut needs.milli, allocation);
        needs.ports += cluster.ports.in_range(cluster.fixed[node].ports, &allocation.ports);
    }
    let awaits = reservation.awaits.iter().flat_map(|job| {
        let placed = &cluster.placed_jobs[job];
        let gives_way = placed.qos_class == QosClass::Borrowed && claimant.moves(placed);
        placed.allocations.iter().map(move |allocation| (allocation, gives_way))
    });
    for (allocation, gives_way) in awaits {
        let Some(node) = allocation.node else { continue };
        let Some(needs) = nodes.get_mut(&node) else { continue };
        // What is lent counts as free: else it would go to whoever comes next, by the same right.
        if gives_way {
            needs.lent |= allocation.gpus;
            continue;
        }
        needs.amounts = needs.amounts.plus(-1, allocation.amounts);
        add_milli(&mut needs.given_back, allocation);
        needs.ports -= cluster.ports.in_range(cluster.fixed[node].ports, &allocation.ports);
    }
    let of_node = |(node, needs): (NodeIndex, Needs)| {
        let state = &cluster.states[node];
        let mut kept = ReservedOnNode {
            amounts: needs.amounts.at_least_zero(),
            ports: needs.ports.max(0),
            gpus: 0,
            parts: needs.parts(state),
        };
        let cleared = needs.cleared(state);
        for (_, bits) in &cluster.kind_of(node).types {
            let back = cleared & cluster.kind_of(node).healthy & bits;
            let more = (needs.gpus & bits).count_ones().saturating_sub(back.count_ones());
            let free = (state.free_gpus | needs.lent(state)) & state.not_held();
            let free = needs.gpus & bits & free;
            kept.gpus |= gpus::lowest(free, more);
        }
        (node, kept)
    };
    let numbered = allocations.iter().filter_map(|allocation| {
        let spans = &class.roles[allocation.role].numbered;
        let node = allocation.node.filter(|_| !spans.is_empty())?;
        Some((cluster.fixed[node].ports, spans.clone()))
    });
    Reserved {
        numbered: numbered.collect(),
        pins: Vec::new(),
        sums: ReservedSums::new(),
        nodes: nodes.into_iter().map(of_node).collect(),
        awaited: places_of(cluster, &reservation.awaits),
        reservation,
    }
}

/// Those of the places that can be kept now: where the account has a cell, or may bind one without
/// taking it from others. The rest comes when those who are waited for have left their cells. Of a cell
/// so much CPU and memory is kept as they do not give back.
fn keepable(
    cluster: &mut Cluster,
    account: AccountIndex,
    allocations: Vec<TaskAllocation>,
    awaits: &BTreeSet<JobId>,
) -> (Vec<TaskAllocation>, Vec<TaskAllocation>) {
    let (mut kept, mut pins) = (Vec::new(), Vec::new());
    let owner = cluster.cells.owner(account);
    let mut given_back = given_back(cluster, owner, awaits);
    for allocation in allocations {
        if let (Some(node), Some(block)) = (allocation.node, allocation.block) {
            let mine = |b: &Block| b.bits == block.bits && b.account == owner;
            let blocks = &cluster.states[node].blocks;
            let overlap = blocks.iter().any(|other| other.bits & block.bits != 0);
            let bound = blocks.iter().any(mine);
            if !bound && (overlap || !cluster.may_bind(node, account, block)) {
                continue;
            }
            let back = given_back.entry((node, block.bits)).or_default();
            let amounts = allocation.amounts.plus(-1, *back).at_least_zero();
            *back = back.plus(-1, allocation.amounts).at_least_zero();
            let pin = TaskAllocation { amounts, gpus: 0, ..allocation.clone() };
            cluster.pin(node, &pin, 1);
            pins.push(pin);
        }
        kept.push(allocation);
    }
    for pin in pins.iter().rev() {
        if let Some(node) = pin.node {
            cluster.pin(node, pin, -1);
        }
    }
    (kept, pins)
}

/// What jobs give back of each cell of an account.
fn given_back(
    cluster: &Cluster,
    owner: AccountIndex,
    awaits: &BTreeSet<JobId>,
) -> BTreeMap<(NodeIndex, Bits), Amounts> {
    let mut back: BTreeMap<_, Amounts> = BTreeMap::new();
    for allocation in awaits.iter().flat_map(|job| &cluster.placed_jobs[job].allocations) {
        let Right::Of(account) = allocation.right else { continue };
        if let (Some(node), Some(block)) = (allocation.node, allocation.block)
            && cluster.cells.owner(account) == owner
        {
            let back = back.entry((node, block.bits)).or_default();
            *back = back.plus(1, allocation.amounts);
        }
    }
    back
}

/// Keeps it.
pub(crate) fn keep(cluster: &mut Cluster, reserved: &Reserved) {
    change(cluster, reserved, 1);
    for (pool, spans) in &reserved.numbered {
        cluster.ports.hold_numbers(*pool, spans);
    }
}

/// Lets it go.
pub(crate) fn release(cluster: &mut Cluster, reserved: &Reserved) {
    change(cluster, reserved, -1);
    for (pool, spans) in &reserved.numbered {
        cluster.ports.release_numbers(*pool, spans);
    }
}

fn change(cluster: &mut Cluster, reserved: &Reserved, sign: i64) {
    cluster.shares.keep(&reserved.sums, sign);
    for pin in &reserved.pins {
        if let Some(node) = pin.node {
            cluster.pin(node, pin, sign);
        }
    }
    for (node, kept) in &reserved.nodes {
        let state = &mut cluster.states[*node];
        state.held = state.held.plus(sign, kept.amounts);
        if sign > 0 {
            state.held_gpus |= kept.gpus;
            cluster.held.insert(*node);
        } else {
            state.held_gpus &= !kept.gpus;
        }
        for (position, milli) in &kept.parts {
            state.hold_part(*position, *milli, sign);
        }
        let nothing = state.held == Amounts::default() && state.not_held() == Bits::MAX;
        if sign < 0 && nothing {
            cluster.held.remove(node);
        }
        cluster.ports.hold(cluster.fixed[*node].ports, sign * kept.ports);
        cluster.touch(*node);
    }
}
