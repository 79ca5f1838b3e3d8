//! How long jobs have run, for the scheduler to expect how long the next ones will.

use std::collections::HashMap;

use database::attempts::Attempt;
use database::jobs::{JobFilter, JobOrder, JobRow};
use protocol::exit::{Blame, Exit};
use protocol::ids::JobId;
use protocol::state::State;
use scheduler::Like;

use crate::shared::{Shared, lock};

/// Ended jobs that are remembered from before the server started.
const REMEMBERED: u64 = 2_000;

/// Remembers the jobs that ended last, the latest of them last.
pub(crate) async fn remember(shared: &Shared) -> Result<(), database::Error> {
    let filter = JobFilter {
        states: vec![State::Succeeded, State::Failed],
        order: JobOrder::Completed,
        limit: REMEMBERED,
        ..JobFilter::default()
    };
    let (jobs, _) = database::jobs::list(shared.database.read(), &filter).await?;
    let ids: Vec<JobId> = jobs.iter().map(|job| job.id).collect();
    let attempts = database::attempts::of_jobs(shared.database.read(), &ids).await?;
    // By number, so that of a job's attempts the last one stays.
    let last: HashMap<JobId, Attempt> =
        attempts.into_iter().map(|attempt| (attempt.job, attempt)).collect();
    for job in jobs.iter().rev() {
        let ran = last.get(&job.id).and_then(|attempt| {
            Some(attempt.completed_at?.since(attempt.started_at?)).zip(attempt.exit.as_ref())
        });
        if let Some((ran_ms, exit)) = ran {
            note(shared, job, exit, ran_ms);
        }
    }
    Ok(())
}

/// A job has ended after so many milliseconds. What the platform or a person ended says nothing of
/// how long it would have run.
pub(crate) fn note(shared: &Shared, job: &JobRow, exit: &Exit, ran_ms: i64) {
    match exit.cause.blame() {
        Blame::None | Blame::User => lock(&shared.past).record(like(job), ran_ms),
        Blame::Platform | Blame::Stop => {}
    }
}

/// What makes runs like those of a job.
pub(crate) fn like(job: &JobRow) -> Like {
    let (virtual_cluster, user) = (job.virtual_cluster.clone(), job.key.user.clone());
    Like { virtual_cluster, user, gpus: job.gpus }
}
