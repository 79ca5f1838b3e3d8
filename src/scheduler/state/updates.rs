//! What a kept state is told of those who run and wait, beside their coming and going.

use std::collections::BTreeMap;

use protocol::amount::Amount;
use protocol::ids::{GpuType, GroupName, JobId, UserName, VirtualClusterName};
use protocol::time::Timestamp;

use crate::cluster::allocation::{Right, TaskAllocation};
use crate::cluster::placed::PlacedJob;
use crate::model::remaining::Remaining;
use crate::model::{GroupUse, PastUse, QosClass, Request, Running, UserUse};
use crate::queue::{Key, Waiter};
use crate::state::State;

impl State {
    /// By what right a job runs; `None`: it has no place, or is about to give it up.
    #[must_use]
    pub fn qos_class(&self, job: JobId) -> Option<QosClass> {
        self.cluster.placed_jobs.get(&job).map(|placed| placed.qos_class)
    }

    /// The jobs that run on what is lent to them.
    pub fn borrowing(&self) -> impl Iterator<Item = JobId> {
        self.cluster.borrowed.iter().copied()
    }

    /// Whether a job runs here, be it that it is about to give way.
    #[must_use]
    pub fn has_place(&self, job: JobId) -> bool {
        self.cluster.placed_jobs.contains_key(&job) || self.leaving.contains_key(&job)
    }

    /// What the users of a virtual cluster have and have had, by name.
    #[must_use]
    pub fn uses(&self, virtual_cluster: &VirtualClusterName, now: Timestamp) -> Vec<UserUse> {
        self.cluster.owners.uses(virtual_cluster, now)
    }

    /// What the groups that share a virtual cluster have and have had, by name.
    #[must_use]
    pub fn uses_of_groups(
        &self,
        virtual_cluster: &VirtualClusterName,
        now: Timestamp,
    ) -> Vec<GroupUse> {
        self.cluster.owners.uses_of_groups(virtual_cluster, now)
    }

    /// The group to which a user counts where groups share a virtual cluster.
    #[must_use]
    pub fn group_of(
        &self,
        virtual_cluster: &VirtualClusterName,
        user: &UserName,
    ) -> Option<&GroupName> {
        self.cluster.owners.group_of(virtual_cluster, user)
    }

    /// As how many GPUs one counts between users, of those types of which it is not one.
    #[must_use]
    pub fn weights(&self) -> BTreeMap<GpuType, Amount> {
        self.cluster.owners.weights(&self.cluster.names.types)
    }

    /// What users had that have it no more, to be told to a later state.
    #[must_use]
    pub fn past_use(&self) -> &PastUse {
        &self.cluster.owners.past
    }

    /// When time alone changes the queue next: somebody comes back who waits for a moment, or a deadline
    /// becomes near, or can be met no more.
    #[must_use]
    pub fn wakes_at(&self) -> Option<Timestamp> {
        self.queue.wakes_at()
    }

    /// The waiting jobs that go first among their priority, since they were promised a start.
    #[must_use]
    pub fn promised(&self) -> Vec<JobId> {
        self.queue.promised.iter().copied().collect()
    }

    /// A running job as it is now: its tasks that have ended have given back what they had.
    pub fn runs(&mut self, running: &Running) {
        let told = self.cluster.placed(running);
        let Some(placed) = self.cluster.placed_jobs.get_mut(&running.job) else { return };
        let remaining =
            Remaining { started_at: placed.remaining.started_at, ..running.remaining() };
        placed.stopping = running.stopping;
        let kept = still_there(&placed.allocations, &told.allocations);
        let had = placed.allocations.len();
        self.cluster.expects(running.job, remaining);
        if kept.len() == had && kept.len() == told.allocations.len() {
            return;
        }
        let Some(placed) = self.cluster.leave(running.job) else { return };
        self.gains += 1;
        self.gained.extend(placed.allocations.iter().filter_map(
            |allocation| match allocation.right {
                Right::Of(account) => Some(account),
                Right::Borrowed => None,
            },
        ));
        if kept.len() == told.allocations.len() {
            for allocation in &kept {
                self.cluster.take(allocation);
            }
            let owners = &mut self.cluster.owners;
            let ended = owners.weigh(&placed.allocations) - owners.weigh(&kept);
            let left = PlacedJob { allocations: kept, ..placed };
            owners.ended(&left, ended);
            self.cluster.settle(running.job, left);
        } else {
            let qos_class = placed.qos_class;
            self.settle_all(&[Running { qos_class, ..running.clone() }]);
        }
    }

    /// Something else may be expected of a waiting job: says whether that is so. Who was promised a start
    /// keeps his place.
    pub fn expects(&mut self, request: &Request) -> bool {
        let Some(waiter) = self.queue.jobs.get(&request.job).copied() else { return false };
        if waiter.expected_ms == request.expected_ms {
            return false;
        }
        self.queue.remove(request.job);
        let promised = waiter.key.is_promised();
        let key = if promised { waiter.key } else { Key::of(request) };
        let (expected_ms, turn, deadline) = (request.expected_ms, request.turn(), request.deadline);
        let waiter = Waiter { key, turn, expected_ms, deadline, is_urgent: false, ..waiter };
        self.queue.insert(waiter);
        true
    }
}

/// The allocations that some task still has.
fn still_there(allocations: &[TaskAllocation], told: &[TaskAllocation]) -> Vec<TaskAllocation> {
    let place = |allocation: &TaskAllocation| {
        let mut ports = allocation.ports.clone();
        ports.sort_unstable();
        (allocation.node, allocation.gpus, ports)
    };
    let mut there: BTreeMap<_, u32> = BTreeMap::new();
    for allocation in told {
        *there.entry(place(allocation)).or_default() += 1;
    }
    let still = allocations.iter().filter(|allocation| {
        let left = there.get_mut(&place(allocation)).filter(|left| **left > 0);
        left.map(|left| *left -= 1).is_some()
    });
    still.cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::amounts::Amounts;
    use crate::numbers::gpus::Bits;
    use crate::pass::reserve::{keep, release};
    use crate::story::{NOW, Story, cluster, job, places};

    /// CPUs, memory and disk, whole GPUs, and parts of GPUs.
    type Free = (Amounts, Bits, Vec<(u8, u32)>);

    impl State {
        /// What each node has free when nothing is kept for anybody.
        pub(crate) fn free(&mut self) -> Vec<Free> {
            let holds: Vec<_> = self.reserved.values().cloned().collect();
            holds.iter().for_each(|reserved| release(&mut self.cluster, reserved));
            let free = self.cluster.states.iter().map(|node| {
                let mut shared = node.shared.clone();
                shared.sort_unstable();
                (node.free, node.free_gpus, shared)
            });
            let free = free.collect();
            holds.iter().for_each(|reserved| keep(&mut self.cluster, reserved));
            free
        }
    }

    /// A gang of *vision* on two nodes, one of which is its share; a job that needs a whole node waits.
    fn gang() -> Story {
        let story = cluster().node("a").gpus(4, "A100").node("b").gpus(4, "A100");
        let story = story.share("vision", &[("A100", 8)], None);
        let story = story.running(9, "vision", &[("a", &[0, 1, 2, 3], 4), ("b", &[0, 1, 2, 3], 4)]);
        story.waits(job(1).within("vision").gpus(4, &[]))
    }

    #[test]
    fn a_task_that_has_ended_gives_back_its_place() {
        let story = gang();
        let mut state = State::of(&story.snapshot);
        assert_eq!(state.pass(NOW).placements, []);
        let mut running = story.snapshot.running[0].clone();
        running.tasks.remove(0);
        state.runs(&running);
        let pass = state.pass(NOW);
        assert_eq!(places(&pass.placements[0]), "a:0,1,2,3");
        assert_eq!(state.qos_class(JobId(9)), Some(QosClass::Guaranteed), "the other goes on");
        state.ended(JobId(9));
        state.submit(&job(2).within("vision").gpus(4, &[]).request);
        assert_eq!(places(&state.pass(NOW).placements[0]), "b:0,1,2,3");
    }

    #[test]
    fn what_one_task_has_given_back_is_kept_for_who_waits_for_its_job() {
        let hour = 3_600_000;
        let story = cluster().node("a").gpus(8, "A100");
        let story = story.running(8, "default", &[("a", &[6, 7], 1)]).ends_in(10 * hour);
        let story = story.running(9, "default", &[("a", &[0, 1], 1), ("a", &[2, 3], 1)]);
        let story = story.ends_in(hour).waits(job(1).gpus(5, &[])).waits(job(2).gpus(2, &[]));
        let mut state = State::of(&story.snapshot);
        assert_eq!(state.pass(NOW).placements, []);
        let mut running = story.snapshot.running[1].clone();
        running.tasks.remove(0);
        state.runs(&running);
        assert_eq!(state.pass(NOW).placements, [], "job 2 would stand in the way of job 1");
        state.ended(JobId(9));
        let started: Vec<JobId> = state.pass(NOW).placements.iter().map(|one| one.job).collect();
        assert_eq!(started, [JobId(1)]);
    }

    #[test]
    fn what_ran_on_a_node_that_is_back_is_still_there() {
        let story = gang();
        let mut state = State::of(&story.snapshot);
        state.set_nodes(&story.snapshot.nodes[1..]);
        state.set_nodes(&story.snapshot.nodes);
        state.runs(&story.snapshot.running[0]);
        assert_eq!(state.pass(NOW).placements, [], "both nodes are taken");
    }

    #[test]
    fn a_task_that_comes_to_another_place_takes_it() {
        let story = gang();
        let mut running = story.snapshot.running[0].clone();
        let second = running.tasks.pop();
        let mut state = State::of(
            &Story {
                snapshot: {
                    let mut snapshot = story.snapshot.clone();
                    snapshot.running[0] = running.clone();
                    snapshot
                },
            }
            .snapshot,
        );
        running.tasks.extend(second);
        state.runs(&running);
        assert_eq!(state.pass(NOW).placements, [], "both nodes are taken");
    }

    #[test]
    fn what_is_expected_of_a_job_moves_it_unless_it_was_promised_a_start() {
        let story = cluster().node("a").cpus(8).running(9, "default", &[("a", &[], 8)]);
        let story = story.waits(job(1).cpus(8).runs(60_000)).waits(job(2).cpus(8).runs(3_600_000));
        let mut state = State::of(&story.snapshot);
        let order = |state: &mut State| {
            let mut places: Vec<_> = state.waiting(NOW).into_iter().collect();
            places.sort_by_key(|(_, waiting)| waiting.position);
            places.into_iter().map(|(job, _)| job.0).collect::<Vec<_>>()
        };
        assert_eq!(order(&mut state), [1, 2]);
        assert!(!state.expects(&job(2).cpus(8).runs(3_600_000).request));
        assert!(state.expects(&job(2).cpus(8).runs(1_000).request));
        assert_eq!(order(&mut state), [2, 1]);
        state.pass(NOW);
        assert_eq!(state.promised(), [JobId(2)]);
        assert!(state.expects(&job(2).cpus(8).runs(9_000_000).request));
        assert_eq!(order(&mut state), [2, 1], "it was promised the next place");
    }
}
