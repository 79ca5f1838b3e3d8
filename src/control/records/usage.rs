//! What jobs have used, by day: counted once they have ended, and kept when they are forgotten.

use std::collections::{BTreeMap, HashMap};

use api::metrics::Metric;
use database::Transaction;
use database::attempts::Attempt;
use database::jobs::JobRow;
use database::tasks::Task;
use database::usage::{Usage, UsageKey};
use protocol::exit::{Blame, Cause};
use protocol::ids::{GpuType, JobId, NodeName, TaskKey};
use protocol::resources::Gpu;
use protocol::time::Timestamp;

use crate::known::capacity::capacity;
use crate::known::metrics::{Axis, History};
use crate::known::nodes::KnownNodes;
use crate::known::readings::Readings;
use crate::records::store::Store;

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// Points at which it is looked how busy a GPU was.
const POINTS: usize = 500;

/// What was used, by day and type.
pub(super) type Uses = BTreeMap<UsageKey, Usage>;
/// How busy the GPUs of tasks were, in thousandths, where that was measured.
pub(super) type Loads = HashMap<(TaskKey, u32), u64>;

/// What some jobs have used that have ended, each by itself.
#[derive(Debug, Default)]
pub(crate) struct Used(Vec<(JobId, Uses)>);

/// Reads it. What has ended changes no more.
pub(crate) async fn of(
    store: &Store,
    nodes: &KnownNodes,
    readings: &Readings,
    jobs: &[JobRow],
) -> Result<Used, database::Error> {
    let ids: Vec<JobId> = jobs.iter().map(|job| job.id).collect();
    let tasks = database::tasks::of_jobs(store.database.read(), &ids).await?;
    let attempts = database::attempts::readable_of_jobs(store.database.read(), &ids).await?;
    let (gpus, loads) = (gpus_of(nodes, &tasks), loads(store, readings, &tasks).await);
    let mut of_jobs = by_job(tasks, |task| task.key.job);
    let mut tried = by_job(attempts, |attempt| attempt.job);
    let used = jobs.iter().map(|job| {
        let tasks = of_jobs.remove(&job.id).unwrap_or_default();
        let attempts = tried.remove(&job.id).unwrap_or_default();
        let type_of = |node: &NodeName, index| type_of(&gpus, node, index);
        (job.id, used_by(job, (&tasks, &attempts), type_of, &loads))
    });
    Ok(Used(used.collect()))
}

/// The GPUs of the nodes on which these tasks ran, of those that are still known.
pub(super) fn gpus_of(nodes: &KnownNodes, tasks: &[Task]) -> HashMap<NodeName, Vec<Gpu>> {
    let cluster = nodes.cluster();
    let mut gpus: HashMap<NodeName, Vec<Gpu>> = HashMap::new();
    for name in tasks.iter().map(|task| &task.placement.node) {
        let there = || cluster.node(name).map(|node| capacity(node).gpus).unwrap_or_default();
        gpus.entry(name.clone()).or_insert_with(there);
    }
    gpus
}

/// How busy the GPUs of these tasks were. What cannot be read now was not measured.
async fn loads(store: &Store, readings: &Readings, tasks: &[Task]) -> Loads {
    let mut loads = Loads::new();
    for task in tasks.iter().filter(|task| !task.placement.gpus.is_empty()) {
        let (Some(from), Some(until)) = (task.started_at, task.completed_at) else { continue };
        // What is kept meanwhile is in both, never in neither.
        let part = readings.measured.part(&task.key);
        let kept = store.storage.kept_metrics(&task.key).await.unwrap_or_else(|error| {
            tracing::debug!(%error, "how busy a job's GPUs were cannot be read");
            None
        });
        let kept = kept.and_then(|kept| History::from_bytes(&kept));
        let history = match part {
            Some(part) => Some(part.onto(kept)),
            None => kept,
        };
        let Some(history) = history else { continue };
        // A node's clock may be wrong.
        let from = from.0.max(history.since());
        let axis = Axis::new(from, until.0.max(from), POINTS);
        for (at, gpu) in history.gpus().iter().enumerate() {
            let column = Metric::OF_TASK.len() + at * Metric::OF_GPU.len();
            if let Some(load) = mean(&history.on(axis, column)) {
                loads.insert((task.key, *gpu), load);
            }
        }
    }
    loads
}

/// The mean of what was measured in percent, in thousandths.
fn mean(percents: &[Option<f32>]) -> Option<u64> {
    let known: Vec<f32> = percents.iter().copied().flatten().collect();
    let mean = known.iter().sum::<f32>() / known.len() as f32;
    (!known.is_empty()).then(|| (mean.clamp(0.0, 100.0) * 10.0).round() as u64)
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

/// What becomes of the time for which an attempt held GPUs.
#[derive(Debug, Clone, Copy)]
enum Lost {
    /// It is of use.
    Nothing,
    /// The attempt gave way.
    Preempted,
    /// It failed.
    Wasted,
}

fn lost(attempts: &[Attempt], number: u32) -> Lost {
    let attempt = attempts.iter().find(|attempt| attempt.number == number);
    let Some(exit) = attempt.and_then(|attempt| attempt.exit.as_ref()) else {
        return Lost::Nothing;
    };
    if matches!(exit.cause, Cause::Preempted | Cause::NodeDrained { .. }) {
        return Lost::Preempted;
    }
    match exit.cause.blame() {
        Blame::User | Blame::Platform => Lost::Wasted,
        Blame::None | Blame::Stop => Lost::Nothing,
    }
}

/// For how many milliseconds a job has waited: before each attempt, and at its end if it had none then.
fn waited(job: &JobRow, attempts: &[Attempt], ended: Timestamp) -> u64 {
    let (mut since, mut waited) = (job.submitted_at, 0);
    for attempt in attempts {
        waited += attempt.placed_at.since(since);
        since = attempt.completed_at.unwrap_or(ended).max(since);
    }
    waited += ended.since(since);
    waited.unsigned_abs()
}

/// What a job has used that has ended, all attempts and runs of its tasks.
pub(super) fn used_by(
    job: &JobRow,
    (tasks, attempts): (&[Task], &[Attempt]),
    type_of: impl Fn(&NodeName, u32) -> Option<GpuType>,
    loads: &Loads,
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
        let lost = lost(attempts, task.key.attempt);
        for gpu in &task.placement.gpus {
            let gpu_type = type_of(&task.placement.node, *gpu);
            let load = loads.get(&(task.key, *gpu)).copied();
            for (day, millis) in days(from, until) {
                let gpu_ms = of_each.saturating_mul(millis) / 1_000;
                let usage = held(gpu_ms, load, lost);
                uses.entry(key(day, gpu_type.clone())).or_default().add(usage);
                *by_type.entry(gpu_type.clone()).or_default() += gpu_ms;
            }
        }
    }
    let most = by_type.into_iter().max_by_key(|(_, gpu_ms)| *gpu_ms);
    let most = most.and_then(|(gpu_type, _)| gpu_type);
    let one = Usage { jobs: 1, queue_ms: waited(job, attempts, ended), ..Usage::default() };
    uses.entry(key(ended.0.div_euclid(DAY), most.clone())).or_default().add(one);
    let wanted = most.or_else(|| job.gpu_types.first().cloned());
    for (day, usage) in asked(job, ended) {
        uses.entry(key(day, wanted.clone())).or_default().add(usage);
    }
    uses
}

pub(super) fn by_job<T>(all: Vec<T>, job: impl Fn(&T) -> JobId) -> HashMap<JobId, Vec<T>> {
    let mut of_jobs: HashMap<JobId, Vec<T>> = HashMap::new();
    for one in all {
        of_jobs.entry(job(&one)).or_default().push(one);
    }
    of_jobs
}

pub(super) fn type_of(
    gpus: &HashMap<NodeName, Vec<Gpu>>,
    node: &NodeName,
    index: u32,
) -> Option<GpuType> {
    let gpu = gpus.get(node)?.iter().find(|gpu| gpu.index == index)?;
    Some(gpu.gpu_type.clone())
}

/// For how long a job wanted its GPUs, day by day: while it waited as well.
fn asked(job: &JobRow, ended: Timestamp) -> impl Iterator<Item = (i64, Usage)> {
    let gpus = job.gpus.milli();
    let days = days(job.submitted_at, ended).filter(move |_| gpus > 0);
    days.map(move |(day, millis)| {
        let asked_ms = gpus.saturating_mul(millis) / 1_000;
        (day, Usage { asked_ms, ..Usage::default() })
    })
}

/// What it comes to that a GPU was held for so long.
fn held(gpu_ms: u64, load: Option<u64>, lost: Lost) -> Usage {
    let mut usage = Usage { gpu_ms, ..Usage::default() };
    if let Some(load) = load {
        (usage.measured_ms, usage.used_ms) = (gpu_ms, gpu_ms.saturating_mul(load) / 1_000);
    }
    match lost {
        Lost::Nothing => {}
        Lost::Preempted => usage.preempted_ms = gpu_ms,
        Lost::Wasted => usage.wasted_ms = gpu_ms,
    }
    usage
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
    use protocol::exit::Exit;
    use protocol::placement::{TaskPlacement, TaskPorts};
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
                ports: TaskPorts::default(),
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
        let uses = used_by(&job(2 * DAY + 4), (&tasks, &[]), type_of, &Loads::new());
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
        let uses = used_by(&job(DAY + 5), (&wrong, &[]), type_of, &Loads::new());
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
        let uses = used_by(&job(5), (&never, &[]), type_of, &Loads::new());
        assert_eq!(said(&uses), [(0, "", 1, 0)]);
        let nothing = used_by(&job(5), (&[], &[]), type_of, &Loads::new());
        assert_eq!(said(&nothing), [(0, "", 1, 0)]);
    }

    /// An attempt that was placed and ended then, so.
    fn attempt(number: u32, (placed, ended): (i64, i64), cause: Cause) -> Attempt {
        Attempt {
            job: JobId(1),
            number,
            state: State::Failed,
            borrowed: false,
            placed_at: Timestamp(placed),
            started_at: Some(Timestamp(placed)),
            completed_at: Some(Timestamp(ended)),
            exit: Some(Exit { code: None, cause, evidence: Vec::new() }.into()),
            lease: None,
            weighed_milli: None,
        }
    }

    #[test]
    fn what_was_busy_lost_and_waited_for_is_counted() {
        let tasks = [
            task(0, &[0], 1_000, (Some(10), Some(20))),
            task(1, &[0], 1_000, (Some(30), Some(50))),
            task(2, &[0, 1], 2_000, (Some(55), Some(95))),
        ];
        let attempts = [
            attempt(0, (10, 20), Cause::Preempted),
            attempt(1, (30, 50), Cause::CommandFailed),
            attempt(2, (55, 95), Cause::Succeeded),
        ];
        let loads = Loads::from([((tasks[2].key, 0), 750)]);
        let uses = used_by(&job(100), (&tasks, &attempts), type_of, &loads);
        let [usage] = uses.values().collect::<Vec<_>>()[..] else { panic!("{uses:?}") };
        let expected = Usage {
            jobs: 1,
            gpu_ms: 110,
            used_ms: 30,
            measured_ms: 40,
            preempted_ms: 10,
            wasted_ms: 20,
            queue_ms: 10 + 10 + 5 + 5,
            asked_ms: 0,
        };
        assert_eq!(*usage, expected);
    }

    #[test]
    fn gpus_are_asked_for_from_the_first_day_to_the_last() {
        let job = JobRow { gpus: Amount::from_milli(1_500), ..job(DAY + 10) };
        let tasks = [task(0, &[4], 1_000, (Some(DAY + 2), Some(DAY + 8)))];
        let asked = |uses: &Uses| -> Vec<(i64, String, u64, u64)> {
            let said = uses.iter().map(|(key, usage)| {
                let gpu_type = key.gpu_type.as_ref().map(ToString::to_string);
                (key.day, gpu_type.unwrap_or_default(), usage.gpu_ms, usage.asked_ms)
            });
            said.collect()
        };
        let day = u64::try_from(DAY).unwrap();
        let ran = used_by(&job, (&tasks, &[]), type_of, &Loads::new());
        let expected = [(0, "H100".to_owned(), 0, day * 3 / 2), (1, "H100".to_owned(), 6, 15)];
        assert_eq!(asked(&ran), expected);
        let types = vec!["A100".parse().unwrap(), "H100".parse().unwrap()];
        let wanted = JobRow { gpu_types: types, completed_at: Some(Timestamp(4)), ..job };
        let never = used_by(&wanted, (&[], &[]), type_of, &Loads::new());
        let expected = [(0, String::new(), 0, 0), (0, "A100".to_owned(), 0, 6)];
        assert_eq!(asked(&never), expected, "it ended without any, and wanted that type first");
    }

    #[test]
    fn what_was_not_measured_has_no_mean() {
        assert_eq!(mean(&[None, None]), None);
        assert_eq!(mean(&[Some(50.0), None, Some(100.0), Some(0.0)]), Some(500));
        assert_eq!(mean(&[Some(120.0)]), Some(1_000));
    }
}
