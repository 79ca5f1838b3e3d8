//! Reads a container's log until it has ended, whatever happens to its engine in between.

use std::sync::Arc;
use std::time::Duration;

use engine::{ContainerStatus, EngineError, LogRequest};
use protocol::ids::{NodeName, TaskKey};

use super::take::{Place, take};
use super::{End, IDLE, Spool, engine_of};
use crate::shared::Shared;

/// After a failure, and after an engine's stream has ended before its container, it is gone on after
/// so long.
const AGAIN: Duration = Duration::from_millis(500);

/// Runs until the log is whole, its container is gone, or it is let go.
pub(super) async fn run(shared: Arc<Shared>, spool: Arc<Spool>, task: (TaskKey, NodeName)) {
    let mut place = Place::default();
    let end = tokio::select! {
        biased;
        () = spool.stop.cancelled() => End::Gone,
        () = until_idle(&spool) => End::Gone,
        end = read(&shared, &spool, &task, &mut place) => end,
    };
    spool.reach(|reached| reached.end = Some(end));
}

async fn until_idle(spool: &Spool) {
    loop {
        tokio::time::sleep(IDLE.saturating_sub(spool.idle())).await;
        if spool.idle() >= IDLE {
            return;
        }
    }
}

async fn read(
    shared: &Shared,
    spool: &Arc<Spool>,
    task: &(TaskKey, NodeName),
    place: &mut Place,
) -> End {
    loop {
        match pass(shared, spool, task, place).await {
            Ok(Some(end)) => return end,
            Ok(None) => {}
            Err(EngineError::NoContainer(_)) => return End::Gone,
            Err(_) => tokio::time::sleep(AGAIN).await,
        }
    }
}

/// First what was written until now, then what comes, and after the end what is left. Whether the
/// container has ended is asked first: what was written before that is then all read.
async fn pass(
    shared: &Shared,
    spool: &Arc<Spool>,
    (key, node): &(TaskKey, NodeName),
    place: &mut Place,
) -> engine::Result<Option<End>> {
    let engine = engine_of(shared, node)?;
    let name = key.container_name(&shared.installation);
    let Some(container) = engine.inspect(&name).await? else { return Ok(Some(End::Gone)) };
    let ended = match container.status {
        ContainerStatus::Created => {
            spool.reach(|reached| reached.present = true);
            tokio::time::sleep(AGAIN).await;
            return Ok(None);
        }
        ContainerStatus::Running { .. } => false,
        ContainerStatus::Exited { .. } => true,
    };
    let follow = spool.reached().present && !ended;
    let since = place.moment();
    let request = LogRequest { follow, since, stamped: true, ..LogRequest::default() };
    take(spool, engine.logs(&name, request).await?, place).await?;
    spool.reach(|reached| reached.present = true);
    if follow {
        tokio::time::sleep(AGAIN).await;
    }
    Ok(ended.then_some(End::Whole))
}
