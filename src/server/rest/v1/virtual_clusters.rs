use std::collections::BTreeMap;

use api::ErrorCode;
use api::cluster::{Usage, VirtualClusterView};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use protocol::amount::Amount;
use protocol::cluster::{Share, VirtualClusterSettings};
use protocol::ids::VirtualClusterName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::auth::Signed;
use crate::failure::Failure;
use crate::rest::body::Fields;
use crate::rest::message::message;
use crate::rest::v2::answers::{not_a_virtual_cluster, warned};
use crate::rest::v2::cluster::{Percent, cluster_total, gpus};
use crate::state::AppState;

#[derive(Debug, Serialize, JsonSchema)]
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

#[derive(Debug, Serialize, JsonSchema)]
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
        status: if view.stopped { "STOPPED" } else { "RUNNING" },
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

/// What a virtual cluster is to have, in percent of what there is.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Capacity {
    vc_capacity: f64,
    vc_max_capacity: Option<f64>,
    /// For people; there is no place for it here.
    description: Option<String>,
    /// Likewise.
    external_name: Option<String>,
}

/// `PUT /virtual-clusters/:name`: a share of what all nodes have now. It borrows beyond that, as far
/// as nobody else wants it, unless the most that it may have is its share.
pub(crate) async fn save(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
    Fields(asked): Fields<Capacity>,
) -> Result<Response, Failure> {
    let known: VirtualClusterName = name.parse().map_err(|_| not_a_virtual_cluster(&name))?;
    let Capacity { vc_capacity, vc_max_capacity, description, external_name } = asked;
    let most = vc_max_capacity.unwrap_or(vc_capacity);
    if !(0.0..=100.0).contains(&vc_capacity) || !(vc_capacity..=100.0).contains(&most) {
        let message = "vcCapacity: allowed are 0 to 100, and for vcMaxCapacity as much or more";
        return Err(Failure::new(ErrorCode::InvalidParametersError, message));
    }
    let views = state.backend.virtual_clusters.list(&actor).await?;
    let before = views.into_iter().find(|view| view.settings.name == known);
    let done = if before.is_some() { "update" } else { "create" };
    let before = before.map(|view| view.settings);
    let settings = before.unwrap_or_else(|| VirtualClusterSettings::new(known));
    let share = part(&cluster_total(&state, &actor).await?, vc_capacity);
    let settings = VirtualClusterSettings { share, borrows: most > vc_capacity, ..settings };
    state.backend.virtual_clusters.save(&actor, settings).await?;
    let text = message(format!("{done} vc: {name} to capacity: {vc_capacity} successfully"));
    let answer = (StatusCode::CREATED, text);
    let said = [("description", description), ("externalName", external_name)];
    let said = said.into_iter().filter(|(_, text)| text.as_ref().is_some_and(|t| !t.is_empty()));
    let mut unused: Vec<_> = said.map(|(name, _)| name).collect();
    if most > vc_capacity && most < 100.0 {
        unused.push("vcMaxCapacity");
    }
    if unused.is_empty() {
        return Ok(answer.into_response());
    }
    Ok(warned(answer, &format!("not used: {}", unused.join(", "))))
}

/// `DELETE /virtual-clusters/:name`.
pub(crate) async fn remove(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
) -> Result<Response, Failure> {
    let known: VirtualClusterName = name.parse().map_err(|_| not_a_virtual_cluster(&name))?;
    state.backend.virtual_clusters.remove(&actor, &known).await?;
    let text = message(format!("Remove vc: {name} successfully"));
    Ok((StatusCode::CREATED, text).into_response())
}

/// So much in percent of what there is, rounded down.
fn part(all: &Usage, percent: f64) -> Share {
    // Hundredths of a percent, so that whole percents are exact.
    let hundredths = (percent * 100.0).round() as u64;
    let of = |amount: u64| amount.saturating_mul(hundredths) / 10_000;
    Share {
        cpus: Some(of(all.cpus)),
        memory_mb: Some(of(all.memory_mb)),
        gpus: all.gpus.iter().map(|(kind, count)| (kind.clone(), of(count.floor()))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capacity_is_a_share_of_all_there_is() {
        let gpus = BTreeMap::from([("A100".parse().unwrap(), Amount::whole(16))]);
        let all = Usage { cpus: 100, memory_mb: 1_000, disk_gb: 9, gpus };
        let quarter = part(&all, 25.0);
        assert_eq!((quarter.cpus, quarter.memory_mb), (Some(25), Some(250)));
        assert_eq!(quarter.gpus.values().copied().collect::<Vec<_>>(), [4]);
        assert_eq!(part(&all, 33.3).gpus.values().copied().collect::<Vec<_>>(), [5]);
        assert_eq!(part(&all, 100.0).cpus, Some(100));
        assert_eq!(part(&Usage::default(), 50.0).gpus.len(), 0);
    }
}
