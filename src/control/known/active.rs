//! Jobs that have not ended, as the loops read them in each pass: without those that are left alone
//! for what cannot be read of them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use database::jobs::JobRow;
use protocol::ids::JobId;
use protocol::spec::JobSpec;
use protocol::state::State;

use crate::shared::Shared;

/// A job that has not ended.
#[derive(Debug, Clone)]
pub(crate) struct Active {
    /// How far it has come.
    pub(crate) row: JobRow,
    /// What it is; read once, since it never changes.
    pub(crate) spec: Arc<JobSpec>,
}

/// All jobs that have not ended, oldest first.
pub(crate) async fn jobs(shared: &Shared) -> Result<Vec<Active>, database::Error> {
    let others = shared.damage().jobs().clone();
    let rows = database::jobs::active_but(shared.database.read(), &others).await?;
    let active = with_specs(shared, rows).await?;
    let ids: HashSet<JobId> = active.iter().map(|job| job.row.id).collect();
    shared.keep_specs(|id| ids.contains(&id));
    Ok(active)
}

/// Those of them that have been given their place.
pub(crate) async fn placed(shared: &Shared) -> Result<Vec<Active>, database::Error> {
    let others = shared.damage().jobs().clone();
    with_specs(shared, database::jobs::placed_but(shared.database.read(), &others).await?).await
}

/// Those of these jobs that have been given their place and have not ended.
pub(crate) async fn placed_of(
    shared: &Shared,
    ids: &[JobId],
) -> Result<Vec<Active>, database::Error> {
    let mut rows = database::jobs::rows(shared.database.read(), &readable(shared, ids)).await?;
    rows.retain(|row| !row.state.is_final() && row.state != State::Waiting);
    with_specs(shared, rows).await
}

/// Those of these jobs that have not ended.
pub(crate) async fn of(shared: &Shared, ids: &[JobId]) -> Result<Vec<Active>, database::Error> {
    let mut rows = database::jobs::rows(shared.database.read(), &readable(shared, ids)).await?;
    rows.retain(|row| !row.state.is_final());
    with_specs(shared, rows).await
}

/// Those of them that are not left alone for what cannot be read of them.
fn readable(shared: &Shared, ids: &[JobId]) -> Vec<JobId> {
    let damage = shared.damage();
    ids.iter().copied().filter(|id| !damage.jobs().contains(id)).collect()
}

/// Each with its spec, whatever is forgotten of others' specs meanwhile.
async fn with_specs(shared: &Shared, rows: Vec<JobRow>) -> Result<Vec<Active>, database::Error> {
    let known = rows.iter().filter_map(|row| Some((row.id, shared.spec(row.id)?)));
    let mut specs: HashMap<JobId, Arc<JobSpec>> = known.collect();
    let missing = rows.iter().map(|row| row.id).filter(|id| !specs.contains_key(id));
    let missing: Vec<JobId> = missing.collect();
    if !missing.is_empty() {
        for job in database::jobs::by_ids(shared.database.read(), &missing).await? {
            specs.insert(job.row.id, shared.learn_spec(job.row.id, job.spec));
        }
    }
    let active = rows.into_iter().filter_map(|row| {
        let spec = specs.remove(&row.id)?;
        Some(Active { row, spec })
    });
    Ok(active.collect())
}
