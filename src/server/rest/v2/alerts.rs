//! What is wrong with nodes, as the Alertmanager of OpenPAI said it.

use api::cluster::NodeView;
use axum::Json;
use axum::extract::State;
use protocol::cluster::NodeCondition;
use protocol::health::{Ailment, Grade};
use protocol::time::Timestamp;
use serde_json::{Value, json};

use super::events::date_time;
use crate::auth::Signed;
use crate::failure::Failure;
use crate::state::AppState;

/// `GET /alerts`: all of them for administrators, none for others, whose nodes they are not.
pub(super) async fn list(
    State(state): State<AppState>,
    Signed(actor): Signed,
) -> Result<Json<Vec<Value>>, Failure> {
    if !actor.admin {
        return Ok(Json(Vec::new()));
    }
    let nodes = state.backend.nodes.list(&actor).await?;
    Ok(Json(nodes.iter().flat_map(of_node).collect()))
}

fn of_node(node: &NodeView) -> Vec<Value> {
    let mut alerts = Vec::new();
    if node.condition == NodeCondition::Unreachable {
        let words = node.problem.as_deref().unwrap_or("the node does not answer");
        alerts.push(alert(node, "NodeNotReady", words, node.last_seen));
    }
    if let Some(closed) = &node.closed {
        alerts.push(alert(node, "NodeClosed", &closed.message, Some(closed.since)));
    }
    // GPUs that have failed are among those that do not work.
    let told = |known: &&Ailment| known.gpu.is_none() || known.grade == Grade::Warning;
    let ailments = node.health.ailments.iter().filter(told);
    alerts.extend(
        ailments.map(|known| alert(node, "NodeUnhealthy", &known.to_string(), Some(known.since))),
    );
    let broken = node.capacity.gpus.iter().filter(|gpu| !gpu.healthy);
    alerts.extend(broken.map(|gpu| {
        let words = format!("GPU {} ({}) does not work", gpu.index, gpu.gpu_type);
        alert(node, "GpuUnhealthy", &words, None)
    }));
    alerts
}

fn alert(node: &NodeView, name: &str, words: &str, since: Option<Timestamp>) -> Value {
    json!({
        "labels": {
            "alertname": name,
            "severity": "error",
            "instance": node.address,
            "node_name": node.name,
        },
        "annotations": { "summary": format!("{}: {words}", node.name) },
        "startsAt": since.map(date_time),
        "status": { "state": "active", "silencedBy": [], "inhibitedBy": [] },
        "fingerprint": format!("{name}-{}", node.name),
    })
}
