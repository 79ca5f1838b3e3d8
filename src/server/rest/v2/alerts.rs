//! What is wrong with nodes, and which jobs do nothing, as the Alertmanager of OpenPAI said it.

use api::cluster::NodeView;
use api::metrics::IdleJob;
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

/// `GET /alerts`: all of them for administrators, for others those of their own jobs.
pub(super) async fn list(
    State(state): State<AppState>,
    Signed(actor): Signed,
) -> Result<Json<Vec<Value>>, Failure> {
    let own = (!actor.admin).then_some(&actor.user);
    let nodes = match own {
        Some(_) => Vec::new(),
        None => state.backend.nodes.list(&actor).await?,
    };
    let idle = state.backend.jobs.idle(&actor, own).await?;
    Ok(Json(nodes.iter().flat_map(of_node).chain(idle.iter().map(of_job)).collect()))
}

fn of_job(job: &IdleJob) -> Value {
    let IdleJob { key, virtual_cluster, gpus, idling } = job;
    json!({
        "labels": {
            "alertname": "JobIdle",
            "severity": "warn",
            "job_name": key.to_string(),
            "username": key.user,
            "vc_name": virtual_cluster,
        },
        "annotations": { "summary": format!("{key}: none of its {gpus} GPUs does anything") },
        "startsAt": date_time(idling.since),
        "status": active(),
        "fingerprint": format!("JobIdle-{key}"),
    })
}

/// Nobody silences an alert here.
fn active() -> Value {
    json!({ "state": "active", "silencedBy": [], "inhibitedBy": [] })
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
        "status": active(),
        "fingerprint": format!("{name}-{}", node.name),
    })
}

#[cfg(test)]
mod tests {
    use api::metrics::Idling;

    use super::*;

    #[test]
    fn a_job_that_does_nothing_is_an_alert_of_its_owner() {
        let job = IdleJob {
            key: "alice~train".parse().unwrap(),
            virtual_cluster: "lab".parse().unwrap(),
            gpus: 4,
            idling: Idling { since: Timestamp(0), stops_at: None, kept_until: None },
        };
        let alert = of_job(&job);
        assert_eq!(alert["labels"]["job_name"], "alice~train");
        assert_eq!(alert["labels"]["username"], "alice");
        assert_eq!(
            alert["annotations"]["summary"],
            "alice~train: none of its 4 GPUs does anything"
        );
        assert_eq!(alert["startsAt"], "1970-01-01T00:00:00.000Z");
        assert_eq!(alert["status"]["state"], "active");
    }
}
