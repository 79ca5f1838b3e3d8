use std::collections::BTreeMap;

use api::cluster::{Usage, VirtualClusterView};
use axum::Json;
use axum::extract::{Path, State};
use protocol::amount::Amount;
use protocol::ids::VirtualClusterName;
use serde::Serialize;

use crate::auth::Signed;
use crate::failure::Failure;
use crate::rest::v2::cluster::{Percent, cluster_total, gpus};
use crate::rest::v2::not_a_virtual_cluster;
use crate::state::AppState;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VirtualClusterWire {
    capacity: f64,
    max_capacity: f64,
    used_capacity: f64,
    num_active_jobs: u64,
    num_jobs: u64,
    num_pending_jobs: u64,
    resources_used: ResourcesWire,
    resources_total: ResourcesWire,
    status: &'static str,
    dedicated: bool,
    node_list: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ResourcesWire {
    memory: u64,
    #[serde(rename = "vCores")]
    v_cores: u64,
    #[serde(rename = "GPUs")]
    gpus: Amount,
}

impl From<&Usage> for ResourcesWire {
    fn from(usage: &Usage) -> Self {
        Self { memory: usage.memory_mb, v_cores: usage.cpus, gpus: gpus(usage) }
    }
}

fn wire(view: &VirtualClusterView, cluster: &Usage) -> VirtualClusterWire {
    let Percent { capacity, used } = Percent::of(view, cluster);
    VirtualClusterWire {
        capacity,
        max_capacity: capacity,
        used_capacity: used,
        num_active_jobs: view.running_jobs,
        num_jobs: view.running_jobs + view.waiting_jobs,
        num_pending_jobs: view.waiting_jobs,
        resources_used: (&view.used).into(),
        resources_total: (&view.total).into(),
        status: "RUNNING",
        dedicated: false,
        node_list: Vec::new(),
    }
}

pub(crate) async fn list(
    State(state): State<AppState>,
    Signed(actor): Signed,
) -> Result<Json<BTreeMap<String, VirtualClusterWire>>, Failure> {
    let views = state.backend.virtual_clusters.list(&actor).await?;
    let total = cluster_total(&state, &actor).await?;
    let named = views.iter().map(|view| (view.settings.name.to_string(), wire(view, &total)));
    Ok(Json(named.collect()))
}

pub(crate) async fn get(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
) -> Result<Json<VirtualClusterWire>, Failure> {
    let known: VirtualClusterName = name.parse().map_err(|_| not_a_virtual_cluster(&name))?;
    let view = state.backend.virtual_clusters.get(&actor, &known).await?;
    let total = cluster_total(&state, &actor).await?;
    Ok(Json(wire(&view, &total)))
}
