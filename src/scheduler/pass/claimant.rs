//! Who may take back what is lent, and from whom.

use std::sync::Arc;

use crate::cluster::Cluster;
use crate::cluster::placed::PlacedJob;
use crate::model::Turn;
use crate::numbers::indices::AccountIndex;
use crate::share::peers::{Peers, place};

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
    pub(crate) fn moves(&self, placed: &PlacedJob) -> bool {
        placed.turn >= self.turn || !self.peers[place(placed.cluster)]
    }
}

impl Cluster {
    /// Who gives way to a job with this turn that comes to count on an account.
    pub(crate) fn claimant(&self, account: AccountIndex, turn: Turn) -> Preemptor {
        Preemptor { peers: Arc::clone(&self.peers[account]), turn }
    }
}
