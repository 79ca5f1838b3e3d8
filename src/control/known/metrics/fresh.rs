//! What was measured and is not kept yet.

use super::history::{FINEST, History};
use super::short::Short;
use crate::known::turns::MOST_SELDOM;

/// Rows at most: some twenty minutes. Where nothing can be kept for longer, the oldest go.
const MOST: usize = 128;

/// Room is made for so many further rows.
const SPARE: usize = 8;

/// What was measured stands for so many steps up to it, where nothing else does: each of thousands of nodes is measured
/// more seldom.
const HELD: i64 = MOST_SELDOM as i64;

/// Rows that were measured, in the order of time.
#[derive(Debug, Clone, Default)]
pub(super) struct Fresh {
    /// How many rows went before the first one.
    gone: u64,
    /// Which step each row is of, counted from the epoch.
    steps: Vec<u32>,
    values: Vec<Short>,
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

    /// One more row; all are of the same length.
    pub(super) fn push(&mut self, at: i64, row: impl Iterator<Item = Option<f32>>) {
        if self.steps.len() >= MOST {
            self.forget(self.gone + 1);
        }
        if self.steps.len() == self.steps.capacity() {
            // There are many of them, and none becomes large: no more room than a few further rows need.
            let width = self.values.len() / self.steps.len().max(1);
            self.steps.reserve_exact(SPARE);
            self.values.reserve_exact(SPARE * width);
        }
        self.steps.push(u32::try_from(at.div_euclid(FINEST)).unwrap_or(0));
        self.values.extend(row.map(Short::new));
    }

    /// The rows before this one are kept, or can be kept no more.
    pub(super) fn forget(&mut self, end: u64) {
        let rows = self.steps.len();
        let known = usize::try_from(end.saturating_sub(self.gone)).unwrap_or(rows).min(rows);
        let width = self.values.len() / rows.max(1);
        self.values.drain(..known * width);
        self.steps.drain(..known);
        self.gone += known as u64;
    }

    /// Adds it to what was kept, but for steps of which that has something already.
    pub(super) fn add_to(&self, history: &mut History) {
        let mut known = history.newest();
        let width = (self.values.len() / self.steps.len().max(1)).max(1);
        for (step, row) in self.steps.iter().zip(self.values.chunks(width)) {
            let step = i64::from(*step);
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
        self.steps.capacity() * size_of::<u32>() + self.values.capacity() * size_of::<Short>()
    }
}

#[cfg(test)]
mod tests {
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
        for step in [0, 2, 5, 9] {
            pushed(&mut fresh, step..step + 1);
        }
        let held = [Some(0.0), Some(2.0), Some(2.0), Some(5.0), Some(5.0), Some(5.0)];
        let expected = [&held[..], &[None; 3], &[Some(9.0)]].concat();
        assert_eq!(seen(&fresh, 0, 10), expected);
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
}
