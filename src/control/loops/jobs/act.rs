//! What is being done to containers: one action a task at a time, each safe to repeat.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use database::tasks::Task;
use engine::{ContainerStatus, Engine, LogRequest};
use futures::StreamExt;
use lifecycle::explain;
use protocol::exit::{Cause, Exit};
use protocol::ids::{JobId, NodeName, TaskKey};
use protocol::lease::LEASE_OVER_CODE;
use protocol::spec::Grace;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::case::Case;
use super::cases::Cases;
use super::finish::Finishing;
use super::memory::{Explained, Known, Memory};
use super::settle::settled;
use super::turns::Turns;
use super::unseen::{self, Unseen};
use crate::container::checks;
use crate::container::foreign;
use crate::container::launch::gate::Gate;
use crate::container::launch::put_off::PutOffs;
use crate::container::launch::{self, Attempts, Launch, Launched};
use crate::known::active::Active;
use crate::known::cluster::Observation;
use crate::known::nodes::KnownNodes;
use crate::lock::lock;
use crate::logs::end::LogEnd;
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
/// Logs read to explain an exit at the same time, and those of them that one node has.
const EXPLAINED_AT_ONCE: (usize, usize) = (64, 16);
/// So long such a log is read at most.
const EXPLAIN: Duration = Duration::from_secs(10);
/// Logs kept at the same time, and those of them that one node has: each may need some megabytes, and
/// the disk is not quicker for more.
const TIDIED_AT_ONCE: (usize, usize) = (32, 8);
/// A container may take so long to end by itself when it is asked to.
pub(super) const GRACE: Duration = Duration::from_secs(30);
/// So many bytes of a log's end are read to explain an exit code.
const EXPLAIN_BYTES: usize = 64 * 1024;
/// So many lines of a log's end are read for that.
const EXPLAIN_LINES: u32 = 400;
/// The exit codes of what was killed and of what was asked to end.
const ENDED_FROM_OUTSIDE: [i32; 2] = [137, 143];
/// So often an engine is asked again why it was.
const KILLED_LOOKS: u32 = 3;
/// And so long after each time.
const KILLED_PAUSE: Duration = Duration::from_millis(200);

/// Actions under way, and what came of those that ended.
#[derive(Debug)]
pub(super) struct Acts {
    shared: Arc<Shared>,
    stop: CancellationToken,
    running: TaskTracker,
    pub(super) memory: Arc<Memory>,
    attempts: Attempts,
    put_offs: Arc<PutOffs>,
    gate: Arc<Gate>,
    of_nodes: Mutex<HashMap<NodeName, Arc<Gate>>>,
    explaining: Arc<Turns>,
    pub(super) tidying: Arc<Turns>,
    /// Nodes where tidying has failed.
    pub(super) untidy: Arc<Rests<NodeName>>,
}

/// How an action went.
pub(super) enum Outcome {
    /// It is done: look again.
    Done,
    /// A launch cannot succeed.
    GivenUp(Exit),
    /// The engine or what is ours failed: try again later.
    Failed(String),
    /// The engine or the image's registry failed to launch: try again later, but not for ever on this
    /// node; this is why then.
    NotLaunched(Cause),
    /// Something of ours failed to launch: nothing is counted, and the whole job is put off.
    PutOff,
    /// An exit was explained.
    Explained(Explained),
}

impl From<Launched> for Outcome {
    fn from(launched: Launched) -> Self {
        match launched {
            Launched::Done => Self::Done,
            Launched::GivenUp(exit) => Self::GivenUp(exit),
            Launched::Failed(cause) => Self::NotLaunched(cause),
            Launched::PutOff => Self::PutOff,
        }
    }
}

impl Acts {
    pub(super) fn new(shared: Arc<Shared>, stop: CancellationToken) -> Self {
        Self {
            shared,
            stop,
            running: TaskTracker::new(),
            memory: Arc::default(),
            attempts: Attempts::default(),
            put_offs: Arc::default(),
            gate: Arc::new(Gate::new(ROOM, SHARE)),
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
        self.put_offs.forget_all_but(is_current);
    }

    /// Launches a task, unless its job is put off.
    pub(super) fn launch(&self, case: &Case, task: &Task) {
        let attempt = (case.id(), task.key.attempt);
        if let Some(ours) = self.put_offs.waits(attempt, Instant::now()) {
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
                gate: Arc::clone(&self.gate),
                of_node: self.of_node(&task.placement.node),
                put_offs: Arc::clone(&self.put_offs),
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
        self.act(task, move |_| async move { outcome(engine.stop(&name, GRACE).await) });
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
        self.act(task, move |_| async move { outcome(engine.remove(&name).await) });
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

    /// Reads the end of the log of a container that has failed, and explains it.
    pub(super) fn explain(&self, job: &Active, task: &Task) {
        let Some((engine, mut ended)) = self.ended(job, task) else { return };
        let name = task.key.container_name(&self.shared.identity.installation);
        let (explaining, node) = (Arc::clone(&self.explaining), task.placement.node.clone());
        let (shared, place) = (Arc::clone(&self.shared), task.placement.clone());
        let lease_may_be_over = self.shared.jobs.leases.may_be_over(&task.key);
        self.act(task, move |cancel| async move {
            let unseen = ended.unseen;
            let explained = |exit| Outcome::Explained(Explained { exit, unseen });
            if unseen && !ended.oom_killed {
                let look = async {
                    let _turn = explaining.take(&node).await;
                    unseen::look(engine.as_ref(), &name, (ended.code, &node), EXPLAIN).await
                };
                // Who wants it to be over does not wait for what an engine has.
                let judged = tokio::select! {
                    biased;
                    () = cancel.cancelled() => Ok(unseen::judge(None, ended.code, &node)),
                    judged = look => judged,
                };
                match judged {
                    Ok(Unseen::Known(exit)) => return explained(exit),
                    Ok(Unseen::Code(code)) => ended.code = code,
                    Err(error) => return Outcome::Failed(error.to_string()),
                }
            }
            if lease_may_be_over && ended.code == i32::from(LEASE_OVER_CODE) {
                let (code, cause) = (Some(ended.code), Cause::NodeLost { node });
                return explained(Exit { code, cause, evidence: Vec::new() });
            }
            let read = async {
                let _turn = explaining.take(&node).await;
                let log_tail = tokio::time::timeout(EXPLAIN, log_tail(engine.as_ref(), &name));
                log_tail.await.unwrap_or_default()
            };
            // Who wants it to be over does not wait for an engine's log.
            let log_tail = tokio::select! {
                biased;
                () = cancel.cancelled() => String::new(),
                log_tail = read => log_tail,
            };
            let from_outside = !ended.oom_killed && ENDED_FROM_OUTSIDE.contains(&ended.code);
            let oom_killed = match from_outside {
                true => was_killed_for_memory(engine.as_ref(), &name).await,
                false => Ok(ended.oom_killed),
            };
            match oom_killed {
                Ok(oom_killed) => {
                    let exit = ended.explain(oom_killed, &log_tail);
                    let on = (&ended.node, ended.image.as_str());
                    let exit = foreign::explained(&shared.nodes, engine.as_ref(), on, exit).await;
                    let blamed = checks::blamed(&shared, engine.as_ref(), &place, exit.clone());
                    tokio::select! {
                        biased;
                        () = cancel.cancelled() => explained(exit),
                        blamed = blamed => explained(blamed),
                    }
                }
                Err(error) => Outcome::Failed(error.to_string()),
            }
        });
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
            memory.ended(key, shared.live.moments.next(), |known| note(known, key, outcome));
            if let Some(node) = node {
                look_again(&shared.nodes, &node);
            }
            shared.live.look_at(key);
            shared.live.bells.jobs.ring();
        });
    }

    /// A node's engine and the moment of the last look at it.
    fn engine(&self, node: &NodeName) -> Option<(Arc<dyn Engine>, u64)> {
        match self.shared.nodes.observations().get(node)? {
            Observation::Answers { engine, looked, .. } => Some((Arc::clone(engine), *looked)),
            Observation::Silent => None,
        }
    }

    fn of_node(&self, node: &NodeName) -> Arc<Gate> {
        let mut of_nodes = lock(&self.of_nodes);
        let of_node = of_nodes.entry(node.clone());
        Arc::clone(of_node.or_insert_with(|| Arc::new(Gate::new(AT_ONCE, AT_ONCE))))
    }

    fn ended(&self, job: &Active, task: &Task) -> Option<(Arc<dyn Engine>, Ended)> {
        let (engine, _) = self.engine(&task.placement.node)?;
        let observations = self.shared.nodes.observations();
        let Observation::Answers { containers, contact, .. } =
            observations.get(&task.placement.node)?
        else {
            return None;
        };
        let ContainerStatus::Exited { code, oom_killed, .. } = containers.get(&task.key)?.status
        else {
            return None;
        };
        let role = job.spec.roles.get(task.key.role as usize)?;
        let ended = Ended {
            code,
            oom_killed,
            unseen: contact.ended_before(&task.key),
            memory_mb: role.resources.memory_mb,
            shm_mb: role.shm_mb,
            node: task.placement.node.clone(),
            image: role.image.clone(),
        };
        Some((engine, ended))
    }
}

/// What an engine says of an ended container.
struct Ended {
    code: i32,
    oom_killed: bool,
    /// Nobody looked when it ended.
    unseen: bool,
    memory_mb: u64,
    shm_mb: u64,
    node: NodeName,
    image: String,
}

impl Ended {
    /// Explains it by the end of its log, and by what is known by now of its memory.
    fn explain(&self, oom_killed: bool, log_tail: &str) -> Exit {
        let Self { code, memory_mb, shm_mb, ref node, .. } = *self;
        let ended = explain::Ended { code, oom_killed, memory_mb, shm_mb, node, log_tail };
        explain::explain(&ended)
    }
}

/// An engine's answer as the outcome of an action.
pub(super) fn outcome(answer: engine::Result<()>) -> Outcome {
    match answer {
        Ok(()) => Outcome::Done,
        Err(error) => Outcome::Failed(error.to_string()),
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

/// Whether a container that was ended from outside was killed for its memory: an engine may hear of
/// that after the end. One that does not answer any more was perhaps going down, and ended it itself:
/// once it is back, that is found as what ended when nobody looked.
async fn was_killed_for_memory(engine: &dyn Engine, name: &str) -> engine::Result<bool> {
    for _ in 0..KILLED_LOOKS {
        tokio::time::sleep(KILLED_PAUSE).await;
        let Some(container) = engine.inspect(name).await? else { return Ok(false) };
        if matches!(container.status, ContainerStatus::Exited { oom_killed: true, .. }) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The end of a container's log; empty when it cannot be read, for the exit code alone is told then.
async fn log_tail(engine: &dyn Engine, name: &str) -> String {
    let request = LogRequest { tail_lines: Some(EXPLAIN_LINES), ..Default::default() };
    let Ok(mut chunks) = engine.logs(name, request).await else { return String::new() };
    let mut end = LogEnd::new(EXPLAIN_BYTES);
    while let Some(Ok(chunk)) = chunks.next().await {
        end.push(&chunk.bytes);
    }
    String::from_utf8_lossy(&end.into_bytes()).into_owned()
}

#[cfg(test)]
mod tests {
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
