//! Nodes that change where they stand.

use crate::cluster::node::Fixed;
#[cfg(test)]
use crate::cluster::spare::Spare;
use crate::cluster::{Cluster, count_open};
use crate::model::Node;
use crate::numbers::gpus::Bits;
use crate::numbers::indices::{KindIndex, NodeIndex, PoolIndex};
use crate::numbers::kind::Kind;

impl Cluster {
    /// The node of that name.
    pub(crate) fn fixed_of(&self, node: &Node) -> Option<&Fixed> {
        self.names.nodes.get(&node.name).map(|at| &self.fixed[*at])
    }

    /// A node takes tasks or does not, and these of its GPUs are healthy; it is the same in all else.
    /// Nothing is kept there.
    pub(crate) fn alter(&mut self, node: &Node) {
        let Some(at) = self.names.nodes.get(&node.name).copied() else { return };
        self.count_open_on(at, -1);
        let before = self.fixed[at].kind;
        let kind = self.number_of(Kind::new(node, &self.names), self.kinds[before].pool);
        self.alike[before] -= 1;
        self.alike[kind] += 1;
        self.fixed[at] = Fixed::new(node, kind, self.fixed[at].ports);
        self.states[at].kind = kind;
        self.states[at].free_gpus = self.kinds[kind].healthy & !self.taken_gpus(at);
        self.count_open_on(at, 1);
        self.touch(at);
    }

    fn count_open_on(&mut self, node: NodeIndex, sign: i64) {
        let kind = &self.kinds[self.fixed[node].kind];
        count_open(&mut self.cells.pools[kind.pool], kind, &self.states[node], sign);
    }

    /// The number of a kind of nodes of a pool, a new one if there was none like it.
    fn number_of(&mut self, kind: Kind, pool: PoolIndex) -> KindIndex {
        let Self { kinds, alike, numbered, .. } = self;
        *numbered.entry(kind).or_insert_with_key(|kind| {
            alike.push(0);
            kinds.push(Kind { pool, ..kind.clone() })
        })
    }

    /// The GPUs of a node of which somebody who runs there has any part.
    fn taken_gpus(&self, node: NodeIndex) -> Bits {
        let guests = self.guests[node].iter().filter_map(|job| self.placed_jobs.get(job));
        let allocations = guests.flat_map(|placed| &placed.allocations);
        let there = allocations.filter(|allocation| allocation.node == Some(node));
        there.fold(0, |bits, allocation| bits | allocation.gpus)
    }
}

#[cfg(test)]
impl Cluster {
    /// What is counted is what is there.
    pub(crate) fn sanity_check(&self) {
        let mut alike = self.alike.clone();
        alike.iter_mut().for_each(|count| *count = 0);
        self.fixed.iter().for_each(|node| alike[node.kind] += 1);
        assert_eq!(self.alike, alike, "nodes of each kind");
        for (fixed, state) in self.fixed.iter().zip(&self.states) {
            assert_eq!(fixed.kind, state.kind, "{} is of one kind", fixed.node.name);
            let free = state.free_gpus & !self.kinds[state.kind].healthy;
            assert_eq!(free, 0, "broken GPUs of {} are not free", fixed.node.name);
        }
        let spares = self.states.iter().map(|state| Spare::of(state, &self.kinds[state.kind]));
        assert!(self.index.spares.counts(spares), "what is free on how many nodes");
        for (number, pool) in self.cells.pools.numbered() {
            let open = self.states.iter().filter_map(|state| {
                let kind = &self.kinds[state.kind];
                (kind.ready && kind.pool == number).then(|| state.unbound(kind.healthy))
            });
            assert!(pool.counts(open), "{number:?} counts the pieces that nobody's cell is in");
        }
    }
}
