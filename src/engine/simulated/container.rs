//! Containers of simulated nodes: what each is, what is seen of it, what it has written.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bytes::Bytes;
use protocol::epoch::Epoch;
use protocol::guest::{EXIT, FOLDER, GuestExit};
use protocol::ids::TaskKey;
use protocol::time::Timestamp;
use tokio::time::Instant;

use super::files::Files;
use super::plan::Plan;
use crate::model::{Container, ContainerSpec, ContainerStatus, EngineError, Folder, Result, Share};

/// What every simulated container has written, in bytes.
pub(super) const WRITTEN: u64 = 1_500_000;
/// One that speaks again and again falls silent after so many lines.
const MOST_WORDS: i64 = 100_000;

#[derive(Debug)]
pub(super) struct SimContainer {
    pub(super) kept: Kept,
    pub(super) files: Files,
    pub(super) plan: Plan,
    pub(super) id: String,
    pub(super) key: TaskKey,
    pub(super) phase: Phase,
    pub(super) execs: HashMap<String, Option<i32>>,
    /// What somebody had it write besides, and what it has said by itself.
    pub(super) written: Vec<(Timestamp, String)>,
    /// So often it has said something by itself.
    pub(super) words: i64,
    /// The engine has lost how it ended, and says that it ended well.
    pub(super) is_lost: bool,
}

/// What is kept of a container's spec. Its environment and what its guest is told grow with its job:
/// a job of n tasks would take O(n²) of memory with them.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) cluster: String,
    pub(super) epoch: Epoch,
    labels: Box<[(String, String)]>,
    pub(super) image: String,
    command: Arc<str>,
    pub(super) cpus: u32,
    pub(super) memory_mb: u64,
    pub(super) gpus: Box<[u32]>,
    /// What was filled for it.
    pub(super) volumes: Box<[String]>,
    /// Of those that have folders of the node.
    pub(super) given: Option<Box<Given>>,
}

impl Kept {
    pub(super) fn labels(&self) -> BTreeMap<String, String> {
        self.labels.iter().cloned().collect()
    }

    pub(super) fn of(spec: &ContainerSpec) -> Self {
        Self {
            cluster: spec.cluster.clone(),
            epoch: spec.epoch,
            labels: spec.labels.clone().into_iter().collect(),
            image: spec.image.clone(),
            command: Arc::clone(&spec.command),
            cpus: spec.cpus,
            memory_mb: spec.memory_mb,
            gpus: spec.gpus.iter().map(|gpu| gpu.index).collect(),
            volumes: spec.volumes().map(str::to_owned).collect(),
            given: Given::of(spec),
        }
    }
}

/// What a container has of its node's folders and of file servers, and what it is told of them.
#[derive(Debug, Clone)]
pub struct Given {
    /// The task's labels.
    pub labels: BTreeMap<String, String>,
    /// The folders.
    pub folders: Vec<Folder>,
    /// Those of file servers.
    pub shares: Vec<Share>,
    /// The task's own part of the environment.
    pub env: Vec<(String, String)>,
}

impl Given {
    fn of(spec: &ContainerSpec) -> Option<Box<Self>> {
        let ContainerSpec { labels, folders, shares, env, .. } = spec;
        let given = || Self {
            labels: labels.clone(),
            folders: folders.clone(),
            shares: shares.clone(),
            env: env.clone(),
        };
        (!folders.is_empty() || !shares.is_empty()).then(|| Box::new(given()))
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Phase {
    Created,
    /// It could not be started.
    NotStarted {
        since: Timestamp,
    },
    Running {
        started_at: Timestamp,
        ends: Instant,
    },
    Exited {
        started_at: Timestamp,
        finished_at: Timestamp,
        code: i32,
        oom_killed: bool,
    },
}

impl SimContainer {
    pub(super) fn view(&self, name: &str) -> Container {
        Container {
            key: self.key,
            epoch: self.kept.epoch,
            name: name.to_owned(),
            id: self.id.clone(),
            status: self.status(),
        }
    }

    pub(super) fn status(&self) -> ContainerStatus {
        match self.phase {
            Phase::Created => ContainerStatus::Created,
            // As Docker has it, with its own words beside it.
            Phase::NotStarted { since } => ContainerStatus::Exited {
                started_at: None,
                finished_at: since,
                code: 128,
                oom_killed: false,
                error: Some("it could not be started".to_owned()),
            },
            Phase::Running { started_at, .. } => ContainerStatus::Running { started_at },
            Phase::Exited { started_at, finished_at, code, oom_killed } => {
                ContainerStatus::Exited {
                    started_at: Some(started_at),
                    finished_at,
                    code: if self.is_lost { 0 } else { code },
                    oom_killed,
                    error: None,
                }
            }
        }
    }

    /// A file, or a folder with what is in it; what its guest says once the command has ended as well, unless
    /// both were killed.
    pub(super) fn pack(&self, path: &str) -> Result<Bytes> {
        let said = match self.phase {
            Phase::Exited { code, oom_killed: false, .. } => Some(code).filter(|code| *code != 137),
            Phase::Exited { .. }
            | Phase::Created
            | Phase::NotStarted { .. }
            | Phase::Running { .. } => None,
        };
        match said {
            Some(code) if path == format!("{FOLDER}/{EXIT}") => {
                let said = serde_json::to_vec(&GuestExit { code, signal: None });
                let said = said.map_err(|error| EngineError::Failed(error.to_string()))?;
                let mut files = Files::default();
                files.put(path, said);
                files.pack(path)
            }
            Some(_) | None => self.files.pack(path),
        }
    }

    /// What it has written so far, with when.
    pub(super) fn log(&self, node: &str) -> Vec<(Timestamp, String)> {
        let began = |at| {
            vec![
                (at, format!("simulated: {} on {node}", self.kept.image)),
                (at, format!("simulated: {}", self.kept.command)),
            ]
        };
        match self.phase {
            Phase::Created | Phase::NotStarted { .. } => Vec::new(),
            Phase::Running { started_at, .. } => {
                let mut lines = began(started_at);
                lines.extend(self.written.iter().cloned());
                lines
            }
            Phase::Exited { started_at, finished_at, code, .. } => {
                let mut lines = began(started_at);
                lines.extend(self.written.iter().cloned());
                lines.push((finished_at, format!("simulated: ended with code {code}")));
                lines
            }
        }
    }

    /// Writes what it says by itself until now.
    pub(super) fn speak(&mut self, now: Timestamp) {
        let Some(every) = self.plan.speaks_every else { return };
        let (from, until) = match self.phase {
            Phase::Created | Phase::NotStarted { .. } => return,
            Phase::Running { started_at, .. } => (started_at, now),
            Phase::Exited { started_at, finished_at, .. } => (started_at, finished_at),
        };
        let every = i64::try_from(every.as_millis()).unwrap_or(i64::MAX).max(1);
        let due = (until.since(from) / every).min(MOST_WORDS);
        for number in self.words + 1..=due {
            let line = format!("simulated: line {number}");
            self.written.push((from.plus_millis(number * every), line));
        }
        self.words = self.words.max(due);
    }

    pub(super) fn finish(&mut self) {
        match self.phase {
            Phase::Running { started_at, .. } => {
                let millis = i64::try_from(self.plan.duration.as_millis()).unwrap_or(i64::MAX);
                self.phase = Phase::Exited {
                    started_at,
                    finished_at: started_at.plus_millis(millis),
                    code: self.plan.code,
                    oom_killed: self.plan.oom_killed,
                };
            }
            Phase::Created | Phase::NotStarted { .. } | Phase::Exited { .. } => {}
        }
    }
}
