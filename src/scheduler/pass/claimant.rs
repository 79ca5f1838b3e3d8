//! Who may take back what is lent, and from whom.

use std::sync::Arc;

use crate::cluster::Cluster;
use crate::cluster::tenant::Tenant;
use crate::model::Turn;
use crate::share::cells::Cells;

/// Whether a virtual cluster's guaranteed work may count on an account, by [`place`].
pub(crate) type Peers = Arc<[bool]>;

/// The first place is for virtual clusters that nobody knows.
pub(crate) fn place(cluster: Option<usize>) -> usize {
    cluster.map_or(0, |cluster| cluster + 1)
}

/// By account: its peers.
pub(crate) fn peers(cells: &Cells, accounts: usize) -> Vec<Peers> {
    let all = || (0..cells.chains.len()).map(Some);
    let of = |account: usize| {
        let owner = cells.owner(account);
        let counts = |cluster: Option<usize>| {
            let chain = cluster.and_then(|cluster| cells.chains.get(cluster));
            chain.unwrap_or(&cells.everybody).iter().any(|other| cells.owner(*other) == owner)
        };
        [None].into_iter().chain(all()).map(counts).collect()
    };
    (0..accounts).map(of).collect()
}

/// Who wants back what is lent.
#[derive(Debug)]
pub(crate) struct Preemptor {
    peers: Peers,
    turn: Turn,
}

impl Preemptor {
    pub(crate) fn turn(&self) -> Turn {
        self.turn
    }

    /// Whether borrowed work gives way to it: that of others does, and of its own line what is
    /// behind it.
    pub(crate) fn moves(&self, tenant: &Tenant) -> bool {
        tenant.turn >= self.turn || !self.peers[place(tenant.cluster)]
    }
}

impl Cluster {
    /// Who gives way to a job with this turn that comes to count on an account.
    pub(crate) fn claimant(&self, account: usize, turn: Turn) -> Preemptor {
        Preemptor { peers: Arc::clone(&self.peers[account]), turn }
    }
}
