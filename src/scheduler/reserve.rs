//! The reservation of the first job that finds no room: where it will start and which running jobs
//! it waits for. What it needs beyond what those give back is held, so that nothing that starts
//! earlier delays it. When jobs end nobody knows.

use std::collections::BTreeMap;

use protocol::ids::JobId;

use crate::fit::Gang;
use crate::gpus::{self, Bits};
use crate::model::Reservation;
use crate::share::Usage;
use crate::state::{Amounts, Claim, Cluster, View};
use crate::want::Want;

/// Reserves places for a job, on the nodes where the fewest ends are needed, and holds what it
/// needs. A job that had a reservation waits for nobody else than before, if that is possible.
/// `None`, and nothing is held, when it has no room even if all that runs ends.
pub(crate) fn reserve(
    cluster: &mut Cluster,
    want: &Want,
    last: Option<&Reservation>,
) -> Option<Reservation> {
    let last = last.filter(|last| last.job == want.job());
    last.and_then(|last| reserve_after(cluster, want, |job| last.awaits.contains(&job)))
        .or_else(|| reserve_after(cluster, want, |_| true))
}

/// The same, with only some of the running jobs to wait for.
fn reserve_after(
    cluster: &mut Cluster,
    want: &Want,
    may_end: impl Fn(JobId) -> bool,
) -> Option<Reservation> {
    let mut shadow = Shadow::new(cluster, want, may_end);
    let found = (0..want.roles.len()).all(|role| shadow.place(role));
    let Shadow { gang, ended, .. } = shadow;
    let claims = gang.claims;
    for claim in &claims {
        cluster.give(want.account, claim);
    }
    let ended: Vec<_> = (0..ended.len()).filter(|tenant| ended[*tenant]).collect();
    for tenant in &ended {
        change_tenant(cluster, *tenant, Cluster::take);
    }
    if !found {
        return None;
    }
    let awaited = awaited(cluster, &claims, &ended);
    hold(cluster, want, &claims, &awaited);
    let awaits = awaited.iter().map(|tenant| cluster.tenants[*tenant].job).collect();
    Some(Reservation { job: want.job(), awaits })
}

/// A tenant and the positions of its claims on one node.
type Stay = (usize, Vec<usize>);

/// The cluster as it will be once some of what runs has ended.
#[derive(Debug)]
struct Shadow<'c, 'a, 'w> {
    gang: Gang<'c, 'a, 'w>,
    /// By tenant: whether it has ended here.
    ended: Vec<bool>,
    /// By node: who is there, those with the fewest tasks first.
    stays: Vec<Vec<Stay>>,
}

/// [`Cluster::take`] or [`Cluster::give`].
type Change<'a> = fn(&mut Cluster<'a>, Option<usize>, &Claim);

/// What a node costs: jobs that end, tasks that end, the node.
type Cost = (usize, usize, usize);

impl<'c, 'a, 'w> Shadow<'c, 'a, 'w> {
    fn new(
        cluster: &'c mut Cluster<'a>,
        want: &'w Want<'w>,
        may_end: impl Fn(JobId) -> bool,
    ) -> Self {
        let ended = vec![false; cluster.tenants.len()];
        let stays = stays(cluster, may_end);
        Self { gang: Gang::new(cluster, want, View::Real), ended, stays }
    }

    /// Places all tasks of a role, on what is free first; false when there is no room.
    fn place(&mut self, role: usize) -> bool {
        let mut remaining = self.gang.want.roles[role].count;
        loop {
            while remaining > 0
                && let Some(spot) = self.gang.best(role, remaining)
            {
                match self.gang.fill(spot, role, remaining) {
                    0 => break,
                    placed => remaining -= placed,
                }
            }
            if remaining == 0 {
                return true;
            }
            let mut costs: Vec<_> =
                (0..self.stays.len()).filter_map(|node| self.cost(node, role)).collect();
            costs.sort_unstable_by_key(|(cost, _)| *cost);
            let before = remaining;
            for ((_, _, node), leaving) in costs {
                self.end(leaving);
                if let Some(spot) = self.gang.spot(node, role, remaining) {
                    remaining -= self.gang.fill(spot, role, remaining);
                }
                if remaining == 0 {
                    return true;
                }
            }
            if remaining == before {
                return false;
            }
        }
    }

    /// Who has to leave a node so that one task of the role fits, and what that costs; `None` when
    /// it never fits.
    fn cost(&mut self, node: usize, role: usize) -> Option<(Cost, Vec<usize>)> {
        if !self.gang.cluster.nodes[node].ready {
            return None;
        }
        let mut leaving = Vec::new();
        let mut cost = (0, 0, node);
        let mut fits = self.gang.spot(node, role, 1).is_some();
        for position in 0..self.stays[node].len() {
            let (tenant, tasks) = (self.stays[node][position].0, &self.stays[node][position].1);
            if fits || self.ended[tenant] {
                continue;
            }
            cost.0 += 1;
            cost.1 += tasks.len();
            self.change(node, position, Cluster::give);
            leaving.push(position);
            fits = self.gang.spot(node, role, 1).is_some();
        }
        for position in &leaving {
            self.change(node, *position, Cluster::take);
        }
        let tenants = leaving.into_iter().map(|position| self.stays[node][position].0).collect();
        fits.then_some((cost, tenants))
    }

    fn change(&mut self, node: usize, position: usize, change: Change<'a>) {
        let (tenant, tasks) = &self.stays[node][position];
        let account = self.gang.cluster.tenants[*tenant].account;
        for task in tasks {
            let claim = self.gang.cluster.tenants[*tenant].claims[*task].clone();
            change(self.gang.cluster, account, &claim);
        }
    }

    fn end(&mut self, tenants: Vec<usize>) {
        for tenant in tenants {
            if !std::mem::replace(&mut self.ended[tenant], true) {
                change_tenant(self.gang.cluster, tenant, Cluster::give);
            }
        }
    }
}

fn change_tenant<'a>(cluster: &mut Cluster<'a>, tenant: usize, change: Change<'a>) {
    let claims = std::mem::take(&mut cluster.tenants[tenant].claims);
    let account = cluster.tenants[tenant].account;
    for claim in &claims {
        change(cluster, account, claim);
    }
    cluster.tenants[tenant].claims = claims;
}

/// Who is on each node, those with the fewest tasks first.
fn stays(cluster: &Cluster, may_end: impl Fn(JobId) -> bool) -> Vec<Vec<Stay>> {
    let mut stays: Vec<Vec<Stay>> = vec![Vec::new(); cluster.nodes.len()];
    let mut order: Vec<_> = (0..cluster.tenants.len()).collect();
    order.retain(|tenant| may_end(cluster.tenants[*tenant].job));
    order.sort_by_key(|tenant| cluster.tenants[*tenant].claims.len());
    for tenant in order {
        for (position, claim) in cluster.tenants[tenant].claims.iter().enumerate() {
            let Some(stays) = claim.node.map(|node| &mut stays[node]) else { continue };
            match stays.last_mut() {
                Some((last, tasks)) if *last == tenant => tasks.push(position),
                Some(_) | None => stays.push((tenant, vec![position])),
            }
        }
    }
    stays
}

/// Those among the ended that had something where the job will be.
fn awaited(cluster: &Cluster, claims: &[Claim], ended: &[usize]) -> Vec<usize> {
    let mut nodes = vec![false; cluster.nodes.len()];
    claims.iter().filter_map(|claim| claim.node).for_each(|node| nodes[node] = true);
    let there = |claim: &Claim| claim.node.is_some_and(|node| nodes[node]);
    let awaited = |tenant: &&usize| cluster.tenants[**tenant].claims.iter().any(there);
    ended.iter().filter(awaited).copied().collect()
}

/// What the job needs of a node, less what those it waits for give back.
#[derive(Debug, Default)]
struct Needs {
    amounts: Amounts,
    /// The GPUs chosen, and those given back.
    gpus: Bits,
    given_back: Bits,
    ports: i64,
}

fn hold(cluster: &mut Cluster, want: &Want, claims: &[Claim], awaited: &[usize]) {
    let mut nodes: BTreeMap<usize, Needs> = BTreeMap::new();
    let mut usage = Usage::default();
    for claim in claims {
        let Some(node) = claim.node else { continue };
        let needs = nodes.entry(node).or_default();
        needs.amounts = needs.amounts.plus(1, claim.amounts);
        needs.gpus |= claim.gpus;
        needs.ports += cluster.ports.in_range(cluster.nodes[node].pool, &claim.ports);
        usage.add(&cluster.usage(claim), 1);
    }
    for tenant in awaited.iter().map(|tenant| &cluster.tenants[*tenant]) {
        for claim in &tenant.claims {
            if tenant.account == want.account {
                usage.add(&cluster.usage(claim), -1);
            }
            let Some(node) = claim.node else { continue };
            let Some(needs) = nodes.get_mut(&node) else { continue };
            needs.amounts = needs.amounts.plus(-1, claim.amounts);
            needs.given_back |= claim.gpus;
            needs.ports -= cluster.ports.in_range(cluster.nodes[node].pool, &claim.ports);
        }
    }
    for (node, needs) in &nodes {
        let state = &mut cluster.nodes[*node];
        state.held = needs.amounts.at_least_zero();
        for (_, bits) in &state.types {
            let back = needs.given_back & state.healthy & bits;
            let more = (needs.gpus & bits).count_ones().saturating_sub(back.count_ones());
            state.held_gpus |= gpus::lowest(needs.gpus & bits & state.free_gpus, more);
        }
        cluster.ports.hold(state.pool, needs.ports.max(0));
    }
    for claim in claims {
        if let Some(node) = claim.node {
            let numbered = &want.roles[claim.role].numbered;
            cluster.ports.hold_numbers(cluster.nodes[node].pool, numbered);
        }
    }
    cluster.shares.hold(want.account, &usage);
}
