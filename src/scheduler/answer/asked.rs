//! What would become of a job that is not submitted.

use std::sync::Arc;

use protocol::ids::JobId;
use protocol::time::Timestamp;

use crate::answer::admit::never;
use crate::answer::{explain, without_place};
use crate::cluster::allocation::TaskAllocation;
use crate::model::{Answer, AtOnce, Explanation, QosClass, Request, Snapshot};
use crate::numbers::indices::AccountIndex;
use crate::numbers::request::{Class, Wanted};
use crate::pass::backfill::Start;
use crate::pass::claimant::Preemptor;
use crate::pass::fit::{Look, guaranteed_looks, placement, undo};
use crate::pass::preemption::{Preempted, preempt};
use crate::pass::reserve::{release, reserve};
use crate::pass::together::place;
use crate::queue::Key;
use crate::state::State;

/// What would become of a request if it were submitted now: it takes its place in the queue by its
/// own `priority` and `submitted_at`.
#[must_use]
pub fn dry_run(snapshot: &Snapshot, request: &Request, now: Timestamp) -> Answer {
    let mut state = State::of(snapshot);
    state.pass(now);
    state.dry_run(request, now)
}

impl State {
    /// What would become of a request if it were submitted now. What a pass would start anyhow is
    /// thought of as started: ask after a pass.
    pub fn dry_run(&mut self, request: &Request, now: Timestamp) -> Answer {
        self.behind_the_only_one(request, now, |state| state.answer(request, now))
    }

    /// How a request would start at once, were it submitted now; `None`: it would not. Ask after a
    /// pass, as for a dry run.
    pub fn starts_now(&mut self, request: &Request, now: Timestamp) -> Option<AtOnce> {
        self.behind_the_only_one(request, now, |state| state.at_once(request, now))
    }

    fn answer(&mut self, request: &Request, now: Timestamp) -> Answer {
        let class = self.cluster.class(request);
        let never = |class: &Class| never(&self.cluster, class);
        if let Some(reason) = never(&class) {
            return match explain::absent_storage(&self.cluster, &class, never) {
                Some(waits) => Answer::Waits(Explanation::of(without_place(waits, None))),
                None => Answer::Never(reason),
            };
        }
        if let Some(reason) = self.limit_of(&class) {
            return Answer::Waits(Explanation::of(without_place(reason, None)));
        }
        let wanted = Wanted { job: request.job, class: &class };
        let (allocations, qos_class) = match self.start_of((request, &class), now) {
            Some(Start::Free(allocations, qos_class)) => (allocations, qos_class),
            Some(Start::Backfill(allocations, _)) => (allocations, QosClass::Borrowed),
            Some(Start::Cleared(victims)) => return Answer::Preempts(victims),
            None => {
                let place = self.place_of(request, &class, now);
                return Answer::Waits(self.explanation(wanted, place, now));
            }
        };
        Answer::Fits(placement(&self.cluster, wanted, &allocations, qos_class).tasks, qos_class)
    }

    /// Its place in the queue.
    fn place_of(&self, request: &Request, class: &Class, now: Timestamp) -> Key {
        let near = request.urgency().filter(|urgency| urgency.is_now(now));
        let first = near.filter(|_| self.cluster.cells.heeds_deadlines(class.cluster));
        first.map_or(Key::of(request), |urgency| Key::of(request).urgent(urgency))
    }

    /// The same as [`State::starts_now`], whoever waits alone.
    pub(crate) fn at_once(&mut self, request: &Request, now: Timestamp) -> Option<AtOnce> {
        if request.roles.iter().all(|role| role.count == 0) {
            return None;
        }
        let class = self.cluster.class(request);
        if never(&self.cluster, &class).is_some() || self.is_limited(&class) {
            return None;
        }
        match self.start_of((request, &class), now)? {
            Start::Free(_, qos_class) => Some(AtOnce { qos_class, before: None }),
            Start::Backfill(_, job) => {
                Some(AtOnce { qos_class: QosClass::Borrowed, before: Some(job) })
            }
            Start::Cleared(_) => None,
        }
    }

    /// Asks as the next pass would find it. Who waits alone has nothing kept for him before somebody
    /// comes after him.
    pub(crate) fn behind_the_only_one<T>(
        &mut self,
        request: &Request,
        now: Timestamp,
        ask: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let only = self.only_one_ahead_of(request);
        let kept = only.and_then(|(job, class)| self.keep_for(Wanted { job, class: &class }, now));
        let answer = ask(self);
        if let Some(account) = kept {
            self.keep_no_more(account);
        }
        answer
    }

    /// Who waits alone and goes before a request.
    pub(crate) fn only_one_ahead_of(&self, request: &Request) -> Option<(JobId, Arc<Class>)> {
        let waiter = self.only_one()?;
        let rests = waiter.held || waiter.not_before.is_some();
        let ahead = waiter.key.job != request.job && waiter.key < Key::of(request);
        let class = self.queue.class(waiter.line);
        (ahead && !rests && !self.is_limited(&class)).then_some((waiter.key.job, class))
    }

    /// Keeps what a pass would for a job that finds no room, if it is the first of its account; on
    /// which account that is.
    pub(crate) fn keep_for(
        &mut self,
        Wanted { job, class }: Wanted,
        now: Timestamp,
    ) -> Option<AccountIndex> {
        let account = self.cluster.accounts(class.cluster)[0];
        if class.opportunistic || self.reserved.contains_key(&account) {
            return None;
        }
        let claimant = self.cluster.claimant(account, self.turn(job, class));
        let reserved =
            reserve(&mut self.cluster, Wanted { job, class }, (account, &claimant), None, now)?;
        self.reserved.insert(account, reserved);
        Some(account)
    }

    pub(crate) fn keep_no_more(&mut self, account: AccountIndex) {
        if let Some(reserved) = self.reserved.remove(&account) {
            release(&mut self.cluster, &reserved);
        }
    }

    /// How a request would start if it were submitted now; `None`: it would wait. Nothing is taken.
    fn start_of(&mut self, (request, class): (&Request, &Class), now: Timestamp) -> Option<Start> {
        let wanted = Wanted { job: request.job, class };
        if !class.opportunistic {
            let accounts = self.cluster.accounts(class.cluster).to_vec();
            for account in accounts.iter().copied() {
                if !self.cluster.shares.lacks(account, class, false).is_empty() {
                    continue;
                }
                let claimant = self.cluster.claimant(account, request.turn());
                for look in guaranteed_looks(&self.cluster, class, account) {
                    if let Some(start) = self.guaranteed_start(wanted, look, &claimant, now) {
                        return Some(start);
                    }
                }
            }
            if let Some(found) = self.outrank(wanted, &accounts, request.turn(), now) {
                return Some(match self.undo_outranking(found) {
                    (allocations, leaving) if leaving.is_empty() => {
                        Start::Free(allocations, QosClass::Guaranteed)
                    }
                    (_, leaving) => Start::Cleared(leaving),
                });
            }
        }
        let rests = self.queue.loans.rests_until(request.gave_way, now, request.runs_ms());
        if rests.is_some() || !self.cluster.may_borrow(class) {
            return None;
        }
        match place(&mut self.cluster, wanted, Look::Lend) {
            Ok(allocations) => {
                undo(&mut self.cluster, &allocations);
                Some(Start::Free(allocations, Look::Lend.qos_class()))
            }
            Err(_) => self.gap_start((request, class), now),
        }
    }

    fn guaranteed_start(
        &mut self,
        wanted: Wanted,
        look: Look,
        claimant: &Preemptor,
        now: Timestamp,
    ) -> Option<Start> {
        if let Ok(allocations) = place(&mut self.cluster, wanted, look) {
            undo(&mut self.cluster, &allocations);
            return Some(Start::Free(allocations, look.qos_class()));
        }
        let preempted = preempt(&mut self.cluster, wanted, look, now, &|t| claimant.moves(t))?;
        Some(Start::Cleared(self.put_back(preempted).1))
    }

    /// Gives back what was taken, and theirs to those who would have to leave: the places, and who
    /// these are.
    pub(crate) fn put_back(&mut self, found: Preempted) -> (Vec<TaskAllocation>, Vec<JobId>) {
        let Preempted { allocations, victims } = found;
        undo(&mut self.cluster, &allocations);
        let leaving = victims.iter().map(|(job, _)| *job).collect();
        for (job, placed) in victims {
            placed.allocations.iter().for_each(|allocation| self.cluster.take(allocation));
            self.cluster.settle(job, placed);
        }
        (allocations, leaving)
    }
}
