//! Which virtual clusters count on the same cells.

use std::sync::Arc;

use crate::numbers::indices::{AccountIndex, By, ClusterIndex};
use crate::share::cells::Cells;

/// Whether a virtual cluster's guaranteed work may count on an account, by [`place`].
pub(crate) type Peers = Arc<[bool]>;

/// The first place is for virtual clusters that nobody knows.
pub(crate) fn place(cluster: Option<ClusterIndex>) -> usize {
    cluster.map_or(0, |cluster| usize::from(cluster) + 1)
}

/// By account: its peers.
pub(crate) fn peers(cells: &Cells, accounts: usize) -> By<AccountIndex, Peers> {
    let all = || cells.chains.numbers().map(Some);
    let of = |account: AccountIndex| -> Peers {
        let owner = cells.owner(account);
        let counts = |cluster: Option<ClusterIndex>| {
            let chain = cluster.and_then(|cluster| cells.chains.get(cluster));
            chain.unwrap_or(&cells.everybody).iter().any(|other| cells.owner(*other) == owner)
        };
        [None].into_iter().chain(all()).map(counts).collect()
    };
    (0..accounts).map(AccountIndex::from).map(of).collect()
}
