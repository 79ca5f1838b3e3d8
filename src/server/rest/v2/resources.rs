//! What there is to be asked for, as OpenPAI's form looked it up.

use std::collections::BTreeMap;

use api::Actor;
use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use protocol::amount::Amount;
use protocol::cluster::NodeCondition;
use protocol::ids::{GpuType, NodeName, VirtualClusterName};
use protocol::resources::Capacity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answers::not_a_virtual_cluster;
use super::cluster::gpus;
use crate::auth::Signed;
use crate::failure::Failure;
use crate::rest::body::Params;
use crate::state::AppState;

/// One GPU, and what of its node goes with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Sku {
    cpu: u32,
    /// In MiB.
    memory: u64,
    gpu: u32,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    vc: Option<String>,
}

/// `GET /cluster/sku-types[?vc=]`: the types of GPUs, of all nodes or of those that jobs in a virtual
/// cluster could have.
pub(super) async fn sku_types(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Params(asked): Params<Asked>,
) -> Result<Json<BTreeMap<GpuType, Sku>>, Failure> {
    of_cluster(&state, &actor, asked.vc).await
}

/// `GET /virtual-clusters/:name/sku-types`, as earlier clients ask.
pub(super) async fn sku_types_of(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
) -> Result<Json<BTreeMap<GpuType, Sku>>, Failure> {
    of_cluster(&state, &actor, Some(name)).await
}

async fn of_cluster(
    state: &AppState,
    actor: &Actor,
    cluster: Option<String>,
) -> Result<Json<BTreeMap<GpuType, Sku>>, Failure> {
    let nodes = state.backend.nodes.list(actor).await?;
    let answering = nodes.iter().filter(|node| node.condition != NodeCondition::Unreachable);
    let mut types = skus(answering.map(|node| &node.capacity));
    if let Some(name) = cluster {
        let known: VirtualClusterName = name.parse().map_err(|_| not_a_virtual_cluster(&name))?;
        let cluster = state.backend.virtual_clusters.get(actor, &known).await?;
        let some = |amount: &Amount| *amount > Amount::default();
        types.retain(|gpu_type, _| cluster.total.gpus.get(gpu_type).is_some_and(some));
    }
    Ok(Json(types))
}

/// The least that goes with a GPU of each type on any node.
fn skus<'a>(capacities: impl Iterator<Item = &'a Capacity>) -> BTreeMap<GpuType, Sku> {
    let mut types: BTreeMap<GpuType, Sku> = BTreeMap::new();
    for capacity in capacities {
        let Some(count) = u32::try_from(capacity.gpus.len()).ok().filter(|count| *count > 0) else {
            continue;
        };
        let here = Sku {
            cpu: capacity.cpus / count,
            memory: capacity.memory_mb / u64::from(count),
            gpu: 1,
        };
        for gpu in &capacity.gpus {
            let least = types.entry(gpu.gpu_type.clone()).or_insert(here);
            least.cpu = least.cpu.min(here.cpu);
            least.memory = least.memory.min(here.memory);
        }
    }
    types
}

/// What a node has of GPUs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct NodeGpus {
    gpu_used: Amount,
    gpu_available: Amount,
    gpu_total: u64,
}

/// `GET /virtual-clusters?nodes`.
pub(super) async fn gpus_of_nodes(state: &AppState, actor: &Actor) -> Result<Response, Failure> {
    let nodes = state.backend.nodes.list(actor).await?;
    let named = nodes.into_iter().map(|node| {
        let (gpu_used, gpu_total) = (gpus(&node.used), node.capacity.gpus.len() as u64);
        let ready = node.condition == NodeCondition::Ready;
        let free = if ready { Amount::whole(gpu_total) } else { Amount::default() };
        (node.name, NodeGpus { gpu_used, gpu_available: free.without(gpu_used), gpu_total })
    });
    Ok(Json(named.collect::<BTreeMap<NodeName, NodeGpus>>()).into_response())
}

#[cfg(test)]
mod tests {
    use protocol::resources::Gpu;

    use super::*;

    fn node(cpus: u32, memory_mb: u64, gpu_type: &str, count: u32) -> Capacity {
        let gpu =
            |index| Gpu { index, gpu_type: gpu_type.parse().unwrap(), uuid: None, healthy: true };
        let gpus = (0..count).map(gpu).collect();
        Capacity { cpus, memory_mb, gpus, ..Capacity::default() }
    }

    #[test]
    fn a_type_is_what_any_of_its_nodes_has_for_one_gpu() {
        let nodes = [
            node(64, 512_000, "A100", 8),
            node(96, 256_000, "A100", 8),
            node(16, 64_000, "TITANX", 1),
            node(8, 32_000, "A100", 0),
        ];
        let types = serde_json::to_value(skus(nodes.iter())).unwrap();
        let wanted = serde_json::json!({
            "A100": { "cpu": 8, "memory": 32_000, "gpu": 1 },
            "TITANX": { "cpu": 16, "memory": 64_000, "gpu": 1 },
        });
        assert_eq!(types, wanted);
        assert!(skus(std::iter::empty()).is_empty());
    }
}
