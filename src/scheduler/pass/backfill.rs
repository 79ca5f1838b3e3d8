//! Backfill, before a reservation: who is expected to end in time may run where its job will be, as
//! borrowed work, which gives way if it does not end.

use std::sync::Arc;

use protocol::ids::JobId;
use protocol::time::Timestamp;

use crate::cluster::allocation::TaskAllocation;
use crate::cluster::placed::PlacedJob;
use crate::model::{QosClass, Request};
use crate::numbers::indices::LineIndex;
use crate::numbers::request::{Class, Wanted};
use crate::pass::Pass;
use crate::pass::fit::{Look, undo};
use crate::pass::preemption::Preempted;
use crate::pass::reserve::{Reserved, keep, release};
use crate::pass::together::place;
use crate::queue::{Key, Waiter};
use crate::state::State;

/// Jobs of one class that are looked at to be backfilled.
const LOOK_BEHIND: usize = 32;

/// How a job could start at once.
#[derive(Debug)]
pub(crate) enum Start {
    /// On these places, which are free, by this right.
    Free(Vec<TaskAllocation>, QosClass),
    /// On these places, some of which are kept for this job: it ends before that one starts.
    Backfill(Vec<TaskAllocation>, JobId),
    /// On the places of these, which run on borrowed resources or are outranked.
    Cleared(Vec<JobId>),
}

impl State {
    /// Backfills with jobs of a class.
    pub(crate) fn backfill(
        &mut self,
        (line, class): (LineIndex, &Arc<Class>),
        now: Timestamp,
        pass: &mut Pass,
    ) {
        let Some(latest) = self.reserved.values().map(|reserved| reserved.reservation.start).max()
        else {
            return;
        };
        let queue = self.queue.lines[&line].queue.iter().take(LOOK_BEHIND);
        let short = |key: &&Key| {
            let waiter = self.queue.jobs.get(&key.job);
            waiter.and_then(Waiter::runs_ms).is_some_and(|runs| now.plus_millis(runs) <= latest)
        };
        let rested = |key: &&Key| self.queue.rests_until(key.job, now).is_none();
        let candidates: Vec<Key> = queue.filter(short).filter(rested).copied().collect();
        for key in candidates {
            if self.is_limited(class) {
                break;
            }
            let runs = self.queue.jobs.get(&key.job).and_then(Waiter::runs_ms).unwrap_or(i64::MAX);
            let wanted = Wanted { job: key.job, class };
            if let Some(found) = self.backfilled(wanted, runs, now) {
                let allocations = self.send_away(wanted, found, now, pass);
                self.start((key, class), allocations, QosClass::Borrowed, now, pass);
            }
        }
    }

    /// How a request would start by backfill if it were submitted now. Nothing is taken.
    pub(crate) fn gap_start(
        &mut self,
        (request, class): (&Request, &Class),
        now: Timestamp,
    ) -> Option<Start> {
        let (runs, wanted) = (request.runs_ms()?, Wanted { job: request.job, class });
        let others =
            self.reserved.values().filter(|reserved| reserved.reservation.job != request.job);
        let latest = others.map(|reserved| reserved.reservation.start).max()?;
        let behind = self.queue.ahead_of_its_like(request, LOOK_BEHIND);
        if now.plus_millis(runs) > latest || behind == LOOK_BEHIND {
            return None;
        }
        // A pass makes reservations before it backfills.
        let kept = self.keep_for(wanted, now);
        let found = self.backfilled(wanted, runs, now).map(|found| self.put_back(found));
        let start = found.and_then(|(allocations, leaving)| match leaving.is_empty() {
            true => {
                self.reserved_at(&allocations, wanted).map(|job| Start::Backfill(allocations, job))
            }
            false => Some(Start::Cleared(leaving)),
        });
        if let Some(account) = kept {
            self.keep_no_more(account);
        }
        start
    }

    /// For whom these places are kept, or some of them: the first to start.
    fn reserved_at(
        &self,
        allocations: &[TaskAllocation],
        Wanted { job, class }: Wanted,
    ) -> Option<JobId> {
        let own = self.cluster.accounts(class.cluster)[0];
        let others = self.reserved.iter().filter(|(_, reserved)| reserved.reservation.job != job);
        let nearest = others.min_by_key(|(account, reserved)| {
            (!stands_at(reserved, allocations), **account != own, reserved.reservation.start)
        });
        nearest.map(|(_, reserved)| reserved.reservation.job)
    }

    /// Places before reservations for a job that is expected to run so long, taken.
    fn backfilled(&mut self, wanted: Wanted, runs_ms: i64, now: Timestamp) -> Option<Preempted> {
        match self.backfill_idle(wanted, now.plus_millis(runs_ms)) {
            Some(allocations) => Some(Preempted { allocations, victims: Vec::new() }),
            None => self.backfill_own(wanted, runs_ms, now),
        }
    }

    /// Idle places, taken.
    fn backfill_idle(&mut self, wanted: Wanted, end: Timestamp) -> Option<Vec<TaskAllocation>> {
        let allocations = place(&mut self.cluster, wanted, Look::Borrow).ok()?;
        if self.ends_in_time(&allocations, wanted.job, end) {
            return Some(allocations);
        }
        undo(&mut self.cluster, &allocations);
        None
    }

    fn ends_in_time(&self, allocations: &[TaskAllocation], job: JobId, end: Timestamp) -> bool {
        self.reserved.values().all(|reserved| {
            let in_time = reserved.reservation.start >= end && reserved.reservation.job != job;
            in_time || !stands_at(reserved, allocations)
        })
    }

    /// Cells of its own account that only others use meanwhile, taken: were its virtual cluster
    /// alone, they would be idle. Who is expected to run no longer than it stays, so that nobody
    /// drives away whom he is driven away by.
    fn backfill_own(&mut self, wanted: Wanted, runs_ms: i64, now: Timestamp) -> Option<Preempted> {
        let Wanted { job, class } = wanted;
        let account = self.cluster.accounts(class.cluster)[0];
        let end = now.plus_millis(runs_ms);
        let in_time = |reserved: &&Reserved| {
            reserved.reservation.start >= end && reserved.reservation.job != job
        };
        let reserved = self.reserved.get(&account).filter(in_time).cloned()?;
        if class.opportunistic {
            return None;
        }
        let may_leave = |placed: &PlacedJob| {
            let longer = placed.remaining.runs_ms().is_none_or(|other| other > runs_ms);
            placed.cluster != class.cluster && longer
        };
        release(&mut self.cluster, &reserved);
        let found = self.in_cells(wanted, account, now, &may_leave);
        let found = found.map(|found| {
            undo(&mut self.cluster, &found.allocations);
            let allocations: Vec<_> = found.allocations.iter().map(TaskAllocation::lent).collect();
            allocations.iter().for_each(|allocation| self.cluster.take(allocation));
            Preempted { allocations, ..found }
        });
        keep(&mut self.cluster, &reserved);
        found
    }
}

/// Whether something is kept on a node of these places.
fn stands_at(reserved: &Reserved, allocations: &[TaskAllocation]) -> bool {
    reserved.nodes().any(|node| allocations.iter().any(|allocation| allocation.node == Some(node)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use protocol::wait::WaitReason;

    use super::*;
    use crate::model::{Answer, AtOnce};
    use crate::properties::events::cases;
    use crate::properties::{Case, any_snapshot};
    use crate::story::{Job, NOW, Story, cluster, job, places};

    const HOUR: i64 = 3_600_000;

    /// A node of which job 9 has six CPUs of eight for three more hours, and job 1 waits for all.
    fn busy() -> Story {
        let story = cluster().node("a").cpus(8).running(9, "default", &[("a", &[], 6)]);
        story.ends_in(3 * HOUR).waits(job(1).cpus(8).runs(1_000))
    }

    fn after_a_pass(story: &Story) -> State {
        let mut state = State::of(&story.snapshot);
        state.pass(NOW);
        state
    }

    /// For whom the places are kept on which it would start at once.
    fn before(state: &mut State, asked: &Job) -> Option<JobId> {
        let AtOnce { qos_class, before } = state.starts_now(&asked.request, NOW)?;
        assert_eq!(qos_class, QosClass::Borrowed);
        before
    }

    #[test]
    fn what_would_start_in_a_gap_is_told_before_whom_and_does() {
        for story in [busy(), busy().waits(job(2).cpus(8).runs(2_000))] {
            let mut state = after_a_pass(&story);
            let asked = job(3).cpus(2);
            let Answer::Waits(why) = state.dry_run(&asked.request, NOW) else { panic!("it fits") };
            assert!(matches!(why.waiting.reason, WaitReason::Behind { .. }), "{why:?}");
            assert_eq!(before(&mut state, &asked.clone().limited(4 * HOUR)), None);
            let short = asked.limited(2 * HOUR);
            assert_eq!(before(&mut state, &short), Some(JobId(1)));
            let answer = state.dry_run(&short.request, NOW);
            assert!(matches!(answer, Answer::Fits(_, QosClass::Borrowed)), "{answer:?}");
            state.submit(&short.request);
            assert_eq!(places(&state.pass(NOW).placements[0]), "a:");
        }
    }

    #[test]
    fn who_goes_before_the_only_one_that_waits_is_not_kept_back_by_it() {
        let mut state = after_a_pass(&busy());
        let ahead = AtOnce { qos_class: QosClass::Guaranteed, before: None };
        let urgent = job(3).cpus(2).priority(100).request;
        assert_eq!(state.starts_now(&urgent, NOW), Some(ahead));
    }

    #[test]
    fn so_many_of_its_like_before_it_are_looked_at_first() {
        for (like, fits) in [(5, Some(JobId(1))), (LOOK_BEHIND as i64, None)] {
            let story = (10..10 + like).fold(busy(), |story, id| story.waits(job(id).cpus(2)));
            let mut state = after_a_pass(&story);
            // It comes so late that those of which nothing is known go before it.
            let late = job(60_000).cpus(2).limited(2 * HOUR);
            assert_eq!(before(&mut state, &late), fits, "{like}");
        }
    }

    #[test]
    fn who_would_be_first_of_his_own_fills_the_gap_of_others() {
        let all: &[u32] = &[0, 1, 2, 3, 4, 5, 6, 7];
        let story = cluster().node("a").gpus(8, "A100").node("b").gpus(8, "A100");
        let story = story.share("vision", &[("A100", 8)], None);
        let story = story.share("speech", &[("A100", 8)], None);
        let story = story
            .running(9, "vision", &[("a", &[0, 1, 2, 3], 4)])
            .ends_in(3 * HOUR)
            .running(8, "speech", &[("b", all, 8)])
            .waits(job(1).within("vision").gpus(8, &[]).runs(1_000));
        let mut state = after_a_pass(&story);
        let asked = job(3).within("speech").gpus(4, &[]).limited(2 * HOUR);
        assert_eq!(before(&mut state, &asked), Some(JobId(1)));
        state.submit(&asked.request);
        assert_eq!(places(&state.pass(NOW).placements[0]), "a:4,5,6,7");
    }

    proptest! {
        #![proptest_config(cases(300))]

        #[test]
        fn to_ask_takes_nothing_and_a_gap_is_before_somebody(
            Case(mut snapshot) in any_snapshot(),
            hours in 1..6_i64,
            within in 0..3_usize,
            (gpus, cpus) in (0..5_u32, 1..9_u32),
        ) {
            for (running, hours) in snapshot.running.iter_mut().zip(1..) {
                running.limit_ms = Some(NOW.since(running.started_at) + hours * HOUR);
            }
            let mut state = State::of(&snapshot);
            state.pass(NOW);
            let within = ["default", "vision", "speech"][within];
            let asked = job(1_000).within(within).gpus(gpus, &[]).cpus(cpus).limited(hours * HOUR);
            let (free, kept) = (state.free(), state.reservations());
            let found = state.starts_now(&asked.request, NOW);
            prop_assert_eq!(state.free(), free);
            prop_assert_eq!(state.reservations(), kept);
            if let Some(AtOnce { qos_class, before: Some(before) }) = found {
                prop_assert_eq!(qos_class, QosClass::Borrowed);
                prop_assert!(snapshot.waiting.iter().any(|request| request.job == before));
            }
        }
    }
}
