//! `api::logs`: from the engine while the container is there, from the storage afterwards.

use std::sync::Arc;

use api::audit::AuditAction;
use api::logs::{LogText, Logs, TaskRef};
use api::{Actor, Error, ErrorCode, Result};
use async_trait::async_trait;
use bytes::Bytes;
use database::tasks::Task;
use engine::Engine;
use futures::stream::BoxStream;
use storage::LogPart;

use super::{owner_only, tasks};
use crate::audit;
use crate::cluster::Observation;
use crate::error::{database, internal};
use crate::shared::Shared;

mod end;
mod follow;
mod position;
mod readers;

use position::Position;
use readers::Readers;

/// The longest tail, in bytes.
const LONGEST_TAIL: u64 = 4 * 1024 * 1024;
/// Ends of logs that are read at the same time, by one user and by all: each takes some times the
/// longest tail.
const TAILS: (usize, usize) = (8, 24);
/// Logs that are followed at the same time, by one user and by all.
const FOLLOWED: (usize, usize) = (64, 1_024);

#[derive(Debug)]
pub(crate) struct Ops {
    shared: Arc<Shared>,
    tails: Arc<Readers>,
    followed: Arc<Readers>,
}

#[async_trait]
impl Logs for Ops {
    async fn tail(&self, actor: &Actor, task: &TaskRef, tail_bytes: u64) -> Result<LogText> {
        let task = self.task(actor, task).await?;
        let _one_of_some = self.tails.begin(&actor.user)?;
        let bytes = tail_bytes.min(LONGEST_TAIL);
        if let Some(kept) = self.kept(&task, bytes).await? {
            return Ok(kept);
        }
        let present = self.present(&task, bytes).await;
        if let Ok(Some(_)) = &present {
            return present.map(Option::unwrap_or_default);
        }
        // The container may have gone since the first look: its log is kept before it goes.
        match self.kept(&task, bytes).await? {
            Some(kept) => Ok(kept),
            None => present
                .map(|_nothing| LogText { complete: task.state.is_final(), ..LogText::default() }),
        }
    }

    async fn follow(
        &self,
        actor: &Actor,
        task: &TaskRef,
        offset: u64,
    ) -> Result<BoxStream<'static, Result<Bytes>>> {
        let task = self.task(actor, task).await?;
        let reader = self.followed.begin(&actor.user)?;
        Ok(follow::follow(Arc::clone(&self.shared), task, Position::read(offset), reader))
    }
}

impl Ops {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let [tails, followed] = [TAILS, FOLLOWED].map(|(user, all)| Readers::new(user, all));
        Self { shared, tails, followed }
    }

    async fn task(&self, actor: &Actor, wanted: &TaskRef) -> Result<Task> {
        owner_only(actor, &wanted.job.user, "read the logs of this job")?;
        let about = (AuditAction::LogRead, wanted.job.to_string(), String::new());
        audit::looked(&self.shared, actor, &wanted.job.user, about).await.map_err(database)?;
        let TaskRef { job, attempt, role, index } = wanted;
        tasks::last_run(&self.shared, job, *attempt, role, *index).await?.ok_or_else(|| {
            let message = format!("{job} has no task {role}-{index} yet");
            Error::new(ErrorCode::NoTaskLogError, message)
        })
    }

    /// The end of the kept log.
    async fn kept(&self, task: &Task, bytes: u64) -> Result<Option<LogText>> {
        let kept = self.shared.storage.read_log(&task.key, LogPart::Tail { bytes }).await;
        Ok(kept.map_err(internal)?.map(|kept| {
            let text = String::from_utf8_lossy(&kept.bytes).into_owned();
            LogText { text, offset: kept.offset, end: kept.total, complete: true }
        }))
    }

    /// The end of what the container has written so far; `None` while there is none.
    async fn present(&self, task: &Task, bytes: u64) -> Result<Option<LogText>> {
        let Some(engine) = engine_of(&self.shared, task) else { return Ok(None) };
        let name = task.key.container_name(&self.shared.installation);
        match end::read(engine.as_ref(), &name, bytes, task.state.is_final()).await {
            Ok(text) => Ok(Some(text)),
            Err(engine::EngineError::NoContainer(_)) => Ok(None),
            Err(error) => Err(Error::new(ErrorCode::UnavailableError, error.to_string())),
        }
    }
}

fn engine_of(shared: &Shared, task: &Task) -> Option<Arc<dyn Engine>> {
    match shared.observations().get(&task.placement.node)? {
        Observation::Answers { engine, .. } => Some(Arc::clone(engine)),
        Observation::Silent => None,
    }
}
