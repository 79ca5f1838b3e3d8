//! How much of what is free is of no use.

use std::collections::BTreeSet;

use crate::cluster::node::NodeState;
use crate::numbers::indices::NodeIndex;
use crate::state::State;

impl State {
    /// Thousandths of GPUs that are free on ready nodes and that the next task, if it is like those
    /// that came so far, could not use: the sum of what is expected of each node.
    #[must_use]
    pub fn fragmented_milli(&self) -> u64 {
        let cluster = &self.cluster;
        let of_alike = |(state, nodes): (&NodeState, &BTreeSet<NodeIndex>)| {
            let kind = &cluster.kinds[state.kind];
            let parts = state.shared.iter().map(|(_, left)| *left);
            let whole = state.free_gpus.count_ones();
            let cpus = state.free.cpus;
            let each =
                cluster.workload.losses.fragmented_milli(kind.type_mask(), cpus, whole, parts);
            let count = if kind.ready { nodes.len() as u64 } else { 0 };
            u64::try_from(each).unwrap_or(0) * count
        };
        cluster.index.live().map(of_alike).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::story::{cluster, job};

    #[test]
    fn free_gpus_too_few_for_most_tasks_are_fragmented() {
        let story = cluster().node("a").gpus(4, "A100");
        let empty = State::of(&story.snapshot).fragmented_milli();
        assert_eq!(empty, 0, "tasks of 1, 2 and 4 GPUs are expected");
        let full = story.clone().running(9, "default", &[("a", &[0, 1, 2, 3], 4)]);
        assert_eq!(State::of(&full.snapshot).fragmented_milli(), 0);
        let broken = story.running(9, "default", &[("a", &[0, 1, 2], 3)]);
        let mut state = State::of(&broken.snapshot);
        let before = state.fragmented_milli();
        assert!((600..700).contains(&before), "two of three kinds find no room: {before}");
        for id in 1..=64 {
            state.submit(&job(id).gpus(2, &[]).request);
        }
        assert!(state.fragmented_milli() > before, "most that came want two");
    }
}
