//! Nodes with much memory or many cores beside their GPUs, told by example.

use proptest::prelude::*;
use protocol::ids::JobId;

use crate::State;
use crate::model::Request;
use crate::properties::events::cases;
use crate::story::{NOW, Story, cluster, job, places};

/// Four GPUs beside much memory, or many cores, and twelve beside little; first comes who needs much.
fn rich_and_poor(cores: bool) -> (Story, [Request; 2]) {
    let (rich, poor) =
        if cores { ((128, 1 << 17), (16, 1 << 17)) } else { ((16, 1 << 20), (16, 1 << 17)) };
    let node = |story: Story, name: &str, (cpus, memory): (u32, u64)| {
        story.node(name).gpus(4, "A100").cpus(cpus).memory(memory)
    };
    let story = node(cluster(), "rich", rich);
    let story = ["a", "b", "c"].iter().fold(story, |story, name| node(story, name, poor));
    let (much, little) =
        if cores { ((24, 1 << 12), (2, 1 << 12)) } else { ((2, 200 << 10), (2, 1 << 14)) };
    let asks =
        [much, little].map(|(cpus, memory)| job(1).gpus(1, &[]).cpus(cpus).memory(memory).request);
    (story, asks)
}

/// A quarter of what came needs much.
fn learned_of_much(cores: bool) -> (State, [Request; 2]) {
    let (story, asks) = rich_and_poor(cores);
    let mut state = State::of(&story.snapshot);
    for number in 0..64 {
        state.submit(&asks[usize::from(number % 4 > 0)]);
        state.cancel(JobId(1));
    }
    (state, asks)
}

#[test]
fn gpus_beside_much_memory_or_many_cores_are_left_to_who_needs_these() {
    for cores in [false, true] {
        let (mut state, [much, little]) = learned_of_much(cores);
        for (asked, is_rich) in [(&little, false), (&much, true), (&little, false)] {
            state.submit(asked);
            let place = places(&state.pass(NOW).placements[0]);
            assert_eq!(place.starts_with("rich"), is_rich, "{cores}: {place}");
            state.ended(JobId(1));
        }
    }
}

proptest! {
    #![proptest_config(cases(100))]

    /// As many come as there are GPUs, in any order: who needs much memory, or many cores, finds them.
    #[test]
    fn rich_nodes_are_filled_by_who_needs_them_whatever_the_order(
        cores in any::<bool>(),
        order in Just([vec![0; 4], vec![1; 12]].concat()).prop_shuffle(),
    ) {
        let (mut state, asks) = learned_of_much(cores);
        for (id, asked) in (2..).zip(&order) {
            let asked: &Request = &asks[*asked];
            state.submit(&Request { job: JobId(id), ..asked.clone() });
            prop_assert_eq!(state.pass(NOW).placements.len(), 1, "{:?} at {}", &order, id);
        }
    }
}
