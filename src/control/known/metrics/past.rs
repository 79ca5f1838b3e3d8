//! What a task or a node used before anybody measured it, as a demonstration has it.

use engine::Stats;
use engine::exporter::GpuSample;
use protocol::time::Timestamp;

use super::history::History;
use super::row::{of_node, of_task};

/// What a task used, or a node, put together at once.
#[derive(Debug)]
pub struct Past {
    history: History,
    /// What was counted up to the last time, and when that was.
    last: Option<(Timestamp, Stats)>,
}

impl Past {
    /// Of whoever has these GPUs and is measured from then on.
    #[must_use]
    pub fn new(since: Timestamp, gpus: Vec<u32>) -> Self {
        Self { history: History::new(since.0, gpus), last: None }
    }

    /// Notes what was used, and what GPUs did, later each time.
    pub fn note(&mut self, at: Timestamp, stats: &Stats, gpus: &[GpuSample]) {
        let uses = of_task(stats, at, self.last.replace((at, *stats)));
        let row: Vec<Option<f32>> = of_node(uses, self.history.gpus(), gpus).collect();
        self.history.push(at.0, &row);
    }

    /// As it is kept.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.history.to_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::history::{Axis, FINEST};
    use super::*;

    #[test]
    fn it_is_as_if_it_had_been_measured() {
        let start = Timestamp(1_767_225_600_000);
        let mut past = Past::new(start, vec![2, 3]);
        for (at, network_in) in [(0, 0), (FINEST, 500)] {
            let stats = Stats { cpus: 1.5, network_in, ..Stats::default() };
            let gpu = GpuSample { index: Some(3), load: Some(50.0), ..GpuSample::default() };
            past.note(start.plus_millis(at), &stats, &[gpu]);
        }
        let kept = History::from_bytes(&past.to_bytes()).unwrap();
        assert_eq!((kept.since(), kept.gpus()), (start.0, &[2, 3][..]));
        let axis = Axis { from: start.0, step: FINEST, points: 2 };
        assert_eq!(kept.on(axis, 0), [Some(1.5); 2]);
        assert_eq!(kept.on(axis, 2), [None, Some(50.0)], "bytes in a second");
        assert_eq!(kept.on(axis, 6), [None; 2], "nobody told of its first GPU");
        assert_eq!(kept.on(axis, 13), [Some(50.0); 2]);
    }
}
