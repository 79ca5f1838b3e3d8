//! Where any place of a log can be read: what was read of its container, or what was kept.

use std::sync::Arc;
use std::time::Duration;

use api::{Error, ErrorCode, Result};
use bytes::Bytes;
use database::tasks::Task;
use engine::LogRequest;
use futures::stream::{BoxStream, StreamExt, TryStreamExt};
use storage::LogReader;

use crate::error::internal;
use crate::known::identity::Identity;
use crate::known::nodes::KnownNodes;
use crate::logs::engines::engine_of;
use crate::logs::spools::held::{End, Spool};
use crate::shared::Shared;

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

/// Looks for it. A container that goes away has its log kept before.
pub(super) async fn find(shared: &Arc<Shared>, task: &Task) -> Result<Option<Source>> {
    if let Some(spool) = shared.spools.held(&task.key) {
        return Ok(Some(Source::Held(spool)));
    }
    let kept = shared.store.storage.kept_log(&task.key).await.map_err(internal)?;
    if let Some(kept) = kept {
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
    let kept = shared.store.storage.kept_log(&task.key).await.map_err(internal)?;
    Ok(kept.map(Source::Kept))
}

/// All of it, as it is now.
pub(super) async fn whole(
    identity: &Identity,
    nodes: &KnownNodes,
    task: &Task,
    source: Source,
) -> Result<BoxStream<'static, Result<Bytes>>> {
    if source.is_present() {
        return Ok(source.reader().text(0).map_err(internal).boxed());
    }
    let engine = engine_of(nodes, &task.placement.node).map_err(unavailable)?;
    let name = task.key.container_name(&identity.installation);
    let chunks = engine.logs(&name, LogRequest::default()).await.map_err(unavailable)?;
    Ok(chunks.map_ok(|chunk| chunk.bytes).map_err(unavailable).boxed())
}

fn unavailable(error: engine::EngineError) -> Error {
    Error::new(ErrorCode::UnavailableError, error.to_string())
}
