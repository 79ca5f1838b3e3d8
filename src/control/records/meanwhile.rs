//! What jobs have used that is not counted yet, since they go on or have just ended.

use std::collections::HashSet;

use database::attempts::Attempt;
use database::jobs::JobRow;
use database::tasks::Task;
use database::usage::Usage;
use protocol::ids::{GpuType, JobId, NodeName, UserName};
use protocol::time::Timestamp;

use super::usage::{Loads, Uses, by_job, gpus_of, type_of, used_by};
use crate::known::nodes::KnownNodes;
use crate::records::store::Store;

/// So many jobs that have ended and are not counted yet are looked at: an hour's, but for floods.
const MOST_ENDED: u64 = 2_000;
/// The tasks of so many jobs are read together.
const TOGETHER: usize = 500;

/// What a job has used until it ended, or until now, but for how busy its GPUs were.
pub(crate) fn until(job: &JobRow, tasks: (&[Task], &[Attempt]), now: Timestamp) -> Usage {
    let mut whole = Usage::default();
    for usage in by_then(job, tasks, |_, _| None, now).into_values() {
        whole.add(usage);
    }
    whole
}

/// The same day by day, as if it had ended now where it goes on.
fn by_then(
    job: &JobRow,
    (tasks, attempts): (&[Task], &[Attempt]),
    type_of: impl Fn(&NodeName, u32) -> Option<GpuType>,
    now: Timestamp,
) -> Uses {
    let ended = job.completed_at.unwrap_or(now);
    let job = JobRow { completed_at: Some(ended), ..job.clone() };
    let mut tasks = tasks.to_vec();
    for task in &mut tasks {
        task.completed_at = task.completed_at.or(Some(ended));
    }
    used_by(&job, (&tasks, attempts), type_of, &Loads::new())
}

/// What is used that is not counted yet: by a user's jobs or all, of which some go on and some have just ended. How busy
/// their GPUs were is told once they are counted; so is that they are jobs, and how long they waited.
pub(crate) async fn not_counted(
    store: &Store,
    nodes: &KnownNodes,
    user: Option<&UserName>,
    now: Timestamp,
) -> Result<Uses, database::Error> {
    let reader = store.database.read();
    let mut jobs = database::jobs::begun(reader, user).await?;
    let ended = database::usage::to_count(reader, MOST_ENDED).await?;
    let ended = database::jobs::readable_rows(reader, &ended).await?;
    // One may have ended between the two.
    let over: HashSet<JobId> = ended.iter().map(|job| job.id).collect();
    jobs.retain(|job| !over.contains(&job.id));
    jobs.extend(ended.into_iter().filter(|job| user.is_none_or(|user| job.key.user == *user)));
    let mut sum = Uses::new();
    for jobs in jobs.chunks(TOGETHER) {
        let ids: Vec<JobId> = jobs.iter().map(|job| job.id).collect();
        let mut tasks = by_job(database::tasks::of_jobs(reader, &ids).await?, |task| task.key.job);
        let attempts = database::attempts::readable_of_jobs(reader, &ids).await?;
        let mut attempts = by_job(attempts, |attempt| attempt.job);
        for job in jobs {
            let tasks = tasks.remove(&job.id).unwrap_or_default();
            let attempts = attempts.remove(&job.id).unwrap_or_default();
            let gpus = gpus_of(nodes, &tasks);
            let uses =
                by_then(job, (&tasks, &attempts), |node, gpu| type_of(&gpus, node, gpu), now);
            for (key, usage) in uses {
                let usage = Usage { jobs: 0, queue_ms: 0, ..usage };
                if usage != Usage::default() {
                    sum.entry(key).or_default().add(usage);
                }
            }
        }
    }
    Ok(sum)
}
