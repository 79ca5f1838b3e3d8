//! Who may take back what is lent, and from whom.

use crate::cluster::{Cluster, Tenant};
use crate::model::Turn;

/// Who wants back what is lent.
#[derive(Debug)]
pub(crate) struct Claimant {
    /// Virtual clusters that may count on the same account.
    peers: Vec<Option<usize>>,
    turn: Turn,
}

impl Claimant {
    /// Whether borrowed work gives way to it: that of others does, and of its own line what is
    /// behind it.
    pub(crate) fn moves(&self, tenant: &Tenant) -> bool {
        tenant.turn >= self.turn || !self.peers.contains(&tenant.cluster)
    }
}

impl Cluster {
    /// The virtual clusters whose guaranteed work may count on an account.
    fn peers(&self, account: usize) -> Vec<Option<usize>> {
        let owner = self.cells.owner(account);
        let all = (0..self.cells.chains.len()).map(Some).chain([None]);
        let counts = |cluster: &Option<usize>| {
            self.accounts(*cluster).iter().any(|account| self.cells.owner(*account) == owner)
        };
        all.filter(counts).collect()
    }

    /// Who gives way to a job with this turn that comes to count on an account.
    pub(crate) fn claimant(&self, account: usize, turn: Turn) -> Claimant {
        Claimant { peers: self.peers(account), turn }
    }
}
