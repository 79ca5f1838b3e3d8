//! Who of a virtual cluster has the right to its share, of those who run at the same time: who is ahead
//! in the queue. So nobody loses by having started on what was lent before his share had room.

use protocol::ids::JobId;
use protocol::time::Timestamp;

use crate::cluster::{Claim, Tenant};
use crate::evict::MayLeave;
use crate::fit::undo;
use crate::model::Standing;
use crate::state::State;
use crate::want::Class;

/// So many of those ahead are looked at when somebody starts, and so many are tried.
const LOOK_AHEAD: usize = 16;
const TRIES: usize = 2;

impl State {
    /// By what right a job starts that has found guaranteed places, which are taken. Who is ahead of it
    /// and borrows has the right where he is, if that can be; if there is no room for both then, the
    /// job borrows the places.
    pub(crate) fn by_rights(
        &mut self,
        wanted: (JobId, &Class),
        accounts: &[usize],
        claims: Vec<Claim>,
        now: Timestamp,
    ) -> (Vec<Claim>, Standing) {
        let keeps = !self.awaits(&claims).is_empty() || self.keep_for_another(accounts);
        if keeps || !self.cluster.may_borrow(wanted.1) {
            return (claims, Standing::Guaranteed);
        }
        let mut claims = claims;
        for ahead in self.borrow_ahead_of(wanted) {
            undo(&mut self.cluster, &claims);
            if !self.promote_one(ahead) {
                claims.iter().for_each(|claim| self.cluster.take(claim));
                continue;
            }
            match self.idle_cells(wanted, accounts, now) {
                Some(others) => claims = others,
                None => {
                    let lent: Vec<Claim> = claims.iter().map(Claim::lent).collect();
                    lent.iter().for_each(|claim| self.cluster.take(claim));
                    return (lent, Standing::Borrowed);
                }
            }
        }
        (claims, Standing::Guaranteed)
    }

    /// Whether something is kept on these accounts: what is promised to somebody rests on who has which
    /// right.
    fn keep_for_another(&self, accounts: &[usize]) -> bool {
        let owner = |account: &usize| self.cluster.cells.owner(*account);
        self.holds.keys().any(|held| accounts.iter().any(|account| owner(account) == owner(held)))
    }

    /// Those ahead of a job in its virtual cluster who borrow and to whom its right is worth as much.
    fn borrow_ahead_of(&self, (job, class): (JobId, &Class)) -> Vec<JobId> {
        let (turn, gpu_milli) = (self.turn(job, class), class.gpu_milli());
        let held = |claim: &Claim| claim.node.is_some_and(|n| self.cluster.held.contains(&n));
        let worth = |tenant: &Tenant| {
            let as_much = tenant.gpu_milli() >= gpu_milli || tenant.turn.outranks(&turn);
            as_much
                && tenant.name == class.of.virtual_cluster
                && !tenant.is_opportunistic()
                && !tenant.stopping
                && !tenant.claims.iter().any(held)
        };
        let ahead = self.cluster.ranks.borrow_ahead_of(class.cluster, (turn, job)).take(LOOK_AHEAD);
        let ahead = ahead.filter(|ahead| self.cluster.tenants.get(ahead).is_some_and(worth));
        ahead.take(TRIES).collect()
    }

    /// Cells of its accounts from which nobody has to go, taken.
    pub(crate) fn idle_cells(
        &mut self,
        wanted: (JobId, &Class),
        accounts: &[usize],
        now: Timestamp,
    ) -> Option<Vec<Claim>> {
        let nobody: MayLeave = &|_: &Tenant| false;
        let found =
            accounts.iter().find_map(|account| self.in_cells(wanted, *account, now, nobody));
        found.map(|found| found.claims)
    }
}
