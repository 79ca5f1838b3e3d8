//! Nodes, as the contract has them: Berth's own addition to version 2. With `?dryRun` each change
//! answers what it would do, and does nothing.

use api::ErrorCode;
use api::cluster::{Drain, NodeView, Trial};
use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use protocol::cluster::NodeSettings;
use protocol::ids::NodeName;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::jobs::accepted;
use super::queue::DryRunParams;
use crate::auth::Signed;
use crate::failure::Failure;
use crate::rest::body::{Fields, Params};
use crate::state::AppState;

/// `GET /nodes`.
pub(crate) async fn list(
    State(state): State<AppState>,
    Signed(actor): Signed,
) -> Result<Json<Vec<NodeView>>, Failure> {
    Ok(Json(state.backend.nodes.list(&actor).await?))
}

/// `GET /nodes/:name`.
pub(crate) async fn get(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
) -> Result<Json<NodeView>, Failure> {
    Ok(Json(state.backend.nodes.get(&actor, &known(&name)?).await?))
}

/// `GET /nodes/:name/settings`: as an administrator wrote them.
pub(crate) async fn settings(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
) -> Result<Json<NodeSettings>, Failure> {
    Ok(Json(state.backend.nodes.settings(&actor, &known(&name)?).await?))
}

/// `PUT /nodes/:name`: settings without the name, which the address says.
pub(crate) async fn save(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
    Params(params): Params<DryRunParams>,
    Fields(mut settings): Fields<Map<String, Value>>,
) -> Result<Response, Failure> {
    let name: NodeName = name.parse()?;
    settings.insert("name".to_owned(), name.as_str().into());
    let settings: NodeSettings = serde_json::from_value(Value::Object(settings))
        .map_err(|error| Failure::new(ErrorCode::InvalidParametersError, error.to_string()))?;
    let nodes = &state.backend.nodes;
    if params.dry_run {
        return Ok(Json(nodes.save_effect(&actor, settings).await?).into_response());
    }
    nodes.save(&actor, settings).await?;
    Ok(accepted(format!("Update node {name} successfully.")))
}

/// `DELETE /nodes/:name`.
pub(crate) async fn remove(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
    Params(params): Params<DryRunParams>,
) -> Result<Response, Failure> {
    let (name, nodes) = (known(&name)?, &state.backend.nodes);
    if params.dry_run {
        return Ok(Json(nodes.remove_effect(&actor, &name).await?).into_response());
    }
    nodes.remove(&actor, &name).await?;
    Ok(accepted(format!("Remove node {name} successfully.")))
}

/// `{"value": true}`: it takes nothing new; with `"now": true`, what runs there goes elsewhere.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Draining {
    value: bool,
    #[serde(default)]
    now: bool,
}

impl Draining {
    fn drain(&self) -> Result<Drain, Failure> {
        match (self.value, self.now) {
            (false, false) => Ok(Drain::Off),
            (true, false) => Ok(Drain::Quietly),
            (true, true) => Ok(Drain::Now),
            (false, true) => {
                let message = "now: only a node that is drained (value: true) is emptied";
                Err(Failure::new(ErrorCode::InvalidParametersError, message))
            }
        }
    }
}

/// `PUT /nodes/:name/drain`.
pub(crate) async fn drain(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
    Params(params): Params<DryRunParams>,
    Fields(draining): Fields<Draining>,
) -> Result<Response, Failure> {
    let name = known(&name)?;
    let (nodes, drain) = (&state.backend.nodes, draining.drain()?);
    if params.dry_run {
        return Ok(Json(nodes.drain_effect(&actor, &name, drain).await?).into_response());
    }
    nodes.drain(&actor, &name, drain).await?;
    Ok(accepted(format!("Change node {name} successfully.")))
}

/// `POST /nodes/:name/gpus`: its GPUs are looked for.
pub(crate) async fn probe(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
) -> Result<Response, Failure> {
    let name = known(&name)?;
    state.backend.nodes.probe(&actor, &name).await?;
    Ok(accepted(format!("Look for GPUs of node {name} now.")))
}

/// `{"image": "ubuntu:24.04"}`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pulled {
    image: String,
}

/// `POST /nodes/:name/pull`: whether its engine can pull an image, also one that it has already.
pub(crate) async fn try_pull(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
    Fields(pulled): Fields<Pulled>,
) -> Result<Response, Failure> {
    let name = known(&name)?;
    state.backend.nodes.try_pull(&actor, &name, &pulled.image).await?;
    Ok(accepted(format!("Node {name} pulls {}.", pulled.image)))
}

/// `POST /nodes/:name/trial`: the job of this name, which is submitted next, tries it and is gone in time.
pub(crate) async fn try_with(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(name): Path<String>,
    Fields(trial): Fields<Trial>,
) -> Result<Response, Failure> {
    let name = known(&name)?;
    state.backend.nodes.try_with(&actor, &name, &trial).await?;
    Ok(accepted(format!("Job {} tries node {name}.", trial.job)))
}

/// A name that some node may have.
fn known(name: &str) -> Result<NodeName, Failure> {
    let missing = |_| Failure::new(ErrorCode::NoNodeError, format!("there is no node {name}"));
    name.parse().map_err(missing)
}
