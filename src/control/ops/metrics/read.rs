//! What was measured of a task, from its file and from memory.

use api::Result;
use bytes::Bytes;
use protocol::ids::TaskKey;

use crate::error::internal;
use crate::known::metrics::{History, Part};
use crate::shared::Shared;

/// None: nothing was.
pub(super) async fn history(shared: &Shared, key: &TaskKey) -> Result<Option<History>> {
    // What is kept meanwhile is in both, never in neither.
    let part = shared.readings.measured.part(key);
    let kept = shared.store.storage.kept_metrics(key).await.map_err(internal)?;
    Ok(whole(part, kept))
}

/// What is kept and what is not yet, together.
pub(super) fn whole(part: Option<Part>, kept: Option<Bytes>) -> Option<History> {
    let kept = kept.and_then(|kept| History::from_bytes(&kept));
    match part {
        Some(part) => Some(part.onto(kept)),
        None => kept,
    }
}
