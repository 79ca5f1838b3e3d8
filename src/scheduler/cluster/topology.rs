//! Where nodes are: the site, row, rack and switch that their labels name.

use std::collections::BTreeMap;

use protocol::cluster::LEVELS;

use crate::cluster::claim::Claim;
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
    /// By place: its nodes, ascending.
    pub(crate) places: Vec<Vec<NodeIndex>>,
    /// By node: its place, if it names one.
    pub(crate) of: By<NodeIndex, Option<usize>>,
}

impl Topology {
    pub(crate) fn new(nodes: &[Node]) -> Self {
        let levels = LEVELS.iter().rev().map(|label| Level::new(nodes, label));
        Self { levels: levels.filter(|level| !level.places.is_empty()).collect() }
    }
}

impl Level {
    fn new(nodes: &[Node], label: &str) -> Self {
        let mut places: BTreeMap<&str, Vec<NodeIndex>> = BTreeMap::new();
        for (at, node) in (0_usize..).map(NodeIndex::from).zip(nodes) {
            if let Some(name) = node.labels.get(label) {
                places.entry(name).or_default().push(at);
            }
        }
        let mut of: By<NodeIndex, Option<usize>> = By::from(vec![None; nodes.len()]);
        for (place, nodes) in places.values().enumerate() {
            nodes.iter().for_each(|node| of[*node] = Some(place));
        }
        Self { places: places.into_values().collect(), of }
    }

    /// Whether all tasks are in one place.
    pub(crate) fn is_one(&self, claims: &[Claim]) -> bool {
        let place = |claim: &Claim| claim.node.and_then(|node| self.of[node]);
        let first = claims.first().and_then(place);
        first.is_some() && claims.iter().all(|claim| place(claim) == first)
    }
}
