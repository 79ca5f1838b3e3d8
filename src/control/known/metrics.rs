//! What running tasks use, as it is measured.

mod history;
mod level;
mod short;

use std::collections::HashMap;
use std::sync::Mutex;

use api::metrics::Metric;
use bytes::Bytes;
use engine::Stats;
use engine::exporter::GpuSample;
use protocol::ids::TaskKey;
use protocol::time::Timestamp;

pub(crate) use history::{Axis, FINEST, History};

use crate::shared::lock;

/// What is measured is kept so often while its task runs, in milliseconds.
const KEPT_EVERY: i64 = 300_000;

/// What running tasks use. Of each task no more is held than is said in [`history`].
#[derive(Debug, Default)]
pub(crate) struct Measured(Mutex<HashMap<TaskKey, Held>>);

#[derive(Debug)]
struct Held {
    history: History,
    /// What was counted up to the last time, and when that was.
    last: Option<(Timestamp, Stats)>,
    /// When it was kept.
    kept: i64,
}

/// What is to be kept of a task.
#[derive(Debug)]
pub(crate) struct ToKeep {
    pub(crate) key: TaskKey,
    pub(crate) bytes: Bytes,
    /// Its task does not run any more.
    ended: bool,
}

impl Measured {
    pub(crate) fn holds(&self, key: &TaskKey) -> bool {
        lock(&self.0).contains_key(key)
    }

    /// Goes on with what was kept of a task, or begins.
    pub(crate) fn begin(&self, key: TaskKey, history: History, now: Timestamp) {
        // They are not all kept at the same time.
        let turn = (key.job.0 * 31 + i64::from(key.index) * 7).rem_euclid(KEPT_EVERY / FINEST);
        let kept = now.0 - turn * FINEST;
        lock(&self.0).entry(key).or_insert(Held { history, last: None, kept });
    }

    /// Notes what a task and its GPUs used when they were asked.
    pub(crate) fn note(&self, key: &TaskKey, at: Timestamp, stats: &Stats, gpus: &[GpuSample]) {
        let mut all = lock(&self.0);
        let Some(held) = all.get_mut(key) else { return };
        let mut row = of_task(stats, at, held.last.replace((at, *stats))).to_vec();
        for index in held.history.gpus() {
            let sample = gpus.iter().find(|sample| sample.index == Some(*index));
            row.extend(sample.map_or([None; Metric::OF_GPU.len()], of_gpu));
        }
        held.history.push(at.0, &row);
    }

    /// What was measured of a task that runs.
    pub(crate) fn history(&self, key: &TaskKey) -> Option<History> {
        lock(&self.0).get(key).map(|held| held.history.clone())
    }

    /// What it is time to keep, of tasks that run and of those that do not any more.
    pub(crate) fn to_keep(&self, runs: impl Fn(&TaskKey) -> bool, now: Timestamp) -> Vec<ToKeep> {
        let all = lock(&self.0);
        let due = all.iter().filter_map(|(key, held)| {
            let ended = !runs(key);
            let due = ended || now.0 - held.kept >= KEPT_EVERY;
            due.then(|| ToKeep { key: *key, bytes: held.history.to_bytes().into(), ended })
        });
        due.collect()
    }

    /// That was kept.
    pub(crate) fn kept(&self, kept: &ToKeep, now: Timestamp) {
        let mut all = lock(&self.0);
        if kept.ended {
            all.remove(&kept.key);
        } else if let Some(held) = all.get_mut(&kept.key) {
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
        measured.begin(KEY, History::new(START, gpus), at(0));
        measured
    }

    fn received(measured: &Measured) -> Vec<Option<f32>> {
        let axis = Axis { from: START, step: FINEST, points: 3 };
        measured.history(&KEY).unwrap().on(axis, 2)
    }

    #[test]
    fn what_is_counted_becomes_so_much_in_a_second() {
        let measured = begun(Vec::new());
        for (seconds, network_in) in [(0, 100), (10, 600), (20, 50)] {
            let stats = Stats { network_in, ..Stats::default() };
            measured.note(&KEY, at(seconds), &stats, &[]);
        }
        assert_eq!(received(&measured), [None, Some(50.0), None], "it was counted from 0 again");
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
        let history = measured.history(&KEY).unwrap();
        assert_eq!(history.on(axis, Metric::OF_TASK.len()), [Some(97.0)]);
    }

    #[test]
    fn it_is_kept_now_and_then_and_when_its_task_has_ended() {
        let measured = begun(Vec::new());
        let later = Timestamp(START + KEPT_EVERY);
        assert_eq!(measured.to_keep(|_| true, at(-KEPT_EVERY / 1_000)).len(), 0);
        let due = measured.to_keep(|_| true, later);
        assert_eq!(due.len(), 1);
        measured.kept(&due[0], later);
        assert_eq!(measured.to_keep(|_| true, later).len(), 0);
        assert!(measured.holds(&KEY));
        let ended = measured.to_keep(|_| false, later);
        measured.kept(&ended[0], later);
        assert!(!measured.holds(&KEY) && measured.to_keep(|_| false, later).is_empty());
    }
}
