//! `api::proxy`.

use std::sync::Arc;

use api::audit::AuditAction;
use api::proxy::{Proxy, TaskPort, Upstream};
use api::{Actor, Error, ErrorCode, Result};
use async_trait::async_trait;
use database::tasks::Task;
use protocol::ids::PortLabel;

use super::tasks;
use crate::accounts::rights::owner_only;
use crate::container::tunnels::Tunnel;
use crate::records::audit::{self, Note};
use crate::shared::Shared;

#[derive(Debug)]
pub(crate) struct Ops(pub(crate) Arc<Shared>);

#[async_trait]
impl Proxy for Ops {
    async fn upstream(&self, actor: &Actor, wanted: &TaskPort) -> Result<Upstream> {
        let TaskPort { job, role, index, port } = wanted;
        owner_only(actor, &job.user, "use the ports of this job")?;
        let task = tasks::running(&self.0.store, job, role, *index).await?;
        let port = number(&task, port).ok_or_else(|| {
            let labels: Vec<_> = task.placement.ports.keys().map(PortLabel::as_str).collect();
            let message =
                format!("{role}-{index} of {job} has no port {port}, only {}", labels.join(", "));
            Error::new(ErrorCode::NoTaskError, message)
        })?;
        let address = task.placement.address.clone();
        let shared = Arc::clone(&self.0);
        let way = Arc::new(Tunnel { shared, job: job.clone(), task, port });
        Ok(Upstream { address, port, way })
    }

    async fn enter(&self, actor: &Actor, port: &TaskPort, address: &str) -> Result<()> {
        self.upstream(actor, port).await?;
        let TaskPort { job, role, index, port } = port;
        let note = Note {
            action: AuditAction::PageOpened,
            object: format!("{job}/{role}-{index}"),
            detail: format!("port {port}"),
            address: Some(address.to_owned()),
        };
        Ok(audit::write(&self.0.store, actor, note).await?)
    }
}

/// A label's first port; else the port of that number, if it is the task's own. A task's SSH server
/// is entered by its keys, and not from pages.
fn number(task: &Task, wanted: &PortLabel) -> Option<u16> {
    let ports = || task.placement.ports.iter().filter(|(label, _)| label.as_str() != "ssh");
    let labelled = ports().find(|(label, _)| *label == wanted).and_then(|(_, ports)| ports.first());
    let own = |number: &u16| ports().any(|(_, ports)| ports.contains(number));
    labelled.copied().or_else(|| wanted.as_str().parse().ok().filter(own))
}
