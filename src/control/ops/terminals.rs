//! `api::terminals`.

use std::sync::Arc;

use api::terminals::{Terminal, TerminalRequest, TerminalSize, Terminals};
use api::{Actor, Result};
use async_trait::async_trait;

use super::tasks;
use crate::accounts::rights::owner_only;
use crate::shared::Shared;
use crate::terminals;

/// No screen is larger; programs reserve memory by it.
const LARGEST: u16 = 1_000;

#[derive(Debug)]
pub(crate) struct Ops {
    pub(crate) shared: Arc<Shared>,
    pub(crate) terminals: terminals::Terminals,
}

#[async_trait]
impl Terminals for Ops {
    async fn open(&self, actor: &Actor, mut request: TerminalRequest) -> Result<Terminal> {
        owner_only(actor, &request.job.user, "enter this job")?;
        let TerminalSize { columns, rows } = request.size;
        request.size =
            TerminalSize { columns: columns.clamp(1, LARGEST), rows: rows.clamp(1, LARGEST) };
        let back = self.terminals.resume(&self.shared.store, actor, &request).await?;
        if let Some(terminal) = back {
            return Ok(terminal);
        }
        let TerminalRequest { job, role, index, .. } = &request;
        let task = tasks::running(&self.shared.store, job, role, *index).await?;
        self.terminals.open(&self.shared, actor, &request, &task).await
    }
}
