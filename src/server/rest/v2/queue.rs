//! Changes of the queue and of what it waits for: Berth's own addition to version 2. With `?dryRun`
//! each of them answers what it would do, and does nothing.

use api::queue::{Explanation, QueueChange};
use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use protocol::cluster::{
    GroupWeights, IdleRule, Places, Preempts, Shape, Share, VirtualClusterSettings,
};
use protocol::ids::{GroupName, NodeName, UserName, VirtualClusterName};
use protocol::limits::Limits;
use schemars::JsonSchema;
use serde::Deserialize;

use super::jobs::accepted;
use crate::auth::Signed;
use crate::failure::Failure;
use crate::rest::body::{Fields, Params};
use crate::rest::job_key;
use crate::rest::job_query::flag;
use crate::state::AppState;

/// `?dryRun`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct DryRunParams {
    #[serde(deserialize_with = "flag")]
    pub(crate) dry_run: bool,
}

/// `PUT /jobs/:key/queue`.
pub(crate) async fn change(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(key): Path<String>,
    Params(params): Params<DryRunParams>,
    Fields(change): Fields<QueueChange>,
) -> Result<Response, Failure> {
    let key = job_key::parse(&key)?;
    if params.dry_run {
        let effect = state.backend.queue.effect(&actor, &key, change).await?;
        return Ok(Json(effect).into_response());
    }
    state.backend.queue.change(&actor, &key, change).await?;
    Ok(accepted(format!("Change job {key} successfully.")))
}

/// `GET /jobs/:key/queue`: `null` when it does not wait.
pub(crate) async fn explain(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(key): Path<String>,
) -> Result<Json<Option<Explanation>>, Failure> {
    Ok(Json(state.backend.queue.explain(&actor, &job_key::parse(&key)?).await?))
}

/// A virtual cluster without its name, which the address says.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    #[serde(default)]
    share: Share,
    #[serde(default)]
    users: Vec<UserName>,
    #[serde(default)]
    groups: Vec<GroupName>,
    #[serde(default)]
    parent: Option<VirtualClusterName>,
    #[serde(default)]
    shapes: Vec<Shape>,
    #[serde(default)]
    nodes: Vec<NodeName>,
    #[serde(default)]
    within: Places,
    borrows: Option<bool>,
    preempts: Option<Preempts>,
    #[serde(default)]
    deadlines: bool,
    #[serde(default)]
    lease: Option<u32>,
    #[serde(default)]
    idle: Option<IdleRule>,
    #[serde(default)]
    limits: Limits,
    #[serde(default)]
    group_shares: GroupWeights,
}

impl Settings {
    fn of(self, name: VirtualClusterName) -> VirtualClusterSettings {
        let Self { share, users, groups, parent, shapes, nodes, borrows, preempts, .. } = self;
        VirtualClusterSettings {
            name,
            share,
            users,
            groups,
            parent,
            shapes,
            nodes,
            within: self.within,
            borrows: borrows.unwrap_or(true),
            preempts: preempts.unwrap_or_default(),
            deadlines: self.deadlines,
            lease: self.lease,
            idle: self.idle,
            limits: self.limits,
            group_shares: self.group_shares,
        }
    }
}

/// `PUT /virtual-clusters/:name`.
pub(crate) async fn save_virtual_cluster(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
    Params(params): Params<DryRunParams>,
    Fields(settings): Fields<Settings>,
) -> Result<Response, Failure> {
    let name: VirtualClusterName = name.parse()?;
    let clusters = &state.backend.virtual_clusters;
    let settings = settings.of(name.clone());
    if params.dry_run {
        return Ok(Json(clusters.save_effect(&actor, settings).await?).into_response());
    }
    clusters.save(&actor, settings).await?;
    let beyond = clusters.promises(&actor, None).await?;
    let beyond = beyond.iter().filter(|promise| promise.is_too_much()).map(ToString::to_string);
    let beyond = beyond.collect::<Vec<_>>().join(", ");
    Ok(accepted(match beyond.as_str() {
        "" => format!("Update virtual cluster {name} successfully."),
        _ => format!(
            "Update virtual cluster {name} successfully. More is guaranteed than there is: {beyond}."
        ),
    }))
}
