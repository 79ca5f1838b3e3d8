//! Priorities inside a virtual cluster: its share is the higher classes', whoever came first. Who gives
//! up his right for them goes on where he is while there is room for them elsewhere: then he borrows.

use protocol::ids::JobId;
use protocol::time::Timestamp;

use crate::cluster::{Claim, Cluster, Cost, Tenant};
use crate::evict::Eviction;
use crate::model::{Standing, Turn};
use crate::state::State;
use crate::want::Class;

/// Each try takes the right from so many times as much as the one before.
const GROWS: i64 = 4;

/// Places of a job, taken, and what those had who gave up their right for it, be it that they stay.
#[derive(Debug)]
pub(crate) struct Outranked {
    pub(crate) eviction: Eviction,
    had: Vec<(JobId, Tenant)>,
}

impl State {
    /// Places by the right that work of lower classes of its virtual cluster has, taken. Rather idle
    /// ones than those of that work.
    pub(crate) fn outrank(
        &mut self,
        wanted: (JobId, &Class),
        accounts: &[usize],
        turn: Turn,
        now: Timestamp,
    ) -> Option<Outranked> {
        let lower = self.cluster.outranked(wanted.1, turn, now);
        if lower.is_empty() {
            return None;
        }
        let gpus = wanted.1.gpu_milli();
        let idle = self.with_the_rights_of(&lower, gpus, |state| {
            let claims = state.idle_cells(wanted, accounts, now)?;
            Some(Eviction { claims, victims: Vec::new() })
        });
        let mut found = match idle {
            Some(found) => found,
            None => self.with_the_rights_of(&lower, gpus, |state| {
                state.cleared_cells(wanted, accounts, turn, now)
            })?,
        };
        self.leave_rights(&mut found);
        Some(found)
    }

    /// Takes their rights from the first of these, then from more of them, until something is found;
    /// else from nobody.
    fn with_the_rights_of(
        &mut self,
        lower: &[JobId],
        gpu_milli: i64,
        mut find: impl FnMut(&mut Self) -> Option<Eviction>,
    ) -> Option<Outranked> {
        let (mut had, mut enough) = (Vec::new(), gpu_milli);
        let mut rest = lower.iter().peekable();
        while rest.peek().is_some() {
            let mut taken = 0;
            while taken < enough
                && let Some(job) = rest.next()
            {
                let Some(tenant) = self.cluster.give_up_right(*job) else { continue };
                taken += tenant.gpu_milli();
                had.push((*job, tenant));
            }
            if let Some(eviction) = find(self) {
                return Some(Outranked { eviction, had });
            }
            enough = enough.saturating_mul(GROWS);
        }
        self.cluster.give_rights_back(had);
        None
    }

    /// Who gave up more than was needed has his right again, whom it would cost most to send away
    /// first. Those who stay without it and may not borrow leave.
    fn leave_rights(&mut self, found: &mut Outranked) {
        for (job, had) in found.had.iter().rev() {
            let may_borrow =
                had.cluster.and_then(|cluster| self.cluster.cells.borrows.get(cluster));
            let may_borrow = may_borrow.is_none_or(|borrows| *borrows);
            if self.cluster.tenants.contains_key(job)
                && !self.promote_one(*job)
                && !may_borrow
                && let Some(tenant) = self.cluster.leave(*job)
            {
                found.eviction.victims.push((*job, tenant));
            }
        }
    }

    /// All is as it was: the places that a job would have, and who would have to leave.
    pub(crate) fn undo_outranking(&mut self, found: Outranked) -> (Vec<Claim>, Vec<JobId>) {
        let places = self.put_back(found.eviction);
        self.cluster.give_rights_back(found.had);
        places
    }
}

impl Cluster {
    /// Those of a class's virtual cluster who run by right and are of a lower class than a turn, whom
    /// it costs least to send away first.
    pub(crate) fn outranked(&self, class: &Class, turn: Turn, now: Timestamp) -> Vec<JobId> {
        let lower = self.ranks.outranked(class.cluster, turn);
        let lower = lower.filter_map(|job| Some((self.tenants.get(&job)?, job)));
        let own = lower.filter(|(tenant, _)| tenant.name == class.of.virtual_cluster);
        let mut own: Vec<(Cost, JobId)> =
            own.map(|(tenant, job)| (tenant.cost(now), job)).collect();
        own.sort_unstable();
        own.into_iter().map(|(_, job)| job).collect()
    }

    /// A job goes on where it is, on what is lent. What it had.
    fn give_up_right(&mut self, job: JobId) -> Option<Tenant> {
        let had = self.leave(job)?;
        let claims: Vec<Claim> = had.claims.iter().map(Claim::lent).collect();
        claims.iter().for_each(|claim| self.take(claim));
        self.settle(job, Tenant { claims, standing: Standing::Borrowed, ..had.clone() });
        Some(had)
    }

    /// Undoes it: all leave before the first has again what he had.
    fn give_rights_back(&mut self, had: Vec<(JobId, Tenant)>) {
        for (job, _) in &had {
            self.leave(*job);
        }
        for (job, tenant) in had {
            tenant.claims.iter().for_each(|claim| self.take(claim));
            self.settle(job, tenant);
        }
    }
}
