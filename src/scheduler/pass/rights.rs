//! Who of a virtual cluster has the right to its share, of those who run at the same time: who is ahead
//! in the queue. So nobody loses by having started on what was lent before his share had room.

use protocol::ids::JobId;
use protocol::time::Timestamp;

use crate::cluster::allocation::TaskAllocation;
use crate::cluster::placed::PlacedJob;
use crate::model::QosClass;
use crate::numbers::indices::AccountIndex;
use crate::numbers::request::Wanted;
use crate::pass::fit::undo;
use crate::pass::preemption::MayLeave;
use crate::state::State;

/// So many of those ahead are looked at when somebody starts, and so many are tried.
const LOOK_AHEAD: usize = 16;
const TRIES: usize = 2;

impl State {
    /// By what right a job starts that has found guaranteed places, which are taken. Who is ahead of it
    /// and borrows has the right where he is, if that can be; if there is no room for both then, the
    /// job borrows the places.
    pub(crate) fn by_rights(
        &mut self,
        wanted: Wanted,
        accounts: &[AccountIndex],
        allocations: Vec<TaskAllocation>,
        now: Timestamp,
    ) -> (Vec<TaskAllocation>, QosClass) {
        let keeps = !self.awaits(&allocations).is_empty() || self.keep_for_another(accounts);
        if keeps || !self.cluster.may_borrow(wanted.class) {
            return (allocations, QosClass::Guaranteed);
        }
        let mut allocations = allocations;
        for ahead in self.borrow_ahead_of(wanted) {
            undo(&mut self.cluster, &allocations);
            if !self.promote_one(ahead) {
                allocations.iter().for_each(|allocation| self.cluster.take(allocation));
                continue;
            }
            match self.idle_cells(wanted, accounts, now) {
                Some(others) => allocations = others,
                None => {
                    let lent: Vec<TaskAllocation> =
                        allocations.iter().map(TaskAllocation::lent).collect();
                    lent.iter().for_each(|allocation| self.cluster.take(allocation));
                    return (lent, QosClass::Borrowed);
                }
            }
        }
        (allocations, QosClass::Guaranteed)
    }

    /// Whether something is kept on these accounts: what is promised to somebody rests on who has which
    /// right.
    fn keep_for_another(&self, accounts: &[AccountIndex]) -> bool {
        let owner = |account: &AccountIndex| self.cluster.cells.owner(*account);
        self.reserved
            .keys()
            .any(|held| accounts.iter().any(|account| owner(account) == owner(held)))
    }

    /// Those ahead of a job in its virtual cluster who borrow and to whom its right is worth as much.
    fn borrow_ahead_of(&self, Wanted { job, class }: Wanted) -> Vec<JobId> {
        let (turn, gpu_milli) = (self.turn(job, class), class.gpu_milli());
        let asks = class.roles.iter().any(|role| role.request.gpus > 0);
        let held = |allocation: &TaskAllocation| {
            allocation.node.is_some_and(|n| self.cluster.held.contains(&n))
        };
        let worth = |placed: &PlacedJob| {
            let has = placed.allocations.iter().any(|allocation| allocation.gpus != 0);
            let as_much = placed.gpu_milli() >= gpu_milli || placed.turn.outranks(&turn);
            as_much
                && has == asks
                && placed.name == class.of.virtual_cluster
                && !placed.is_opportunistic()
                && !placed.stopping
                && !placed.allocations.iter().any(held)
        };
        let ahead = self.cluster.ranks.borrow_ahead_of(class.cluster, (turn, job)).take(LOOK_AHEAD);
        let ahead = ahead.filter(|ahead| self.cluster.placed_jobs.get(ahead).is_some_and(worth));
        ahead.take(TRIES).collect()
    }

    /// Cells of its accounts from which nobody has to go, taken.
    pub(crate) fn idle_cells(
        &mut self,
        wanted: Wanted,
        accounts: &[AccountIndex],
        now: Timestamp,
    ) -> Option<Vec<TaskAllocation>> {
        let nobody: MayLeave = &|_: &PlacedJob| false;
        let found =
            accounts.iter().find_map(|account| self.in_cells(wanted, *account, now, nobody));
        found.map(|found| found.allocations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::story::{NOW, Story, cluster, job, places};

    const ALL: &[u32] = &[0, 1, 2, 3, 4, 5, 6, 7];

    /// *vision* has one of two nodes, on which job 9 runs; its job 8 borrows the other one.
    fn lent() -> Story {
        let story = cluster().node("a").gpus(8, "A100").node("b").gpus(8, "A100");
        let story = story.share("vision", &[("A100", 8)], None);
        let story = story.share("speech", &[("A100", 8)], None);
        let story = story.running(9, "vision", &[("a", ALL, 8)]);
        story.running(8, "vision", &[("b", ALL, 8)]).borrowed()
    }

    #[test]
    fn who_borrows_has_the_right_before_who_comes_after_him() {
        let later = job(20).within("vision").gpus(8, &[]);
        for others in 0..3 {
            let story = (0..others).fold(lent().waits(later.clone()), |story, other| {
                story.waits(job(21 + other).within("vision").gpus(8, &[]))
            });
            let mut state = State::of(&story.snapshot);
            assert_eq!(state.pass(NOW).placements, []);
            state.ended(JobId(9));
            let placements = state.pass(NOW).placements;
            assert_eq!(
                places(&placements[0]),
                "a:0,1,2,3,4,5,6,7",
                "it starts when it would anyhow"
            );
            assert_eq!(placements[0].qos_class, QosClass::Borrowed);
            assert_eq!(state.qos_class(JobId(8)), Some(QosClass::Guaranteed));
            state.submit(&job(30).within("speech").gpus(8, &[]).request);
            let preemptions = state.pass(NOW).preemptions;
            assert_eq!(preemptions.iter().map(|p| p.job.0).collect::<Vec<_>>(), [20]);
        }
    }

    #[test]
    fn who_is_behind_or_to_whom_the_right_is_worth_less_goes_on_borrowing() {
        let starts = |story: Story| {
            let mut state = State::of(&story.snapshot);
            state.ended(JobId(9));
            let placements = state.pass(NOW).placements;
            (placements[0].qos_class, state.qos_class(JobId(8)))
        };
        let goes_on = (QosClass::Guaranteed, Some(QosClass::Borrowed));
        assert_eq!(starts(lent().waits(job(1).within("vision").gpus(8, &[]))), goes_on);
        let mut small = lent();
        small.snapshot.running.pop();
        let small = small.running(8, "vision", &[("b", &[0], 1)]).borrowed();
        assert_eq!(starts(small.waits(job(20).within("vision").gpus(8, &[]))), goes_on);
    }

    #[test]
    fn where_there_is_room_for_both_both_have_the_right() {
        let story =
            ["a", "b", "c"].iter().fold(cluster(), |story, name| story.node(name).gpus(8, "A100"));
        let story = story.share("vision", &[("A100", 16)], None);
        let story = story.share("speech", &[("A100", 8)], None);
        let story = story.running(8, "vision", &[("b", ALL, 8)]).borrowed();
        let story = story.waits(job(20).within("vision").gpus(8, &[]));
        let mut state = State::of(&story.snapshot);
        assert_eq!(state.pass(NOW).placements[0].qos_class, QosClass::Guaranteed);
        assert_eq!(state.qos_class(JobId(8)), Some(QosClass::Guaranteed));
    }
}
