//! Containers that do not end, however often they are told to: a process that waits for a disk or a driver
//! for ever is killed by nobody. What such a one has stays taken, and its node is not to be fed.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use protocol::ids::{NodeName, TaskKey};

use crate::lock::lock;

/// So often one is told at least before that says anything.
const ENOUGH: u32 = 3;
/// Tries that lie further apart say nothing together: nobody reached the engine in between.
const APART: Duration = Duration::from_secs(300);

/// What was told to end and has not been seen to.
#[derive(Debug, Default)]
pub(crate) struct Unkilled(Mutex<HashMap<(NodeName, TaskKey), Told>>);

#[derive(Debug, Clone, Copy)]
struct Told {
    tries: u32,
    first: Instant,
    last: Instant,
    /// An administrator knows of it and wants its node open.
    excused: bool,
}

impl Unkilled {
    /// A container that runs is told to end.
    pub(crate) fn told(&self, node: &NodeName, key: TaskKey, now: Instant) {
        let mut all = lock(&self.0);
        let first = Told { tries: 0, first: now, last: now, excused: false };
        let told = all.entry((node.clone(), key)).or_insert(first);
        if now.saturating_duration_since(told.last) > APART {
            *told = Told { excused: told.excused, ..first };
        }
        told.tries = told.tries.saturating_add(1);
        told.last = now;
    }

    /// Those that were told often enough, for so long, by node and in order.
    pub(crate) fn after(&self, patience: Duration) -> HashMap<NodeName, Vec<TaskKey>> {
        let mut found: HashMap<NodeName, Vec<TaskKey>> = HashMap::new();
        for ((node, key), told) in lock(&self.0).iter() {
            let is_long = told.last.saturating_duration_since(told.first) >= patience;
            if is_long && told.tries >= ENOUGH && !told.excused {
                found.entry(node.clone()).or_default().push(*key);
            }
        }
        found.values_mut().for_each(|keys| keys.sort_unstable());
        found
    }

    /// Somebody wants a node open, whatever does not end there.
    pub(crate) fn excuse(&self, node: &NodeName) {
        let mut all = lock(&self.0);
        let there = all.iter_mut().filter(|((of, _), _)| of == node);
        there.for_each(|(_, told)| told.excused = true);
    }

    /// Forgets all but those that still run.
    pub(crate) fn keep(&self, runs: impl Fn(&NodeName, &TaskKey) -> bool) {
        lock(&self.0).retain(|(node, key), _| runs(node, key));
    }
}

#[cfg(test)]
mod tests {
    use protocol::ids::JobId;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(300);

    fn node() -> NodeName {
        "node-1".parse().unwrap()
    }

    fn key(job: i64) -> TaskKey {
        TaskKey { job: JobId(job), attempt: 0, role: 0, index: 0, retry: 0 }
    }

    /// Tells a container of a job to end at these seconds.
    fn tell(unkilled: &Unkilled, began: Instant, job: i64, seconds: &[u64]) {
        for second in seconds {
            unkilled.told(&node(), key(job), began + Duration::from_secs(*second));
        }
    }

    fn found(unkilled: &Unkilled) -> Vec<i64> {
        let found = unkilled.after(PATIENCE).remove(&node()).unwrap_or_default();
        found.into_iter().map(|key| key.job.0).collect()
    }

    #[test]
    fn what_was_told_often_and_for_minutes_is_not_to_be_killed() {
        let (unkilled, began) = (Unkilled::default(), Instant::now());
        tell(&unkilled, began, 1, &[0, 1, 3, 60, 299]);
        assert!(found(&unkilled).is_empty(), "it may still end");
        tell(&unkilled, began, 2, &[0, 300]);
        assert!(found(&unkilled).is_empty(), "it was hardly told");
        tell(&unkilled, began, 1, &[300]);
        assert_eq!(found(&unkilled), [1]);
        tell(&unkilled, began, 2, &[301]);
        assert_eq!(found(&unkilled), [1, 2]);
        unkilled.keep(|_, of| *of != key(1));
        assert_eq!(found(&unkilled), [2], "it is gone");
        tell(&unkilled, began, 1, &[400]);
        assert_eq!(found(&unkilled), [2], "it is told for the first time");
    }

    #[test]
    fn tries_with_a_silent_engine_between_them_say_nothing_together() {
        let (unkilled, began) = (Unkilled::default(), Instant::now());
        tell(&unkilled, began, 1, &[0, 10, 2_000, 2_010, 2_290]);
        assert!(found(&unkilled).is_empty());
        tell(&unkilled, began, 1, &[2_300]);
        assert_eq!(found(&unkilled), [1]);
    }

    #[test]
    fn who_knows_of_it_may_have_the_node_open() {
        let (unkilled, began) = (Unkilled::default(), Instant::now());
        tell(&unkilled, began, 1, &[0, 100, 300]);
        unkilled.excuse(&"node-2".parse().unwrap());
        assert_eq!(found(&unkilled), [1]);
        unkilled.excuse(&node());
        tell(&unkilled, began, 1, &[400, 1_000, 1_200, 1_300]);
        assert!(found(&unkilled).is_empty());
        tell(&unkilled, began, 2, &[400, 600, 700]);
        assert_eq!(found(&unkilled), [2], "of this one nobody knows");
    }
}
