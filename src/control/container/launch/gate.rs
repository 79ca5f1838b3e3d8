//! Lets only so much be under way at the same time, and has the jobs that wait take turns.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};

use protocol::ids::JobId;
use tokio::sync::oneshot;

use crate::lock::lock;

/// A door with so many units of room behind it. Who waits is let in in turn: first the job that has
/// least inside, and among equals the one that has waited longest for its last turn.
#[derive(Debug)]
pub(crate) struct Gate {
    /// No job has more inside than this, so that one that gets stuck leaves room for others; a single
    /// entry that needs more is let in all the same.
    share: u32,
    room: u32,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    taken: u32,
    turns: u64,
    jobs: BTreeMap<JobId, Line>,
    /// The jobs that wait, in the order in which they are let in.
    next: BTreeSet<(u32, u64, JobId)>,
}

/// One job before the door and behind it.
#[derive(Debug, Default)]
struct Line {
    inside: u32,
    last_turn: u64,
    waiting: VecDeque<Waiter>,
}

#[derive(Debug)]
struct Waiter {
    units: u32,
    open: oneshot::Sender<Permit>,
}

/// Room behind a gate; it is free again when this goes.
#[derive(Debug)]
pub(crate) struct Permit {
    gate: Option<Arc<Gate>>,
    job: JobId,
    units: u32,
}

impl Gate {
    /// Room for so many units, of which one job takes no more than `share`.
    pub(crate) fn new(room: u32, share: u32) -> Self {
        Self { share, room, state: Mutex::default() }
    }

    /// Waits for so many units of room, or for all there is.
    pub(crate) async fn enter(self: &Arc<Self>, job: JobId, units: u32) -> Permit {
        let (open, opened) = oneshot::channel();
        {
            let mut state = lock(&self.state);
            let units = units.clamp(1, self.room);
            state.line_up(job, Waiter { units, open });
            self.admit(&mut state);
        }
        opened.await.expect("a waiter's place is kept until it is let in")
    }

    /// How many units are taken.
    #[cfg(test)]
    fn taken(&self) -> u32 {
        lock(&self.state).taken
    }

    fn admit(self: &Arc<Self>, state: &mut State) {
        while state.taken < self.room {
            let Some((job, units)) = state.head(self.share) else { return };
            // Nobody with less need overtakes: a large one would wait for ever.
            if state.taken + units > self.room {
                return;
            }
            state.let_in(self, job);
        }
    }

    fn leave(self: &Arc<Self>, job: JobId, units: u32) {
        let mut state = lock(&self.state);
        state.taken -= units;
        state.change(job, |line| line.inside -= units);
        self.admit(&mut state);
    }
}

impl State {
    fn line_up(&mut self, job: JobId, waiter: Waiter) {
        self.change(job, |line| line.waiting.push_back(waiter));
    }

    /// Who is next and how much he needs.
    fn head(&self, share: u32) -> Option<(JobId, u32)> {
        self.next.iter().find_map(|(inside, _, job)| {
            let units = self.jobs.get(job)?.waiting.front()?.units;
            (*inside == 0 || inside + units <= share).then_some((*job, units))
        })
    }

    /// Lets the first of a job in; one that has gone away meanwhile is forgotten.
    fn let_in(&mut self, gate: &Arc<Gate>, job: JobId) {
        let mut waiter = None;
        self.change(job, |line| waiter = line.waiting.pop_front());
        let Some(Waiter { units, open }) = waiter else { return };
        let permit = Permit { gate: Some(Arc::clone(gate)), job, units };
        if let Err(mut refused) = open.send(permit) {
            // It took no room yet, and its end must not come back to this lock.
            refused.gate = None;
            return;
        }
        self.taken += units;
        self.turns += 1;
        let turn = self.turns;
        self.change(job, |line| {
            line.inside += units;
            line.last_turn = turn;
        });
    }

    /// Changes one job's line and keeps its place in the order.
    fn change(&mut self, job: JobId, change: impl FnOnce(&mut Line)) {
        let line = self.jobs.entry(job).or_default();
        self.next.remove(&(line.inside, line.last_turn, job));
        change(line);
        if !line.waiting.is_empty() {
            self.next.insert((line.inside, line.last_turn, job));
        } else if line.inside == 0 {
            self.jobs.remove(&job);
            if self.jobs.is_empty() {
                // Trees that were emptied keep their last leaf, and there is a gate for each node.
                (self.jobs, self.next) = (BTreeMap::new(), BTreeSet::new());
            }
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(gate) = self.gate.take() {
            gate.leave(self.job, self.units);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use futures::future::BoxFuture;

    use super::*;

    type Waiting = BoxFuture<'static, Permit>;

    fn wait(gate: &Arc<Gate>, job: i64, units: u32) -> Waiting {
        let gate = Arc::clone(gate);
        let mut waiting = async move { gate.enter(JobId(job), units).await }.boxed();
        // It stands in line from the first look on; who is let in by that has it noted.
        match (&mut waiting).now_or_never() {
            Some(permit) => async move { permit }.boxed(),
            None => waiting,
        }
    }

    fn try_in(waiting: &mut Waiting) -> Option<Permit> {
        waiting.now_or_never()
    }

    #[test]
    fn launches_in_flight_have_a_limit_and_jobs_take_turns() {
        let gate = Arc::new(Gate::new(8, 4));
        let mut large: Vec<Waiting> = (0..5_000).map(|_| wait(&gate, 1, 1)).collect();
        let mut inside: Vec<Permit> = large.iter_mut().filter_map(try_in).collect();
        assert_eq!((inside.len(), gate.taken()), (4, 4), "one job takes no more than its share");
        let mut small: Vec<Waiting> = (0..3).map(|_| wait(&gate, 2, 1)).collect();
        assert_eq!(small.iter_mut().filter_map(try_in).count(), 3, "5 000 before it do not matter");
        let mut waiting = large.split_off(4);
        let mut let_in = 0;
        while !inside.is_empty() {
            inside.clear();
            inside.extend(waiting.iter_mut().take(8).filter_map(try_in));
            waiting.drain(..inside.len());
            assert!(inside.len() <= 4 && gate.taken() <= 8);
            let_in += inside.len();
        }
        assert_eq!((let_in, gate.taken()), (4_996, 0), "everybody had his turn");
        assert!(lock(&gate.state).jobs.is_empty(), "nothing is kept of who has gone");
    }

    #[test]
    fn a_large_one_is_not_overtaken_for_ever_and_never_takes_more_than_there_is() {
        let gate = Arc::new(Gate::new(4, 2));
        let mut first = wait(&gate, 1, 1);
        let first = try_in(&mut first).unwrap();
        let mut large = wait(&gate, 2, 100);
        let mut late = wait(&gate, 3, 1);
        assert!(try_in(&mut large).is_none() && try_in(&mut late).is_none());
        drop(first);
        let alone = try_in(&mut large).unwrap();
        assert!(try_in(&mut late).is_none());
        assert_eq!(gate.taken(), 4);
        drop(alone);
        assert!(try_in(&mut late).is_some());
    }

    #[test]
    fn who_goes_away_is_not_waited_for() {
        let gate = Arc::new(Gate::new(1, 1));
        let mut first = wait(&gate, 1, 1);
        let first = try_in(&mut first).unwrap();
        let gone = wait(&gate, 2, 1);
        let mut last = wait(&gate, 3, 1);
        drop(gone);
        drop(first);
        let last = try_in(&mut last).unwrap();
        assert_eq!(gate.taken(), 1);
        // One that was let in and never looked at it gives its room back as well.
        let unseen = wait(&gate, 4, 1);
        drop(last);
        drop(unseen);
        assert_eq!(gate.taken(), 0);
    }
}
