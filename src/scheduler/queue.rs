//! The jobs that wait, by class and owner: what fails for one of a class fails for all of it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use protocol::ids::{JobId, UserName};
use protocol::spec::Priority;
use protocol::time::Timestamp;

use crate::model::{GaveWay, Request, Turn, Urgency};
use crate::numbers::indices::{ClassIndex, LineIndex};
use crate::numbers::quick::Quick;
use crate::numbers::request::{Class, ClassKey};
use crate::queue::loans::Loans;

pub(crate) mod deadlines;
pub(crate) mod like;
pub(crate) mod loans;
pub(crate) mod order;
pub(crate) mod past;
pub(crate) mod past_waits;

/// Nobody is told to wait for a moment that is farther away, in milliseconds: who does was told it by a
/// clock that has been set back since.
const FARTHEST: i64 = 600_000;

/// The rank of who was promised a start.
const PROMISED: i64 = i64::MIN;
/// The rank of who was before somebody else had to be.
const PROMISED_BEFORE: i64 = PROMISED + 1;
/// Below it are the ranks of those who go first whatever their owners have.
const FIRST: i64 = i64::MIN / 4;
/// Above it are the ranks of those among them whose deadlines are near.
const URGENT: i64 = i64::MIN / 2;

/// A place in the queue: smaller goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    pub(crate) turn: Turn,
    pub(crate) job: JobId,
}

impl Key {
    pub(crate) fn of(request: &Request) -> Self {
        Self { turn: request.turn(), job: request.job }
    }

    /// The place of one who is put back by so much. Who goes first stays so.
    pub(crate) fn put_back(self, millis: i64) -> Self {
        if self.goes_first() {
            return self;
        }
        let turn = Turn { rank: self.turn.rank.saturating_add(millis), ..self.turn };
        Self { turn, ..self }
    }

    /// Whether the job was promised a start, and so goes before all others of its priority.
    pub(crate) fn is_promised(self) -> bool {
        self.turn.rank <= PROMISED_BEFORE
    }

    /// Whether the job was promised a start, or goes before the others of its priority for its deadline.
    pub(crate) fn goes_first(self) -> bool {
        self.turn.rank < FIRST
    }

    /// Before all others of its priority but those who were promised a start, or have to start earlier.
    pub(crate) fn urgent(self, urgency: Urgency) -> Self {
        let latest = urgency.latest_start.0.clamp(0, i64::MAX / 8);
        Self { turn: Turn { rank: URGENT + latest, ..self.turn }, ..self }
    }
}

/// Milliseconds by which the jobs of a line are put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Behind {
    /// The first of them.
    pub(crate) first: i64,
    /// All others.
    pub(crate) others: i64,
}

impl Behind {
    /// Nobody.
    pub(crate) const NOTHING: Self = Self { first: 0, others: 0 };

    pub(crate) fn of(self, is_first: bool) -> i64 {
        if is_first { self.first } else { self.others }
    }
}

/// A job that waits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waiter {
    pub(crate) line: LineIndex,
    pub(crate) key: Key,
    /// Its turn, were it not promised a start.
    pub(crate) turn: Turn,
    pub(crate) limit_ms: Option<i64>,
    pub(crate) expected_ms: Option<i64>,
    pub(crate) held: bool,
    pub(crate) not_before: Option<Timestamp>,
    pub(crate) gave_way: GaveWay,
    /// It is to have ended by then; `None`: whenever it can, or it is too late for that.
    pub(crate) deadline: Option<Timestamp>,
    /// It has to start soon for that.
    pub(crate) is_urgent: bool,
}

impl Waiter {
    /// The longest that it is expected to run.
    pub(crate) fn runs_ms(&self) -> Option<i64> {
        self.expected_ms.into_iter().chain(self.limit_ms).min()
    }
}

/// One user's waiting jobs of one class.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) class: std::sync::Arc<Class>,
    name: (ClassKey, UserName),
    /// The number of the class, whoever waits.
    pub(crate) like: ClassIndex,
    pub(crate) queue: BTreeSet<Key>,
    /// The count of gains ([`crate::state`]) at which none of its jobs could be backfilled.
    pub(crate) not_backfilled: Option<u64>,
}

/// When a try for a class failed last, whoever of it was first: counts of gains.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tried {
    /// It found no guaranteed room.
    pub(crate) blocked: Option<u64>,
    /// The highest class of those who found none: a higher one may have more.
    pub(crate) blocked_up_to: Option<Priority>,
    /// Nor a reservation.
    pub(crate) hopeless: Option<u64>,
    /// It found no idle room to borrow.
    pub(crate) idle: Option<u64>,
}

/// All that wait.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    pub(crate) jobs: HashMap<JobId, Waiter, Quick>,
    pub(crate) lines: BTreeMap<LineIndex, Line>,
    numbers: HashMap<(ClassKey, UserName), LineIndex>,
    likes: HashMap<ClassKey, ClassIndex>,
    tried: BTreeMap<ClassIndex, Tried>,
    /// Lines in which somebody waits.
    pub(crate) active: BTreeSet<LineIndex>,
    /// Jobs that were promised a start, whether they wait for a moment or not.
    pub(crate) promised: BTreeSet<JobId>,
    /// Jobs that wait for a moment.
    sleeping: BTreeSet<(Timestamp, JobId)>,
    /// Jobs of which their deadlines say something else from a moment on.
    turning: BTreeSet<(Timestamp, JobId)>,
    next: usize,
    /// Lines that were needed when others were forgotten last.
    needed: usize,
    /// How long those who borrow stay.
    pub(crate) loans: Loans,
}

impl Queue {
    /// Adds a job; `class` makes its class when there is no line for it. `away` are the lines of those
    /// who may come back.
    pub(crate) fn add(
        &mut self,
        request: &Request,
        class: impl FnOnce() -> Class,
        away: impl Iterator<Item = LineIndex>,
    ) {
        let name = (ClassKey::of(request), request.user.clone());
        let number = match self.numbers.get(&name) {
            Some(number) => *number,
            None => self.open(name, class(), away),
        };
        let waiter = Waiter {
            line: number,
            key: Key::of(request),
            turn: request.turn(),
            limit_ms: request.limit_ms,
            expected_ms: request.expected_ms,
            held: request.held,
            not_before: request.not_before,
            gave_way: request.gave_way,
            deadline: request.deadline,
            is_urgent: false,
        };
        self.insert(waiter);
    }

    fn open(
        &mut self,
        name: (ClassKey, UserName),
        class: Class,
        away: impl Iterator<Item = LineIndex>,
    ) -> LineIndex {
        // Where many are needed, though nobody waits in them for now, it is not looked for each that comes.
        if self.lines.len() > 1024 + 4 * self.active.len().max(self.needed) {
            self.forget(away);
            self.needed = self.lines.len();
        }
        self.next += 1;
        let number = LineIndex::from(self.next);
        let like = *self.likes.entry(name.0.clone()).or_insert(ClassIndex::from(self.next));
        self.numbers.insert(name.clone(), number);
        let class = std::sync::Arc::new(class);
        self.lines.insert(
            number,
            Line { class, name, like, queue: BTreeSet::new(), not_backfilled: None },
        );
        number
    }

    /// Lines and classes in which nobody waits, nor rests, nor may come back.
    fn forget(&mut self, away: impl Iterator<Item = LineIndex>) {
        let wait = self.jobs.values().map(|waiter| waiter.line);
        let needed: BTreeSet<LineIndex> = wait.chain(away).collect();
        self.lines.retain(|number, _| needed.contains(number));
        let lines = &self.lines;
        self.numbers.retain(|_, number| lines.contains_key(number));
        let used: BTreeSet<ClassIndex> = lines.values().map(|line| line.like).collect();
        self.likes.retain(|_, like| used.contains(like));
        self.tried.retain(|like, _| used.contains(like));
    }

    /// What was tried in vain for the class of a line.
    pub(crate) fn tried(&self, line: LineIndex) -> Tried {
        let like = self.lines.get(&line).map(|line| line.like);
        like.and_then(|like| self.tried.get(&like)).copied().unwrap_or_default()
    }

    /// The same to be changed.
    pub(crate) fn tried_mut(&mut self, line: LineIndex) -> Option<&mut Tried> {
        let like = self.lines.get(&line)?.like;
        Some(self.tried.entry(like).or_default())
    }

    /// Neither idle room nor a place to be backfilled was found for a line.
    pub(crate) fn borrows_nothing(&mut self, line: LineIndex, gains: u64) {
        if let Some(tried) = self.tried_mut(line) {
            tried.idle = Some(gains);
        }
        if let Some(line) = self.lines.get_mut(&line) {
            line.not_backfilled = Some(gains);
        }
    }

    /// Puts a job in (again).
    pub(crate) fn insert(&mut self, waiter: Waiter) {
        let job = waiter.key.job;
        self.jobs.insert(job, waiter);
        self.promised.extend(waiter.key.is_promised().then_some(job));
        self.heed(&waiter);
        match waiter.not_before {
            _ if waiter.held => {}
            Some(until) => drop(self.sleeping.insert((until, job))),
            None => self.awake(waiter),
        }
    }

    fn awake(&mut self, waiter: Waiter) {
        if let Some(line) = self.lines.get_mut(&waiter.line) {
            line.queue.insert(waiter.key);
            // It may be short enough to be backfilled where the others of its class have no room.
            line.not_backfilled = line.not_backfilled.filter(|_| waiter.runs_ms().is_none());
            self.active.insert(waiter.line);
        }
    }

    /// The first of a line; of those alone who may borrow, if so.
    pub(crate) fn first(&self, line: LineIndex, borrows_at: Option<Timestamp>) -> Option<Key> {
        let mut queue = self.lines.get(&line)?.queue.iter();
        let first = match borrows_at {
            None => queue.next(),
            Some(now) => queue.find(|key| self.rests_until(key.job, now).is_none()),
        };
        first.copied()
    }

    /// Until when a job that gave way borrows nothing.
    pub(crate) fn rests_until(&self, job: JobId, now: Timestamp) -> Option<Timestamp> {
        let waiter = self.jobs.get(&job)?;
        self.loans.rests_until(waiter.gave_way, now, waiter.runs_ms())
    }

    /// When the next moment comes for which somebody waits, or to which a deadline gives a meaning.
    pub(crate) fn wakes_at(&self) -> Option<Timestamp> {
        let moments = self.sleeping.first().into_iter().chain(self.turning.first());
        moments.map(|(moment, _)| *moment).min()
    }

    /// Those whose moment has come wait like all others.
    pub(crate) fn wake(&mut self, now: Timestamp) {
        while let Some((until, job)) = self.due(now) {
            self.sleeping.remove(&(until, job));
            if let Some(waiter) = self.jobs.get_mut(&job) {
                waiter.not_before = None;
                let waiter = *waiter;
                self.awake(waiter);
            }
        }
    }

    /// One whose moment has come, or cannot have been meant.
    fn due(&self, now: Timestamp) -> Option<(Timestamp, JobId)> {
        let first = self.sleeping.first().filter(|(until, _)| *until <= now);
        let last = || self.sleeping.last().filter(|(until, _)| until.since(now) > FARTHEST);
        first.or_else(last).copied()
    }

    /// A job that was given a reservation, or would be as soon as somebody comes, stays first among
    /// its priority: nothing that is shorter makes it wait longer than it was promised.
    pub(crate) fn put_first(&mut self, job: JobId) {
        self.rank(job, PROMISED);
    }

    /// The same of a job that is given the reservation of these classes: who was first there for one that he
    /// has no more, or could not have, goes behind it, so that he takes nothing that it counts on.
    pub(crate) fn put_first_among(&mut self, job: JobId, classes: impl Fn(&Class) -> bool) {
        let there = |other: &&JobId| {
            let line = self.jobs.get(other).and_then(|waiter| self.lines.get(&waiter.line));
            **other != job && line.is_some_and(|line| classes(&line.class))
        };
        let others: Vec<JobId> = self.promised.iter().filter(there).copied().collect();
        others.into_iter().for_each(|other| self.rank(other, PROMISED_BEFORE));
        self.put_first(job);
    }

    fn rank(&mut self, job: JobId, rank: i64) {
        if self.jobs.get(&job).is_none_or(|waiter| waiter.key.turn.rank == rank) {
            return;
        }
        if let Some(mut waiter) = self.remove(job) {
            waiter.key.turn.rank = rank;
            self.insert(waiter);
        }
    }

    pub(crate) fn remove(&mut self, job: JobId) -> Option<Waiter> {
        let waiter = self.jobs.remove(&job)?;
        self.promised.remove(&job);
        self.heed_no_more(&waiter);
        if let Some(until) = waiter.not_before {
            self.sleeping.remove(&(until, job));
        }
        if let Some(line) = self.lines.get_mut(&waiter.line) {
            line.queue.remove(&waiter.key);
            if line.queue.is_empty() {
                self.active.remove(&waiter.line);
            }
        }
        Some(waiter)
    }

    /// How many of its owner's of a request's class go before it, counted up to a number.
    pub(crate) fn ahead_of_its_like(&self, request: &Request, most: usize) -> usize {
        let number = self.numbers.get(&(ClassKey::of(request), request.user.clone()));
        let line = number.and_then(|number| self.lines.get(number));
        line.map_or(0, |line| line.queue.range(..Key::of(request)).take(most).count())
    }

    /// Whether somebody of a higher priority waits in one of these lines.
    pub(crate) fn is_preceded(
        &self,
        of: Reverse<Priority>,
        lines: impl Fn(&Class) -> bool,
    ) -> bool {
        let mut all = self.active.iter().map(|line| &self.lines[line]);
        all.any(|line| {
            let first = line.queue.first();
            first.is_some_and(|first| first.turn.priority < of) && lines(&line.class)
        })
    }

    /// The class of a line.
    pub(crate) fn class(&self, line: LineIndex) -> std::sync::Arc<Class> {
        std::sync::Arc::clone(&self.lines[&line].class)
    }

    /// All that wait and whose moment has come, each line put back by so much, and some others, in
    /// order.
    pub(crate) fn in_order_with(
        &self,
        others: impl Iterator<Item = Waiter>,
        behind: impl Fn(&Line) -> Behind,
    ) -> Vec<(Key, LineIndex)> {
        let lines = self.active.iter().map(|number| (*number, &self.lines[number]));
        let mut all: Vec<_> = lines
            .flat_map(|(number, line)| {
                let behind = behind(line);
                let keys = line.queue.iter().enumerate();
                keys.map(move |(at, key)| (key.put_back(behind.of(at == 0)), number))
            })
            .collect();
        all.extend(others.map(|waiter| (waiter.key, waiter.line)));
        // Each line is in order but for its first: of that a stable sort makes use.
        all.sort();
        all
    }

    /// All classes anew, after the cluster's numbers changed.
    pub(crate) fn renumber(&mut self, mut class: impl FnMut(&Request) -> Class) {
        for line in self.lines.values_mut() {
            line.class = std::sync::Arc::new(class(&line.class.of));
            line.not_backfilled = None;
        }
        self.tried.clear();
        debug_assert!(self.lines.values().all(|line| self.numbers.contains_key(&line.name)));
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;
    use crate::state::State;
    use crate::story::{NOW, cluster, job};

    /// Jobs that wait for a moment, each in a line of its own.
    fn rest(state: &mut State, numbers: Range<i64>) {
        for number in numbers {
            let user = format!("user-{number}").parse().unwrap();
            let not_before = Some(NOW.plus_millis(1_000));
            let request = job(number).gpus(1, &[]).request;
            state.submit(&Request { user, not_before, ..request });
        }
    }

    #[test]
    fn lines_that_nobody_needs_are_looked_for_seldom_and_forgotten() {
        let mut state = State::of(&cluster().node("a").gpus(1, "A100").snapshot);
        rest(&mut state, 1..5_001);
        assert_eq!(state.queue.lines.len(), 5_000, "somebody rests in each");
        assert_eq!(state.queue.needed, 1_025, "it was looked for them once");
        (1..5_001).for_each(|number| state.cancel(JobId(number)));
        rest(&mut state, 5_001..10_001);
        assert_eq!(state.queue.lines.len(), 5_000, "of the earlier ones nobody is left");
    }
}
