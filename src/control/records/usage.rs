//! What jobs have used, by day: counted once they have ended, and kept when they are forgotten.

use std::collections::{BTreeMap, HashMap};

use database::Transaction;
use database::jobs::JobRow;
use database::tasks::Task;
use database::usage::{Usage, UsageKey};
use protocol::ids::{GpuType, JobId, NodeName};
use protocol::resources::Gpu;
use protocol::time::Timestamp;

use crate::known::cluster::capacity;
use crate::shared::Shared;

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

type Uses = BTreeMap<UsageKey, Usage>;

/// What some jobs have used that have ended, each by itself.
#[derive(Debug, Default)]
pub(crate) struct Used(Vec<(JobId, Uses)>);

/// Reads it. What has ended changes no more.
pub(crate) async fn of(shared: &Shared, jobs: &[JobRow]) -> Result<Used, database::Error> {
    let ids: Vec<JobId> = jobs.iter().map(|job| job.id).collect();
    let tasks = database::tasks::of_jobs(shared.database.read(), &ids).await?;
    let gpus = gpus_of(shared, &tasks);
    let type_of = |node: &NodeName, index: u32| {
        let gpu = gpus.get(node)?.iter().find(|gpu| gpu.index == index)?;
        Some(gpu.gpu_type.clone())
    };
    let mut of_jobs: HashMap<JobId, Vec<Task>> = HashMap::new();
    for task in tasks {
        of_jobs.entry(task.key.job).or_default().push(task);
    }
    let used = jobs.iter().map(|job| {
        let tasks = of_jobs.remove(&job.id).unwrap_or_default();
        (job.id, used_by(job, &tasks, type_of))
    });
    Ok(Used(used.collect()))
}

/// The GPUs of the nodes on which these tasks ran, of those that are still known.
fn gpus_of(shared: &Shared, tasks: &[Task]) -> HashMap<NodeName, Vec<Gpu>> {
    let cluster = shared.cluster();
    let mut gpus: HashMap<NodeName, Vec<Gpu>> = HashMap::new();
    for name in tasks.iter().map(|task| &task.placement.node) {
        let there = || cluster.node(name).map(|node| capacity(node).gpus).unwrap_or_default();
        gpus.entry(name.clone()).or_insert_with(there);
    }
    gpus
}

impl Used {
    /// Of these as well, of which nothing is known.
    pub(crate) fn and_nothing_of(mut self, jobs: Vec<JobId>) -> Self {
        self.0.extend(jobs.into_iter().map(|job| (job, Uses::new())));
        self
    }

    /// Adds what of it was not added before.
    pub(crate) async fn add(&self, transaction: &Transaction) -> Result<(), database::Error> {
        let ids: Vec<JobId> = self.0.iter().map(|(job, _)| *job).collect();
        let new = database::usage::mark(transaction, &ids).await?;
        let mut sum = Uses::new();
        for (_, uses) in self.0.iter().filter(|(job, _)| new.contains(job)) {
            for (key, usage) in uses {
                sum.entry(key.clone()).or_default().add(*usage);
            }
        }
        database::usage::add(transaction, &sum).await
    }
}

/// What a job has used that has ended, all attempts and runs of its tasks.
fn used_by(
    job: &JobRow,
    tasks: &[Task],
    type_of: impl Fn(&NodeName, u32) -> Option<GpuType>,
) -> Uses {
    let key = |day, gpu_type| UsageKey {
        day,
        user: job.key.user.clone(),
        virtual_cluster: job.virtual_cluster.clone(),
        gpu_type,
    };
    let ended = job.completed_at.unwrap_or(job.submitted_at);
    let (mut uses, mut by_type) = (Uses::new(), BTreeMap::<Option<GpuType>, u64>::new());
    for task in tasks {
        let (Some(from), Some(until)) = (task.started_at, task.completed_at) else { continue };
        // A node's clock may be wrong: it is no job's use beyond its own life.
        let (from, until) = (from.max(job.submitted_at), until.min(ended));
        let of_each = task.resources.gpus.milli() / (task.placement.gpus.len() as u64).max(1);
        for gpu in &task.placement.gpus {
            let gpu_type = type_of(&task.placement.node, *gpu);
            for (day, millis) in days(from, until) {
                let gpu_ms = of_each.saturating_mul(millis) / 1_000;
                let usage = Usage { jobs: 0, gpu_ms };
                uses.entry(key(day, gpu_type.clone())).or_default().add(usage);
                *by_type.entry(gpu_type.clone()).or_default() += gpu_ms;
            }
        }
    }
    let most = by_type.into_iter().max_by_key(|(_, gpu_ms)| *gpu_ms);
    let one = Usage { jobs: 1, gpu_ms: 0 };
    uses.entry(key(ended.0.div_euclid(DAY), most.and_then(|(gpu_type, _)| gpu_type)))
        .or_default()
        .add(one);
    uses
}

/// The days of UTC between two moments, and how many milliseconds of each.
fn days(from: Timestamp, until: Timestamp) -> impl Iterator<Item = (i64, u64)> {
    let day = |at: i64| at.div_euclid(DAY);
    let last = until.0.max(from.0);
    (day(from.0)..=day(last)).filter_map(move |day| {
        let (begin, end) = (day * DAY, (day + 1) * DAY);
        let millis = end.min(last) - begin.max(from.0);
        u64::try_from(millis).ok().filter(|millis| *millis > 0).map(|millis| (day, millis))
    })
}

#[cfg(test)]
mod tests {
    use protocol::amount::Amount;
    use protocol::epoch::Epoch;
    use protocol::ids::TaskKey;
    use protocol::placement::TaskPlacement;
    use protocol::resources::Resources;
    use protocol::spec::{Dialect, JobSpec};
    use protocol::state::State;

    use super::*;
    use crate::known::queue::tests::row;

    fn job(ended: i64) -> JobRow {
        let spec = JobSpec::plain("train".parse().unwrap(), Dialect::Pai, Vec::new());
        let row = row(JobId(1), &spec, Timestamp(0));
        JobRow { completed_at: Some(Timestamp(ended)), ..row }
    }

    fn task(attempt: u32, gpus: &[u32], milli: u64, times: (Option<i64>, Option<i64>)) -> Task {
        Task {
            key: TaskKey { job: JobId(1), attempt, role: 0, index: 0, retry: 0 },
            epoch: Epoch::default(),
            role_name: "worker".parse().unwrap(),
            state: State::Succeeded,
            placement: TaskPlacement {
                role: 0,
                index: 0,
                node: "n1".parse().unwrap(),
                address: "10.0.0.1".to_owned(),
                gpus: gpus.to_vec(),
                ports: BTreeMap::new(),
            },
            resources: Resources { gpus: Amount::from_milli(milli), ..Resources::default() },
            container: None,
            progress: None,
            intent: None,
            started_at: times.0.map(Timestamp),
            completed_at: times.1.map(Timestamp),
            exit: None,
        }
    }

    /// GPUs from 4 on are others; the node has no ninth one any more.
    fn type_of(_: &NodeName, index: u32) -> Option<GpuType> {
        let word = match index {
            0..4 => "A100",
            4..8 => "H100",
            _ => return None,
        };
        Some(word.parse().unwrap())
    }

    /// Days and types with jobs and milliseconds.
    fn said(uses: &Uses) -> Vec<(i64, &str, u64, u64)> {
        let said = uses.iter().map(|(key, usage)| {
            (key.day, key.gpu_type.as_ref().map_or("", GpuType::as_str), usage.jobs, usage.gpu_ms)
        });
        said.collect()
    }

    #[test]
    fn gpus_are_counted_day_by_day_and_the_job_when_it_ends() {
        let late = DAY - 10;
        let tasks = [
            task(0, &[0, 1], 2_000, (Some(late), Some(late + 5))),
            task(1, &[0, 4], 2_000, (Some(late), Some(2 * DAY + 3))),
            task(1, &[9], 250, (Some(2 * DAY), Some(2 * DAY + 4))),
            task(1, &[], 0, (Some(i64::MIN), Some(i64::MAX))),
        ];
        let uses = used_by(&job(2 * DAY + 4), &tasks, type_of);
        let day = u64::try_from(DAY).unwrap();
        let expected = [
            (0, "A100", 0, 20),
            (0, "H100", 0, 10),
            (1, "A100", 0, day),
            (1, "H100", 0, day),
            (2, "", 0, 1),
            (2, "A100", 1, 3),
            (2, "H100", 0, 3),
        ];
        assert_eq!(said(&uses), expected);
    }

    #[test]
    fn a_clock_that_is_wrong_makes_no_use_beyond_the_jobs_life() {
        let wrong = [task(0, &[0], 1_000, (Some(i64::MIN), Some(i64::MAX)))];
        let uses = used_by(&job(DAY + 5), &wrong, type_of);
        let day = u64::try_from(DAY).unwrap();
        assert_eq!(said(&uses), [(0, "A100", 0, day), (1, "A100", 1, 5)]);
    }

    #[test]
    fn what_never_ran_or_has_no_gpu_is_one_job() {
        let never = [
            task(0, &[0], 1_000, (None, Some(7))),
            task(0, &[], 0, (Some(1), Some(DAY))),
            task(0, &[0], 1_000, (Some(9), Some(3))),
        ];
        let uses = used_by(&job(5), &never, type_of);
        assert_eq!(said(&uses), [(0, "", 1, 0)]);
        assert_eq!(said(&used_by(&job(5), &[], type_of)), [(0, "", 1, 0)]);
    }
}
