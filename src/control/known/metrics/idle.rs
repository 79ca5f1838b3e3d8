//! For how long a GPU that is held does nothing.

use protocol::time::Timestamp;

use super::history::Axis;

/// A GPU does nothing when it is busy for less than so many percent.
const LEAST: f32 = 1.0;
/// That is told when it has lasted for so many milliseconds: work reads its data first, and stops to think.
pub(super) const AFTER: i64 = 900_000;

/// For how long a GPU does nothing.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Idle {
    since: Option<Timestamp>,
    /// Its job was told.
    told: bool,
}

impl Idle {
    /// As its loads on an axis say that were kept before the server was away, the first one of them since so
    /// long; nothing, if the last one is older than what is told.
    pub(super) fn again(loads: &[Option<f32>], (axis, first): (Axis, i64), now: Timestamp) -> Self {
        let at = |point: usize| axis.from + point as i64 * axis.step;
        let newest = loads.iter().rposition(Option::is_some).map(|newest| at(newest + 1));
        let Some(last) = newest.filter(|last| now.0 - last <= AFTER) else {
            return Self::default();
        };
        let busy = loads.iter().rposition(|load| load.is_some_and(|load| load >= LEAST));
        let begun = busy.map_or(0, |busy| busy + 1);
        let idle = loads.iter().skip(begun).position(Option::is_some);
        let since = idle.map(|idle| Timestamp(at(begun + idle).max(first)));
        let told = since.is_some_and(|since| last - since.0 >= AFTER);
        Self { since, told }
    }

    /// Notes how busy it was, if that was measured.
    pub(super) fn note(&mut self, load: Option<f32>, at: Timestamp) {
        match load {
            Some(load) if load < LEAST => self.since = self.since.or(Some(at)),
            Some(_) => *self = Self::default(),
            None => {}
        }
    }

    /// Since when, once that has lasted for long.
    pub(super) fn since(self, now: Timestamp) -> Option<Timestamp> {
        self.since.filter(|since| now.since(*since) >= AFTER)
    }

    /// Whether its job is to be told now: once, until it works again.
    pub(super) fn is_to_tell(&mut self, now: Timestamp) -> bool {
        let to_tell = !self.told && self.since(now).is_some();
        self.told |= to_tell;
        to_tell
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_idle_when_it_has_done_nothing_for_long_and_that_is_told_once() {
        let mut gpu = Idle::default();
        for (at, load) in [(0, Some(50.0)), (10, Some(0.0)), (20, None), (30, Some(0.9))] {
            gpu.note(load, Timestamp(at));
        }
        let long = Timestamp(10 + AFTER);
        assert_eq!(gpu.since(Timestamp(9 + AFTER)), None);
        assert_eq!(gpu.since(long), Some(Timestamp(10)));
        assert!(gpu.is_to_tell(long) && !gpu.is_to_tell(long));
        gpu.note(Some(1.0), long);
        assert_eq!((gpu.since(long), gpu.is_to_tell(long)), (None, false));
        gpu.note(Some(0.0), long);
        assert!(gpu.is_to_tell(Timestamp(long.0 + AFTER)), "it is told anew");
    }
}
