//! How busy the GPUs of jobs and of nodes were in the last hour, for lists of them: in memory alone, a few bytes
//! for each, so that a list reads no file.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Mutex;

use api::metrics::{Lately, Metric};
use protocol::ids::{JobId, NodeName};
use protocol::time::Timestamp;

use crate::known::metrics::{Axis, History};
use crate::lock::lock;

/// A span, in milliseconds.
const SPAN: i64 = 300_000;
const SPANS: i64 = Lately::SPANS as i64;

/// Of all that are told of in lists.
#[derive(Debug, Default)]
pub(crate) struct ListLoads {
    pub(crate) of_jobs: Loads<JobId>,
    pub(crate) of_nodes: Loads<NodeName>,
}

#[derive(Debug)]
pub(crate) struct Loads<K>(Mutex<Held<K>>);

#[derive(Debug)]
struct Held<K> {
    /// The span in which it was last looked for what is old.
    swept: i64,
    /// Apart from their keys: a table that has grown is half empty.
    all: HashMap<K, Box<Spans>>,
}

/// The last spans.
#[derive(Debug, Clone, Copy, Default)]
struct Spans {
    /// The number of the last one in which anything was noted.
    newest: i64,
    /// Each stands where its number says, divided by how many there are.
    all: [Span; Lately::SPANS],
}

#[derive(Debug, Clone, Copy, Default)]
struct Span {
    /// Of percents, and of how many.
    sum: f32,
    count: u32,
}

impl<K> Default for Loads<K> {
    fn default() -> Self {
        Self(Mutex::new(Held { swept: 0, all: HashMap::new() }))
    }
}

impl<K: Clone + Eq + Hash> Loads<K> {
    /// Notes how busy some of its GPUs are, in percent.
    pub(crate) fn note(&self, key: &K, at: Timestamp, loads: &[f32]) {
        if loads.is_empty() {
            return;
        }
        let number = at.0.div_euclid(SPAN);
        let mut held = lock(&self.0);
        if held.swept != number {
            held.swept = number;
            held.all.retain(|_, spans| number - spans.newest < SPANS);
        }
        let span = held.all.entry(key.clone()).or_default().span(number);
        span.sum += loads.iter().map(|load| load.clamp(0.0, 100.0)).sum::<f32>();
        span.count += loads.len() as u32;
    }

    /// Notes what its GPUs did before the server was away.
    pub(crate) fn remember(&self, key: &K, kept: &History, now: Timestamp) {
        let from = (now.0.div_euclid(SPAN) - SPANS + 1) * SPAN;
        let axis = Axis { from, step: SPAN, points: Lately::SPANS };
        for gpu in 0..kept.gpus().len() {
            let column = Metric::OF_TASK.len() + gpu * Metric::OF_GPU.len();
            for (load, span) in kept.on(axis, column).into_iter().zip(0..) {
                let at = Timestamp(from + span * SPAN);
                self.note(key, at, load.as_slice());
            }
        }
    }

    /// What was noted in the last spans.
    pub(crate) fn of(&self, key: &K, now: Timestamp) -> Lately {
        let held = lock(&self.0);
        let Some(spans) = held.all.get(key) else { return Lately::default() };
        let last = now.0.div_euclid(SPAN);
        let lately = Lately((last - SPANS + 1..=last).map(|number| spans.mean(number)).collect());
        if lately.is_empty() { Lately::default() } else { lately }
    }

    /// There is no such thing any more.
    pub(crate) fn forget(&self, key: &K) {
        lock(&self.0).all.remove(key);
    }
}

impl Spans {
    fn place(number: i64) -> usize {
        number.rem_euclid(SPANS) as usize
    }

    /// A new one takes the place of the one of an hour ago. Where it is older than all of them, the clock was set
    /// back, and it is begun anew.
    fn span(&mut self, number: i64) -> &mut Span {
        if number <= self.newest - SPANS {
            *self = Self::default();
        }
        for passed in (self.newest + 1..=number).rev().take(Lately::SPANS) {
            self.all[Self::place(passed)] = Span::default();
        }
        self.newest = self.newest.max(number);
        &mut self.all[Self::place(number)]
    }

    fn has(&self, number: i64) -> bool {
        (self.newest - SPANS + 1..=self.newest).contains(&number)
    }

    fn mean(&self, number: i64) -> Option<u8> {
        let span = self.all[Self::place(number)];
        let mean = || (span.sum / span.count as f32).round() as u8;
        (self.has(number) && span.count > 0).then(mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many spans after a moment far from the beginning of all time.
    fn at(spans: i64) -> Timestamp {
        Timestamp((6_000_000 + spans) * SPAN + 7)
    }

    fn told(loads: &Loads<JobId>, now: i64) -> Vec<Option<u8>> {
        loads.of(&JobId(1), at(now)).0
    }

    #[test]
    fn means_of_spans_are_told_until_they_are_an_hour_old() {
        let loads = Loads::default();
        loads.note(&JobId(1), at(0), &[100.0, 0.0]);
        loads.note(&JobId(1), at(0), &[20.0]);
        loads.note(&JobId(1), at(2), &[7.4]);
        let last = |told: &[Option<u8>]| told[told.len() - 3..].to_vec();
        assert_eq!(last(&told(&loads, 2)), [Some(40), None, Some(7)]);
        assert_eq!(told(&loads, 2).len(), Lately::SPANS);
        assert_eq!(told(&loads, 13).first(), Some(&Some(7)), "the first one is an hour old");
        assert!(told(&loads, 14).is_empty(), "nothing of it is told any more");
        loads.note(&JobId(1), at(12), &[50.0]);
        assert_eq!(told(&loads, 12).last(), Some(&Some(50)), "it took the place of the first");
    }

    #[test]
    fn a_clock_that_is_set_back_is_followed() {
        let loads = Loads::default();
        loads.note(&JobId(1), at(100), &[90.0]);
        loads.note(&JobId(1), at(95), &[10.0]);
        let now = told(&loads, 100);
        assert_eq!((now[now.len() - 6], now.last()), (Some(10), Some(&Some(90))));
        loads.note(&JobId(1), at(0), &[30.0]);
        assert_eq!(told(&loads, 0).last(), Some(&Some(30)));
        assert!(told(&loads, 100).is_empty());
    }

    #[test]
    fn what_was_measured_before_is_told_as_well() {
        let mut kept = History::new(at(0).0, vec![0, 1]);
        for (spans, loads) in [(0, [100.0, 50.0]), (20, [30.0, 10.0]), (22, [8.0, 0.0])] {
            let [one, other] = loads.map(|load| [&[Some(load)][..], &[None; 6]].concat());
            kept.push(at(spans).0, &[&[None; 6][..], &one, &other].concat());
        }
        let loads = Loads::default();
        loads.remember(&JobId(1), &kept, at(22));
        loads.note(&JobId(1), at(22), &[100.0]);
        let told = told(&loads, 22);
        assert_eq!(told[told.len() - 3..], [Some(20), None, Some(36)]);
        assert_eq!(told[0], None, "that was more than an hour ago");
    }

    #[test]
    fn nothing_is_kept_of_what_is_over() {
        let loads = Loads::default();
        loads.note(&JobId(1), at(0), &[1.0]);
        loads.note(&JobId(2), at(11), &[f32::INFINITY]);
        assert_eq!(lock(&loads.0).all.len(), 2);
        assert_eq!(loads.of(&JobId(2), at(11)).latest(), Some(100));
        loads.note(&JobId(2), at(12), &[]);
        loads.note(&JobId(2), at(12), &[3.0]);
        assert!(told(&loads, 12).is_empty());
        loads.forget(&JobId(2));
        assert!(lock(&loads.0).all.is_empty());
    }
}
