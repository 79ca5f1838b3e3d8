//! Numbers for names.

use std::collections::{BTreeSet, HashMap};

use protocol::ids::{GpuType, NodeName, VirtualClusterName};
use protocol::spec::TopologyLevel;

use crate::model::{Node, VirtualCluster};
use crate::numbers::gpus::{self, Bits};
use crate::numbers::indices::{AccountIndex, ClusterIndex, NodeIndex};

/// Numbers for names. GPU types beyond the first 128 are nobody's.
#[derive(Debug, Default, Clone)]
pub(crate) struct Names {
    pub(crate) nodes: HashMap<NodeName, NodeIndex>,
    pub(crate) clusters: HashMap<VirtualClusterName, ClusterIndex>,
    /// Nodes on which a virtual cluster's share lies, and whose.
    pub(crate) pins: HashMap<NodeName, AccountIndex>,
    /// In alphabetical order.
    pub(crate) types: Vec<GpuType>,
}

impl Names {
    pub(crate) fn new(nodes: &[Node], clusters: &[VirtualCluster]) -> Self {
        let types: BTreeSet<_> = nodes
            .iter()
            .flat_map(|node| node.capacity.gpus.iter().map(|gpu| &gpu.gpu_type))
            .collect();
        let qos_class = (0_usize..).map(NodeIndex::from).zip(nodes);
        let named = (0_usize..).map(ClusterIndex::from).zip(clusters);
        Self {
            nodes: qos_class.map(|(at, node)| (node.name.clone(), at)).collect(),
            clusters: named.map(|(at, cluster)| (cluster.name.clone(), at)).collect(),
            pins: pins(nodes, clusters),
            types: types.into_iter().take(gpus::MOST).cloned().collect(),
        }
    }

    pub(crate) fn type_number(&self, gpu_type: &GpuType) -> Option<u8> {
        self.types.binary_search(gpu_type).ok().and_then(|number| u8::try_from(number).ok())
    }

    /// The types that exist among those wanted; all when none is named.
    pub(crate) fn type_bits(&self, wanted: &[GpuType]) -> Bits {
        if wanted.is_empty() {
            return gpus::lowest(Bits::MAX, u32::try_from(self.types.len()).unwrap_or(u32::MAX));
        }
        wanted.iter().filter_map(|t| self.type_number(t)).fold(0, |bits, number| bits | 1 << number)
    }
}

/// Whose share lies on which node: who names it, else who names the narrowest place that it is in; of
/// several the first.
fn pins(nodes: &[Node], clusters: &[VirtualCluster]) -> HashMap<NodeName, AccountIndex> {
    let mut names: HashMap<&NodeName, usize> = HashMap::new();
    let mut places: HashMap<(TopologyLevel, &str), usize> = HashMap::new();
    for (at, cluster) in clusters.iter().enumerate().rev() {
        names.extend(cluster.nodes.iter().map(|node| (node, at)));
        let within = cluster.within.iter();
        let within = within.flat_map(|(level, of)| of.iter().map(|place| (*level, place.as_str())));
        places.extend(within.map(|place| (place, at)));
    }
    let whose = |node: &Node| {
        let in_place = |level: TopologyLevel| {
            let place = node.labels.get(level.name())?;
            places.get(&(level, place.as_str())).copied()
        };
        let named = names.get(&node.name).copied();
        named.or_else(|| TopologyLevel::ALL.into_iter().rev().find_map(in_place))
    };
    let pinned = nodes.iter().filter_map(|node| Some((node.name.clone(), whose(node)?)));
    pinned.map(|(node, at)| (node, AccountIndex::from(at))).collect()
}
