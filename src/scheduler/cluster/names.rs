//! Numbers for names.

use std::collections::{BTreeSet, HashMap};

use protocol::ids::{GpuType, NodeName, VirtualClusterName};

use crate::cluster::gpus::{self, Bits};
use crate::model::{Node, VirtualCluster};

/// Numbers for names. GPU types beyond the first 128 are nobody's.
#[derive(Debug, Default, Clone)]
pub(crate) struct Names {
    pub(crate) nodes: HashMap<NodeName, usize>,
    pub(crate) clusters: HashMap<VirtualClusterName, usize>,
    /// Nodes on which a virtual cluster's share lies, and whose: of several the first's.
    pub(crate) pins: HashMap<NodeName, usize>,
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
        let named = clusters.iter().enumerate().map(|(at, cluster)| (cluster.name.clone(), at));
        Self {
            nodes: nodes.iter().enumerate().map(|(at, node)| (node.name.clone(), at)).collect(),
            clusters: named.collect(),
            pins: pins.map(|(node, at)| (node.clone(), at)).collect(),
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
