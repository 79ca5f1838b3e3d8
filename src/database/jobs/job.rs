//! A job as it is stored, and how it is changed.

use protocol::amount::Amount;
use protocol::document::Syntax;
use protocol::exit::Exit;
use protocol::ids::{GpuType, JobId, JobKey, NodeName, UserName, VirtualClusterName};
use protocol::jobs::{Hold, Retries};
use protocol::spec::{JobSpec, Priority, TimeLimit};
use protocol::state::State;
use protocol::time::Timestamp;

/// A job to be stored; it begins as `WAITING`.
#[derive(Debug, Clone, PartialEq)]
pub struct NewJob {
    /// Owner and name, unique together.
    pub key: JobKey,
    /// What it is.
    pub spec: JobSpec,
    /// The file as it was written, secrets masked.
    pub text: String,
    /// The file's notation.
    pub syntax: Syntax,
    /// When it was submitted.
    pub submitted_at: Timestamp,
}

/// A job without its file: all that lists show. A hundred thousand may be in memory: what few have is apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRow {
    /// Database key, ascending with time, never used twice.
    pub id: JobId,
    /// Owner and name.
    pub key: JobKey,
    /// State.
    pub state: State,
    /// Who asked to stop it, if anybody did.
    pub stop: Option<Box<StopRequest>>,
    /// Virtual cluster.
    pub virtual_cluster: VirtualClusterName,
    /// Priority.
    pub priority: Priority,
    /// Tasks in all.
    pub tasks: u32,
    /// Task roles.
    pub roles: u32,
    /// GPUs in all.
    pub gpus: Amount,
    /// GPU types the job or any of its roles asks for; empty: any.
    pub gpu_types: Vec<GpuType>,
    /// Further attempts by what made them necessary.
    pub retries: Retries,
    /// When it was submitted.
    pub submitted_at: Timestamp,
    /// When its first container ran.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// How it ended; of a job between attempts, how the last one did.
    pub exit: Option<Box<Exit>>,
    /// The current attempt, from 0; `None`: it was never placed.
    pub attempt: Option<u32>,
    /// The next attempt begins then at the earliest; only while it is `WAITING`.
    pub not_before: Option<Timestamp>,
    /// Nodes to avoid where others will do.
    pub avoid: Vec<NodeName>,
    /// Who holds it, if anybody does; only while it is `WAITING`.
    pub held: Option<Box<Hold>>,
    /// Milliseconds by which it was moved back (or, below 0, forward) in the queue.
    pub moved_ms: i64,
    /// The highest priority that its owner may give it, once an administrator gave it one; before
    /// that it is the file's.
    pub most_priority: Option<Priority>,
    /// How long each attempt may run, where it is known to be as the file says or otherwise; in a [`Job`] the
    /// spec says the same.
    pub time_limit: Option<TimeLimit>,
}

/// A job and what was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// How far it has come.
    pub row: JobRow,
    /// What it is: as its file says, but for a time limit that was changed since.
    pub spec: JobSpec,
}

/// Somebody wants the job to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopRequest {
    /// Who.
    pub by: UserName,
    /// When.
    pub at: Timestamp,
}

/// A job's new facts; what is `None` stays as it is.
///
/// What belongs to waiting alone (`not_before`, the hold) is forgotten by every other
/// state. A job that is held does not begin to prepare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobUpdate {
    /// New state; it may be the old one.
    pub state: State,
    /// When its first container ran.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// How it, or its last attempt, ended.
    pub exit: Option<Exit>,
    /// The current attempt.
    pub attempt: Option<u32>,
    /// Further attempts so far.
    pub retries: Option<Retries>,
    /// When the next attempt may begin.
    pub not_before: Option<Timestamp>,
    /// Nodes to avoid; empty forgets them.
    pub avoid: Option<Vec<NodeName>>,
}

impl JobUpdate {
    /// A change of state and of nothing else.
    #[must_use]
    pub fn to(state: State) -> Self {
        Self {
            state,
            started_at: None,
            completed_at: None,
            exit: None,
            attempt: None,
            retries: None,
            not_before: None,
            avoid: None,
        }
    }

    /// Changes a job that is known from before as the database changes it.
    pub fn apply(&self, row: &mut JobRow) {
        let Self { state, started_at, completed_at, exit, attempt, retries, not_before, avoid } =
            self;
        row.state = *state;
        row.started_at = started_at.or(row.started_at);
        row.completed_at = completed_at.or(row.completed_at);
        if let Some(exit) = exit {
            row.exit = Some(Box::new(exit.clone()));
        }
        row.attempt = attempt.or(row.attempt);
        row.retries = retries.unwrap_or(row.retries);
        if let Some(avoid) = avoid {
            row.avoid.clone_from(avoid);
        }
        if *state == State::Waiting {
            row.not_before = not_before.or(row.not_before);
        } else {
            (row.not_before, row.held) = (None, None);
        }
    }
}
