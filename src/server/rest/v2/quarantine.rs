//! Containers that are not touched, for administrators: Berth's own addition to version 2.

use api::quarantine::Quarantined;
use axum::Json;
use axum::extract::{Path, State};
use axum::response::Response;
use protocol::ids::NodeName;

use super::execution::Execution;
use super::jobs::accepted;
use crate::auth::Signed;
use crate::failure::Failure;
use crate::rest::body::Fields;
use crate::state::AppState;

/// Node and name of a container.
type Place = (String, String);

/// `GET /quarantine`.
pub(crate) async fn list(
    State(state): State<AppState>,
    Signed(actor): Signed,
) -> Result<Json<Vec<Quarantined>>, Failure> {
    Ok(Json(state.backend.quarantine.list(&actor, None).await?))
}

/// `PUT /quarantine/:node/:container`: `{"value": "STOP"}`, as of a job.
pub(crate) async fn stop(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path((node, container)): Path<Place>,
    Fields(execution): Fields<Execution>,
) -> Result<Response, Failure> {
    execution.require_stop()?;
    let node: NodeName = node.parse()?;
    state.backend.quarantine.stop(&actor, &node, &container).await?;
    Ok(accepted(format!("Stop container {container} successfully.")))
}

/// `DELETE /quarantine/:node/:container`.
pub(crate) async fn remove(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path((node, container)): Path<Place>,
) -> Result<Response, Failure> {
    let node: NodeName = node.parse()?;
    state.backend.quarantine.remove(&actor, &node, &container).await?;
    Ok(accepted(format!("Remove container {container} successfully.")))
}
