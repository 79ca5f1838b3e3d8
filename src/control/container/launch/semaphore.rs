//! Lets only so much be under way at the same time, and has the jobs that wait take turns.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};

use protocol::ids::JobId;
use tokio::sync::oneshot;

use crate::lock::lock;

/// A semaphore of so many units. Who waits for some has them in turn: first the job that holds
/// least, and among equals the one that has waited longest since its last turn.
#[derive(Debug)]
pub(crate) struct FairSemaphore {
    /// No job holds more than this, so that one that gets stuck leaves some to others; who needs more
    /// at once has it all the same.
    share: u32,
    units: u32,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    taken: u32,
    turns: u64,
    jobs: BTreeMap<JobId, Line>,
    /// The jobs that wait, in the order of their turns.
    next: BTreeSet<(u32, u64, JobId)>,
}

/// What one job holds and waits for.
#[derive(Debug, Default)]
struct Line {
    held: u32,
    last_turn: u64,
    waiting: VecDeque<Waiter>,
}

#[derive(Debug)]
struct Waiter {
    units: u32,
    granted: oneshot::Sender<Permit>,
}

/// Units that are held; they are free again when this goes.
#[derive(Debug)]
pub(crate) struct Permit {
    semaphore: Option<Arc<FairSemaphore>>,
    job: JobId,
    units: u32,
}

impl FairSemaphore {
    /// Of so many units, of which one job holds no more than `share`.
    pub(crate) fn new(units: u32, share: u32) -> Self {
        Self { share, units, state: Mutex::default() }
    }

    /// Waits for so many units, or for all there are.
    pub(crate) async fn acquire(self: &Arc<Self>, job: JobId, units: u32) -> Permit {
        let (granted, grant) = oneshot::channel();
        {
            let mut state = lock(&self.state);
            let units = units.clamp(1, self.units);
            state.enqueue(job, Waiter { units, granted });
            self.grant_next(&mut state);
        }
        grant.await.expect("a waiter keeps its place until its turn")
    }

    /// How many units are taken.
    #[cfg(test)]
    fn taken(&self) -> u32 {
        lock(&self.state).taken
    }

    fn grant_next(self: &Arc<Self>, state: &mut State) {
        while state.taken < self.units {
            let Some((job, units)) = state.head(self.share) else { return };
            // Nobody with less need overtakes: a large one would wait for ever.
            if state.taken + units > self.units {
                return;
            }
            state.grant(self, job);
        }
    }

    fn release(self: &Arc<Self>, job: JobId, units: u32) {
        let mut state = lock(&self.state);
        state.taken -= units;
        state.change(job, |line| line.held -= units);
        self.grant_next(&mut state);
    }
}

impl State {
    fn enqueue(&mut self, job: JobId, waiter: Waiter) {
        self.change(job, |line| line.waiting.push_back(waiter));
    }

    /// Who is next and how much he needs.
    fn head(&self, share: u32) -> Option<(JobId, u32)> {
        self.next.iter().find_map(|(held, _, job)| {
            let units = self.jobs.get(job)?.waiting.front()?.units;
            (*held == 0 || held + units <= share).then_some((*job, units))
        })
    }

    /// Grants the first of a job what it waits for; one that has gone away meanwhile is forgotten.
    fn grant(&mut self, semaphore: &Arc<FairSemaphore>, job: JobId) {
        let mut waiter = None;
        self.change(job, |line| waiter = line.waiting.pop_front());
        let Some(Waiter { units, granted }) = waiter else { return };
        let permit = Permit { semaphore: Some(Arc::clone(semaphore)), job, units };
        if let Err(mut refused) = granted.send(permit) {
            // It holds nothing yet, and its end must not come back to this lock.
            refused.semaphore = None;
            return;
        }
        self.taken += units;
        self.turns += 1;
        let turn = self.turns;
        self.change(job, |line| {
            line.held += units;
            line.last_turn = turn;
        });
    }

    /// Changes one job's line and keeps its place in the order.
    fn change(&mut self, job: JobId, change: impl FnOnce(&mut Line)) {
        let line = self.jobs.entry(job).or_default();
        self.next.remove(&(line.held, line.last_turn, job));
        change(line);
        if !line.waiting.is_empty() {
            self.next.insert((line.held, line.last_turn, job));
        } else if line.held == 0 {
            self.jobs.remove(&job);
            if self.jobs.is_empty() {
                // Trees that were emptied keep their last leaf, and there is a semaphore for each node.
                (self.jobs, self.next) = (BTreeMap::new(), BTreeSet::new());
            }
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(semaphore) = self.semaphore.take() {
            semaphore.release(self.job, self.units);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use futures::future::BoxFuture;

    use super::*;

    type Waiting = BoxFuture<'static, Permit>;

    fn wait(semaphore: &Arc<FairSemaphore>, job: i64, units: u32) -> Waiting {
        let semaphore = Arc::clone(semaphore);
        let mut waiting = async move { semaphore.acquire(JobId(job), units).await }.boxed();
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
        let semaphore = Arc::new(FairSemaphore::new(8, 4));
        let mut large: Vec<Waiting> = (0..5_000).map(|_| wait(&semaphore, 1, 1)).collect();
        let mut held: Vec<Permit> = large.iter_mut().filter_map(try_in).collect();
        assert_eq!((held.len(), semaphore.taken()), (4, 4), "one job takes no more than its share");
        let mut small: Vec<Waiting> = (0..3).map(|_| wait(&semaphore, 2, 1)).collect();
        assert_eq!(small.iter_mut().filter_map(try_in).count(), 3, "5 000 before it do not matter");
        let mut waiting = large.split_off(4);
        let mut served = 0;
        while !held.is_empty() {
            held.clear();
            held.extend(waiting.iter_mut().take(8).filter_map(try_in));
            waiting.drain(..held.len());
            assert!(held.len() <= 4 && semaphore.taken() <= 8);
            served += held.len();
        }
        assert_eq!((served, semaphore.taken()), (4_996, 0), "everybody had his turn");
        assert!(lock(&semaphore.state).jobs.is_empty(), "nothing is kept of who has gone");
    }

    #[test]
    fn a_large_one_is_not_overtaken_for_ever_and_never_takes_more_than_there_is() {
        let semaphore = Arc::new(FairSemaphore::new(4, 2));
        let mut first = wait(&semaphore, 1, 1);
        let first = try_in(&mut first).unwrap();
        let mut large = wait(&semaphore, 2, 100);
        let mut late = wait(&semaphore, 3, 1);
        assert!(try_in(&mut large).is_none() && try_in(&mut late).is_none());
        drop(first);
        let alone = try_in(&mut large).unwrap();
        assert!(try_in(&mut late).is_none());
        assert_eq!(semaphore.taken(), 4);
        drop(alone);
        assert!(try_in(&mut late).is_some());
    }

    #[test]
    fn who_goes_away_is_not_waited_for() {
        let semaphore = Arc::new(FairSemaphore::new(1, 1));
        let mut first = wait(&semaphore, 1, 1);
        let first = try_in(&mut first).unwrap();
        let gone = wait(&semaphore, 2, 1);
        let mut last = wait(&semaphore, 3, 1);
        drop(gone);
        drop(first);
        let last = try_in(&mut last).unwrap();
        assert_eq!(semaphore.taken(), 1);
        // One that was let in and never looked at it gives its units back as well.
        let unseen = wait(&semaphore, 4, 1);
        drop(last);
        drop(unseen);
        assert_eq!(semaphore.taken(), 0);
    }
}
