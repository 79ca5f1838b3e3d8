//! One pass over the queue: guaranteed work first, then what is idle is lent.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::sync::Arc;

use protocol::ids::JobId;
use protocol::time::Timestamp;

use crate::cluster::allocation::TaskAllocation;
use crate::cluster::placed::PlacedJob;
use crate::model::remaining::Remaining;
use crate::model::{Placement, Preemption, QosClass, Turn};
use crate::numbers::indices::{AccountIndex, LineIndex};
use crate::numbers::request::{Class, Wanted};
use crate::pass::balance::Balance;
use crate::pass::fit::{Look, placement};
use crate::pass::preemption::Preempted;
use crate::pass::reserve::{keep, release, reserve};
use crate::pass::together::place;
use crate::queue::{Key, Waiter};
use crate::state::{Pending, State};

pub(crate) mod backfill;
pub(crate) mod balance;
pub(crate) mod claimant;
pub(crate) mod fit;
pub(crate) mod limits;
pub(crate) mod outrank;
pub(crate) mod preemption;
pub(crate) mod reserve;
pub(crate) mod rights;
pub(crate) mod together;

/// Borrowed jobs of an account that are tried in vain before the rest is left as it is.
const GIVE_UP: u32 = 4;

/// What a pass decided.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pass {
    /// Jobs that start, each with all its tasks.
    pub placements: Vec<Placement>,
    /// Jobs to be stopped and put back to their place in the queue.
    pub preemptions: Vec<Preemption>,
}

/// The first of each line, the first of all at the top.
type Heads = BinaryHeap<Reverse<(Key, LineIndex)>>;

/// What says who is next.
#[derive(Debug, Clone, Copy)]
struct Order<'b> {
    balance: &'b Balance,
    /// When those wait who look for something to borrow: who rests from that is passed over.
    borrows_at: Option<Timestamp>,
}

/// How a job may go on.
enum Outcome {
    /// On these places of its virtual cluster's.
    Starts(Vec<TaskAllocation>),
    Blocked,
}

impl State {
    /// Decides for all that wait: higher priority first, then by their place. The first job of a
    /// virtual cluster that finds no room is given a reservation; what comes behind it starts only
    /// where it cannot delay it.
    pub fn pass(&mut self, now: Timestamp) -> Pass {
        let mut pass = Pass::default();
        self.cluster.tidy();
        self.cluster.owners.settle(now);
        self.queue.loans.last(self.cluster.borrowed.len(), now);
        self.queue.wake(now);
        let cells = &self.cluster.cells;
        self.queue.hurry(now, |class| cells.heeds_deadlines(class.cluster));
        self.start_pending(&mut pass);
        self.keep_nothing_for_limited();
        loop {
            self.place_guaranteed(now, &mut pass);
            self.lend(now, &mut pass);
            // Who came to his limit meanwhile keeps nothing from those behind him.
            if !self.keep_nothing_for_limited() {
                break;
            }
        }
        self.promote();
        pass
    }

    /// Those whose places have been left start.
    fn start_pending(&mut self, pass: &mut Pass) {
        let ready: Vec<_> = self
            .pending
            .iter()
            .filter(|(_, pending)| pending.awaits.is_empty())
            .map(|(job, _)| *job)
            .collect();
        for job in ready {
            if let Some(Pending { class, placed, .. }) = self.pending.remove(&job) {
                self.cluster.count_coming(&placed, -1);
                let (allocations, qos_class) = (&placed.allocations, placed.qos_class);
                pass.placements.push(placement(
                    &self.cluster,
                    Wanted { job, class: &class },
                    allocations,
                    qos_class,
                ));
                self.cluster.settle(job, placed);
            }
        }
    }

    /// The first of each line.
    fn heads(&self, order: Order) -> Heads {
        let head = |line: &LineIndex| Some(Reverse((self.head(*line, order)?, *line)));
        self.queue.active.iter().filter_map(head).collect()
    }

    /// The first of a line, put back by what its owner holds and held; of one whose owner is at his limit,
    /// nobody.
    fn head(&self, line: LineIndex, order: Order) -> Option<Key> {
        let first = self.queue.first(line, order.borrows_at)?;
        let line = self.queue.lines.get(&line)?;
        if self.is_limited(&line.class) {
            return None;
        }
        let is_first = line.queue.first() == Some(&first);
        Some(first.put_back(self.behind(line, order.balance).of(is_first)))
    }

    /// The next in order. Whose owner was given something meanwhile is put back by that, or has come to
    /// his limit.
    fn pop(&self, heads: &mut Heads, order: Order) -> Option<(Key, LineIndex)> {
        while let Some(Reverse((key, line))) = heads.pop() {
            match self.head(line, order) {
                Some(now) if now > key => heads.push(Reverse((now, line))),
                Some(_) => return Some((key, line)),
                None => {}
            }
        }
        None
    }

    fn place_guaranteed(&mut self, now: Timestamp, pass: &mut Pass) {
        let balance = self.balance(None, now);
        let order = Order { balance: &balance, borrows_at: None };
        let mut heads = self.heads(order);
        // Accounts that have a first job without room already.
        let mut reserved = BTreeSet::new();
        while let Some((key, line)) = self.pop(&mut heads, order) {
            let class = self.queue.class(line);
            if class.opportunistic {
                continue;
            }
            let accounts = self.cluster.accounts(class.cluster).to_vec();
            let first = !reserved.contains(&accounts[0]);
            match self.decide(
                Wanted { job: key.job, class: &class },
                (&accounts, line, first),
                now,
                pass,
            ) {
                Outcome::Starts(allocations) => {
                    let (allocations, qos_class) = self.by_rights(
                        Wanted { job: key.job, class: &class },
                        &accounts,
                        allocations,
                        now,
                    );
                    self.start((key, &class), allocations, qos_class, now, pass);
                    self.push_next(&mut heads, line, order);
                }
                Outcome::Blocked => {
                    if self.reserved.get(&accounts[0]).is_some_and(|h| h.reservation.job == key.job)
                    {
                        reserved.insert(accounts[0]);
                    }
                }
            }
        }
    }

    fn push_next(&self, heads: &mut Heads, line: LineIndex, order: Order) {
        heads.extend(self.head(line, order).map(|key| Reverse((key, line))));
    }

    /// Tries to start a job on its accounts' cells. `first`: nobody ahead of it on its account waits
    /// for room; it gets the account's reservation.
    fn decide(
        &mut self,
        Wanted { job, class }: Wanted,
        (accounts, line, first): (&[AccountIndex], LineIndex, bool),
        now: Timestamp,
        pass: &mut Pass,
    ) -> Outcome {
        let mine =
            self.reserved.get(&accounts[0]).is_some_and(|reserved| reserved.reservation.job == job);
        let tried = Some(self.gains);
        let known = self.queue.tried(line);
        let rank = Some(self.turn(job, class).priority.0.class());
        let blocked = known.blocked == tried && known.blocked_up_to >= rank;
        if blocked && (!first || mine || known.hopeless == tried) {
            return Outcome::Blocked;
        }
        let kept = if first { self.reserved.remove(&accounts[0]) } else { None };
        if let Some(reserved) = &kept {
            release(&mut self.cluster, reserved);
        }
        if let Some(allocations) = self.guaranteed(Wanted { job, class }, accounts, now, pass) {
            return Outcome::Starts(allocations);
        }
        if first {
            match kept {
                Some(reserved)
                    if reserved.reservation.job == job && reserved.is_sound(&self.cluster) =>
                {
                    keep(&mut self.cluster, &reserved);
                    self.reserved.insert(accounts[0], reserved);
                }
                // Nothing need be kept from anybody, but whoever comes is behind it.
                None if self.is_alone() => self.queue.put_first(job),
                Some(_) | None => {
                    self.gains += u64::from(kept.is_some());
                    self.reserve(
                        Wanted { job, class },
                        accounts,
                        kept.map(|reserved| reserved.reservation),
                        now,
                    );
                }
            }
        }
        let hopeless = first && !self.is_alone() && !self.reserved.contains_key(&accounts[0]);
        if let Some(tried) = self.queue.tried_mut(line) {
            let others = tried.blocked_up_to.filter(|_| tried.blocked == Some(self.gains));
            tried.blocked_up_to = others.max(rank);
            tried.blocked = Some(self.gains);
            tried.hopeless = hopeless.then_some(self.gains);
        }
        Outcome::Blocked
    }

    /// Whether nobody else waits whom a reservation would be needed against.
    pub(crate) fn is_alone(&self) -> bool {
        self.only_one().is_some()
    }

    fn reserve(
        &mut self,
        Wanted { job, class }: Wanted,
        accounts: &[AccountIndex],
        kept: Option<crate::model::Reservation>,
        now: Timestamp,
    ) {
        let last = kept.filter(|kept| kept.job == job);
        let last = last.or_else(|| self.last.iter().find(|last| last.job == job).cloned());
        let claimant = self.cluster.claimant(accounts[0], self.turn(job, class));
        let wanted = Wanted { job, class };
        let reserved =
            reserve(&mut self.cluster, wanted, (accounts[0], &claimant), last.as_ref(), now);
        if let Some(reserved) = reserved {
            self.reserved.insert(accounts[0], reserved);
            let cluster = &self.cluster;
            self.queue.put_first_among(job, |of| cluster.accounts(of.cluster)[0] == accounts[0]);
        }
    }

    /// Places on cells of its accounts, taken; others may have to leave them first.
    fn guaranteed(
        &mut self,
        wanted: Wanted,
        accounts: &[AccountIndex],
        now: Timestamp,
        pass: &mut Pass,
    ) -> Option<Vec<TaskAllocation>> {
        let turn = self.turn(wanted.job, wanted.class);
        let preempted = match self.cleared_cells(wanted, accounts, turn, now) {
            Some(preempted) => preempted,
            None => self.outrank(wanted, accounts, turn, now)?.preempted,
        };
        Some(self.send_away(wanted, preempted, now, pass))
    }

    /// Places on cells of its accounts, taken, and who has to leave them.
    pub(crate) fn cleared_cells(
        &mut self,
        wanted: Wanted,
        accounts: &[AccountIndex],
        turn: Turn,
        now: Timestamp,
    ) -> Option<Preempted> {
        accounts.iter().find_map(|account| {
            let claimant = self.cluster.claimant(*account, turn);
            self.in_cells(wanted, *account, now, &|placed| claimant.moves(placed))
        })
    }

    /// The turn of a job, be it that it is only asked what would become of it.
    pub(crate) fn turn(&self, job: JobId, class: &Class) -> Turn {
        self.queue.jobs.get(&job).map_or_else(|| class.of.turn(), |waiter| waiter.turn)
    }

    /// Tells those who are in the way to leave.
    pub(crate) fn send_away(
        &mut self,
        Wanted { job, class }: Wanted,
        preempted: Preempted,
        now: Timestamp,
        pass: &mut Pass,
    ) -> Vec<TaskAllocation> {
        let turn = self.turn(job, class);
        for (victim, placed) in preempted.victims {
            if !placed.stopping {
                let own = placed.name == class.of.virtual_cluster;
                let outranked = own && turn.outranks(&placed.turn);
                if !outranked {
                    self.queue.loans.is_taken_back();
                }
                pass.preemptions.push(Preemption {
                    job: victim,
                    taken_by: job,
                    virtual_cluster: class.of.virtual_cluster.clone(),
                    outranked,
                    lost_ms: placed.lost_ms(now),
                });
            }
            self.cluster.count_leaving(&placed, 1);
            self.leaving.insert(victim, placed);
        }
        preempted.allocations
    }

    /// A job has its places: it starts, or does when those who are there have left.
    pub(crate) fn start(
        &mut self,
        (key, class): (Key, &Arc<Class>),
        allocations: Vec<TaskAllocation>,
        qos_class: QosClass,
        now: Timestamp,
        pass: &mut Pass,
    ) {
        let Some(waiter) = self.queue.remove(key.job) else { return };
        self.let_go(key.job);
        let awaits = self.awaits(&allocations);
        let placed = placed(&waiter, class, allocations, qos_class, now);
        if awaits.is_empty() {
            let started = placement(
                &self.cluster,
                Wanted { job: key.job, class },
                &placed.allocations,
                qos_class,
            );
            pass.placements.push(started);
            self.cluster.settle(key.job, placed);
        } else {
            let class = Arc::clone(class);
            self.cluster.count_coming(&placed, 1);
            self.pending.insert(key.job, Pending { waiter, class, placed, awaits });
        }
    }

    /// Those who are about to leave and are at the same addresses: what they have, ports included,
    /// is only then free.
    pub(crate) fn awaits(&self, allocations: &[TaskAllocation]) -> BTreeSet<JobId> {
        if self.leaving.is_empty() {
            return BTreeSet::new();
        }
        let address = |allocation: &TaskAllocation| {
            allocation.node.map(|node| self.cluster.fixed[node].node.address.as_str())
        };
        let addresses: BTreeSet<_> = allocations.iter().filter_map(address).collect();
        let there = |allocation: &TaskAllocation| {
            address(allocation).is_some_and(|a| addresses.contains(a))
        };
        let leaving =
            self.leaving.iter().filter(|(_, placed)| placed.allocations.iter().any(there));
        leaving.map(|(job, _)| *job).collect()
    }

    /// What is idle is lent, in the order of the whole queue. Who gave way again and again rests.
    fn lend(&mut self, now: Timestamp, pass: &mut Pass) {
        let balance = self.balance(None, now);
        let order = Order { balance: &balance, borrows_at: Some(now) };
        let mut heads = self.heads(order);
        while let Some((key, line)) = self.pop(&mut heads, order) {
            let class = self.queue.class(line);
            let tried = Some(self.gains);
            if self.queue.lines[&line].not_backfilled == tried || !self.cluster.may_borrow(&class) {
                continue;
            }
            if self.queue.tried(line).idle != tried
                && let Some(allocations) = self.idle_room(Wanted { job: key.job, class: &class })
            {
                self.start((key, &class), allocations, QosClass::Borrowed, now, pass);
                self.push_next(&mut heads, line, order);
                continue;
            }
            self.backfill((line, &class), now, pass);
            self.queue.borrows_nothing(line, self.gains);
        }
    }

    /// Idle places, taken; what is kept for the job itself is idle as well.
    fn idle_room(&mut self, Wanted { job, class }: Wanted) -> Option<Vec<TaskAllocation>> {
        let own = self.reserved.values().find(|reserved| reserved.reservation.job == job).cloned();
        if let Some(reserved) = &own {
            release(&mut self.cluster, reserved);
        }
        let placed = place(&mut self.cluster, Wanted { job, class }, Look::Lend).ok();
        if let Some(reserved) = &own {
            match placed.is_some() {
                true => self.reserved.retain(|_, other| other.reservation.job != job),
                false => keep(&mut self.cluster, reserved),
            }
        }
        placed
    }

    /// Work that borrows comes to count on its virtual cluster's share where that has room again,
    /// the first in the queue first.
    fn promote(&mut self) {
        let gained = std::mem::take(&mut self.gained);
        for account in gained {
            if self.reserved.keys().any(|held| self.cluster.cells.owner(*held) == account) {
                continue;
            }
            let mut failed = 0;
            for job in self.promotable(account) {
                failed += u32::from(!self.promote_one(job));
                if failed == GIVE_UP {
                    break;
                }
            }
        }
    }

    fn promotable(&self, account: AccountIndex) -> Vec<JobId> {
        let held = |allocation: &TaskAllocation| {
            allocation.node.is_some_and(|n| self.cluster.held.contains(&n))
        };
        let jobs = self.cluster.borrowed.iter().map(|job| (*job, &self.cluster.placed_jobs[job]));
        let mut jobs: Vec<_> = jobs
            .filter(|(_, placed)| !placed.is_opportunistic() && !placed.stopping)
            .filter(|(_, placed)| {
                let mut accounts = self.cluster.accounts(placed.cluster).iter();
                accounts.any(|counts| self.cluster.cells.owner(*counts) == account)
            })
            .filter(|(_, placed)| !placed.allocations.iter().any(held))
            .map(|(job, placed)| (placed.turn, job))
            .collect();
        jobs.sort_unstable();
        jobs.into_iter().map(|(_, job)| job).collect()
    }

    /// Whether its virtual cluster's share has room for a job that borrows, where it is: then it counts
    /// on that.
    pub(crate) fn promote_one(&mut self, job: JobId) -> bool {
        let Some(placed) = self.cluster.leave(job) else { return false };
        let promoted = self.cluster.settle_guaranteed(job, &placed);
        if !promoted {
            placed.allocations.iter().for_each(|allocation| self.cluster.take(allocation));
            self.cluster.settle(job, placed);
        }
        promoted
    }
}

fn placed(
    waiter: &Waiter,
    class: &Class,
    allocations: Vec<TaskAllocation>,
    qos_class: QosClass,
    now: Timestamp,
) -> PlacedJob {
    PlacedJob {
        cluster: class.cluster,
        name: class.of.virtual_cluster.clone(),
        user: class.of.user.clone(),
        allocations,
        qos_class,
        turn: waiter.turn,
        remaining: Remaining {
            started_at: now,
            limit_ms: waiter.limit_ms,
            expected_ms: waiter.expected_ms,
        },
        gave_way: waiter.gave_way,
        stopping: false,
    }
}
