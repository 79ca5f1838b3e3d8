//! What nodes have: as set, and what is not set as their engines say.

use std::iter::repeat_n;

use database::nodes::NodeRecord;
use protocol::architecture::Architecture;
use protocol::cluster::NodeSettings;
use protocol::ids::GpuType;
use protocol::resources::{Capacity, Gpu};

/// A GPU of a node, not copied: those of thousands of nodes are looked at one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SaidGpu<'n> {
    pub(crate) index: u32,
    pub(crate) gpu_type: &'n GpuType,
    pub(crate) uuid: Option<&'n str>,
    pub(crate) healthy: bool,
}

impl From<SaidGpu<'_>> for Gpu {
    fn from(gpu: SaidGpu<'_>) -> Self {
        let SaidGpu { index, gpu_type, uuid, healthy } = gpu;
        Self { index, gpu_type: gpu_type.clone(), uuid: uuid.map(str::to_owned), healthy }
    }
}

/// What a node has: GPUs that have failed are of no use to anybody.
pub(crate) fn capacity(node: &NodeRecord) -> Capacity {
    with_gpus(node, gpus(node))
}

/// The same as set, and what is not set as its engine said when it last answered.
pub(crate) fn said_capacity(node: &NodeRecord) -> Capacity {
    with_gpus(node, said_gpus(node))
}

/// Its GPUs, of which those that have failed are not healthy.
pub(crate) fn gpus(node: &NodeRecord) -> impl Iterator<Item = SaidGpu<'_>> {
    said_gpus(node).map(move |gpu| {
        let healthy = gpu.healthy && !node.health.has_failed_gpu(gpu.index);
        SaidGpu { healthy, ..gpu }
    })
}

/// Its CPU cores, and its memory in MiB.
pub(crate) fn cpus_and_memory(node: &NodeRecord) -> (u32, u64) {
    let NodeSettings { cpus, memory_mb, .. } = &node.settings;
    let seen = seen(node);
    let cpus = cpus.or(seen.map(|seen| seen.cpus));
    let memory_mb = memory_mb.or(seen.map(|seen| seen.memory_mb));
    (cpus.unwrap_or_default(), memory_mb.unwrap_or_default())
}

/// Which GPUs it has.
pub(crate) fn gpu_indices(node: &NodeRecord) -> Vec<u32> {
    said_gpus(node).map(|gpu| gpu.index).collect()
}

/// Those that its engine told of when it last answered.
pub(crate) fn seen_gpus(node: &NodeRecord) -> &[Gpu] {
    seen(node).map(|capacity| capacity.gpus.as_slice()).unwrap_or_default()
}

/// What its processors are, once its engine has said it.
pub(crate) fn architecture(node: &NodeRecord) -> Option<&Architecture> {
    seen(node)?.architecture.as_ref()
}

/// What its engine said when it last answered.
fn seen(node: &NodeRecord) -> Option<&Capacity> {
    node.observed.as_ref()?.capacity.as_ref()
}

fn with_gpus<'n>(node: &NodeRecord, gpus: impl Iterator<Item = SaidGpu<'n>>) -> Capacity {
    let (cpus, memory_mb) = cpus_and_memory(node);
    let disk_gb = node.settings.disk_gb.or(seen(node).map(|seen| seen.disk_gb));
    Capacity {
        cpus,
        memory_mb,
        disk_gb: disk_gb.unwrap_or_default(),
        gpus: gpus.map(Gpu::from).collect(),
        architecture: architecture(node).cloned(),
    }
}

/// Its GPUs as set; UUID and health are the engine's, where it knows one of that index. Where none are set, those
/// that its engine told of.
fn said_gpus(node: &NodeRecord) -> impl Iterator<Item = SaidGpu<'_>> {
    let seen = seen_gpus(node);
    let set = node.settings.gpus.as_deref();
    let types = set.unwrap_or_default().iter();
    let types = types.flat_map(|gpus| repeat_n(&gpus.gpu_type, gpus.count as usize));
    let as_set = types.zip(0..).map(move |(gpu_type, index)| {
        let known = seen.iter().find(|gpu| gpu.index == index);
        SaidGpu {
            index,
            gpu_type,
            uuid: known.and_then(|gpu| gpu.uuid.as_deref()),
            healthy: known.is_none_or(|gpu| gpu.healthy),
        }
    });
    let as_seen = seen.iter().filter(move |_| set.is_none()).map(|gpu| SaidGpu {
        index: gpu.index,
        gpu_type: &gpu.gpu_type,
        uuid: gpu.uuid.as_deref(),
        healthy: gpu.healthy,
    });
    as_set.chain(as_seen)
}
