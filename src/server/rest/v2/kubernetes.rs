//! Nodes and tasks in the words of Kubernetes, as far as OpenPAI's pages and clients read them: there
//! is no Kubernetes here.

use api::ErrorCode;
use api::cluster::{NodeTask, NodeView};
use axum::Json;
use axum::extract::State;
use protocol::cluster::NodeCondition;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::auth::Signed;
use crate::failure::Failure;
use crate::rest::body::Params;
use crate::state::AppState;

/// The only name space.
const NAME_SPACE: &str = "default";

/// `GET /kubernetes/nodes`.
pub(crate) async fn nodes(
    State(state): State<AppState>,
    Signed(actor): Signed,
) -> Result<Json<Value>, Failure> {
    let nodes = state.backend.nodes.list(&actor).await?;
    let items: Vec<_> = nodes.iter().map(node).collect();
    Ok(Json(json!({ "kind": "NodeList", "apiVersion": "v1", "metadata": {}, "items": items })))
}

/// Which pods. Other filters of Kubernetes are not known, and refused.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Pods {
    namespace: Option<String>,
}

/// `GET /kubernetes/pods`: the tasks that are on nodes, for administrators.
pub(crate) async fn pods(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Params(Pods { namespace }): Params<Pods>,
) -> Result<Json<Value>, Failure> {
    if !actor.admin {
        let message = "only administrators may do this";
        return Err(Failure::new(ErrorCode::ForbiddenUserError, message));
    }
    let nodes = if namespace.is_none_or(|name| name == NAME_SPACE) {
        state.backend.nodes.list(&actor).await?
    } else {
        Vec::new()
    };
    let items = nodes.iter().flat_map(|node| node.tasks.iter().map(move |task| pod(node, task)));
    let items: Vec<_> = items.collect();
    Ok(Json(json!({ "kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": items })))
}

fn pod(node: &NodeView, task: &NodeTask) -> Value {
    let phase = match node.condition {
        NodeCondition::Ready | NodeCondition::Draining => "Running",
        NodeCondition::Unreachable => "Unknown",
    };
    let gpus = task.gpus.len().to_string();
    json!({
        "metadata": {
            "name": format!("{}-{}", task.job, task.task),
            "namespace": NAME_SPACE,
            "labels": { "jobName": task.job.name, "userName": task.job.user, "task": task.task },
        },
        "spec": {
            "nodeName": node.name,
            "containers": [{
                "name": "app",
                "resources": { "limits": { "nvidia.com/gpu": gpus } },
            }],
        },
        "status": { "phase": phase, "hostIP": node.address },
    })
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
