//! Numbers for names.

use std::collections::{BTreeSet, HashMap};

use protocol::ids::{GpuType, NodeName, VirtualClusterName};

use crate::model::{Node, VirtualCluster};
use crate::numbers::gpus::{self, Bits};
use crate::numbers::indices::{AccountIndex, ClusterIndex, NodeIndex};

/// Numbers for names. GPU types beyond the first 128 are nobody's.
#[derive(Debug, Default, Clone)]
pub(crate) struct Names {
    pub(crate) nodes: HashMap<NodeName, NodeIndex>,
    pub(crate) clusters: HashMap<VirtualClusterName, ClusterIndex>,
    /// Nodes on which a virtual cluster's share lies, and whose: of several the first's.
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
        let pins = clusters.iter().enumerate().rev();
        let pins = pins.flat_map(|(at, cluster)| cluster.nodes.iter().map(move |node| (node, at)));
        let standing = (0_usize..).map(NodeIndex::from).zip(nodes);
        let named = (0_usize..).map(ClusterIndex::from).zip(clusters);
        Self {
            nodes: standing.map(|(at, node)| (node.name.clone(), at)).collect(),
            clusters: named.map(|(at, cluster)| (cluster.name.clone(), at)).collect(),
            pins: pins.map(|(node, at)| (node.clone(), AccountIndex::from(at))).collect(),
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
