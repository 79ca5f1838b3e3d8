//! Nodes in the words of Kubernetes, as far as OpenPAI's pages and clients read them: there is no
//! Kubernetes here.

use api::cluster::NodeView;
use axum::Json;
use axum::extract::State;
use protocol::cluster::NodeCondition;
use serde_json::{Value, json};

use crate::auth::Signed;
use crate::failure::Failure;
use crate::state::AppState;

/// `GET /kubernetes/nodes`.
pub(crate) async fn nodes(
    State(state): State<AppState>,
    Signed(actor): Signed,
) -> Result<Json<Value>, Failure> {
    let nodes = state.backend.nodes.list(&actor).await?;
    let items: Vec<_> = nodes.iter().map(node).collect();
    Ok(Json(json!({ "kind": "NodeList", "apiVersion": "v1", "metadata": {}, "items": items })))
}

fn node(node: &NodeView) -> Value {
    let ready = match node.condition {
        NodeCondition::Ready | NodeCondition::Draining => "True",
        NodeCondition::Unreachable => "Unknown",
    };
    let capacity = json!({
        "cpu": node.capacity.cpus.to_string(),
        "memory": format!("{}Mi", node.capacity.memory_mb),
        "nvidia.com/gpu": node.capacity.gpus.len().to_string(),
    });
    json!({
        "metadata": { "name": node.name, "labels": node.labels },
        "spec": { "unschedulable": node.condition == NodeCondition::Draining },
        "status": {
            "capacity": capacity,
            "allocatable": capacity,
            "addresses": [
                { "type": "InternalIP", "address": node.address },
                { "type": "Hostname", "address": node.name },
            ],
            "conditions": [{ "type": "Ready", "status": ready, "message": node.problem }],
        },
    })
}
