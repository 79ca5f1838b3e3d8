//! Values at steps of one length, the oldest of which make room.

use std::collections::VecDeque;

use super::short::Short;

/// What becomes of values that no longer have room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Full {
    /// The oldest go.
    Forget,
    /// Two steps become one, so that nothing is forgotten.
    Coarsen,
}

/// How several values become one: of each column whether the highest stands for all.
pub(super) type Peaks<'a> = &'a [bool];

/// Rows of values, one a step, without a gap: where nothing was measured, a row says so.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Level {
    /// Milliseconds.
    pub(super) step: i64,
    /// Rows at most.
    most: usize,
    full: Full,
    /// Which step the first row is, counted from the epoch.
    pub(super) first: i64,
    pub(super) values: VecDeque<Short>,
    /// What the last row was put together from, as far as that is known: sum or peak, and how many.
    last: Vec<(f32, u16)>,
}

impl Level {
    pub(super) fn new(step: i64, most: usize, full: Full) -> Self {
        let (values, last) = (VecDeque::new(), Vec::new());
        Self { step, most, full, first: 0, values, last }
    }

    /// The same as it was kept; nothing of it if that cannot be.
    pub(super) fn restored(
        self,
        (step, first): (i64, i64),
        values: VecDeque<Short>,
        width: usize,
    ) -> Option<Self> {
        let coarser = step.checked_div(self.step)?;
        let stepped = step == self.step
            || self.full == Full::Coarsen
                && coarser > 0
                && step == self.step.checked_mul(coarser)?
                && coarser.count_ones() == 1;
        let rows = values.len().checked_div(width)?;
        let placed = first.checked_mul(step).is_some_and(|begin| begin >= 0);
        let fits = rows <= self.most && values.len() == rows * width && placed;
        let mut level = Self { step, first, values, ..self };
        level.reopen(width);
        (stepped && fits).then_some(level)
    }

    fn rows(&self, width: usize) -> i64 {
        (self.values.len() / width) as i64
    }

    /// Its last row.
    pub(super) fn newest(&self, width: usize) -> Option<i64> {
        let rows = self.rows(width);
        (rows > 0).then(|| self.first + rows - 1)
    }

    /// The moment before which it knows nothing.
    pub(super) fn begins(&self) -> i64 {
        self.first * self.step
    }

    pub(super) fn value(&self, bin: i64, column: usize, width: usize) -> Option<f32> {
        let row = usize::try_from(bin.checked_sub(self.first)?).ok()?;
        self.values.get(row.checked_mul(width)? + column)?.value()
    }

    /// One more row of values, measured then; what comes too late is left out.
    pub(super) fn push(&mut self, at: i64, row: &[Option<f32>], peaks: Peaks<'_>) {
        let width = row.len();
        if !self.reach(at, peaks) {
            return;
        }
        for ((known, value), peak) in self.last.iter_mut().zip(row).zip(peaks) {
            let Some(value) = value.filter(|value| value.is_finite()) else { continue };
            let sum = if *peak { known.0.max(value) } else { known.0 + value };
            *known = (sum, known.1.saturating_add(1));
        }
        let begin = self.values.len() - width;
        for (at, ((sum, count), peak)) in self.last.iter().zip(peaks).enumerate() {
            let value = if *peak { *sum } else { sum / f32::from((*count).max(1)) };
            self.values[begin + at] = Short::new((*count > 0).then_some(value));
        }
    }

    /// Makes the row of this moment the last one; `false`: it is past already.
    fn reach(&mut self, at: i64, peaks: Peaks<'_>) -> bool {
        let width = peaks.len();
        loop {
            let bin = at.div_euclid(self.step);
            let rows = self.rows(width);
            let last = self.first + rows - 1;
            if rows > 0 && bin <= last {
                return bin == last;
            }
            let room = self.most as i64;
            if rows == 0 || self.full == Full::Forget && bin - last >= room {
                self.values.clear();
                self.first = bin;
                self.values.extend(std::iter::repeat_n(Short::NONE, width));
            } else if self.full == Full::Coarsen && bin - self.first >= room {
                self.coarsen(peaks);
                continue;
            } else {
                let more = usize::try_from(bin - last).unwrap_or(0);
                self.values.extend(std::iter::repeat_n(Short::NONE, more * width));
                let surplus = (self.rows(width) - room).max(0);
                self.values.drain(..usize::try_from(surplus).unwrap_or(0) * width);
                self.first += surplus;
            }
            self.last = vec![(0.0, 0); width];
            return true;
        }
    }

    /// Two steps become one.
    fn coarsen(&mut self, peaks: Peaks<'_>) {
        let width = peaks.len();
        let last = self.first + self.rows(width) - 1;
        let first = self.first.div_euclid(2);
        let mut values = VecDeque::new();
        for bin in first..=last.div_euclid(2) {
            for (column, peak) in peaks.iter().enumerate() {
                let pair = [2 * bin, 2 * bin + 1].map(|bin| self.value(bin, column, width));
                values.push_back(Short::new(together(pair.into_iter().flatten(), *peak)));
            }
        }
        (self.step, self.first, self.values) = (self.step * 2, first, values);
        self.reopen(width);
    }

    /// What the last row was put together from is not known any more, only what it came to.
    fn reopen(&mut self, width: usize) {
        let begin = self.values.len().saturating_sub(width);
        let last = self.values.iter().skip(begin);
        self.last = last.map(|value| value.value().map_or((0.0, 0), |value| (value, 1))).collect();
    }
}

/// One value in place of several.
pub(super) fn together(values: impl Iterator<Item = f32>, peak: bool) -> Option<f32> {
    let (mut sum, mut count) = (0.0_f32, 0_u16);
    for value in values {
        sum = if peak { sum.max(value) } else { sum + value };
        count = count.saturating_add(1);
    }
    let mean = if peak { sum } else { sum / f32::from(count.max(1)) };
    (count > 0).then_some(mean)
}
