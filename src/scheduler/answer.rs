//! What waiting jobs are told.

use std::collections::BTreeSet;

use protocol::ids::JobId;
use protocol::time::Timestamp;
use protocol::wait::{WaitReason, Waiting};

use crate::answer::admit::never;
use crate::answer::elsewhere::elsewhere;
use crate::answer::waiting::resting;
use crate::cluster::placed::Stay;
use crate::model::remaining::Remaining;
use crate::model::{Expected, Explanation, Ground, Plan, Request, Snapshot};
use crate::numbers::gpus::Bits;
use crate::numbers::indices::AccountIndex;
use crate::numbers::request::{Class, Wanted};
use crate::pass::fit::{Look, undo};
use crate::pass::reserve::{Reserved, keep, release, reserve};
use crate::pass::together::{most_in_one, place};
use crate::queue::Key;
use crate::state::State;

pub(crate) mod admit;
pub(crate) mod asked;
pub(crate) mod effect;
pub(crate) mod elsewhere;
pub(crate) mod explain;
pub(crate) mod fragmentation;
pub(crate) mod free;
pub(crate) mod level;
pub(crate) mod waiting;

/// Decides for the whole queue of a snapshot.
#[must_use]
pub fn plan(snapshot: &Snapshot, now: Timestamp) -> Plan {
    State::of(snapshot).plan(now)
}

/// Holders that are put in order.
const HOLDERS: usize = 8;
/// Jobs ahead that are named.
const AHEAD: usize = 4;

impl State {
    /// How many are ahead in the queue of the virtual cluster, and the first of them. Whose owner
    /// holds more than others, or held more, comes later.
    fn ahead(&self, key: Key, of: &Request, now: Timestamp) -> (u32, Vec<JobId>) {
        let balance = self.balance(Some(of), now);
        let own = self.queue.jobs.get(&key.job).map(|waiter| &self.queue.lines[&waiter.line]);
        let behind = match own {
            Some(line) => self.behind(line, &balance),
            None => self.cluster.behind(of, key.turn.rank, &balance),
        };
        let is_first = own.is_some_and(|line| line.queue.first() == Some(&key));
        let place = key.put_back(behind.of(is_first));
        let lines = self.queue.active.iter().map(|line| &self.queue.lines[line]);
        let lines = lines.filter(|line| !self.is_limited(&line.class));
        let (mut count, mut first) = (0, Vec::new());
        for line in lines.filter(|line| line.class.of.virtual_cluster == of.virtual_cluster) {
            let (behind, head) = (self.behind(line, &balance), line.queue.first());
            let before = move || {
                let others = line.queue.range(..place.put_back(-behind.others));
                let others = others.filter(move |key| Some(*key) != head);
                let others = others.map(move |key| key.put_back(behind.others));
                let head = head.map(|key| key.put_back(behind.first)).filter(|key| *key < place);
                head.into_iter().chain(others)
            };
            count += before().count();
            first.extend(before().take(AHEAD));
        }
        first.sort_unstable();
        let first = first.into_iter().take(AHEAD).map(|key: Key| key.job).collect();
        (u32::try_from(count).unwrap_or(u32::MAX), first)
    }

    /// What is said of a job whose places have not been left yet.
    fn preempting(&self, job: JobId, position: u32, now: Timestamp) -> Option<Waiting> {
        let pending = self.pending.get(&job)?;
        let jobs = u32::try_from(pending.awaits.len()).unwrap_or(u32::MAX);
        let reason = WaitReason::Preempting { jobs };
        Some(Waiting { reason, position, expected_start: Some(now) })
    }

    fn reserved_for(&self, job: JobId) -> Option<&Reserved> {
        self.reserved.values().find(|reserved| reserved.reservation.job == job)
    }

    /// A job would borrow what is idle, had it not given way again and again.
    fn rests(&mut self, wanted: Wanted, now: Timestamp) -> Option<WaitReason> {
        let times = self.queue.jobs.get(&wanted.job)?.gave_way.times;
        let until = self.queue.rests_until(wanted.job, now)?;
        if !self.cluster.may_borrow(wanted.class) {
            return None;
        }
        let allocations = place(&mut self.cluster, wanted, Look::Lend).ok()?;
        undo(&mut self.cluster, &allocations);
        Some(WaitReason::GaveWay { times, until })
    }

    /// Why a job that a pass did not start waits.
    fn reason(&mut self, Wanted { job, class }: Wanted, ahead: u32, now: Timestamp) -> WaitReason {
        let cluster = &self.cluster;
        let lasts = |class: &Class| never(cluster, class).or_else(|| elsewhere(cluster, class));
        if let Some(reason) = lasts(class) {
            return explain::absent_storage(cluster, class, lasts).unwrap_or(reason);
        }
        let holds = std::mem::take(&mut self.reserved);
        holds.values().for_each(|reserved| release(&mut self.cluster, reserved));
        let reason = self.reason_beside_holds(Wanted { job, class }, ahead, now);
        holds.values().for_each(|reserved| keep(&mut self.cluster, reserved));
        self.reserved = holds;
        reason
    }

    /// The same where nothing is kept for others.
    fn reason_beside_holds(
        &mut self,
        Wanted { job, class }: Wanted,
        ahead: u32,
        now: Timestamp,
    ) -> WaitReason {
        let accounts = self.cluster.accounts(class.cluster).to_vec();
        let failure = match self.finds_room(Wanted { job, class }, &accounts) {
            Ok(()) => return WaitReason::Behind { ahead: ahead.max(1) },
            Err(_) if ahead > 0 && self.would_outrank(Wanted { job, class }, &accounts, now) => {
                return WaitReason::Behind { ahead };
            }
            Err(failure) => failure,
        };
        // The share to name is the first that would do, were it not used up.
        let lack = |account: &AccountIndex| {
            let shares = &self.cluster.shares;
            let too_small = !shares.lacks(*account, class, true).is_empty();
            Some((too_small, shares.lacks(*account, class, false).into_iter().next()?))
        };
        let lacks: Option<Vec<_>> = accounts.iter().map(lack).collect();
        let lack = lacks.into_iter().flatten().min_by_key(|(too_small, _)| *too_small);
        match lack.map(|(_, lack)| lack).filter(|_| !class.opportunistic) {
            Some(lack) => explain::quota(&self.cluster, class, lack),
            None => match class.required_level().filter(|_| failure.apart) {
                Some(level) => level::full(&self.cluster, class, (level, failure.fit)),
                None => explain::no_room(&self.cluster, class, failure),
            },
        }
    }

    /// Whether the job would have places that work of a lower class has.
    fn would_outrank(&mut self, wanted: Wanted, accounts: &[AccountIndex], now: Timestamp) -> bool {
        let turn = self.turn(wanted.job, wanted.class);
        let nobody = self.cluster.ranks.outranked(wanted.class.cluster, turn).next().is_none();
        if nobody || wanted.class.opportunistic {
            return false;
        }
        let found = self.outrank(wanted, accounts, turn, now);
        found.map(|found| self.undo_outranking(found)).is_some()
    }

    /// How far the job would come.
    fn finds_room(
        &mut self,
        Wanted { job, class }: Wanted,
        accounts: &[AccountIndex],
    ) -> Result<(), crate::pass::fit::Failure> {
        let mut looks = Vec::new();
        if !class.opportunistic {
            let enough =
                |a: &&AccountIndex| self.cluster.shares.lacks(**a, class, false).is_empty();
            looks.extend(accounts.iter().filter(enough).map(|account| Look::Guaranteed(*account)));
        }
        if self.cluster.may_borrow(class) {
            looks.push(Look::Lend);
        }
        let mut result = Err(crate::pass::fit::Failure { role: 0, fit: 0, apart: false });
        for look in looks {
            result = place(&mut self.cluster, Wanted { job, class }, look)
                .map(|allocations| undo(&mut self.cluster, &allocations));
            if result.is_ok() {
                break;
            }
            if let (Err(failure), Some(level)) = (&mut result, class.required_level())
                && failure.apart
            {
                failure.fit = most_in_one(&mut self.cluster, Wanted { job, class }, look, level);
            }
        }
        result
    }

    /// All that can be said of a waiting job; `None` when it does not wait.
    pub fn explain(&mut self, job: JobId, now: Timestamp) -> Option<Explanation> {
        if let (Some(waiting), Some(pending)) =
            (self.preempting(job, 1, now), self.pending.get(&job))
        {
            let holders = pending.awaits.iter().copied().collect();
            return Some(Explanation { holders, ..Explanation::of(waiting) });
        }
        let waiter = *self.queue.jobs.get(&job)?;
        if let Some((_, waiting)) = resting(&waiter, now) {
            return Some(Explanation::of(waiting));
        }
        let class = self.queue.class(waiter.line);
        if let Some(reason) = self.limit_of(&class) {
            return Some(Explanation::of(without_place(reason, None)));
        }
        Some(self.explanation(Wanted { job, class: &class }, waiter.key, now))
    }

    /// What can be said of a job that finds no room.
    pub(crate) fn explanation(&mut self, wanted: Wanted, key: Key, now: Timestamp) -> Explanation {
        let Wanted { job, class } = wanted;
        let (ahead, first) = self.ahead(key, &class.of, now);
        let position = ahead.saturating_add(1);
        let rests = self.rests(wanted, now);
        let reason = rests.unwrap_or_else(|| self.reason(wanted, ahead, now));
        let expected = self.expected(wanted, ahead, now);
        let expected_start = expected.map(|expected| expected.earliest);
        Explanation {
            waiting: Waiting { reason, position, expected_start },
            scarce: class
                .roles
                .first()
                .and_then(|role| explain::scarce(&self.cluster, class, role)),
            holders: self.holders(job, class, now),
            ahead: first,
            expected,
        }
    }

    /// Whose end the job waits for; for one without a reservation, whose end may help.
    fn holders(&self, job: JobId, class: &Class, now: Timestamp) -> Vec<JobId> {
        let cluster = &self.cluster;
        let end = |(job, remaining): (&JobId, &Remaining)| (remaining.expected_end(now).0, *job);
        let mut ends: Vec<_> = match self.reserved_for(job) {
            Some(reserved) => {
                let awaits = reserved.reservation.awaits.iter();
                awaits
                    .filter_map(|job| Some(end((job, &cluster.placed_jobs.get(job)?.remaining))))
                    .collect()
            }
            None => {
                let accounts = cluster.accounts(class.cluster).iter();
                let owners = accounts.map(|account| cluster.cells.owner(*account));
                let owners: BTreeSet<_> = owners.collect();
                let all = owners.into_iter().flat_map(|owner| &cluster.counting[owner]);
                let types = asked_types(class);
                let holds = |stay: &Stay| types == 0 || types & stay.types != 0;
                all.filter(|(_, stay)| holds(stay))
                    .map(|(job, stay)| end((job, &stay.remaining)))
                    .collect()
            }
        };
        let first = ends.len().min(HOLDERS);
        if ends.len() > HOLDERS {
            ends.select_nth_unstable(HOLDERS);
        }
        ends[..first].sort_unstable();
        ends.into_iter().map(|(_, job)| job).collect()
    }

    /// When a job that has a reservation starts.
    #[must_use]
    pub fn promised_start(&self, job: JobId, now: Timestamp) -> Option<Expected> {
        let awaits = &self.reserved_for(job)?.reservation.awaits;
        let class = self.queue.class(self.queue.jobs.get(&job)?.line);
        Some(self.bounded(Wanted { job, class: &class }, self.expected_of(awaits, now)))
    }

    /// When a job that has a reservation, or would get one, starts.
    fn expected(&mut self, wanted: Wanted, ahead: u32, now: Timestamp) -> Option<Expected> {
        if let Some(promised) = self.promised_start(wanted.job, now) {
            return Some(promised);
        }
        if ahead > 0 || wanted.class.opportunistic {
            return None;
        }
        let account = self.cluster.accounts(wanted.class.cluster)[0];
        let claimant = self.cluster.claimant(account, self.turn(wanted.job, wanted.class));
        let reserved = reserve(&mut self.cluster, wanted, (account, &claimant), None, now)?;
        release(&mut self.cluster, &reserved);
        Some(self.bounded(wanted, self.expected_of(&reserved.reservation.awaits, now)))
    }

    /// Nobody can say until when a job starts while somebody of a higher priority waits for the same share, such as
    /// at his limit: he may take what is kept for it.
    fn bounded(&self, Wanted { job, class }: Wanted, expected: Expected) -> Expected {
        let account = |of: &Class| self.cluster.accounts(of.cluster)[0];
        let (own, priority) = (account(class), self.turn(job, class).priority);
        let preceded = self.queue.is_preceded(priority, |other| account(other) == own);
        Expected { latest: expected.latest.filter(|_| !preceded), ..expected }
    }

    fn expected_of(&self, awaits: &BTreeSet<JobId>, now: Timestamp) -> Expected {
        let ends = awaits.iter().filter_map(|job| self.cluster.placed_jobs.get(job));
        let mut expected = Expected { earliest: now, latest: Some(now), ground: Ground::Limits };
        for placed in ends {
            let (end, ground) = placed.remaining.expected_end(now);
            let limit = placed.remaining.limit();
            expected.earliest = expected.earliest.max(end);
            expected.latest = expected.latest.zip(limit).map(|(latest, limit)| latest.max(limit));
            expected.ground = expected.ground.max(ground);
        }
        expected
    }
}

/// The types of GPUs that would do for a class; none where it asks for none.
fn asked_types(class: &Class) -> Bits {
    let with_gpus = class.roles.iter().map(|role| &role.request).filter(|request| request.gpus > 0);
    with_gpus.fold(0, |types, request| types | request.types)
}

/// What is said of a job that has no place in the queue.
pub(crate) fn without_place(reason: WaitReason, expected_start: Option<Timestamp>) -> Waiting {
    Waiting { reason, position: 1, expected_start }
}
