//! What running tasks and nodes use, as it is measured. In memory is only what their files do not have yet,
//! so that it matters little how many there are and for how long they run.

mod fresh;
mod history;
mod idle;
mod level;
pub(crate) mod past;
mod row;
mod short;
mod sum;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;

use api::metrics::{IdleGpu, Metric};
use engine::Stats;
use engine::exporter::GpuSample;
use protocol::ids::{JobId, TaskKey};
use protocol::time::Timestamp;

pub(crate) use history::{Axis, FINEST, History, MOST_GPUS};
pub(crate) use row::{Use, together};
pub(crate) use sum::Sum;

use crate::lock::lock;
use fresh::Fresh;
use idle::Idle;
use row::{of_node, of_task};

/// What is measured is kept so often while its task runs, in milliseconds.
const KEPT_EVERY: i64 = 300_000;

/// Points at which it is looked what GPUs did before the server was away.
const POINTS: usize = 300;

/// What running tasks use, or nodes with all that runs there, since it was kept last.
#[derive(Debug)]
pub(crate) struct Measured<K = TaskKey>(Mutex<HashMap<K, Box<Held>>>);

#[derive(Debug)]
struct Held {
    part: Part,
    /// What was counted up to the last time, and when that was.
    last: Option<(Timestamp, Stats)>,
    /// Of a task, how busy each of its GPUs is.
    busy: Box<[Busy]>,
    /// When it was kept.
    kept: i64,
}

/// How busy a GPU is.
#[derive(Debug, Clone, Copy, Default)]
struct Busy {
    /// For how long it does nothing.
    idle: Idle,
    /// The most since somebody took note of it.
    peak: Option<f32>,
}

/// How busy the GPUs of a job were.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Peak {
    /// So many of them were measured.
    pub(crate) gpus: u32,
    /// The busiest, in percent.
    pub(crate) load: f32,
}

/// What was measured and is not in its file yet.
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

impl Held {
    /// It is a task's.
    fn watch_gpus(&mut self) {
        if self.busy.len() != self.part.gpus.len() {
            self.busy = vec![Busy::default(); self.part.gpus.len()].into();
        }
    }

    fn push(&mut self, at: Timestamp, uses: Use, gpus: &[GpuSample]) {
        for (index, busy) in self.part.gpus.iter().zip(&mut self.busy) {
            let sample = gpus.iter().find(|sample| sample.index == Some(*index));
            let load = sample.and_then(|sample| sample.load);
            busy.idle.note(load, at);
            let most = |load: f32| busy.peak.map_or(load, |peak| peak.max(load));
            busy.peak = load.map(most).or(busy.peak);
        }
        self.part.fresh.push(at.0, of_node(uses, &self.part.gpus, gpus));
    }
}

/// That of which it is time to keep what was measured.
#[derive(Debug)]
pub(crate) struct ToKeep<K = TaskKey> {
    pub(crate) key: K,
    /// Nothing more will be measured of it.
    ended: bool,
}

impl<K> Default for Measured<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Clone + Eq + Hash> Measured<K> {
    pub(crate) fn holds(&self, key: &K) -> bool {
        lock(&self.0).contains_key(key)
    }

    /// Whether it is measured with these GPUs.
    pub(crate) fn has_gpus(&self, key: &K, gpus: &[u32]) -> bool {
        lock(&self.0).get(key).is_some_and(|held| held.part.gpus == gpus)
    }

    /// Begins to note what somebody uses who has these GPUs and was measured since then.
    pub(crate) fn begin(&self, key: K, since: i64, mut gpus: Vec<u32>, now: Timestamp) {
        gpus.truncate(MOST_GPUS);
        let kept = now.0 - turn(&key) * FINEST;
        let part = Part { since, gpus, fresh: Fresh::default() };
        let held = Held { part, last: None, busy: Box::default(), kept };
        lock(&self.0).insert(key, Box::new(held));
    }

    /// Notes what was used then, and what GPUs did.
    pub(crate) fn push(&self, key: &K, at: Timestamp, uses: Use, gpus: &[GpuSample]) {
        if let Some(held) = lock(&self.0).get_mut(key) {
            held.push(at, uses, gpus);
        }
    }

    /// What was measured and is not in its file yet; `None`: all of it is there.
    pub(crate) fn part(&self, key: &K) -> Option<Part> {
        lock(&self.0).get(key).map(|held| held.part.clone())
    }

    /// Those of whom it is time to keep something: who go on, and who do not any more. So many times more seldom than
    /// where there are few.
    pub(crate) fn to_keep(
        &self,
        goes_on: impl Fn(&K) -> bool,
        seldom: u32,
        now: Timestamp,
    ) -> Vec<ToKeep<K>> {
        let (all, every) = (lock(&self.0), KEPT_EVERY * i64::from(seldom));
        let due = all.iter().filter_map(|(key, held)| {
            let ended = !goes_on(key);
            let in_time = now.0 - held.kept < every && !held.part.fresh.is_half_full();
            (ended || !in_time).then(|| ToKeep { key: key.clone(), ended })
        });
        due.collect()
    }

    /// This part of it was kept.
    pub(crate) fn kept(&self, to_keep: &ToKeep<K>, part: &Part, now: Timestamp) {
        let mut all = lock(&self.0);
        if to_keep.ended {
            all.remove(&to_keep.key);
        } else if let Some(held) = all.get_mut(&to_keep.key) {
            held.part.fresh.forget(part.fresh.end());
            held.kept = now.0;
        }
    }

    /// There is no such thing any more.
    pub(crate) fn forget(&self, key: &K) {
        lock(&self.0).remove(key);
    }
}

impl Measured {
    /// Notes what a task and its GPUs used when they were asked, and says what that was.
    pub(crate) fn note(
        &self,
        key: &TaskKey,
        at: Timestamp,
        stats: &Stats,
        gpus: &[GpuSample],
    ) -> Option<Use> {
        let mut all = lock(&self.0);
        let held = all.get_mut(key)?;
        let uses = of_task(stats, at, held.last.replace((at, *stats)));
        held.watch_gpus();
        held.push(at, uses, gpus);
        Some(uses)
    }

    /// How busy the GPUs of a task are, as these say.
    pub(crate) fn loads(&self, key: &TaskKey, gpus: &[GpuSample]) -> Vec<f32> {
        let all = lock(&self.0);
        let indices = all.get(key).map(|held| held.part.gpus.as_slice()).unwrap_or_default();
        let its = |gpu: &&GpuSample| gpu.index.is_some_and(|index| indices.contains(&index));
        gpus.iter().filter(its).filter_map(|gpu| gpu.load).collect()
    }

    /// Of a task that was measured before the server was away: since when its GPUs have done nothing.
    pub(crate) fn remember(&self, key: &TaskKey, kept: &History, now: Timestamp) {
        let mut all = lock(&self.0);
        let held = all.get_mut(key).filter(|held| held.part.gpus == kept.gpus());
        let Some(held) = held else { return };
        let axis = Axis::new(kept.since(), now.0, POINTS);
        held.watch_gpus();
        for (at, busy) in held.busy.iter_mut().enumerate() {
            let column = Metric::OF_TASK.len() + at * Metric::OF_GPU.len();
            busy.idle = Idle::again(&kept.on(axis, column), (axis, kept.since()), now);
        }
    }

    /// The GPUs of a task that have done nothing for long, and since when.
    pub(crate) fn idle(&self, key: &TaskKey, now: Timestamp) -> Vec<IdleGpu> {
        let all = lock(&self.0);
        let Some(held) = all.get(key) else { return Vec::new() };
        let gpus = held.part.gpus.iter().zip(&held.busy);
        gpus.filter_map(|(gpu, busy)| Some(IdleGpu { gpu: *gpu, since: busy.idle.since(now)? }))
            .collect()
    }

    /// How busy the GPUs of each job were since this was asked last. Only one asks.
    pub(crate) fn take_peaks(&self) -> HashMap<JobId, Peak> {
        let mut peaks = HashMap::<JobId, Peak>::new();
        for (key, held) in lock(&self.0).iter_mut() {
            for load in held.busy.iter_mut().filter_map(|busy| busy.peak.take()) {
                let peak = peaks.entry(key.job).or_default();
                *peak = Peak { gpus: peak.gpus + 1, load: peak.load.max(load) };
            }
        }
        peaks
    }

    /// Those of which its job is to be told now.
    pub(crate) fn idle_to_tell(&self, key: &TaskKey, now: Timestamp) -> Vec<u32> {
        let mut all = lock(&self.0);
        let Some(held) = all.get_mut(key) else { return Vec::new() };
        let gpus = held.part.gpus.iter().zip(&mut held.busy);
        gpus.filter_map(|(gpu, busy)| busy.idle.is_to_tell(now).then_some(*gpu)).collect()
    }
}

/// Not all are kept at the same time: how many steps this one is ahead.
fn turn(key: &impl Hash) -> i64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    (hasher.finish() % (KEPT_EVERY / FINEST) as u64) as i64
}

#[cfg(test)]
mod tests {
    use protocol::ids::NodeName;

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
        assert_eq!(measured.loads(&KEY, &[sample(0, 3.0), sample(1, 97.0)]), [97.0]);
    }

    #[test]
    fn what_tasks_use_together_is_what_their_node_does() {
        let (one, none) = ([Some(1.0); 6], [None; 6]);
        assert_eq!(together(&[one, none, one]), [Some(2.0); 6]);
        assert_eq!(together(&[none]), none);
        let nodes = Measured::<NodeName>::default();
        let name: NodeName = "n1".parse().unwrap();
        nodes.begin(name.clone(), START, vec![0], at(0));
        assert!(nodes.has_gpus(&name, &[0]) && !nodes.has_gpus(&name, &[0, 1]));
        nodes.push(&name, at(0), together(&[one]), &[]);
        let axis = Axis { from: START, step: FINEST, points: 1 };
        assert_eq!(nodes.part(&name).unwrap().onto(None).on(axis, 0), [Some(1.0)]);
        nodes.forget(&name);
        assert!(!nodes.holds(&name));
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
    fn gpus_that_were_idle_before_the_server_was_away_still_are_and_that_is_not_told_again() {
        let (mut kept, steps) = (History::new(START, vec![4, 5]), idle::AFTER / FINEST);
        let load = |load: f32| [&[None; 6][..], &[Some(load)], &[None; 6], &[Some(0.0)]].concat();
        for step in 0..=steps {
            let busy = if step == 1 { 80.0 } else { 0.0 };
            kept.push(START + step * FINEST, &load(busy));
        }
        let measured = begun(vec![4, 5]);
        let long = Timestamp(at(0).0 + idle::AFTER);
        measured.remember(&KEY, &kept, long);
        assert_eq!(measured.idle(&KEY, long), [IdleGpu { gpu: 5, since: at(0) }]);
        assert_eq!(measured.idle_to_tell(&KEY, long), [0; 0]);
        let later = long.plus_millis(2 * FINEST);
        assert_eq!(measured.idle(&KEY, later)[0], IdleGpu { gpu: 4, since: at(20) });
        assert_eq!(measured.idle_to_tell(&KEY, later), [4], "of that nobody was told");
        measured.begin(KEY, START, vec![4, 5], later);
        measured.remember(&KEY, &kept, long.plus_millis(idle::AFTER + 2 * FINEST));
        assert_eq!(measured.idle(&KEY, Timestamp(i64::MAX)), [], "it was away for too long");
    }

    #[test]
    fn of_each_job_it_is_told_once_how_busy_its_gpus_were() {
        let measured = begun(vec![4, 5]);
        let sample = |index, load| GpuSample { index: Some(index), load, ..GpuSample::default() };
        for (second, loads) in [(0, [Some(3.0), Some(0.0)]), (10, [Some(1.0), None])] {
            let samples = [sample(4, loads[0]), sample(5, loads[1])];
            measured.note(&KEY, at(second), &Stats::default(), &samples);
        }
        let peaks = HashMap::from([(KEY.job, Peak { gpus: 2, load: 3.0 })]);
        assert_eq!(measured.take_peaks(), peaks);
        assert!(measured.take_peaks().is_empty());
    }

    #[test]
    fn it_is_kept_now_and_then_and_when_its_task_has_ended() {
        let measured = begun(Vec::new());
        let later = Timestamp(START + KEPT_EVERY);
        assert_eq!(measured.to_keep(|_| true, 1, at(-KEPT_EVERY / 1_000)).len(), 0);
        assert_eq!(measured.to_keep(|_| true, 2, later).len(), 0, "of very many it waits");
        let due = measured.to_keep(|_| true, 1, later);
        assert_eq!(due.len(), 1);
        let part = measured.part(&KEY).unwrap();
        measured.kept(&due[0], &part, later);
        assert_eq!(measured.to_keep(|_| true, 1, later).len(), 0);
        assert!(measured.holds(&KEY));
        let ended = measured.to_keep(|_| false, 1, later);
        measured.kept(&ended[0], &part, later);
        assert!(!measured.holds(&KEY) && measured.to_keep(|_| false, 1, later).is_empty());
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
        let mut whole = 0;
        // Each of eight tasks of a node has one of its GPUs, or one has them all; and the node itself.
        for (count, gpus) in [(8_000, 1_u32), (1_000, 8), (1_000, 8)] {
            let measured = begun((0..gpus).collect());
            for minute in 0..1_440 {
                measured.note(&KEY, at(minute * 60), &Stats::default(), &[]);
            }
            // A table of hashes may be half empty.
            let held =
                2 * size_of::<(TaskKey, Held)>() + lock(&measured.0)[&KEY].part.fresh.bytes();
            whole += count * held;
        }
        assert!(whole < 128_000_000, "{whole} bytes");
    }
}
