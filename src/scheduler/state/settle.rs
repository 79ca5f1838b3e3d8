//! What runs already takes its places again: in cells of its accounts, as far as there are any.

use protocol::ids::JobId;

use crate::cluster::Cluster;
use crate::cluster::allocation::{Piece, Right, TaskAllocation};
use crate::cluster::placed::PlacedJob;
use crate::model::{QosClass, Running};
use crate::numbers::indices::AccountIndex;

impl Cluster {
    /// Finds cells for what a job has already, on the same GPUs; false, and nothing is taken, when
    /// its accounts have none left, or too little of what else their shares name.
    pub(crate) fn settle_guaranteed(&mut self, job: JobId, placed: &PlacedJob) -> bool {
        for account in self.accounts(placed.cluster).to_vec() {
            let mut allocations: Vec<TaskAllocation> = Vec::new();
            for allocation in &placed.allocations {
                let Some(block) = self.cell_for(allocation, account) else { break };
                let allocation =
                    TaskAllocation { right: Right::Of(account), block, ..allocation.clone() };
                self.take(&allocation);
                allocations.push(allocation);
            }
            if allocations.len() == placed.allocations.len() && !self.shares.is_overdrawn(account) {
                let qos_class = QosClass::Guaranteed;
                self.settle(job, PlacedJob { allocations, qos_class, ..placed.clone() });
                return true;
            }
            crate::pass::fit::undo(self, &allocations);
        }
        false
    }

    /// Keeps what is guaranteed and finds no cells any more though its account's sums suffice: nodes
    /// have failed, or the cells were cut anew. It is beside all cells until it ends.
    pub(crate) fn settle_beside_cells(&mut self, job: JobId, placed: &PlacedJob) -> bool {
        let Some(account) = self.accounts(placed.cluster).first().copied() else { return false };
        let right = Right::Of(account);
        let allocations: Vec<_> = placed
            .allocations
            .iter()
            .map(|allocation| TaskAllocation { right, block: None, ..allocation.clone() })
            .collect();
        for allocation in &allocations {
            self.take(allocation);
        }
        if self.shares.is_overdrawn(account) {
            crate::pass::fit::undo(self, &allocations);
            return false;
        }
        self.settle(
            job,
            PlacedJob { allocations, qos_class: QosClass::Guaranteed, ..placed.clone() },
        );
        true
    }

    /// Notes which GPUs of a node an account's work has in all, so that those that were in one cell
    /// come into one again.
    pub(crate) fn lodge(&mut self, running: &[&Running]) {
        self.together.clear();
        for running in running.iter().filter(|r| r.qos_class == QosClass::Guaranteed) {
            let placed = self.placed(running);
            for account in self.accounts(placed.cluster).to_vec() {
                for allocation in &placed.allocations {
                    if let Some(node) = allocation.node {
                        let owner = self.cells.owner(account);
                        *self.together.entry((node, owner)).or_default() |= allocation.gpus;
                    }
                }
            }
        }
    }

    /// A block for an allocation, bound or to be bound; the inner `None`: it needs none.
    #[expect(clippy::option_option, reason = "no cell and no need of one are different answers")]
    fn cell_for(
        &mut self,
        allocation: &TaskAllocation,
        account: AccountIndex,
    ) -> Option<Option<Piece>> {
        let account = self.cells.owner(account);
        let Some(node) = allocation.node else { return Some(None) };
        let kind = self.fixed[node].kind;
        let pool = &self.cells.pools[self.kinds[kind].pool];
        if pool.is_free_to(account) {
            return Some(None);
        }
        let measure = self.measure(kind);
        let has_room = |block: &&crate::cluster::node::Block| {
            let room = measure.part(block.bits).plus(-1, block.used);
            block.account == account
                && allocation.gpus & !block.bits == 0
                && room.covers(allocation.amounts)
        };
        if let Some(block) = self.states[node].blocks.iter().find(has_room) {
            let (bits, level) = (block.bits, block.level);
            return Some(Some(Piece { bits, level }));
        }
        let unbound = self.states[node].unbound(self.kinds[kind].healthy);
        let levels = (0..pool.levels.len()).rev();
        let together = self.together.get(&(node, account)).copied().unwrap_or(0) | allocation.gpus;
        let mut pieces: Vec<_> = levels
            .flat_map(|level| pool.pieces(level).map(move |piece| (piece, level)))
            .filter(|(piece, _)| allocation.gpus & !piece == 0 && piece & !unbound == 0)
            .filter(|(piece, _)| measure.part(*piece).covers(allocation.amounts))
            .collect();
        pieces.sort_by_key(|(piece, _)| together & !piece != 0);
        let mut pieces = pieces.into_iter().map(|(bits, level)| Piece { bits, level });
        pieces.find(|piece| self.may_bind(node, account, *piece)).map(Some)
    }
}
