//! What is being done to containers: one action a task at a time, each safe to repeat.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use database::tasks::Task;
use engine::Engine;
use protocol::ids::{JobId, NodeName, TaskKey};
use protocol::spec::Grace;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::case::Case;
use super::cases::Cases;
use super::ended::Ended;
use super::finish::{Finishing, GRACE};
use super::memory::{Known, Memory};
use super::outcome::Outcome;
use super::settle::settled;
use super::turns::Turns;
use crate::container::launch::backoff::Backoffs;
use crate::container::launch::semaphore::FairSemaphore;
use crate::container::launch::{self, Attempts, Launch};
use crate::known::active::Active;
use crate::known::cluster::Observation;
use crate::known::nodes::KnownNodes;
use crate::lock::lock;
use crate::loops::rests::Rests;
use crate::loops::supervised::caught;
use crate::shared::Shared;
use crate::wake::now;

/// Containers made at the same time on one node.
const AT_ONCE: u32 = 16;
/// Room for launches in this server: one of a small job takes one unit, one of thousands of tasks some
/// more. Each unit comes to about a megabyte on the way to an engine.
const ROOM: u32 = 128;
/// One job takes no more of that room.
const SHARE: u32 = ROOM / 2;
/// Ends that are explained at the same time, and those of them that one node has.
const EXPLAINED_AT_ONCE: (usize, usize) = (64, 16);
/// Logs kept at the same time, and those of them that one node has: each may need some megabytes, and
/// the disk is not quicker for more.
const TIDIED_AT_ONCE: (usize, usize) = (32, 8);

/// Actions under way, and what came of those that ended.
#[derive(Debug)]
pub(super) struct Acts {
    shared: Arc<Shared>,
    stop: CancellationToken,
    running: TaskTracker,
    pub(super) memory: Arc<Memory>,
    attempts: Attempts,
    backoffs: Arc<Backoffs>,
    semaphore: Arc<FairSemaphore>,
    of_nodes: Mutex<HashMap<NodeName, Arc<FairSemaphore>>>,
    explaining: Arc<Turns>,
    pub(super) tidying: Arc<Turns>,
    /// Nodes where tidying has failed.
    pub(super) untidy: Arc<Rests<NodeName>>,
}

impl Acts {
    pub(super) fn new(shared: Arc<Shared>, stop: CancellationToken) -> Self {
        Self {
            shared,
            stop,
            running: TaskTracker::new(),
            memory: Arc::default(),
            attempts: Attempts::default(),
            backoffs: Arc::default(),
            semaphore: Arc::new(FairSemaphore::new(ROOM, SHARE)),
            of_nodes: Mutex::default(),
            explaining: Arc::new(Turns::new(EXPLAINED_AT_ONCE.0, EXPLAINED_AT_ONCE.1)),
            tidying: Arc::new(Turns::new(TIDIED_AT_ONCE.0, TIDIED_AT_ONCE.1)),
            untidy: Arc::default(),
        }
    }

    /// Gives up what is under way and waits for it.
    pub(super) async fn end(&self) {
        self.stop.cancel();
        self.running.close();
        self.running.wait().await;
    }

    /// Whether a look at moment `looked` says nothing about the task.
    pub(super) fn pending(&self, key: &TaskKey, looked: u64) -> bool {
        self.memory.pending(key, looked, Instant::now()).is_some()
    }

    /// Forgets a task that is not active any more; of an action under way what comes of it is told
    /// later.
    pub(super) fn forget(&self, key: &TaskKey) {
        self.memory.forget(key);
        self.shared.jobs.progress().remove(key);
        self.shared.readings.all_written().remove(key);
        self.shared.jobs.leases.forget(key);
    }

    /// Forgets all but what concerns the cases, whatever was told.
    pub(super) fn forget_all_but(&self, cases: &Cases) {
        self.memory.forget_all_but(|key| cases.concerns(key));
        self.shared.jobs.progress().retain(|key, _| cases.is_active(key));
        self.shared.readings.all_written().retain(|key, _| cases.is_active(key));
        self.shared.jobs.leases.forget_all_but(|key| cases.is_active(key));
    }

    /// Forgets attempts that were put off and are not the current ones of their jobs any more.
    pub(super) fn forget_attempts_but(&self, is_current: impl Fn(JobId, u32) -> bool) {
        self.backoffs.forget_all_but(is_current);
    }

    /// Launches a task, unless its job is put off.
    pub(super) fn launch(&self, case: &Case, task: &Task) {
        let attempt = (case.id(), task.key.attempt);
        if let Some(ours) = self.backoffs.waits(attempt, Instant::now()) {
            self.shared.jobs.progress().insert(task.key, ours.said().to_owned());
            return;
        }
        let Some((engine, _)) = self.engine(&task.placement.node) else { return };
        let name = task.key.container_name(&self.shared.identity.installation);
        let (epoch, tries) = (task.epoch, self.memory.refusals(&task.key) + 1);
        self.act(task, |cancel| {
            let launch = Launch {
                shared: Arc::clone(&self.shared),
                attempt: self.attempts.get(&case.job, &case.tasks, &case.attempt),
                task: task.key,
                epoch: task.epoch,
                semaphore: Arc::clone(&self.semaphore),
                of_node: self.of_node(&task.placement.node),
                backoffs: Arc::clone(&self.backoffs),
            };
            async move {
                let launched = launch::launch(launch, Arc::clone(&engine), cancel).await;
                Outcome::from(settled(launched, tries, engine.as_ref(), (&name, epoch)).await)
            }
        });
    }

    /// Stops a task's container; a launch under way is given up.
    pub(super) fn stop(&self, task: &Task) {
        if let Some(cancel) = self.memory.under_way(&task.key) {
            cancel.cancel();
            return;
        }
        let Some((engine, looked)) = self.engine(&task.placement.node) else { return };
        // An action has ended since the last look: the next one shows what came of it.
        if self.pending(&task.key, looked) {
            return;
        }
        let name = task.key.container_name(&self.shared.identity.installation);
        self.shared.nodes.unkilled.told(&task.placement.node, task.key, Instant::now());
        self.act(task, move |_| async move { engine.stop(&name, GRACE).await.into() });
    }

    /// Removes a container that was not started; a launch under way is given up.
    pub(super) fn discard(&self, task: &Task) {
        if let Some(cancel) = self.memory.under_way(&task.key) {
            cancel.cancel();
            return;
        }
        let Some((engine, looked)) = self.engine(&task.placement.node) else { return };
        if self.pending(&task.key, looked) {
            return;
        }
        let name = task.key.container_name(&self.shared.identity.installation);
        self.act(task, move |_| async move { engine.remove(&name).await.into() });
    }

    /// Has a task told to finish, and stopped once its grace is over; a launch under way is given up. Whoever
    /// stops it meanwhile ends the wait.
    pub(super) fn let_finish(&self, task: &Task, grace: Grace) {
        if self.memory.is_finishing(&task.key) {
            return;
        }
        if let Some(cancel) = self.memory.under_way(&task.key) {
            cancel.cancel();
            return;
        }
        let Some((engine, looked)) = self.engine(&task.placement.node) else { return };
        if self.pending(&task.key, looked) {
            return;
        }
        let seconds = Duration::from_secs(grace.seconds.into());
        let until = self.memory.finish_until(&task.key, Instant::now() + seconds);
        let (shared, leave) = (Arc::clone(&self.shared), self.stop.clone());
        let (key, node) = (task.key, task.placement.node.clone());
        shared.nodes.unkilled.told(&node, key, Instant::now());
        self.act(task, move |hurry| {
            let signal = grace.signal;
            Finishing { shared, engine, task: key, node, signal, until, hurry, leave }.run()
        });
    }

    /// Explains how a task's container has ended.
    pub(super) fn explain(&self, job: &Active, task: &Task) {
        let Some(ended) = Ended::seen(&self.shared, job, task) else { return };
        let turns = Arc::clone(&self.explaining);
        self.act(task, |cancel| ended.explained(turns, cancel));
    }

    /// Does something to a container that no active task has.
    pub(super) fn tidy<F>(&self, key: TaskKey, act: impl FnOnce() -> F)
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        self.spawn(key, |_| act(), None);
    }

    fn act<F>(&self, task: &Task, act: impl FnOnce(CancellationToken) -> F)
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        self.spawn(task.key, act, Some(task.placement.node.clone()));
    }

    /// Runs one action; a second one of the same task is not begun while it runs.
    fn spawn<F>(
        &self,
        key: TaskKey,
        act: impl FnOnce(CancellationToken) -> F,
        node: Option<NodeName>,
    ) where
        F: Future<Output = Outcome> + Send + 'static,
    {
        let cancel = self.stop.child_token();
        if !self.memory.begin(key, cancel.clone()) {
            return;
        }
        let action = act(cancel);
        let (shared, memory, stop) =
            (Arc::clone(&self.shared), Arc::clone(&self.memory), self.stop.clone());
        self.running.spawn(async move {
            let outcome = tokio::select! {
                biased;
                outcome = caught(action) => outcome,
                () = stop.cancelled() => return,
            };
            let outcome = outcome.unwrap_or_else(|panic| {
                shared.counts.own_failures.note_panic();
                Outcome::Failed(format!("this server panicked: {panic}"))
            });
            memory.ended(key, shared.live.clock.next(), |known| note(known, key, outcome));
            if let Some(node) = node {
                look_again(&shared.nodes, &node);
            }
            shared.live.look_at(key);
            shared.live.wakeups.jobs.wake();
        });
    }

    /// A node's engine and the moment of the last look at it.
    fn engine(&self, node: &NodeName) -> Option<(Arc<dyn Engine>, u64)> {
        match self.shared.nodes.observations().get(node)? {
            Observation::Answers { engine, looked, .. } => Some((Arc::clone(engine), *looked)),
            Observation::Silent => None,
        }
    }

    fn of_node(&self, node: &NodeName) -> Arc<FairSemaphore> {
        let mut of_nodes = lock(&self.of_nodes);
        let of_node = of_nodes.entry(node.clone());
        Arc::clone(of_node.or_insert_with(|| Arc::new(FairSemaphore::new(AT_ONCE, AT_ONCE))))
    }
}

/// Notes what came of an action.
fn note(known: &mut Known, key: TaskKey, outcome: Outcome) {
    match outcome {
        Outcome::Done => (known.failures, known.refusals) = (0, 0),
        Outcome::GivenUp(exit) => known.launch_failed = Some(Box::new((now(), exit))),
        Outcome::Explained(explained) => known.explained = Some(Box::new(explained)),
        Outcome::Failed(message) => known.failed(key, &message),
        // The job's pause is all of its tasks'.
        Outcome::PutOff => {}
        Outcome::NotLaunched(cause) => {
            known.failed(key, &cause.to_string());
            known.refusals += 1;
        }
    }
}

fn look_again(nodes: &KnownNodes, node: &NodeName) {
    if let Some(Observation::Answers { look, .. }) = nodes.observations().get(node) {
        look.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use protocol::exit::Cause;

    use super::*;

    const KEY: TaskKey = TaskKey { job: JobId(1), attempt: 0, role: 0, index: 0, retry: 0 };

    fn failed_by_engine() -> Outcome {
        let node = "node-1".parse().unwrap();
        Outcome::NotLaunched(Cause::EngineFailed { node, message: "busy".into() })
    }

    /// What is known after so many launches that came to the same.
    fn known(launches: u32, outcome: impl Fn() -> Outcome) -> Known {
        let mut known = Known::default();
        (0..launches).for_each(|_| note(&mut known, KEY, outcome()));
        known
    }

    #[test]
    fn what_is_ours_is_nobodys_try() {
        let known = known(100, || Outcome::PutOff);
        assert!(known.launch_failed.is_none() && known.not_before.is_none());
        assert_eq!((known.failures, known.refusals), (0, 0));
    }

    #[test]
    fn what_is_ours_does_not_count_against_an_engine() {
        let mut known = known(5, failed_by_engine);
        assert!(known.not_before.is_some() && known.launch_failed.is_none());
        note(&mut known, KEY, Outcome::PutOff);
        assert_eq!((known.failures, known.refusals), (5, 5));
        note(&mut known, KEY, Outcome::Done);
        assert_eq!((known.failures, known.refusals), (0, 0), "it is well again");
    }
}
