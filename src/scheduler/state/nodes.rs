//! Nodes that come, go and change. That one takes tasks or does not, or that a GPU of it is broken or
//! mended, happens all the time: it costs what is on that node, not what there is.

use std::collections::BTreeSet;

use protocol::ids::{GpuType, JobId};

use crate::cluster::allocation::TaskAllocation;
use crate::model::{Node, Reservation};
use crate::numbers::indices::{AccountIndex, NodeIndex};
use crate::pass::reserve::{Reserved, release};
use crate::state::State;

/// Kinds that are remembered for each node: with more, most of them are of the past.
const KINDS_A_NODE: usize = 4;

impl State {
    /// Nodes came, went or changed: everything is made anew.
    pub fn set_nodes(&mut self, nodes: &[Node]) {
        self.rebuild(nodes);
    }

    /// These nodes are as given here now, all others as they were. True: everything was made anew,
    /// since one of them differs in more than what [`Node::is_like`] lets pass. Then those who run are
    /// to be told again ([`State::runs`]): what was nowhere may be somewhere now.
    pub fn change_nodes(&mut self, changed: &[Node]) -> bool {
        let like =
            |node: &Node| self.cluster.fixed_of(node).is_some_and(|old| old.node.is_like(node));
        let few = self.cluster.kinds.len() <= KINDS_A_NODE * (self.cluster.fixed.len() + 16);
        if few && changed.iter().all(like) {
            self.alter(changed);
            return false;
        }
        let mut nodes = self.nodes();
        for node in changed {
            match self.cluster.names.nodes.get(&node.name) {
                Some(at) => nodes[usize::from(*at)].clone_from(node),
                None => nodes.push(node.clone()),
            }
        }
        self.rebuild(&nodes);
        true
    }

    /// All nodes.
    pub(crate) fn nodes(&self) -> Vec<Node> {
        self.cluster.fixed.iter().map(|fixed| fixed.node.clone()).collect()
    }

    /// The types of all GPUs.
    #[must_use]
    pub fn gpu_types(&self) -> BTreeSet<GpuType> {
        self.cluster.names.types.iter().cloned().collect()
    }

    /// Whoever was about to start on one of the nodes waits again, and what was kept there is let go;
    /// who runs there stays where he is.
    fn alter(&mut self, changed: &[Node]) {
        let numbers = changed.iter().filter_map(|node| self.cluster.names.nodes.get(&node.name));
        let numbers: BTreeSet<NodeIndex> = numbers.copied().collect();
        let there = |allocation: &TaskAllocation| {
            allocation.node.is_some_and(|node| numbers.contains(&node))
        };
        let holds = self.reserved.iter().filter(|(_, reserved)| self.rests_on(reserved, &numbers));
        let accounts: Vec<AccountIndex> = holds.map(|(account, _)| *account).collect();
        for account in accounts {
            self.drop_hold(account);
        }
        let pending = self.pending.iter();
        let pending = pending.filter(|(_, pending)| pending.placed.allocations.iter().any(there));
        let jobs: Vec<JobId> = pending.map(|(job, _)| *job).collect();
        for job in jobs {
            let waiter = self.give_up_places(job);
            waiter.into_iter().for_each(|waiter| self.queue.insert(waiter));
        }
        for node in changed {
            self.cluster.alter(node);
        }
        self.all_gain();
    }

    /// Whether a reservation needs one of these nodes.
    fn rests_on(&self, reserved: &Reserved, nodes: &BTreeSet<NodeIndex>) -> bool {
        let there =
            |allocation: &TaskAllocation| allocation.node.is_some_and(|node| nodes.contains(&node));
        let awaits = reserved.reservation.awaits.iter();
        let mut awaited = awaits.filter_map(|job| self.cluster.placed_jobs.get(job));
        reserved.nodes().any(|node| nodes.contains(&node))
            || awaited.any(|placed| placed.allocations.iter().any(there))
    }

    /// Lets go what is kept on an account. Its job waits for nobody else than before, if that is
    /// possible.
    pub(crate) fn drop_hold(&mut self, account: AccountIndex) {
        let Some(reserved) = self.reserved.remove(&account) else { return };
        release(&mut self.cluster, &reserved);
        let waits = |last: &Reservation| self.queue.jobs.contains_key(&last.job);
        self.last.retain(|last| waits(last) && last.job != reserved.reservation.job);
        self.last.push(reserved.reservation);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use protocol::cluster::NodeCondition;
    use protocol::wait::WaitReason;

    use super::*;
    use crate::model::{QosClass, Running, Snapshot};
    use crate::properties::events::cases;
    use crate::properties::{Case, any_snapshot};
    use crate::story::{NOW, Story, cluster, job, places};

    /// The node of the story with another condition.
    fn turned(story: &Story, at: usize, condition: NodeCondition) -> Node {
        Node { condition, ..story.snapshot.nodes[at].clone() }
    }

    /// *vision* is guaranteed one of two nodes, both of which *default* has filled.
    fn lent() -> Story {
        let all: &[u32] = &[0, 1, 2, 3];
        let story = cluster().node("a").gpus(4, "A100").node("b").gpus(4, "A100");
        let story = story.share("vision", &[("A100", 4)], None);
        let story = story.running(8, "default", &[("a", all, 4)]);
        story.running(9, "default", &[("b", all, 4)]).borrowed()
    }

    #[test]
    fn a_node_that_is_out_of_contact_for_a_while_keeps_what_runs_there() {
        let story = lent();
        let mut state = State::of(&story.snapshot);
        for condition in [NodeCondition::Unreachable, NodeCondition::Ready] {
            assert!(!state.change_nodes(&[turned(&story, 1, condition)]));
            assert_eq!(state.pass(NOW).preemptions, [], "nobody asks for anything");
            assert_eq!(state.qos_class(JobId(9)), Some(QosClass::Borrowed));
            state.cluster.sanity_check();
        }
        state.submit(&job(1).gpus(1, &[]).request);
        assert_eq!(state.pass(NOW).placements, [], "both nodes are taken");
        state.ended(JobId(9));
        assert_eq!(places(&state.pass(NOW).placements[0]), "b:0");
    }

    #[test]
    fn what_takes_no_tasks_is_given_none() {
        let story = cluster().node("a").node("b");
        let mut state = State::of(&story.snapshot);
        assert!(!state.change_nodes(&[turned(&story, 0, NodeCondition::Draining)]));
        state.submit(&job(1).request);
        assert_eq!(places(&state.pass(NOW).placements[0]), "b:");
        assert!(!state.change_nodes(&[turned(&story, 1, NodeCondition::Draining)]));
        state.submit(&job(2).request);
        assert_eq!(state.pass(NOW).placements, []);
        let why = state.explain(JobId(2), NOW).unwrap().waiting.reason;
        assert_eq!(why, WaitReason::NodeDown { nodes: 2 });
        assert!(!state.change_nodes(&[turned(&story, 0, NodeCondition::Ready)]));
        assert_eq!(places(&state.pass(NOW).placements[0]), "a:");
    }

    #[test]
    fn who_was_about_to_start_on_a_node_that_is_drained_waits_again() {
        let story = lent().waits(job(1).within("vision").gpus(4, &[]));
        let mut state = State::of(&story.snapshot);
        let pass = state.pass(NOW);
        assert_eq!(pass.preemptions.iter().map(|p| p.job).collect::<Vec<_>>(), [JobId(9)]);
        assert!(!state.change_nodes(&[turned(&story, 1, NodeCondition::Draining)]));
        state.cluster.sanity_check();
        assert!(state.has_place(JobId(9)), "it is there until it ends");
        state.ended(JobId(9));
        assert_eq!(state.pass(NOW).placements, [], "its node takes nothing");
        assert!(!state.change_nodes(&[turned(&story, 1, NodeCondition::Ready)]));
        let pass = state.pass(NOW);
        assert_eq!(places(&pass.placements[0]), "b:0,1,2,3");
        assert_eq!(pass.placements[0].qos_class, QosClass::Guaranteed);
    }

    #[test]
    fn a_reservation_does_not_rest_on_a_node_that_takes_nothing() {
        let story = cluster().node("a").cpus(8).node("b").cpus(8);
        let story = story.running(8, "default", &[("a", &[], 8)]).ends_in(1_000);
        let story = story.running(9, "default", &[("b", &[], 8)]).ends_in(9_000);
        let story = story.waits(job(1).cpus(8)).waits(job(2).cpus(8));
        let mut state = State::of(&story.snapshot);
        state.pass(NOW);
        let awaits = |state: &State| {
            let reserved = state.reservations();
            let first = reserved.iter().find(|reservation| reservation.job == JobId(1));
            first.map(|reservation| reservation.awaits.iter().copied().collect::<Vec<_>>())
        };
        assert_eq!(awaits(&state), Some(vec![JobId(8)]));
        assert!(!state.change_nodes(&[turned(&story, 0, NodeCondition::Unreachable)]));
        state.pass(NOW);
        assert_eq!(awaits(&state), Some(vec![JobId(9)]));
        assert_eq!(state.promised(), [JobId(1)], "it stays first");
    }

    #[test]
    fn a_gpu_that_breaks_is_given_to_nobody_until_it_is_mended() {
        let story = cluster().node("a").gpus(2, "A100").running(9, "default", &[("a", &[0], 1)]);
        let mut state = State::of(&story.snapshot);
        let whole = &story.snapshot.nodes[0];
        let mut broken = whole.clone();
        broken.capacity.gpus.iter_mut().for_each(|gpu| gpu.healthy = false);
        assert!(!state.change_nodes(std::slice::from_ref(&broken)));
        state.submit(&job(1).gpus(1, &[]).request);
        assert_eq!(state.pass(NOW).placements, []);
        state.ended(JobId(9));
        assert_eq!(state.pass(NOW).placements, [], "what was given back is broken as well");
        assert!(!state.change_nodes(std::slice::from_ref(whole)));
        assert_eq!(places(&state.pass(NOW).placements[0]), "a:0");
    }

    #[test]
    fn a_node_that_becomes_another_is_made_anew() {
        let story = cluster().node("a").gpus(2, "A100");
        let story = story.running(9, "default", &[("a", &[0, 1], 4)]);
        let mut state = State::of(&story.snapshot);
        let [first] = story.snapshot.nodes.as_slice() else { panic!("there is one node") };
        let mut larger = first.clone();
        larger.capacity.cpus += 1;
        let name = "b".parse().unwrap();
        let second = Node { name, address: "10.0.0.2".to_owned(), ..first.clone() };
        let changed = [larger, second];
        assert!(state.change_nodes(&changed));
        assert_eq!(state.nodes(), changed);
        state.submit(&job(1).gpus(2, &[]).request);
        assert_eq!(places(&state.pass(NOW).placements[0]), "b:0,1");
    }

    /// What runs, as it would be read anew.
    fn running(snapshot: &Snapshot, state: &State) -> Vec<Running> {
        let now = |running: &Running| {
            Some(Running { qos_class: state.qos_class(running.job)?, ..running.clone() })
        };
        snapshot.running.iter().filter_map(now).collect()
    }

    proptest! {
        #![proptest_config(cases(300))]

        #[test]
        fn one_change_after_the_other_comes_to_the_same_as_the_whole(
            Case(snapshot) in any_snapshot(),
            changes in prop::collection::vec((0..8_usize, 0..3_u8, 0..10_usize), 1..8),
        ) {
            let mut state = State::of(&snapshot);
            let mut nodes = snapshot.nodes.clone();
            for (node, condition, gpu) in changes {
                let at = node % nodes.len();
                let node = &mut nodes[at];
                node.condition = match condition {
                    0 => NodeCondition::Draining,
                    1 => NodeCondition::Unreachable,
                    _ => NodeCondition::Ready,
                };
                node.capacity.gpus.iter_mut().skip(gpu).take(1).for_each(|g| g.healthy = !g.healthy);
                prop_assert!(!state.change_nodes(&nodes[at..=at]));
                state.cluster.sanity_check();
            }
            let running = running(&snapshot, &state);
            prop_assert_eq!(running.len(), snapshot.running.len());
            let mut anew = State::of(&Snapshot { nodes: nodes.clone(), running, ..snapshot.clone() });
            prop_assert_eq!(&state.nodes(), &nodes);
            prop_assert_eq!(state.free(), anew.free());
            let of = |state: &State| state.cluster.kinds.iter().zip(&state.cluster.alike)
                .filter(|(_, count)| **count > 0)
                .map(|(kind, count)| format!("{count} {kind:?}"))
                .collect::<BTreeSet<_>>();
            prop_assert_eq!(of(&state), of(&anew));
            for asked in &snapshot.waiting {
                let never = |state: &State| {
                    let class = state.cluster.class_without_places(asked);
                    crate::answer::admit::never(&state.cluster, &class)
                };
                prop_assert_eq!(never(&state), never(&anew));
            }
            let pass = state.pass(NOW);
            for placement in &pass.placements {
                for task in &placement.tasks {
                    let node = nodes.iter().find(|node| node.name == task.node).unwrap();
                    prop_assert_eq!(node.condition, NodeCondition::Ready);
                    let healthy = |index: &u32| node.capacity.gpus[*index as usize].healthy;
                    prop_assert!(task.gpus.iter().all(healthy));
                }
            }
            state.cluster.sanity_check();
        }
    }
}
