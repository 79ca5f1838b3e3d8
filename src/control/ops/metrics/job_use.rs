//! What a job came to: from the records of its attempts, and from what was measured of their tasks.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use api::Result;
use api::metrics::{Extent, JobUse, Metric, RoleUse};
use database::jobs::JobRow;
use database::tasks::Task;
use futures::{StreamExt, TryStreamExt};

use super::read;
use crate::known::metrics::{History, Sum};
use crate::records::meanwhile;
use crate::shared::Shared;
use crate::wake::now;

/// Runs of tasks of which it is looked what they used, the last ones.
const MOST_RUNS: usize = 128;
/// So many files are read at the same time.
const AT_ONCE: usize = 8;
/// What was measured for less, in milliseconds, says nothing of a GPU's idleness.
const LONG: i64 = 600_000;
/// A GPU that was never busy for so many percent did nothing.
const LEAST: f32 = 1.0;
/// Milliseconds of an hour.
const HOUR: f64 = 3_600_000.0;

/// Of a job until its end, or until now.
pub(super) async fn of(shared: &Shared, job: &JobRow) -> Result<JobUse> {
    let (reader, ids) = (shared.store.database.read(), [job.id]);
    let attempts = database::attempts::readable_of_jobs(reader, &ids).await?;
    let mut tasks = database::tasks::of_jobs(reader, &ids).await?;
    let whole = meanwhile::until(job, (&tasks, &attempts), now());
    tasks.retain(|task| task.started_at.is_some());
    tasks.sort_by_key(|task| Reverse((task.key.attempt, task.key.retry, task.key)));
    let last = tasks.first().map(|task| task.key.attempt);
    let of_runs = tasks.len();
    tasks.truncate(MOST_RUNS);
    let runs = tasks.len();
    let mut read = Vec::new();
    for task in tasks {
        read.push(async move {
            let history = read::history(shared, &task.key).await?;
            Ok::<_, api::Error>((task, history))
        });
    }
    let read = futures::stream::iter(read).buffer_unordered(AT_ONCE);
    let mut read = std::pin::pin!(read);
    let mut all = All::default();
    while let Some((task, history)) = read.try_next().await? {
        if let Some(history) = history {
            all.add(&task, &history, Some(task.key.attempt) == last);
        }
    }
    Ok(JobUse {
        asked_gpu_seconds: whole.asked_ms / 1_000,
        held_gpu_seconds: whole.gpu_ms / 1_000,
        lost_gpu_seconds: (whole.preempted_ms + whole.wasted_ms) / 1_000,
        queue_seconds: whole.queue_ms / 1_000,
        runs: u32::try_from(runs).unwrap_or(u32::MAX),
        of_runs: u32::try_from(of_runs).unwrap_or(u32::MAX),
        ..all.together()
    })
}

/// What was measured of all that was looked at.
#[derive(Debug, Default)]
struct All {
    load: Sum,
    power: Sum,
    roles: BTreeMap<u32, OfRole>,
}

/// What was measured of the tasks of a role.
#[derive(Debug)]
struct OfRole {
    /// What is told of it but what follows.
    told: RoleUse,
    cpus: Sum,
    memory: Sum,
    load: Sum,
    gpu_memory: Sum,
    longest: i64,
}

impl OfRole {
    fn new(task: &Task) -> Self {
        let told = RoleUse {
            role: task.role_name.clone(),
            asked: task.resources,
            longest: 0,
            cpus: None,
            memory: None,
            gpu_load: None,
            gpu_memory: None,
            gpus: 0,
            idle_gpus: 0,
        };
        let [cpus, memory, load, gpu_memory] = [Sum::default(); 4];
        Self { told, cpus, memory, load, gpu_memory, longest: 0 }
    }

    fn together(self) -> RoleUse {
        let extent = |sum: Sum| Some(Extent { mean: sum.mean()?, most: sum.most });
        RoleUse {
            longest: u64::try_from(self.longest / 1_000).unwrap_or(0),
            cpus: extent(self.cpus),
            memory: extent(self.memory),
            gpu_load: extent(self.load),
            gpu_memory: extent(self.gpu_memory),
            ..self.told
        }
    }
}

impl All {
    /// What one run of a task used, be it of the last attempt.
    fn add(&mut self, task: &Task, history: &History, is_last: bool) {
        let role = self.roles.entry(task.key.role).or_insert_with(|| OfRole::new(task));
        let of_task = |metric| history.sum(place(&Metric::OF_TASK, metric));
        let cpus = of_task(Metric::Cpus);
        role.longest = role.longest.max(cpus.known_ms);
        role.cpus.add(cpus);
        role.memory.add(of_task(Metric::Memory));
        for at in 0..history.gpus().len() {
            let first = Metric::OF_TASK.len() + at * Metric::OF_GPU.len();
            let of_gpu = |metric| history.sum(first + place(&Metric::OF_GPU, metric));
            let load = of_gpu(Metric::GpuLoad);
            role.load.add(load);
            role.gpu_memory.add(of_gpu(Metric::GpuMemory));
            self.load.add(load);
            self.power.add(of_gpu(Metric::GpuPower));
            if is_last && load.known_ms >= LONG {
                role.told.gpus += 1;
                role.told.idle_gpus += u32::from(load.most < LEAST);
            }
        }
    }

    fn together(self) -> JobUse {
        // A percent of a millisecond is a hundredth of it.
        let busy = self.load.whole / 100.0 / 1_000.0;
        let is_measured = |role: &RoleUse| role.cpus.is_some() || role.gpu_load.is_some();
        JobUse {
            measured_gpu_seconds: u64::try_from(self.load.known_ms / 1_000).unwrap_or(0),
            busy_gpu_seconds: busy.round() as u64,
            energy_wh: self.power.mean().map(|_| self.power.whole / HOUR),
            roles: self.roles.into_values().map(OfRole::together).filter(is_measured).collect(),
            ..JobUse::default()
        }
    }
}

/// Where a metric stands among others.
fn place(among: &[Metric], metric: Metric) -> usize {
    among.iter().position(|one| *one == metric).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use protocol::amount::Amount;
    use protocol::epoch::Epoch;
    use protocol::ids::{JobId, TaskKey};
    use protocol::placement::{TaskPlacement, TaskPorts};
    use protocol::resources::Resources;
    use protocol::state::State;
    use protocol::time::Timestamp;

    use super::*;
    use crate::known::metrics::FINEST;

    /// 2026-01-01.
    const START: i64 = 1_767_225_600_000;

    fn task(role: &str, number: u32, attempt: u32) -> Task {
        Task {
            key: TaskKey { job: JobId(1), attempt, role: number, index: 0, retry: 0 },
            epoch: Epoch::default(),
            role_name: role.parse().unwrap(),
            state: State::Succeeded,
            placement: TaskPlacement {
                role: number,
                index: 0,
                node: "n1".parse().unwrap(),
                address: "10.0.0.1".to_owned(),
                gpus: vec![0, 1],
                ports: TaskPorts::default(),
            },
            resources: Resources { cpus: 8, gpus: Amount::whole(2), ..Resources::default() },
            container: None,
            progress: None,
            intent: None,
            started_at: Some(Timestamp(START)),
            completed_at: None,
            exit: None,
        }
    }

    /// Two cores, 1 GB, and GPUs of 300 W: so busy, for so many minutes.
    fn history(loads: [f32; 2], minutes: i64) -> History {
        let mut history = History::new(START, vec![0, 1]);
        let gpu = |load| [Some(load), Some(5e9), Some(300.0), None, None, None, None];
        let [one, other] = loads.map(gpu);
        let task = [Some(2.0), Some(1e9), None, None, None, None];
        let row = [&task[..], &one, &other].concat();
        for step in 0..minutes * 6 {
            history.push(START + step * FINEST, &row);
        }
        history
    }

    #[test]
    fn a_job_is_what_its_runs_came_to() {
        let mut all = All::default();
        all.add(&task("worker", 0, 0), &history([0.0, 0.0], 30), false);
        all.add(&task("worker", 0, 1), &history([100.0, 0.0], 30), true);
        all.add(&task("ps", 1, 1), &history([50.0, 50.0], 5), true);
        let told = all.together();
        // Each of four GPUs for half an hour, and of two for five minutes.
        assert_eq!(told.measured_gpu_seconds, 4 * 1_800 + 2 * 300);
        assert_eq!(told.busy_gpu_seconds, 1_800 + 300);
        let energy = told.energy_wh.unwrap();
        assert!((energy - 300.0 * (2.0 + 1.0 / 6.0)).abs() < 1.0, "{energy}");
        let [worker, server] = told.roles.as_slice() else { panic!("{told:?}") };
        assert_eq!((worker.role.as_str(), worker.longest), ("worker", 1_800));
        assert_eq!(worker.gpu_load, Some(Extent { mean: 25.0, most: 100.0 }));
        assert_eq!((worker.gpus, worker.idle_gpus), (2, 1), "of the last attempt alone");
        assert_eq!((server.gpus, server.idle_gpus), (0, 0), "it is too early to tell");
        assert_eq!(server.cpus, Some(Extent { mean: 2.0, most: 2.0 }));
    }

    #[test]
    fn nothing_is_made_up_where_nothing_was_measured() {
        let mut all = All::default();
        all.add(&task("worker", 0, 0), &History::new(START, vec![0, 1]), true);
        assert_eq!(all.together(), JobUse::default());
    }
}
