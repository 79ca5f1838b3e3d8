//! `api::logs`: from the engine while the container is there, from the storage afterwards.

use std::sync::Arc;

use api::audit::AuditAction;
use api::logs::{LogText, Logs, TaskRef};
use api::{Actor, Error, ErrorCode, Result};
use async_trait::async_trait;
use bytes::Bytes;
use database::tasks::Task;
use engine::{Engine, LogRequest};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use storage::LogPart;

use super::{owner_only, tasks};
use crate::audit;
use crate::cluster::Observation;
use crate::error::{database, internal};
use crate::shared::Shared;

mod follow;

/// The longest tail, in bytes.
const LONGEST_TAIL: u64 = 4 * 1024 * 1024;

#[derive(Debug)]
pub(crate) struct Ops(pub(crate) Arc<Shared>);

#[async_trait]
impl Logs for Ops {
    async fn tail(&self, actor: &Actor, task: &TaskRef, tail_bytes: u64) -> Result<LogText> {
        let task = self.task(actor, task).await?;
        let bytes = tail_bytes.min(LONGEST_TAIL);
        if let Some(kept) = self.kept(&task, bytes).await? {
            return Ok(kept);
        }
        let present = self.present(&task).await;
        if let Ok(Some(written)) = &present {
            return Ok(cut(written, bytes, task.state.is_final()));
        }
        // The container may have gone since the first look: its log is kept before it goes.
        match self.kept(&task, bytes).await? {
            Some(kept) => Ok(kept),
            None => present.map(|_nothing| cut(&[], bytes, task.state.is_final())),
        }
    }

    async fn follow(
        &self,
        actor: &Actor,
        task: &TaskRef,
        offset: u64,
    ) -> Result<BoxStream<'static, Result<Bytes>>> {
        let task = self.task(actor, task).await?;
        Ok(follow::follow(Arc::clone(&self.0), task, offset))
    }
}

impl Ops {
    async fn task(&self, actor: &Actor, wanted: &TaskRef) -> Result<Task> {
        owner_only(actor, &wanted.job.user, "read the logs of this job")?;
        let about = (AuditAction::LogRead, wanted.job.to_string(), String::new());
        audit::looked(&self.0, actor, &wanted.job.user, about).await.map_err(database)?;
        let TaskRef { job, attempt, role, index } = wanted;
        tasks::last_run(&self.0, job, *attempt, role, *index).await?.ok_or_else(|| {
            let message = format!("{job} has no task {role}-{index} yet");
            Error::new(ErrorCode::NoTaskLogError, message)
        })
    }

    /// The end of the kept log.
    async fn kept(&self, task: &Task, bytes: u64) -> Result<Option<LogText>> {
        let kept = self.0.storage.read_log(&task.key, LogPart::Tail { bytes }).await;
        Ok(kept.map_err(internal)?.map(|kept| {
            let text = String::from_utf8_lossy(&kept.bytes).into_owned();
            LogText { text, offset: kept.offset, end: kept.total, complete: true }
        }))
    }

    /// What the container has written so far; `None` while there is none.
    async fn present(&self, task: &Task) -> Result<Option<Bytes>> {
        let Some(engine) = engine_of(&self.0, task) else { return Ok(None) };
        let name = task.key.container_name(&self.0.installation);
        let chunks = async { read(engine.as_ref(), &name, false).await?.try_collect().await };
        let chunks: engine::Result<Vec<Bytes>> = chunks.await;
        match chunks {
            Ok(chunks) => Ok(Some(Bytes::from(chunks.concat()))),
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

async fn read(
    engine: &dyn Engine,
    name: &str,
    follow: bool,
) -> engine::Result<BoxStream<'static, engine::Result<Bytes>>> {
    let request = LogRequest { follow, since: None, tail_lines: None };
    Ok(engine.logs(name, request).await?.map_ok(|chunk| chunk.bytes).boxed())
}

/// The last `limit` bytes, from the beginning of a line.
fn cut(bytes: &[u8], limit: u64, complete: bool) -> LogText {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut start = bytes.len().saturating_sub(limit);
    if start > 0 {
        let rest = &bytes[start..];
        start += rest.iter().position(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    }
    LogText {
        text: String::from_utf8_lossy(&bytes[start..]).into_owned(),
        offset: start as u64,
        end: bytes.len() as u64,
        complete,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_begins_with_a_line() {
        let log = cut(b"one\ntwo\nthree\n", 8, false);
        assert_eq!((log.text.as_str(), log.offset, log.end), ("three\n", 8, 14));
        assert_eq!(cut(b"one\n", 100, true).text, "one\n");
        assert_eq!(cut(b"no newline at all", 5, true).text, "t all");
    }
}
