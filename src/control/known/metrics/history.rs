//! What one task and its GPUs used, in bounded space: in steps of ten seconds for an hour, of a minute for
//! a day, and of ten minutes for all of it, or of twenty, forty, … when these are too many. The hour and
//! the day become shorter where a task has many GPUs.

use std::collections::VecDeque;

use api::metrics::Metric;

use super::level::{Full, Level, together};
use super::short::Short;
use super::sum::Sum;

/// All values of a task take so many bytes at most.
pub(crate) const MOST_BYTES: usize = 64_000;
/// What a file has besides them.
const HEAD_BYTES: usize = 2_000;
/// What a file begins with.
const MARK: &[u8; 8] = b"berthmt1";
/// GPUs of a task of which something is kept.
pub(crate) const MOST_GPUS: usize = 64;

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
/// How often is measured, in milliseconds.
pub(crate) const FINEST: i64 = 10 * SECOND;
/// Rows of an hour in the finest steps.
const HOUR: usize = 360;
/// Minutes of a day.
const DAY: usize = 1_440;

/// What one task and its GPUs used.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct History {
    /// When the first was measured.
    since: i64,
    /// Indices of its GPUs on the node.
    gpus: Vec<u32>,
    /// Of each column whether the highest stands for all.
    peaks: Vec<bool>,
    /// The finest first.
    levels: Vec<Level>,
}

/// Points on an axis of time, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Axis {
    pub(crate) from: i64,
    pub(crate) step: i64,
    pub(crate) points: usize,
}

/// Steps that people read well, in milliseconds.
const STEPS: [i64; 14] = [
    FINEST,
    20 * SECOND,
    30 * SECOND,
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    10 * MINUTE,
    20 * MINUTE,
    30 * MINUTE,
    60 * MINUTE,
    120 * MINUTE,
    240 * MINUTE,
    480 * MINUTE,
    1_440 * MINUTE,
];

impl Axis {
    /// The finest one of these times that has so many points at most, or one or two more.
    pub(crate) fn new(from: i64, until: i64, points: usize) -> Self {
        let points = i64::try_from(points).unwrap_or(i64::MAX).max(1);
        let span = until.saturating_sub(from).max(1);
        let largest = STEPS[STEPS.len() - 1];
        let fits = |step: &i64| span / step <= points;
        let step = STEPS.into_iter().find(fits).unwrap_or_else(|| {
            let days = span / largest / points + 1;
            largest.saturating_mul(days)
        });
        let begin = from.div_euclid(step).saturating_mul(step);
        let count = until.saturating_sub(begin).div_euclid(step) + 1;
        Self { from: begin, step, points: usize::try_from(count.max(1)).unwrap_or(1) }
    }
}

/// Columns of a task with so many GPUs.
fn columns(gpus: usize) -> impl Iterator<Item = Metric> {
    let of_gpus = std::iter::repeat_n(Metric::OF_GPU, gpus).flatten();
    Metric::OF_TASK.into_iter().chain(of_gpus)
}

/// The levels of a task with so many columns, all without values.
fn levels(width: usize) -> Vec<Level> {
    let rows = (MOST_BYTES - HEAD_BYTES) / (2 * width);
    let least = rows / 8;
    let fits = |minutes: &usize| DAY / minutes + HOUR / 2 + least <= rows;
    let minutes = [1, 2, 5].into_iter().find(fits).unwrap_or(5);
    let middle = (DAY / minutes).min(rows / 2);
    let fine = HOUR.min(rows - least - middle);
    let step = MINUTE * minutes as i64;
    vec![
        Level::new(FINEST, fine, Full::Forget),
        Level::new(step, middle, Full::Forget),
        Level::new(10 * MINUTE, rows - middle - fine, Full::Coarsen),
    ]
}

impl History {
    /// Of a task with these GPUs, from this moment on.
    pub(crate) fn new(since: i64, mut gpus: Vec<u32>) -> Self {
        gpus.truncate(MOST_GPUS);
        let peaks: Vec<bool> = columns(gpus.len()).map(Metric::is_peak).collect();
        let levels = levels(peaks.len());
        Self { since, gpus, peaks, levels }
    }

    pub(crate) fn gpus(&self) -> &[u32] {
        &self.gpus
    }

    /// When the first was measured.
    pub(crate) fn since(&self) -> i64 {
        self.since
    }

    /// The last step of which something was noted, counted from the epoch.
    pub(super) fn newest(&self) -> Option<i64> {
        self.levels.first()?.newest(self.peaks.len())
    }

    /// Notes what was measured then: of the task, then of each of its GPUs, in the order of
    /// [`Metric::OF_TASK`] and [`Metric::OF_GPU`]. What is missing at the end was not measured.
    pub(crate) fn push(&mut self, at: i64, values: &[Option<f32>]) {
        let row = values.iter().copied().chain(std::iter::repeat(None));
        let row: Vec<Option<f32>> = row.take(self.peaks.len()).collect();
        for level in &mut self.levels {
            level.push(at, &row, &self.peaks);
        }
    }

    /// The values of a column on an axis: 0 to 5 are the task's, then come those of each GPU.
    pub(crate) fn on(&self, axis: Axis, column: usize) -> Vec<Option<f32>> {
        (0..axis.points as i64).map(|point| self.point(axis, point, column)).collect()
    }

    fn point(&self, axis: Axis, point: i64, column: usize) -> Option<f32> {
        let begin = axis.from.saturating_add(point.saturating_mul(axis.step));
        let end = begin.saturating_add(axis.step);
        let knows = |level: &&Level| level.begins() <= begin.max(self.since);
        let level = self.levels.iter().find(knows)?;
        let width = self.peaks.len();
        // Somebody may ask for all of time: only what is known is looked at.
        let first = begin.div_euclid(level.step).max(level.first);
        let last = (end - 1).div_euclid(level.step).min(level.newest(width)?);
        let values = (first..=last).filter_map(|bin| level.value(bin, column, width));
        together(values, *self.peaks.get(column)?)
    }

    /// All that was measured of a column: each moment counts once, as finely as it is known.
    pub(crate) fn sum(&self, column: usize) -> Sum {
        let width = self.peaks.len();
        let (mut sum, mut until) = (Sum::default(), i64::MAX);
        for level in &self.levels {
            let Some(newest) = level.newest(width) else { continue };
            for bin in level.first..=newest {
                let begin = bin.saturating_mul(level.step).max(self.since);
                let end = bin.saturating_add(1).saturating_mul(level.step).min(until);
                let value = level.value(bin, column, width).filter(|_| begin < end);
                if let Some(value) = value {
                    let known_ms = end - begin;
                    sum.add(Sum {
                        known_ms,
                        most: value,
                        whole: f64::from(value) * known_ms as f64,
                    });
                }
            }
            until = until.min(level.begins());
        }
        sum
    }

    /// As it is kept in a file.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MARK.to_vec();
        bytes.extend_from_slice(&self.since.to_le_bytes());
        bytes.extend_from_slice(&(self.gpus.len() as u32).to_le_bytes());
        for gpu in &self.gpus {
            bytes.extend_from_slice(&gpu.to_le_bytes());
        }
        for level in &self.levels {
            bytes.extend_from_slice(&level.step.to_le_bytes());
            bytes.extend_from_slice(&level.first.to_le_bytes());
            bytes.extend_from_slice(&(level.values.len() as u32).to_le_bytes());
            bytes.extend(level.values.iter().flat_map(|value| value.0.to_le_bytes()));
        }
        bytes
    }

    /// What was kept; `None`: it is damaged.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut bytes = bytes.strip_prefix(MARK)?;
        let since = i64::from_le_bytes(take(&mut bytes)?);
        let count = u32::from_le_bytes(take(&mut bytes)?) as usize;
        if count > MOST_GPUS || since < 0 {
            return None;
        }
        let mut gpus = Vec::with_capacity(count);
        for _ in 0..count {
            gpus.push(u32::from_le_bytes(take(&mut bytes)?));
        }
        let mut history = Self::new(since, gpus);
        let width = history.peaks.len();
        let mut restored = Vec::new();
        for level in history.levels {
            let step = i64::from_le_bytes(take(&mut bytes)?);
            let first = i64::from_le_bytes(take(&mut bytes)?);
            let count = u32::from_le_bytes(take(&mut bytes)?) as usize;
            let (values, rest) = bytes.split_at_checked(count.checked_mul(2)?)?;
            bytes = rest;
            let value = |pair: &[u8]| Short(u16::from_le_bytes([pair[0], pair[1]]));
            let values: VecDeque<Short> = values.chunks_exact(2).map(value).collect();
            restored.push(level.restored((step, first), values, width)?);
        }
        history.levels = restored;
        bytes.is_empty().then_some(history)
    }
}

/// The first bytes, which are taken off.
fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*first)
}

#[cfg(test)]
mod tests;
