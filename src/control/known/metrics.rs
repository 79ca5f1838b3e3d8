//! What running tasks use, as it is measured. In memory is only what their files do not have yet, so that
//! it matters little how many there are and for how long they run.

mod fresh;
mod history;
mod idle;
mod level;
mod short;

use std::collections::HashMap;
use std::sync::Mutex;

use api::metrics::{IdleGpu, Metric};
use engine::Stats;
use engine::exporter::GpuSample;
use protocol::ids::TaskKey;
use protocol::time::Timestamp;

pub(crate) use history::{Axis, FINEST, History};

use crate::shared::lock;
use fresh::Fresh;
use history::MOST_GPUS;
use idle::Idle;

/// What is measured is kept so often while its task runs, in milliseconds.
const KEPT_EVERY: i64 = 300_000;
/// What running tasks use, since it was kept last.
#[derive(Debug, Default)]
pub(crate) struct Measured(Mutex<HashMap<TaskKey, Held>>);

#[derive(Debug)]
struct Held {
    part: Part,
    /// What was counted up to the last time, and when that was.
    last: Option<(Timestamp, Stats)>,
    /// Of each of its GPUs for how long it does nothing.
    idle: Vec<Idle>,
    /// When it was kept.
    kept: i64,
}

/// What was measured of a task and is not in its file yet.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    /// When the first was measured, of the file as well.
    since: i64,
    /// Indices of its GPUs on the node.
    gpus: Vec<u32>,
    fresh: Fresh,
}

impl Part {
    /// Together with what its file has, if there is one.
    pub(crate) fn onto(&self, kept: Option<History>) -> History {
        let kept = kept.filter(|kept| kept.gpus() == self.gpus);
        let mut history = kept.unwrap_or_else(|| History::new(self.since, self.gpus.clone()));
        self.fresh.add_to(&mut history);
        history
    }
}

/// A task of which it is time to keep what was measured.
#[derive(Debug)]
pub(crate) struct ToKeep {
    pub(crate) key: TaskKey,
    /// It does not run any more.
    ended: bool,
}

impl Measured {
    pub(crate) fn holds(&self, key: &TaskKey) -> bool {
        lock(&self.0).contains_key(key)
    }

    /// Begins to note what a task uses that has these GPUs and was measured since then.
    pub(crate) fn begin(&self, key: TaskKey, since: i64, mut gpus: Vec<u32>, now: Timestamp) {
        gpus.truncate(MOST_GPUS);
        // They are not all kept at the same time.
        let turn = (key.job.0 * 31 + i64::from(key.index) * 7).rem_euclid(KEPT_EVERY / FINEST);
        let kept = now.0 - turn * FINEST;
        let idle = vec![Idle::default(); gpus.len()];
        let part = Part { since, gpus, fresh: Fresh::default() };
        lock(&self.0).entry(key).or_insert(Held { part, last: None, idle, kept });
    }

    /// Notes what a task and its GPUs used when they were asked.
    pub(crate) fn note(&self, key: &TaskKey, at: Timestamp, stats: &Stats, gpus: &[GpuSample]) {
        let mut all = lock(&self.0);
        let Some(held) = all.get_mut(key) else { return };
        let of_task = of_task(stats, at, held.last.replace((at, *stats)));
        let of_index = |index: &u32| gpus.iter().find(|sample| sample.index == Some(*index));
        for (index, idle) in held.part.gpus.iter().zip(&mut held.idle) {
            idle.note(of_index(index).and_then(|sample| sample.load), at);
        }
        let of_gpus = held
            .part
            .gpus
            .iter()
            .flat_map(|index| of_index(index).map_or([None; Metric::OF_GPU.len()], of_gpu));
        held.part.fresh.push(at.0, of_task.into_iter().chain(of_gpus));
    }

    /// What was measured of a task and is not in its file yet; `None`: all of it is there.
    pub(crate) fn part(&self, key: &TaskKey) -> Option<Part> {
        lock(&self.0).get(key).map(|held| held.part.clone())
    }

    /// The GPUs of a task that have done nothing for long, and since when.
    pub(crate) fn idle(&self, key: &TaskKey, now: Timestamp) -> Vec<IdleGpu> {
        let all = lock(&self.0);
        let Some(held) = all.get(key) else { return Vec::new() };
        let gpus = held.part.gpus.iter().zip(&held.idle);
        gpus.filter_map(|(gpu, idle)| Some(IdleGpu { gpu: *gpu, since: idle.since(now)? }))
            .collect()
    }

    /// Those of which its job is to be told now.
    pub(crate) fn idle_to_tell(&self, key: &TaskKey, now: Timestamp) -> Vec<u32> {
        let mut all = lock(&self.0);
        let Some(held) = all.get_mut(key) else { return Vec::new() };
        let gpus = held.part.gpus.iter().zip(&mut held.idle);
        gpus.filter_map(|(gpu, idle)| idle.is_to_tell(now).then_some(*gpu)).collect()
    }

    /// Tasks of which it is time to keep something: that run, and that do not any more.
    pub(crate) fn to_keep(&self, runs: impl Fn(&TaskKey) -> bool, now: Timestamp) -> Vec<ToKeep> {
        let all = lock(&self.0);
        let due = all.iter().filter_map(|(key, held)| {
            let ended = !runs(key);
            let in_time = now.0 - held.kept < KEPT_EVERY && !held.part.fresh.is_half_full();
            (ended || !in_time).then_some(ToKeep { key: *key, ended })
        });
        due.collect()
    }

    /// This part of it was kept.
    pub(crate) fn kept(&self, to_keep: &ToKeep, part: &Part, now: Timestamp) {
        let mut all = lock(&self.0);
        if to_keep.ended {
            all.remove(&to_keep.key);
        } else if let Some(held) = all.get_mut(&to_keep.key) {
            held.part.fresh.forget(part.fresh.end());
            held.kept = now.0;
        }
    }
}

/// In the order of [`Metric::OF_TASK`]. What is counted says how much it was in a second once it was
/// read twice.
fn of_task(stats: &Stats, at: Timestamp, last: Option<(Timestamp, Stats)>) -> [Option<f32>; 6] {
    let rate = |count: fn(&Stats) -> u64| {
        let (then, before) = last?;
        let span = at.since(then);
        let more = count(stats).checked_sub(count(&before))?;
        (span > 0).then(|| (more as f64 * 1000.0 / span as f64) as f32)
    };
    [
        Some(stats.cpus as f32),
        Some(stats.memory_bytes as f32),
        rate(|stats| stats.network_in),
        rate(|stats| stats.network_out),
        rate(|stats| stats.disk_read),
        rate(|stats| stats.disk_written),
    ]
}

/// In the order of [`Metric::OF_GPU`].
fn of_gpu(sample: &GpuSample) -> [Option<f32>; Metric::OF_GPU.len()] {
    let GpuSample { load, memory, power, temperature, clock, ecc_errors, xid, .. } = *sample;
    [load, memory, power, temperature, clock, ecc_errors, xid]
}

#[cfg(test)]
mod tests {
    use protocol::ids::JobId;

    use super::*;

    const KEY: TaskKey = TaskKey { job: JobId(1), attempt: 0, role: 0, index: 0, retry: 0 };
    /// At the beginning of a step.
    const START: i64 = 1_767_225_600_000;

    fn at(seconds: i64) -> Timestamp {
        Timestamp(START + seconds * 1_000)
    }

    fn begun(gpus: Vec<u32>) -> Measured {
        let measured = Measured::default();
        measured.begin(KEY, START, gpus, at(0));
        measured
    }

    fn seen(measured: &Measured) -> History {
        measured.part(&KEY).unwrap().onto(None)
    }

    fn received(history: &History) -> Vec<Option<f32>> {
        history.on(Axis { from: START, step: FINEST, points: 3 }, 2)
    }

    fn note(measured: &Measured, counted: &[(i64, u64)]) {
        for (seconds, network_in) in counted.iter().copied() {
            let stats = Stats { network_in, ..Stats::default() };
            measured.note(&KEY, at(seconds), &stats, &[]);
        }
    }

    #[test]
    fn what_is_counted_becomes_so_much_in_a_second() {
        let measured = begun(Vec::new());
        note(&measured, &[(0, 100), (10, 600), (20, 50)]);
        let received = received(&seen(&measured));
        assert_eq!(received, [None, Some(50.0), None], "it was counted from 0 again");
    }

    #[test]
    fn a_task_has_what_was_measured_of_its_own_gpus() {
        let measured = begun(vec![1]);
        let sample = |index, load| GpuSample {
            index: Some(index),
            load: Some(load),
            ..GpuSample::default()
        };
        measured.note(&KEY, at(0), &Stats::default(), &[sample(0, 3.0), sample(1, 97.0)]);
        let axis = Axis { from: START, step: FINEST, points: 1 };
        assert_eq!(seen(&measured).on(axis, Metric::OF_TASK.len()), [Some(97.0)]);
    }

    #[test]
    fn each_gpu_of_a_task_is_idle_for_itself() {
        let measured = begun(vec![4, 5]);
        let sample = |index, load| GpuSample {
            index: Some(index),
            load: Some(load),
            ..GpuSample::default()
        };
        measured.note(&KEY, at(0), &Stats::default(), &[sample(4, 80.0), sample(5, 0.0)]);
        let long = Timestamp(at(0).0 + idle::AFTER);
        assert_eq!(measured.idle(&KEY, at(0)), []);
        assert_eq!(measured.idle(&KEY, long), [IdleGpu { gpu: 5, since: at(0) }]);
        assert_eq!(measured.idle_to_tell(&KEY, long), [5]);
        assert_eq!(measured.idle_to_tell(&KEY, long), [0; 0]);
    }

    #[test]
    fn it_is_kept_now_and_then_and_when_its_task_has_ended() {
        let measured = begun(Vec::new());
        let later = Timestamp(START + KEPT_EVERY);
        assert_eq!(measured.to_keep(|_| true, at(-KEPT_EVERY / 1_000)).len(), 0);
        let due = measured.to_keep(|_| true, later);
        assert_eq!(due.len(), 1);
        let part = measured.part(&KEY).unwrap();
        measured.kept(&due[0], &part, later);
        assert_eq!(measured.to_keep(|_| true, later).len(), 0);
        assert!(measured.holds(&KEY));
        let ended = measured.to_keep(|_| false, later);
        measured.kept(&ended[0], &part, later);
        assert!(!measured.holds(&KEY) && measured.to_keep(|_| false, later).is_empty());
    }

    #[test]
    fn what_is_in_the_file_and_what_is_not_yet_are_told_together() {
        let measured = begun(Vec::new());
        note(&measured, &[(0, 0), (10, 70)]);
        let to_keep = ToKeep { key: KEY, ended: false };
        let part = measured.part(&KEY).unwrap();
        let file = part.onto(None);
        note(&measured, &[(20, 160)]);
        measured.kept(&to_keep, &part, at(20));
        let both = measured.part(&KEY).unwrap().onto(Some(file));
        assert_eq!(received(&both), [None, Some(7.0), Some(9.0)]);
    }

    #[test]
    fn a_thousand_nodes_with_eight_gpus_take_less_than_128_mb_though_nothing_can_be_kept() {
        for (tasks, gpus) in [(8_000, 1_u32), (1_000, 8)] {
            let measured = begun((0..gpus).collect());
            for minute in 0..1_440 {
                measured.note(&KEY, at(minute * 60), &Stats::default(), &[]);
            }
            // A table of hashes may be half empty.
            let held =
                2 * size_of::<(TaskKey, Held)>() + lock(&measured.0)[&KEY].part.fresh.bytes();
            assert!(tasks * held < 128_000_000, "{tasks} tasks of {gpus} GPUs: {held} bytes each");
        }
    }
}
