//! What was measured and is not kept yet.

use super::history::{FINEST, History};
use super::short::Short;
use crate::known::turns::MOST_SELDOM;

/// Rows at most: some twenty minutes. Where nothing can be kept for longer, the oldest go.
const MOST: usize = 128;

/// Room is made for so many further rows.
const SPARE: usize = 4;

/// What was measured stands for so many steps up to it, where nothing else does: each of thousands of nodes is measured
/// more seldom.
const HELD: i64 = MOST_SELDOM as i64;

/// Rows that were measured, in the order of time, all of the same length. Of each is kept what is not as in the row
/// before it: much of what GPUs do is what they did before.
#[derive(Debug, Clone, Default)]
pub(super) struct Fresh {
    /// How many rows went before the first one.
    gone: u64,
    /// Which step each row is of, counted from the epoch.
    steps: Vec<u32>,
    /// Of each row a bit for each value, which says whether it is another one than before, and those that are; of
    /// the first one all that are there.
    differences: Vec<u8>,
    last: Box<[Short]>,
}

impl Fresh {
    /// Whether it should be kept before long.
    pub(super) fn is_half_full(&self) -> bool {
        self.steps.len() >= MOST / 2
    }

    /// How many rows there ever were.
    pub(super) fn end(&self) -> u64 {
        self.gone + self.steps.len() as u64
    }

    /// One more row.
    pub(super) fn push(&mut self, at: i64, row: impl Iterator<Item = Option<f32>>) {
        if self.steps.len() >= MOST {
            self.forget(self.gone + 1);
        }
        let row: Box<[Short]> = row.map(Short::new).collect();
        self.add(u32::try_from(at.div_euclid(FINEST)).unwrap_or(0), row);
    }

    fn add(&mut self, step: u32, row: Box<[Short]>) {
        if self.last.is_empty() {
            self.last = vec![Short::NONE; row.len()].into();
        }
        let changed = |at: usize| row[at] != self.last[at];
        let changes: usize = (0..row.len()).filter(|at| changed(*at)).count();
        let length = row.len().div_ceil(8) + size_of::<Short>() * changes;
        // There are many of them, and none becomes large: no more room than a few further rows need.
        if self.steps.len() == self.steps.capacity() {
            self.steps.reserve_exact(SPARE);
        }
        if self.differences.capacity() - self.differences.len() < length {
            let rows = if self.steps.is_empty() { 1 } else { SPARE };
            self.differences.reserve_exact(rows * length);
        }
        self.differences.extend((0..row.len()).step_by(8).map(|first| {
            let of_eight = first..row.len().min(first + 8);
            of_eight.filter(|at| changed(*at)).fold(0_u8, |bits, at| bits | 1 << (at - first))
        }));
        for at in (0..row.len()).filter(|at| changed(*at)) {
            self.differences.extend(row[at].0.to_le_bytes());
        }
        self.steps.push(step);
        self.last = row;
    }

    /// The rows, each with its step.
    fn rows(&self) -> impl Iterator<Item = (u32, Box<[Short]>)> {
        let mut row: Box<[Short]> = vec![Short::NONE; self.last.len()].into();
        let mut rest = self.differences.as_slice();
        self.steps.iter().map(move |step| {
            let (bits, values) = rest.split_at(row.len().div_ceil(8));
            let (values, _) = values.as_chunks();
            let differs = |at: usize| bits[at / 8] & 1 << (at % 8) != 0;
            let mut count = 0;
            for at in (0..row.len()).filter(|at| differs(*at)) {
                row[at] = Short(u16::from_le_bytes(values[count]));
                count += 1;
            }
            rest = &rest[bits.len() + size_of::<Short>() * count..];
            (*step, row.clone())
        })
    }

    /// The rows before this one are kept, or can be kept no more.
    pub(super) fn forget(&mut self, end: u64) {
        let rows = self.steps.len();
        let known = usize::try_from(end.saturating_sub(self.gone)).unwrap_or(rows).min(rows);
        let mut left = Self { gone: self.gone + known as u64, ..Self::default() };
        self.rows().skip(known).for_each(|(step, row)| left.add(step, row));
        *self = left;
    }

    /// Adds it to what was kept, but for steps of which that has something already.
    pub(super) fn add_to(&self, history: &mut History) {
        let mut known = history.newest();
        for (step, row) in self.rows() {
            let step = i64::from(step);
            if known.is_some_and(|known| step <= known) {
                continue;
            }
            let row: Vec<Option<f32>> = row.iter().map(|value| value.value()).collect();
            let next = known.map(|known| known + 1).filter(|next| step - next < HELD);
            for step in next.unwrap_or(step)..=step {
                history.push(step * FINEST, &row);
            }
            known = Some(step);
        }
    }

    /// How much memory it takes.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.steps.capacity() * size_of::<u32>()
            + self.differences.capacity()
            + size_of_val(&*self.last)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::history::Axis;
    use super::*;

    /// Of the first columns only.
    fn pushed(fresh: &mut Fresh, steps: std::ops::Range<i64>) {
        for step in steps {
            fresh.push(step * FINEST, [Some(step as f32), None].into_iter());
        }
    }

    /// What there is since a step, from the first one on.
    fn seen(fresh: &Fresh, since: i64, points: usize) -> Vec<Option<f32>> {
        let mut history = History::new(since * FINEST, Vec::new());
        fresh.add_to(&mut history);
        history.on(Axis { from: 0, step: FINEST, points }, 0)
    }

    #[test]
    fn what_is_kept_is_forgotten_and_what_came_meanwhile_is_not() {
        let mut fresh = Fresh::default();
        pushed(&mut fresh, 0..3);
        let kept = fresh.end();
        pushed(&mut fresh, 3..4);
        fresh.forget(kept);
        assert_eq!(seen(&fresh, 3, 4), [None, None, None, Some(3.0)]);
        fresh.forget(kept);
        assert_eq!(seen(&fresh, 3, 4)[3], Some(3.0), "that it is kept may be said twice");
        fresh.forget(fresh.end());
        assert_eq!(seen(&fresh, 3, 4), [None; 4]);
    }

    #[test]
    fn what_a_file_has_already_is_not_added_again() {
        let mut fresh = Fresh::default();
        pushed(&mut fresh, 0..6);
        let mut history = History::new(0, Vec::new());
        fresh.add_to(&mut history);
        pushed(&mut fresh, 6..12);
        fresh.add_to(&mut history);
        let minutes = Axis { from: 0, step: 6 * FINEST, points: 2 };
        assert_eq!(history.on(minutes, 0), [Some(2.5), Some(8.5)]);
    }

    #[test]
    fn who_is_measured_more_seldom_has_no_holes_and_who_was_away_has() {
        let mut fresh = Fresh::default();
        for step in [0, 2, 6, 11] {
            pushed(&mut fresh, step..step + 1);
        }
        let held = [&[Some(0.0)][..], &[Some(2.0); 2], &[Some(6.0); 4]].concat();
        let expected = [&held[..], &[None; 4], &[Some(11.0)]].concat();
        assert_eq!(seen(&fresh, 0, 12), expected);
    }

    #[test]
    fn where_nothing_can_be_kept_the_oldest_go() {
        let mut fresh = Fresh::default();
        pushed(&mut fresh, 0..5);
        let being_kept = fresh.end();
        pushed(&mut fresh, 5..MOST as i64 + 10);
        fresh.forget(being_kept);
        let seen = seen(&fresh, 10, MOST + 10);
        assert_eq!((seen[9], seen[10]), (None, Some(10.0)), "what was kept had gone before");
        assert_eq!(seen[MOST + 9], Some((MOST + 9) as f32));
    }

    fn values() -> impl Strategy<Value = Vec<Vec<u16>>> {
        (0..20_usize).prop_flat_map(|width| {
            prop::collection::vec(prop::collection::vec(0..3_u16, width), 0..20)
        })
    }

    proptest! {
        #[test]
        fn rows_are_what_they_were(rows in values(), forgotten in 0..25_u64) {
            let mut fresh = Fresh::default();
            for (step, row) in (0..).zip(&rows) {
                fresh.add(step, row.iter().map(|value| Short(*value)).collect());
            }
            fresh.forget(forgotten);
            let left = fresh.rows().map(|(step, row)| (step, row.iter().map(|value| value.0).collect()));
            let left: Vec<(u32, Vec<u16>)> = left.collect();
            let expected = (0..).zip(rows).skip(usize::try_from(forgotten).unwrap());
            prop_assert_eq!(left, expected.collect::<Vec<_>>());
        }
    }
}
