//! The nodes that a job may use, where it asks for some by name or label, or for those of one place.

use std::collections::BTreeSet;

use protocol::spec::TopologyLevel;

use crate::cluster::Cluster;
use crate::cluster::node::NodeState;
use crate::numbers::gpus::Bits;
use crate::numbers::indices::NodeIndex;
use crate::numbers::kind::Kind;
use crate::numbers::request::Class;

impl Class {
    /// Whether its tasks may go to nodes of this kind, where it asks for them by label.
    pub(crate) fn may_use(&self, kind: &Kind) -> bool {
        self.of.nodes.labels.iter().all(|(key, value)| kind.labels.get(key) == Some(value))
    }

    /// Whether its tasks may go to this node, where it asks for nodes by name.
    pub(crate) fn allows(&self, node: NodeIndex) -> bool {
        self.only.as_ref().is_none_or(|only| only.binary_search(&node).is_ok())
    }
}

impl Cluster {
    /// The kinds of nodes that a class may use, and how many there are of each.
    pub(crate) fn alike<'c>(&'c self, class: &'c Class) -> impl Iterator<Item = (&'c Kind, i64)> {
        let kinds = self.kinds.numbered().filter(|(_, kind)| class.may_use(kind));
        let counted = kinds.map(|(number, kind)| {
            let of_kind = |node: &&NodeIndex| self.fixed[**node].kind == number;
            let named = class.only.as_ref().map(|only| only.iter().filter(of_kind).count());
            (
                kind,
                named.map_or(self.alike[number], |count| i64::try_from(count).unwrap_or(i64::MAX)),
            )
        });
        counted.filter(|(_, count)| *count > 0)
    }

    /// The nodes of each place of a level; a node that names none is a place of its own.
    pub(crate) fn places(&self, level: TopologyLevel) -> Vec<Vec<NodeIndex>> {
        let known = self.topology.level(level);
        let named = known.into_iter().flat_map(|known| known.places.iter().cloned());
        let is_alone = |node: &NodeIndex| known.is_none_or(|known| known.of[*node].is_none());
        let alone = self.states.numbers().filter(is_alone).map(|node| vec![node]);
        named.chain(alone).collect()
    }

    /// The types of the GPUs on nodes that a class may use.
    pub(crate) fn types_for(&self, class: &Class) -> Bits {
        self.alike(class).fold(0, |mask, (kind, _)| mask | kind.type_mask())
    }

    /// The states of ready nodes that a class may use: each with one node and how many there are.
    pub(crate) fn states_for(&self, class: &Class) -> Vec<(&NodeState, NodeIndex, i64)> {
        let mut states: Vec<_> = match &class.only {
            Some(only) => only.iter().map(|node| (&self.states[*node], *node, 1)).collect(),
            None => {
                let of = |(state, nodes): (_, &BTreeSet<NodeIndex>)| {
                    let count = i64::try_from(nodes.len()).unwrap_or(i64::MAX);
                    Some((state, *nodes.first()?, count))
                };
                self.index.live().filter_map(of).collect()
            }
        };
        let usable = |kind: &Kind| kind.ready && class.may_use(kind);
        states.retain(|(state, ..)| usable(&self.kinds[state.kind]));
        states
    }
}
