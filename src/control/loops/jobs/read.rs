//! Reads the jobs that hold a place, with their current attempts and tasks.

use database::tasks::Task;
use protocol::ids::JobId;

use super::case::Case;
use crate::known::active::Active;
use crate::shared::Shared;

/// All of them.
pub(super) async fn all(shared: &Shared) -> Result<Vec<Case>, database::Error> {
    let jobs = shared.active.placed(&shared.database).await?;
    let others = shared.damage().jobs().clone();
    let tasks = database::tasks::active_but(shared.database.read(), &others).await?;
    cases(shared, jobs, tasks).await
}

/// Those of these jobs that hold a place.
pub(super) async fn of(shared: &Shared, ids: &[JobId]) -> Result<Vec<Case>, database::Error> {
    let jobs = shared.active.placed_of(&shared.database, ids).await?;
    let tasks = database::tasks::active_of(shared.database.read(), &placed(&jobs)).await?;
    cases(shared, jobs, tasks).await
}

async fn cases(
    shared: &Shared,
    jobs: Vec<Active>,
    tasks: Vec<Task>,
) -> Result<Vec<Case>, database::Error> {
    let attempts = database::attempts::of_jobs(shared.database.read(), &placed(&jobs)).await?;
    Ok(Case::all(jobs, attempts, tasks))
}

fn placed(jobs: &[Active]) -> Vec<JobId> {
    jobs.iter().map(|job| job.row.id).collect()
}
