//! Taking back what was lent: which borrowed jobs give way so that a guaranteed one starts.

use std::collections::BTreeSet;

use protocol::ids::JobId;
use protocol::spec::Priority;
use protocol::time::Timestamp;

use crate::cluster::Cluster;
use crate::cluster::allocation::{Piece, TaskAllocation};
use crate::cluster::placed::{Cost, PlacedJob};
use crate::cluster::score::Mode;
use crate::model::{LONGEST_MS, WHOLE_GPU};
use crate::numbers::indices::{AccountIndex, NodeIndex};
use crate::numbers::request::{ClassRole, Wanted};
use crate::pass::fit::{Found, Gang, Look, guaranteed_looks, modes, undo};
use crate::pass::together::place;
use crate::queue::Waiter;
use crate::state::State;

/// A guaranteed job's places, taken, and the jobs that have left the cluster for them.
#[derive(Debug)]
pub(crate) struct Preempted {
    pub(crate) allocations: Vec<TaskAllocation>,
    pub(crate) victims: Vec<(JobId, PlacedJob)>,
}

/// Whether a job that borrows may be told to leave.
pub(crate) type MayLeave<'a> = &'a dyn Fn(&PlacedJob) -> bool;

impl State {
    /// Places of a job on cells of one account, taken, and who has to leave them. Nobody is sent away who
    /// loses more than the job is expected to do, where idle cells will do as well and others are left.
    pub(crate) fn in_cells(
        &mut self,
        wanted: Wanted,
        account: AccountIndex,
        now: Timestamp,
        may_leave: MayLeave,
    ) -> Option<Preempted> {
        let work = self.work_of(wanted);
        let (cluster, class) = (&mut self.cluster, wanted.class);
        if !cluster.shares.is_unbounded(account)
            && !cluster.shares.lacks(account, class, false).is_empty()
        {
            return None;
        }
        let mut looks = guaranteed_looks(cluster, class, account).into_iter();
        while let Some(look) = looks.next() {
            if let Ok(allocations) = place(cluster, wanted, look) {
                return Some(Preempted { allocations, victims: Vec::new() });
            }
            let Some(found) = preempt(cluster, wanted, look, now, may_leave) else { continue };
            if looks.len() == 0 || found.lost_ms(now) <= work {
                return Some(found);
            }
            undo(cluster, &found.allocations);
            restore(cluster, found.victims);
            let idle = looks.find_map(|look| idle_and_others_left(cluster, wanted, look, account));
            return match idle {
                Some(allocations) => Some(Preempted { allocations, victims: Vec::new() }),
                None => preempt(cluster, wanted, look, now, may_leave),
            };
        }
        None
    }

    /// GPUs (one where it asks for none) × milliseconds that a job is expected to run.
    fn work_of(&self, Wanted { job, class }: Wanted) -> i64 {
        let waiter = self.queue.jobs.get(&job);
        let runs = waiter.map_or_else(|| class.of.runs_ms(), Waiter::runs_ms).unwrap_or(LONGEST_MS);
        class.gpu_milli().saturating_mul(runs.clamp(0, LONGEST_MS)) / i64::from(WHOLE_GPU)
    }
}

impl Preempted {
    /// What those lose who have to leave.
    fn lost_ms(&self, now: Timestamp) -> i64 {
        let lost = self.victims.iter().map(|(_, placed)| placed.lost_ms(now));
        lost.fold(0, i64::saturating_add)
    }
}

/// Places on cells from which nobody has to go, taken, if others of their size are left to the account:
/// who needs a whole one still has it at once.
fn idle_and_others_left(
    cluster: &mut Cluster,
    wanted: Wanted,
    look: Look,
    account: AccountIndex,
) -> Option<Vec<TaskAllocation>> {
    let allocations = place(cluster, wanted, look).ok()?;
    let owner = cluster.cells.owner(account);
    let others_left = allocations.iter().all(|allocation| {
        let (Some(node), Some(Piece { level, .. })) = (allocation.node, allocation.block) else {
            return true;
        };
        let pool = cluster.kind_of(node).pool;
        cluster.cells.pools[pool].unbound(owner, level) > 0
    });
    if !others_left {
        undo(cluster, &allocations);
        return None;
    }
    Some(allocations)
}

/// Finds guaranteed places where nothing but borrowed work is in the way, and takes that away, the
/// lowest class first, then the least lost work, and each job as a whole. `None`, and nothing is
/// changed, when the cells themselves have no room.
pub(crate) fn preempt(
    cluster: &mut Cluster,
    wanted: Wanted,
    look: Look,
    now: Timestamp,
    may_leave: MayLeave,
) -> Option<Preempted> {
    if cluster.borrowed.is_empty() {
        return None;
    }
    let Some(level) = wanted.class.required_level() else {
        return preempt_within(cluster, wanted, look, now, may_leave, None);
    };
    // Of the places of the level that where it costs least.
    let mut best: Option<(Cost, Vec<NodeIndex>)> = None;
    for place in cluster.places(level) {
        if !cluster.is_large_enough(wanted.class, &place) {
            continue;
        }
        let found = preempt_within(cluster, wanted, look, now, may_leave, Some(&place));
        let Some(Preempted { allocations, victims }) = found else { continue };
        let cost = cost_of(&victims, now);
        undo(cluster, &allocations);
        restore(cluster, victims);
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, place));
        }
    }
    let (_, place) = best?;
    preempt_within(cluster, wanted, look, now, may_leave, Some(&place))
}

/// What it costs to send all of these away.
fn cost_of(victims: &[(JobId, PlacedJob)], now: Timestamp) -> Cost {
    victims.iter().fold((Priority::OPPORTUNISTIC, 0), |(class, lost), (_, placed)| {
        let (of, more) = placed.cost(now);
        (of.max(class), more.saturating_add(lost))
    })
}

/// The same on these nodes alone, if any are named.
fn preempt_within(
    cluster: &mut Cluster,
    Wanted { job, class }: Wanted,
    look: Look,
    now: Timestamp,
    may_leave: MayLeave,
    within: Option<&[NodeIndex]>,
) -> Option<Preempted> {
    let mut victims = Vec::new();
    let mut gang = Gang { within, ..Gang::new(cluster, Wanted { job, class }, look) };
    for role in 0..class.roles.len() {
        let mut remaining = class.roles[role].count;
        while remaining > 0 {
            let found = gang
                .best(role, remaining)
                .or_else(|| clear(&mut gang, role, remaining, now, may_leave, &mut victims));
            let placed = found.map_or(0, |found| gang.fill(found, role, remaining));
            if placed == 0 {
                let allocations = std::mem::take(&mut gang.allocations);
                undo(cluster, &allocations);
                restore(cluster, victims);
                return None;
            }
            remaining -= placed;
        }
    }
    let allocations = gang.allocations;
    spare(cluster, &mut victims, now);
    Some(Preempted { allocations, victims })
}

/// Takes away those whom it costs least to send away among all that would make room for a task on
/// some node.
fn clear(
    gang: &mut Gang,
    role: usize,
    remaining: u32,
    now: Timestamp,
    may_leave: MayLeave,
    victims: &mut Vec<(JobId, PlacedJob)>,
) -> Option<Found> {
    let modes = modes(gang.cluster, &gang.class.roles[role], gang.look);
    let nodes = candidates(gang.cluster, &gang.class.roles[role], &modes);
    let mut best: Option<(Cost, NodeIndex, Vec<JobId>)> = None;
    for node in nodes {
        if !gang.is_within(node) {
            continue;
        }
        let least = best.as_ref().map(|(cost, ..)| *cost);
        if let Some((cost, jobs)) = leavers(gang, node, role, now, may_leave, least) {
            best = Some((cost, node, jobs));
        }
    }
    let (_, node, jobs) = best?;
    for job in jobs {
        if let Some(placed) = gang.cluster.leave(job) {
            victims.push((job, placed));
        }
    }
    gang.found_on(node, role, remaining)
}

/// Nodes on which the cells that may be used have room for a task, borrowed work or not.
fn candidates(cluster: &Cluster, role: &ClassRole, modes: &[Mode]) -> BTreeSet<NodeIndex> {
    let mut nodes = BTreeSet::new();
    let everywhere = modes.iter().any(|mode| match mode {
        Mode::Open(..) => true,
        Mode::Own(account) => cluster.cells.pools.iter().any(|pool| pool.is_free_to(*account)),
        Mode::Lend | Mode::Borrow => false,
    });
    if everywhere {
        let borrowed = cluster.borrowed.iter().filter_map(|job| cluster.placed_jobs.get(job));
        nodes.extend(borrowed.flat_map(|placed| placed.allocations.iter().filter_map(|c| c.node)));
        return nodes;
    }
    for mode in modes {
        let Mode::Own(account) = mode else { continue };
        let room = |node: &&NodeIndex| {
            let measure = cluster.measure(cluster.states[**node].kind);
            cluster.states[**node].blocks.iter().any(|block| {
                let free = measure.part(block.bits).plus(-1, block.used);
                let milli = i64::from(block.bits.count_ones()) * i64::from(WHOLE_GPU) - block.milli;
                block.account == *account
                    && free.covers(role.request.each)
                    && milli >= role.request.gpu_milli()
            })
        };
        nodes.extend(cluster.lodgings[*account].iter().filter(room).copied());
    }
    nodes
}

/// Who has to leave a node so that a task fits there, if it costs less than `least`.
fn leavers(
    gang: &mut Gang,
    node: NodeIndex,
    role: usize,
    now: Timestamp,
    may_leave: MayLeave,
    least: Option<Cost>,
) -> Option<(Cost, Vec<JobId>)> {
    let mut guests: Vec<(Cost, JobId)> = gang.cluster.guests[node]
        .iter()
        .filter(|job| gang.cluster.borrowed.contains(job))
        .filter_map(|job| Some((gang.cluster.placed_jobs.get(job)?, *job)))
        .filter(|(placed, _)| may_leave(placed))
        .map(|(placed, job)| (placed.cost(now), job))
        .collect();
    guests.sort_unstable();
    let mut given: Vec<TaskAllocation> = Vec::new();
    let mut cost = (Priority::OPPORTUNISTIC, 0);
    let (mut leaving, mut fits) = (Vec::new(), false);
    for ((class, lost), job) in guests {
        cost = (class.max(cost.0), lost.saturating_add(cost.1));
        if least.is_some_and(|least| cost >= least) {
            break;
        }
        let here = |allocation: &&TaskAllocation| allocation.node == Some(node);
        let allocations: Vec<_> =
            gang.cluster.placed_jobs[&job].allocations.iter().filter(here).cloned().collect();
        for allocation in allocations {
            gang.cluster.give(&allocation);
            given.push(allocation);
        }
        leaving.push(job);
        if gang.found_on(node, role, 1).is_some() {
            fits = true;
            break;
        }
    }
    for allocation in given.iter().rev() {
        gang.cluster.take(allocation);
    }
    fits.then_some((cost, leaving))
}

fn restore(cluster: &mut Cluster, victims: Vec<(JobId, PlacedJob)>) {
    for (job, placed) in victims.into_iter().rev() {
        for allocation in &placed.allocations {
            cluster.take(allocation);
        }
        cluster.settle(job, placed);
    }
}

/// Lets those stay who turned out not to be in the way, whom it costs most to send away first.
fn spare(cluster: &mut Cluster, victims: &mut Vec<(JobId, PlacedJob)>, now: Timestamp) {
    victims.sort_by_key(|(job, placed)| (placed.cost(now), *job));
    let mut leaving = Vec::new();
    for (job, placed) in victims.drain(..).rev() {
        if placed.allocations.iter().all(|allocation| cluster.has_back(allocation))
            && fits_back(cluster, &placed)
        {
            cluster.settle(job, placed);
        } else {
            leaving.push((job, placed));
        }
    }
    leaving.reverse();
    *victims = leaving;
}

/// Takes all allocations again, if that is possible.
fn fits_back(cluster: &mut Cluster, placed: &PlacedJob) -> bool {
    for (at, allocation) in placed.allocations.iter().enumerate() {
        if !cluster.has_back(allocation) {
            undo(cluster, &placed.allocations[..at]);
            return false;
        }
        cluster.take(allocation);
    }
    true
}
