//! Why containers have ended: by what their engine and the program beside the task say of it, by the end of their
//! log, and by what else may be to blame.

use std::sync::Arc;
use std::time::Duration;

use database::tasks::Task;
use engine::{ContainerStatus, Engine, LogRequest};
use futures::StreamExt;
use lifecycle::explain;
use protocol::exit::{Cause, Exit};
use protocol::lease::LEASE_OVER_CODE;
use protocol::placement::TaskPlacement;
use tokio_util::sync::CancellationToken;

use super::memory::Explained;
use super::outcome::Outcome;
use super::turns::Turns;
use super::unseen::{self, Unseen};
use crate::container::{checks, foreign};
use crate::known::active::Active;
use crate::known::cluster::Observation;
use crate::logs::end::LogEnd;
use crate::shared::Shared;

/// So long what an engine has to say of an end is read at most.
const PATIENCE: Duration = Duration::from_secs(10);
/// So many bytes of a log's end are read to explain an exit code.
const LOG_BYTES: usize = 64 * 1024;
/// So many lines of a log's end are read for that.
const LOG_LINES: u32 = 400;
/// The exit codes of what was killed and of what was asked to end.
const ENDED_FROM_OUTSIDE: [i32; 2] = [137, 143];
/// So often an engine is asked again why it was.
const KILLED_LOOKS: u32 = 3;
/// And so long after each time.
const KILLED_PAUSE: Duration = Duration::from_millis(200);

/// A container that has ended and is not explained yet.
pub(super) struct Ended {
    shared: Arc<Shared>,
    engine: Arc<dyn Engine>,
    /// Of the container.
    name: String,
    place: TaskPlacement,
    code: i32,
    oom_killed: bool,
    /// Nobody looked when it ended.
    unseen: bool,
    lease_may_be_over: bool,
    memory_mb: u64,
    shm_mb: u64,
    image: String,
}

impl Ended {
    /// What is seen of a task's container, if it has ended.
    pub(super) fn seen(shared: &Arc<Shared>, job: &Active, task: &Task) -> Option<Self> {
        let lease_may_be_over = shared.jobs.leases.may_be_over(&task.key);
        let observations = shared.nodes.observations();
        let Observation::Answers { engine, containers, contact, .. } =
            observations.get(&task.placement.node)?
        else {
            return None;
        };
        let ContainerStatus::Exited { code, oom_killed, .. } = containers.get(&task.key)?.status
        else {
            return None;
        };
        let role = job.spec.roles.get(task.key.role as usize)?;
        Some(Self {
            shared: Arc::clone(shared),
            engine: Arc::clone(engine),
            name: task.key.container_name(&shared.identity.installation),
            place: task.placement.clone(),
            code,
            oom_killed,
            unseen: contact.ended_before(&task.key),
            lease_may_be_over,
            memory_mb: role.resources.memory_mb,
            shm_mb: role.shm_mb,
            image: role.image.clone(),
        })
    }

    /// Explains it. Each reading of what its engine has takes a turn; who wants it to be over (`hurry`) waits for
    /// none.
    pub(super) async fn explained(
        mut self,
        turns: Arc<Turns>,
        hurry: CancellationToken,
    ) -> Outcome {
        let unseen = self.unseen;
        match self.exit(&turns, &hurry).await {
            Ok(exit) => Outcome::Explained(Explained { exit, unseen }),
            Err(error) => Outcome::Failed(error.to_string()),
        }
    }

    async fn exit(&mut self, turns: &Turns, hurry: &CancellationToken) -> engine::Result<Exit> {
        if self.unseen && !self.oom_killed {
            match self.said(turns, hurry).await? {
                Unseen::Known(exit) => return Ok(exit),
                Unseen::Code(code) => self.code = code,
            }
        }
        if self.lease_may_be_over && self.code == i32::from(LEASE_OVER_CODE) {
            let cause = Cause::NodeLost { node: self.place.node.clone() };
            return Ok(Exit { code: Some(self.code), cause, evidence: Vec::new() });
        }
        let log_tail = tokio::select! {
            biased;
            () = hurry.cancelled() => String::new(),
            log_tail = self.log_tail(turns) => log_tail,
        };
        if !self.oom_killed && ENDED_FROM_OUTSIDE.contains(&self.code) {
            self.oom_killed = self.was_killed_for_memory().await?;
        }
        let on = (&self.place.node, self.image.as_str());
        let exit = self.by_its_log(&log_tail);
        let exit = foreign::explained(&self.shared.nodes, self.engine.as_ref(), on, exit).await;
        let blamed = checks::blamed(&self.shared, self.engine.as_ref(), &self.place, exit.clone());
        Ok(tokio::select! {
            biased;
            () = hurry.cancelled() => exit,
            blamed = blamed => blamed,
        })
    }

    /// Of one that ended when nobody looked: what the program beside its task says.
    async fn said(&self, turns: &Turns, hurry: &CancellationToken) -> engine::Result<Unseen> {
        let node = &self.place.node;
        let look = async {
            let _turn = turns.take(node).await;
            unseen::look(self.engine.as_ref(), &self.name, (self.code, node), PATIENCE).await
        };
        tokio::select! {
            biased;
            () = hurry.cancelled() => Ok(unseen::judge(None, self.code, node)),
            judged = look => judged,
        }
    }

    /// The end of its log; empty when it cannot be read, for the exit code alone is told then.
    async fn log_tail(&self, turns: &Turns) -> String {
        let _turn = turns.take(&self.place.node).await;
        let read = async {
            let request = LogRequest { tail_lines: Some(LOG_LINES), ..Default::default() };
            let mut chunks = self.engine.logs(&self.name, request).await.ok()?;
            let mut end = LogEnd::new(LOG_BYTES);
            while let Some(Ok(chunk)) = chunks.next().await {
                end.push(&chunk.bytes);
            }
            Some(String::from_utf8_lossy(&end.into_bytes()).into_owned())
        };
        tokio::time::timeout(PATIENCE, read).await.ok().flatten().unwrap_or_default()
    }

    /// Whether one that was ended from outside was killed for its memory: an engine may hear of that after the end.
    /// One that does not answer any more was perhaps going down, and ended it itself: once it is back, that is
    /// found as what ended when nobody looked.
    async fn was_killed_for_memory(&self) -> engine::Result<bool> {
        for _ in 0..KILLED_LOOKS {
            tokio::time::sleep(KILLED_PAUSE).await;
            let Some(container) = self.engine.inspect(&self.name).await? else { return Ok(false) };
            if matches!(container.status, ContainerStatus::Exited { oom_killed: true, .. }) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn by_its_log(&self, log_tail: &str) -> Exit {
        let Self { code, oom_killed, memory_mb, shm_mb, .. } = *self;
        let node = &self.place.node;
        explain::explain(&explain::Ended { code, oom_killed, memory_mb, shm_mb, node, log_tail })
    }
}
