//! Reads the jobs that hold a place, with their current attempts and tasks.

use database::tasks::Task;
use protocol::ids::JobId;

use super::case::Case;
use crate::known::active::Active;
use crate::known::jobs::KnownJobs;
use crate::records::store::Store;

/// All of them.
pub(super) async fn all(
    store: &Store,
    known_jobs: &KnownJobs,
) -> Result<Vec<Case>, database::Error> {
    let jobs = known_jobs.active.placed(&store.database).await?;
    let others = known_jobs.active.damage().jobs().clone();
    let tasks = database::tasks::active_but(store.database.read(), &others).await?;
    cases(store, jobs, tasks).await
}

/// Those of these jobs that hold a place.
pub(super) async fn of(
    store: &Store,
    known_jobs: &KnownJobs,
    ids: &[JobId],
) -> Result<Vec<Case>, database::Error> {
    let jobs = known_jobs.active.placed_of(&store.database, ids).await?;
    let tasks = database::tasks::active_of(store.database.read(), &placed(&jobs)).await?;
    cases(store, jobs, tasks).await
}

async fn cases(
    store: &Store,
    jobs: Vec<Active>,
    tasks: Vec<Task>,
) -> Result<Vec<Case>, database::Error> {
    let attempts = database::attempts::of_jobs(store.database.read(), &placed(&jobs)).await?;
    Ok(Case::all(jobs, attempts, tasks))
}

fn placed(jobs: &[Active]) -> Vec<JobId> {
    jobs.iter().map(|job| job.row.id).collect()
}
