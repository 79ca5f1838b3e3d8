//! Where any place of a log can be read: what was read of its container, or what was kept.

use std::sync::Arc;
use std::time::Duration;

use api::{Error, ErrorCode, Result};
use bytes::Bytes;
use database::tasks::Task;
use engine::{EngineError, LogRequest};
use futures::stream::{BoxStream, StreamExt, TryStreamExt};
use storage::LogReader;

use crate::error::internal;
use crate::logs::engines::engine_of;
use crate::logs::spools::held::{End, Spool};
use crate::shared::Shared;
use crate::wake::now;

/// Whoever asks first waits for so long for what was written before.
const CATCH_UP: Duration = Duration::from_millis(400);
/// Whoever wants all of it waits for so long.
const ALL: Duration = Duration::from_secs(30);

/// Where a log is.
#[derive(Debug)]
pub(super) enum Source {
    /// Its task has ended.
    Kept(LogReader),
    /// Its container is there.
    Held(Arc<Spool>),
}

impl Source {
    /// The log as it is now.
    pub(super) fn reader(&self) -> LogReader {
        match self {
            Self::Kept(log) => log.clone(),
            Self::Held(spool) => spool.reader(),
        }
    }

    /// Whether nothing more will come.
    pub(super) fn is_whole(&self) -> bool {
        match self {
            Self::Kept(_) => true,
            Self::Held(spool) => spool.reached().end == Some(End::Whole),
        }
    }

    /// Whether all is there that was written until somebody asked.
    pub(super) fn is_present(&self) -> bool {
        match self {
            Self::Kept(_) => true,
            Self::Held(spool) => spool.reached().present || self.is_whole(),
        }
    }

    /// Waits until all is there that was written, for a while.
    pub(super) async fn caught_up(&self) {
        if let Self::Held(spool) = self {
            let present = spool.until(|reached| reached.present || reached.end.is_some());
            let _or_not_yet = tokio::time::timeout(ALL, present).await;
        }
    }
}

/// A log that was removed for its age is not shown as one in which nothing stands.
pub(super) async fn still_kept(shared: &Shared, task: &Task) -> Result<()> {
    let logs = shared.settings.rules.retention.logs;
    let Some(before) = logs.before(now()) else { return Ok(()) };
    if task.completed_at.is_none_or(|ended| ended >= before) {
        return Ok(());
    }
    if kept(shared, task).await?.is_some() {
        return Ok(());
    }
    let message = format!("this log is removed: logs are kept for {logs} here");
    Err(Error::new(ErrorCode::NoTaskLogError, message))
}

/// Whether a log of which there is nothing is lost: its task ran, and has ended. What ends as it should has its log
/// kept, also where nothing was written.
pub(super) fn is_lost(task: &Task) -> bool {
    task.state.is_final() && task.started_at.is_some()
}

/// Looks for it. A container that goes away has its log kept before.
pub(super) async fn find(shared: &Arc<Shared>, task: &Task) -> Result<Option<Source>> {
    if let Some(spool) = shared.spools.held(&task.key) {
        return Ok(Some(Source::Held(spool)));
    }
    if let Some(kept) = kept(shared, task).await? {
        return Ok(Some(Source::Kept(kept)));
    }
    let spool = shared.spools.open(shared, task.key, &task.placement.node)?;
    let begun = spool.until(|reached| reached.present || reached.end.is_some());
    let reached = tokio::time::timeout(CATCH_UP, begun).await;
    if reached.is_err() && spool.reached().bytes == 0 && task.state.is_final() {
        // It is known by a failure whether the engine can be asked at all.
        engine_of(&shared.nodes, &task.placement.node).map_err(unavailable)?;
    }
    if spool.reached().end != Some(End::Gone) {
        return Ok(Some(Source::Held(spool)));
    }
    shared.spools.forget(&task.key);
    Ok(kept(shared, task).await?.map(Source::Kept))
}

/// What was kept of it. That some of it is lost is written down once.
pub(super) async fn kept(shared: &Shared, task: &Task) -> Result<Option<LogReader>> {
    let kept = shared.store.storage.kept_log(&task.key).await.map_err(internal)?;
    if let Some(log) = kept.as_ref().filter(|log| log.torn() > 0)
        && shared.spools.is_first_told(task.key)
    {
        let (job, name) = (task.key.job, format!("{}-{}", task.role_name, task.key.index));
        let (torn, left) = (log.torn(), log.bytes());
        tracing::error!(%job, task = name, torn, left, "the end of a kept log is lost");
    }
    Ok(kept)
}

/// All of it, as it is now. What is not at hand is read from the engine and not held: many are read one after
/// the other. `None`: there is nothing of it.
pub(super) async fn whole(
    shared: &Shared,
    task: &Task,
) -> Result<Option<BoxStream<'static, Result<Bytes>>>> {
    let text = |log: LogReader| log.text(0).map_err(internal).boxed();
    let held = shared.spools.held(&task.key).map(Source::Held).filter(Source::is_present);
    if let Some(held) = held {
        return Ok(Some(text(held.reader())));
    }
    if let Some(kept) = kept(shared, task).await? {
        return Ok(Some(text(kept)));
    }
    let engine = engine_of(&shared.nodes, &task.placement.node).map_err(unavailable)?;
    let name = task.key.container_name(&shared.identity.installation);
    match engine.logs(&name, LogRequest::default()).await {
        Ok(chunks) => Ok(Some(chunks.map_ok(|chunk| chunk.bytes).map_err(unavailable).boxed())),
        // It may have gone since the first look: its log is kept before it goes.
        Err(EngineError::NoContainer(_)) => match kept(shared, task).await? {
            Some(kept) => Ok(Some(text(kept))),
            None if is_lost(task) => {
                let message = "this log is lost: its container went away before it was kept";
                Err(Error::new(ErrorCode::NoTaskLogError, message))
            }
            None => Ok(None),
        },
        Err(error) => Err(unavailable(error)),
    }
}

fn unavailable(error: EngineError) -> Error {
    Error::new(ErrorCode::UnavailableError, error.to_string())
}
