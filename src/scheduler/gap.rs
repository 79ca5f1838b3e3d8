//! The gap before a reservation: who is expected to end in time may run where its job will be, as
//! borrowed work, which gives way if it does not end.

use std::sync::Arc;

use protocol::ids::JobId;
use protocol::time::Timestamp;

use crate::cluster::{Claim, Tenant};
use crate::evict::Eviction;
use crate::fit::{Look, place, undo};
use crate::model::Standing;
use crate::pass::Pass;
use crate::queue::{Key, Waiter};
use crate::reserve::{Hold, keep, release};
use crate::state::State;
use crate::want::Class;

/// Jobs of one class that are looked at for a gap.
const LOOK_BEHIND: usize = 32;

impl State {
    /// Fills gaps with jobs of a class.
    pub(crate) fn fill_gaps(
        &mut self,
        (line, class): (usize, &Arc<Class>),
        now: Timestamp,
        pass: &mut Pass,
    ) {
        let Some(latest) = self.holds.values().map(|hold| hold.reservation.start).max() else {
            return;
        };
        let queue = self.queue.lines[&line].queue.iter().take(LOOK_BEHIND);
        let short = |key: &&Key| {
            let waiter = self.queue.jobs.get(&key.job);
            waiter.and_then(Waiter::runs_ms).is_some_and(|runs| now.plus_millis(runs) <= latest)
        };
        let candidates: Vec<Key> = queue.filter(short).copied().collect();
        for key in candidates {
            let runs = self.queue.jobs.get(&key.job).and_then(Waiter::runs_ms).unwrap_or(i64::MAX);
            let (wanted, end) = ((key.job, &**class), now.plus_millis(runs));
            let claims = self.idle_gap(wanted, end).or_else(|| {
                let eviction = self.own_gap(wanted, runs, now)?;
                Some(self.send_away(wanted, eviction, now, pass))
            });
            if let Some(claims) = claims {
                self.start((key, class), claims, Standing::Borrowed, now, pass);
            }
        }
    }

    /// Idle places, taken.
    fn idle_gap(&mut self, wanted: (JobId, &Class), end: Timestamp) -> Option<Vec<Claim>> {
        let claims = place(&mut self.cluster, wanted, Look::Borrow).ok()?;
        if self.ends_in_time(&claims, wanted.0, end) {
            return Some(claims);
        }
        undo(&mut self.cluster, &claims);
        None
    }

    fn ends_in_time(&self, claims: &[Claim], job: JobId, end: Timestamp) -> bool {
        self.holds.values().all(|hold| {
            let there =
                hold.nodes().any(|node| claims.iter().any(|claim| claim.node == Some(node)));
            !there || hold.reservation.start >= end && hold.reservation.job != job
        })
    }

    /// Cells of its own account that only others use meanwhile, taken: were its virtual cluster
    /// alone, they would be idle. Who is expected to run no longer than it stays, so that nobody
    /// drives away whom he is driven away by.
    fn own_gap(
        &mut self,
        wanted: (JobId, &Class),
        runs_ms: i64,
        now: Timestamp,
    ) -> Option<Eviction> {
        let (job, class) = wanted;
        let account = self.cluster.accounts(class.cluster)[0];
        let end = now.plus_millis(runs_ms);
        let in_time = |hold: &&Hold| hold.reservation.start >= end && hold.reservation.job != job;
        let hold = self.holds.get(&account).filter(in_time).cloned()?;
        if class.opportunistic {
            return None;
        }
        let may_leave = |tenant: &Tenant| {
            let longer = tenant.life.runs_ms().is_none_or(|other| other > runs_ms);
            tenant.cluster != class.cluster && longer
        };
        release(&mut self.cluster, &hold);
        let found = self.in_cells(wanted, account, now, &may_leave);
        let found = found.map(|found| {
            undo(&mut self.cluster, &found.claims);
            let claims: Vec<_> = found.claims.iter().map(Claim::lent).collect();
            claims.iter().for_each(|claim| self.cluster.take(claim));
            Eviction { claims, ..found }
        });
        keep(&mut self.cluster, &hold);
        found
    }
}
