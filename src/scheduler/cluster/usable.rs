//! The nodes that a job may use, where it asks for some by name or label, or for those of one place.

use protocol::spec::TopologyLevel;

use crate::cluster::Cluster;
use crate::cluster::spare::Spare;
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

    /// What is free on ready nodes that a class may use, and how many of them have it.
    pub(crate) fn spares_for(&self, class: &Class) -> impl Iterator<Item = (&Spare, i64)> {
        let spares = self.index.spares.iter();
        spares.filter(|(spare, _)| self.takes_tasks(spare, class))
    }

    /// The ready ones of the nodes that a class may use, and what is free on each.
    pub(crate) fn nodes_for<'c>(
        &'c self,
        class: &'c Class,
    ) -> impl Iterator<Item = (&'c Spare, NodeIndex)> {
        let named = class.only.iter().flatten().copied();
        let all = self.states.numbers().filter(|_| class.only.is_none());
        let nodes = named.chain(all).map(|node| (self.spare_of(node), node));
        nodes.filter(|(spare, _)| self.takes_tasks(spare, class))
    }

    fn takes_tasks(&self, spare: &Spare, class: &Class) -> bool {
        let kind = &self.kinds[spare.kind];
        kind.ready && class.may_use(kind)
    }
}
