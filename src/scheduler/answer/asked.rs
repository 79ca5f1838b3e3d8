//! What would become of a job that is not submitted.

use std::sync::Arc;

use protocol::ids::JobId;
use protocol::time::Timestamp;

use crate::answer::admit::never;
use crate::answer::{explain, without_place};
use crate::cluster::claim::Claim;
use crate::model::{Answer, AtOnce, Explanation, Request, Snapshot, Standing};
use crate::numbers::indices::AccountIndex;
use crate::numbers::request::{Class, Wanted};
use crate::pass::backfill::Start;
use crate::pass::claimant::Preemptor;
use crate::pass::fit::{Look, guaranteed_looks, placement, undo};
use crate::pass::preemption::{Eviction, evict};
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
        let (claims, standing) = match self.start_of((request, &class), now) {
            Some(Start::Free(claims, standing)) => (claims, standing),
            Some(Start::Gap(claims, _)) => (claims, Standing::Borrowed),
            Some(Start::Cleared(victims)) => return Answer::Preempts(victims),
            None => {
                let place = self.place_of(request, &class, now);
                return Answer::Waits(self.explanation(wanted, place, now));
            }
        };
        Answer::Fits(placement(&self.cluster, wanted, &claims, standing).tasks, standing)
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
            Start::Free(_, standing) => Some(AtOnce { standing, before: None }),
            Start::Gap(_, job) => Some(AtOnce { standing: Standing::Borrowed, before: Some(job) }),
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
        if class.opportunistic || self.holds.contains_key(&account) {
            return None;
        }
        let claimant = self.cluster.claimant(account, self.turn(job, class));
        let hold =
            reserve(&mut self.cluster, Wanted { job, class }, (account, &claimant), None, now)?;
        self.holds.insert(account, hold);
        Some(account)
    }

    pub(crate) fn keep_no_more(&mut self, account: AccountIndex) {
        if let Some(hold) = self.holds.remove(&account) {
            release(&mut self.cluster, &hold);
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
                    (claims, leaving) if leaving.is_empty() => {
                        Start::Free(claims, Standing::Guaranteed)
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
            Ok(claims) => {
                undo(&mut self.cluster, &claims);
                Some(Start::Free(claims, Look::Lend.standing()))
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
        if let Ok(claims) = place(&mut self.cluster, wanted, look) {
            undo(&mut self.cluster, &claims);
            return Some(Start::Free(claims, look.standing()));
        }
        let eviction = evict(&mut self.cluster, wanted, look, now, &|t| claimant.moves(t))?;
        Some(Start::Cleared(self.put_back(eviction).1))
    }

    /// Gives back what was taken, and theirs to those who would have to leave: the places, and who
    /// these are.
    pub(crate) fn put_back(&mut self, found: Eviction) -> (Vec<Claim>, Vec<JobId>) {
        let Eviction { claims, victims } = found;
        undo(&mut self.cluster, &claims);
        let leaving = victims.iter().map(|(job, _)| *job).collect();
        for (job, tenant) in victims {
            tenant.claims.iter().for_each(|claim| self.cluster.take(claim));
            self.cluster.settle(job, tenant);
        }
        (claims, leaving)
    }
}
