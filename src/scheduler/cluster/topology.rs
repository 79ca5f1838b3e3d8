//! Where nodes are: the site, row, rack and switch that their labels name.

use std::collections::BTreeMap;

use protocol::spec::TopologyLevel;

use crate::cluster::allocation::TaskAllocation;
use crate::model::Node;
use crate::numbers::indices::{By, NodeIndex};

/// The places that nodes are in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Topology {
    /// The narrowest first; those that no node names are left out.
    pub(crate) levels: Vec<Level>,
}

/// Places of the same size, such as racks.
#[derive(Debug, Clone)]
pub(crate) struct Level {
    pub(crate) level: TopologyLevel,
    /// By place: its nodes, ascending.
    pub(crate) places: Vec<Vec<NodeIndex>>,
    /// By node: its place, if it names one.
    pub(crate) of: By<NodeIndex, Option<usize>>,
}

impl Topology {
    pub(crate) fn new(nodes: &[Node]) -> Self {
        let levels = TopologyLevel::ALL.into_iter().rev().map(|level| Level::new(nodes, level));
        Self { levels: levels.filter(|level| !level.places.is_empty()).collect() }
    }

    pub(crate) fn level(&self, level: TopologyLevel) -> Option<&Level> {
        self.levels.iter().find(|known| known.level == level)
    }

    /// Positions of the levels, that which is preferred first, then the narrowest.
    pub(crate) fn order(&self, preferred: Option<TopologyLevel>) -> Vec<usize> {
        let mut order: Vec<_> = (0..self.levels.len()).collect();
        order.sort_by_key(|at| Some(self.levels[*at].level) != preferred);
        order
    }

    /// Whether all tasks are in one place of a level; a node that names none is one of its own.
    pub(crate) fn is_one(&self, level: TopologyLevel, allocations: &[TaskAllocation]) -> bool {
        let first = allocations.first().and_then(|allocation| allocation.node);
        allocations.iter().all(|allocation| allocation.node == first)
            || self.level(level).is_some_and(|level| level.is_one(allocations))
    }
}

impl Level {
    fn new(nodes: &[Node], level: TopologyLevel) -> Self {
        let mut places: BTreeMap<&str, Vec<NodeIndex>> = BTreeMap::new();
        for (at, node) in (0_usize..).map(NodeIndex::from).zip(nodes) {
            if let Some(name) = node.labels.get(level.name()) {
                places.entry(name).or_default().push(at);
            }
        }
        let mut of: By<NodeIndex, Option<usize>> = By::from(vec![None; nodes.len()]);
        for (place, nodes) in places.values().enumerate() {
            nodes.iter().for_each(|node| of[*node] = Some(place));
        }
        Self { level, places: places.into_values().collect(), of }
    }

    /// Whether all tasks are in one place.
    pub(crate) fn is_one(&self, allocations: &[TaskAllocation]) -> bool {
        let place = |allocation: &TaskAllocation| allocation.node.and_then(|node| self.of[node]);
        let first = allocations.first().and_then(place);
        first.is_some() && allocations.iter().all(|allocation| place(allocation) == first)
    }
}
