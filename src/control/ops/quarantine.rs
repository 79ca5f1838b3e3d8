//! `api::quarantine`.

use std::sync::Arc;
use std::time::Duration;

use api::audit::AuditAction;
use api::quarantine::{Doing, Quarantine, Quarantined};
use api::{Actor, Error, ErrorCode, Result};
use async_trait::async_trait;
use engine::{ContainerStatus, Engine, Stranger};
use protocol::ids::NodeName;
use protocol::resources::Taken;
use tokio::sync::Notify;

use crate::accounts::rights::administrators_only;
use crate::known::cluster::Observation;
use crate::known::quarantine::{Held, OnNode};
use crate::records::audit::{self, Note};
use crate::shared::Shared;

/// So long a container may take to end by itself; who asked waits for it.
const GRACE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct Ops(pub(crate) Arc<Shared>);

#[async_trait]
impl Quarantine for Ops {
    async fn list(&self, actor: &Actor, node: Option<&NodeName>) -> Result<Vec<Quarantined>> {
        administrators_only(actor)?;
        let all = self.0.nodes.quarantine.all().into_iter();
        let wanted = all.filter(|(name, _)| node.is_none_or(|node| node == name));
        Ok(wanted.flat_map(|(name, there)| views(&name, there)).collect())
    }

    async fn stop(&self, actor: &Actor, node: &NodeName, container: &str) -> Result<()> {
        administrators_only(actor)?;
        let held = self.held(node, container)?;
        let (engine, look) = self.engine(node)?;
        self.note(actor, AuditAction::ContainerStopped, (node, &held)).await?;
        let stopped = engine.stop(container, GRACE).await;
        look.notify_one();
        stopped.map_err(|error| failed(&error))
    }

    async fn remove(&self, actor: &Actor, node: &NodeName, container: &str) -> Result<()> {
        administrators_only(actor)?;
        let held = self.held(node, container)?;
        let (engine, look) = self.engine(node)?;
        // It may have been started by hand since it was looked at last.
        let now = engine.inspect(container).await.map_err(|error| failed(&error))?;
        if now.is_some_and(|now| matches!(now.status, ContainerStatus::Running { .. })) {
            let message = format!("{container} still runs: stop it before it is removed");
            return Err(Error::new(ErrorCode::ConflictNodeError, message));
        }
        self.note(actor, AuditAction::ContainerRemoved, (node, &held)).await?;
        let removed = engine.remove(container).await;
        look.notify_one();
        removed.map_err(|error| failed(&error))
    }
}

impl Ops {
    /// One of this cluster's: those of others are not in our hands.
    fn held(&self, node: &NodeName, container: &str) -> Result<Held> {
        let held = self.0.nodes.quarantine.on(node).held.into_iter();
        let mut held = held.filter(|held| held.container.name == container);
        held.next().ok_or_else(|| {
            let message = format!("there is no container {container} in quarantine on {node}");
            Error::new(ErrorCode::NoTaskError, message)
        })
    }

    fn engine(&self, node: &NodeName) -> Result<(Arc<dyn Engine>, Arc<Notify>)> {
        match self.0.nodes.observations().get(node) {
            Some(Observation::Answers { engine, look, .. }) => {
                Ok((Arc::clone(engine), Arc::clone(look)))
            }
            Some(Observation::Silent) | None => {
                let message = format!("{node} is out of contact: try again when it answers");
                Err(Error::new(ErrorCode::UnavailableError, message))
            }
        }
    }

    async fn note(
        &self,
        actor: &Actor,
        action: AuditAction,
        (node, held): (&NodeName, &Held),
    ) -> Result<()> {
        let object = format!("{node}/{}", held.container.name);
        let detail = format!("{}~{}/{}", held.says.user, held.says.name, held.says.task);
        let note = Note { action, object, detail, address: None };
        Ok(audit::write(&self.0.store, actor, note).await?)
    }
}

fn failed(error: &engine::EngineError) -> Error {
    // It may have gone since it was looked at last.
    let has_gone = matches!(error, engine::EngineError::NoContainer(_));
    let code = if has_gone { ErrorCode::NoTaskError } else { ErrorCode::UnavailableError };
    Error::new(code, error.to_string())
}

fn views(node: &NodeName, there: OnNode) -> Vec<Quarantined> {
    let OnNode { held, strangers } = there;
    let held = held.into_iter().map(|held| of_held(node, held));
    held.chain(strangers.into_iter().map(|stranger| of_stranger(node, stranger))).collect()
}

fn of_held(node: &NodeName, held: Held) -> Quarantined {
    let Held { container, says } = held;
    let Taken { cpus, memory_mb, disk_gb: _, gpus } = says.taken;
    Quarantined {
        node: node.clone(),
        container: container.name,
        cluster: None,
        doing: match container.status {
            ContainerStatus::Created => Doing::Created,
            ContainerStatus::Running { started_at } => Doing::Running { since: Some(started_at) },
            ContainerStatus::Exited { .. } => Doing::Ended,
        },
        epoch: container.epoch.label().unwrap_or_default(),
        user: says.user,
        job: says.name,
        task: says.task,
        gpus: gpus.into_iter().collect(),
        cpus,
        memory_mb,
    }
}

fn of_stranger(node: &NodeName, stranger: Stranger) -> Quarantined {
    let Stranger { name, cluster, runs } = stranger;
    Quarantined {
        node: node.clone(),
        container: name,
        cluster: Some(cluster),
        doing: if runs { Doing::Running { since: None } } else { Doing::Ended },
        epoch: String::new(),
        user: String::new(),
        job: String::new(),
        task: String::new(),
        gpus: Vec::new(),
        cpus: 0,
        memory_mb: 0,
    }
}
