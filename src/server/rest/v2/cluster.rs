//! Virtual clusters, and what all nodes have.

use std::collections::BTreeMap;

use api::Actor;
use api::cluster::{FreeGpus, Usage, VirtualClusterView};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use protocol::amount::Amount;
use protocol::cluster::{GroupWeights, IdleRule, NodeCondition, Places, Preempts, Shape, Share};
use protocol::ids::{GpuType, NodeName, VirtualClusterName};
use protocol::limits::Limits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answers::not_a_virtual_cluster;
use super::resources;
use crate::auth::Signed;
use crate::failure::Failure;
use crate::rest::body::{Fields, Params};
use crate::rest::message::{Message, message};
use crate::state::AppState;

/// A virtual cluster as version 2 shows it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VirtualClusterWire {
    capacity: f64,
    used_capacity: f64,
    max_capacity: f64,
    dedicated: bool,
    pub(crate) resources_used: ResourcesWire,
    resources_guaranteed: ResourcesWire,
    pub(crate) resources_total: ResourcesWire,
    /// Berth's own: jobs that run and that wait, and whether the caller may use it.
    pub(crate) running_jobs: u64,
    pub(crate) waiting_jobs: u64,
    pub(crate) usable: bool,
    /// Berth's own: it takes no new jobs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    stopped: bool,
    /// Berth's own: what it is set to, and what it uses of what is lent.
    share: Share,
    parent: Option<VirtualClusterName>,
    shapes: Vec<Shape>,
    nodes: Vec<NodeName>,
    /// Places, by level, on whose nodes its share lies as well.
    #[serde(default, skip_serializing_if = "Places::is_empty")]
    within: Places,
    borrows: bool,
    /// Of which classes its jobs take the places of those of lower ones: `true` (of all), `false` (of none)
    /// or a list.
    preempts: Preempts,
    /// Whether its jobs that have to start soon to meet their deadlines go before others of their priority.
    deadlines: bool,
    /// In minutes.
    lease: Option<u32>,
    idle: Option<IdleRule>,
    /// What each user and each group may have of it at once.
    #[serde(default, skip_serializing_if = "Limits::is_empty")]
    limits: Limits,
    /// Groups between which it is shared fairly, each with its weight.
    #[serde(rename = "group_shares", default, skip_serializing_if = "GroupWeights::is_empty")]
    group_shares: GroupWeights,
    resources_borrowed: ResourcesWire,
    /// Berth's own: what a job of the caller could start on now, by GPU type.
    free: BTreeMap<GpuType, FreeGpus>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ResourcesWire {
    pub(crate) cpu: u64,
    /// In MiB.
    pub(crate) memory: u64,
    pub(crate) gpu: Amount,
    #[serde(rename = "vCores")]
    v_cores: u64,
    #[serde(rename = "GPUs")]
    gpus: Amount,
}

impl From<&Usage> for ResourcesWire {
    fn from(usage: &Usage) -> Self {
        let (cpu, gpu) = (usage.cpus, gpus(usage));
        Self { cpu, memory: usage.memory_mb, gpu, v_cores: cpu, gpus: gpu }
    }
}

/// GPUs of all types.
pub(crate) fn gpus(usage: &Usage) -> Amount {
    usage.gpus.values().copied().sum()
}

/// Parts of the cluster in percent: of its GPUs, or of its cores where it has no GPU.
pub(crate) struct Percent {
    pub(crate) capacity: f64,
    pub(crate) used: f64,
}

impl Percent {
    pub(crate) fn of(view: &VirtualClusterView, cluster: &Usage) -> Self {
        let has_gpus = gpus(cluster) > Amount::default();
        let amount = |usage: &Usage| if has_gpus { gpus(usage) } else { Amount::whole(usage.cpus) };
        let whole = amount(cluster).to_f64();
        let percent = |part: Amount| match whole {
            whole if whole > 0.0 => (part.to_f64() * 10_000.0 / whole).round() / 100.0,
            _ => 0.0,
        };
        Self { capacity: percent(amount(&view.total)), used: percent(amount(&view.used)) }
    }
}

/// What the nodes have that answer.
pub(crate) async fn cluster_total(state: &AppState, actor: &Actor) -> Result<Usage, Failure> {
    let nodes = state.backend.nodes.list(actor).await?;
    let mut total = Usage::default();
    for node in nodes.iter().filter(|node| node.condition != NodeCondition::Unreachable) {
        total.cpus += u64::from(node.capacity.cpus);
        total.memory_mb += node.capacity.memory_mb;
        total.disk_gb += node.capacity.disk_gb;
        for gpu in &node.capacity.gpus {
            *total.gpus.entry(gpu.gpu_type.clone()).or_default() += Amount::whole(1);
        }
    }
    Ok(total)
}

fn wire(view: &VirtualClusterView, cluster: &Usage) -> VirtualClusterWire {
    let Percent { capacity, used } = Percent::of(view, cluster);
    VirtualClusterWire {
        capacity,
        used_capacity: used,
        max_capacity: capacity,
        dedicated: false,
        resources_used: (&view.used).into(),
        resources_guaranteed: (&view.total).into(),
        resources_total: (&view.total).into(),
        running_jobs: view.running_jobs,
        waiting_jobs: view.waiting_jobs,
        usable: view.usable,
        stopped: view.stopped,
        share: view.settings.share.clone(),
        parent: view.settings.parent.clone(),
        shapes: view.settings.shapes.clone(),
        nodes: view.settings.nodes.clone(),
        within: view.settings.within.clone(),
        borrows: view.settings.borrows,
        preempts: view.settings.preempts,
        deadlines: view.settings.deadlines,
        lease: view.settings.lease,
        idle: view.settings.idle,
        limits: view.settings.limits.clone(),
        group_shares: view.settings.group_shares.clone(),
        resources_borrowed: (&view.borrowed).into(),
        free: view.free.clone(),
    }
}

/// `?nodes`: what the nodes have instead.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Listed {
    nodes: Option<String>,
}

pub(crate) async fn virtual_clusters(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Params(listed): Params<Listed>,
) -> Result<Response, Failure> {
    if listed.nodes.is_some() {
        return resources::gpus_of_nodes(&state, &actor).await;
    }
    let views = state.backend.virtual_clusters.list(&actor).await?;
    let total = cluster_total(&state, &actor).await?;
    let named = views.iter().map(|view| (view.settings.name.to_string(), wire(view, &total)));
    Ok(Json(named.collect::<BTreeMap<_, _>>()).into_response())
}

pub(crate) async fn virtual_cluster(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
) -> Result<Json<VirtualClusterWire>, Failure> {
    let known: VirtualClusterName = name.parse().map_err(|_| not_a_virtual_cluster(&name))?;
    let view = state.backend.virtual_clusters.get(&actor, &known).await?;
    let total = cluster_total(&state, &actor).await?;
    Ok(Json(wire(&view, &total)))
}

/// `{"vcStatus": "stopped"}`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Status {
    vc_status: Run,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Run {
    Running,
    Stopped,
}

/// `PUT /virtual-clusters/:name/status`: whether it takes new jobs.
pub(crate) async fn set_status(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
    Fields(Status { vc_status }): Fields<Status>,
) -> Result<(StatusCode, Json<Message>), Failure> {
    let known: VirtualClusterName = name.parse().map_err(|_| not_a_virtual_cluster(&name))?;
    let (stopped, done) = match vc_status {
        Run::Stopped => (true, format!("stop vc {name} successfully")),
        Run::Running => (false, format!("active vc {name} successfully")),
    };
    state.backend.virtual_clusters.set_stopped(&actor, &known, stopped).await?;
    Ok((StatusCode::CREATED, message(done)))
}

/// `DELETE /virtual-clusters/:name`.
pub(crate) async fn remove_virtual_cluster(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
) -> Result<Json<Message>, Failure> {
    let known: VirtualClusterName = name.parse().map_err(|_| not_a_virtual_cluster(&name))?;
    state.backend.virtual_clusters.remove(&actor, &known).await?;
    Ok(message(format!("Remove virtual cluster {name} successfully.")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_gpus_are_numbers_as_whole_ones_are() {
        let of = |milli| Usage {
            gpus: BTreeMap::from([("A100".parse().unwrap(), Amount::from_milli(milli))]),
            ..Usage::default()
        };
        let gpus = |milli| serde_json::to_value(ResourcesWire::from(&of(milli))).unwrap();
        for (milli, number) in [(2000, "2"), (250, "0.25"), (1500, "1.5")] {
            let wire = gpus(milli);
            assert_eq!(
                (wire["gpu"].to_string(), wire["GPUs"].to_string()),
                (number.into(), number.into())
            );
        }
    }
}
