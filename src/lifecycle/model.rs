//! What [`crate::decide`] is told and what it answers.

use protocol::exit::Exit;
use protocol::ids::{NodeName, TaskKey};
use protocol::spec::{Grace, JobSpec};
use protocol::state::State;
use protocol::time::Timestamp;

/// A job that holds a place, its current attempt and its tasks.
#[derive(Debug, Clone)]
pub struct Job<'a> {
    /// What was submitted.
    pub spec: &'a JobSpec,
    /// The recorded state: `Preparing`, `Running`, `Stopping` or `Unknown`.
    pub state: State,
    /// Who asked to stop it, if anybody did.
    pub stop_requested_by: Option<&'a str>,
    /// Attempts that count against the job's retry limit, so far.
    pub user_retries: u32,
    /// Attempts that failed through the platform, so far.
    pub platform_retries: u32,
    /// Attempts before this one that ended soon, one after the other; see [`crate::retry::in_a_row`].
    pub in_a_row: u32,
    /// When its first container ran, in whatever attempt.
    pub started_at: Option<Timestamp>,
    /// The current attempt.
    pub attempt: Attempt,
    /// Its tasks, the latest run of each, by role and index.
    pub tasks: Vec<Task>,
}

/// The current attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Recorded state: `Preparing`, `Running` or `Stopping`.
    pub state: State,
    /// When its first container ran.
    pub started_at: Option<Timestamp>,
    /// Decided and recorded already: how it ends, while its last containers are still ending.
    pub ending: Option<Exit>,
}

/// A task: what is recorded of it and what is seen of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its key.
    pub key: TaskKey,
    /// Its node.
    pub node: NodeName,
    /// Recorded state.
    pub state: State,
    /// Recorded: its launch was begun, so that a container may exist.
    pub launched: bool,
    /// Recorded: a container of it has been seen.
    pub seen: bool,
    /// Recorded: when it ran.
    pub started_at: Option<Timestamp>,
    /// Recorded: when it ended.
    pub completed_at: Option<Timestamp>,
    /// Recorded: how it ended.
    pub exit: Option<Exit>,
    /// It is run again, and not before this moment.
    pub not_before: Option<Timestamp>,
    /// What is seen now.
    pub observed: Observed,
    /// It takes more than it may: it is stopped, and this is how it ends.
    pub excess: Option<Exit>,
}

/// What is seen of a task's container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Observed {
    /// An action on it is under way, or ended after the last look: wait for the next look.
    Pending,
    /// Its node is out of contact.
    Silent,
    /// Its node is out of contact, and surely nothing of it runs there: who knows the node says that it is
    /// dead, or the task's lease is over.
    Dead,
    /// Its node answers, and there is no such container.
    Absent,
    /// It was made and has not been started.
    Created,
    /// It runs.
    Running {
        /// Since when.
        started_at: Timestamp,
    },
    /// It has ended.
    Exited {
        /// Since when it ran, if it ever did.
        started_at: Option<Timestamp>,
        /// When it ended.
        finished_at: Timestamp,
        /// How, explained; `None` until its log was read for that.
        exit: Option<Exit>,
    },
    /// The launch was given up: the engine refused, or the image cannot be had. Nothing of it is there that
    /// could still be started.
    LaunchFailed {
        /// When.
        at: Timestamp,
        /// Why.
        exit: Exit,
    },
}

/// What to record and what to do, in that order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decision {
    /// Changes of tasks.
    pub tasks: Vec<TaskChange>,
    /// Tasks to be run again inside the attempt: the keys of their new runs.
    pub again: Vec<TaskKey>,
    /// A change of the attempt.
    pub attempt: Option<AttemptChange>,
    /// A change of the job.
    pub job: Option<JobChange>,
    /// What to do once that is recorded.
    pub actions: Vec<Action>,
}

/// A task's new facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskChange {
    /// Which.
    pub key: TaskKey,
    /// From this state …
    pub from: State,
    /// … to this one.
    pub to: State,
    /// When it ran, if that is news.
    pub started_at: Option<Timestamp>,
    /// When it ended, if it has.
    pub completed_at: Option<Timestamp>,
    /// How it ended, if it has.
    pub exit: Option<Exit>,
}

/// The attempt's new facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptChange {
    /// New state.
    pub to: State,
    /// When its first container ran, if that is news.
    pub started_at: Option<Timestamp>,
    /// How it ends: recorded before its last containers are stopped.
    pub exit: Option<Exit>,
    /// When all of it had ended.
    pub completed_at: Option<Timestamp>,
}

/// The job's new facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobChange {
    /// New state; `Waiting`: there will be another attempt.
    pub to: State,
    /// When its first container ran, if that is news.
    pub started_at: Option<Timestamp>,
    /// When it ended, if it has.
    pub completed_at: Option<Timestamp>,
    /// How it ended, if it has; for another attempt, how the last one did.
    pub exit: Option<Exit>,
    /// Another attempt that counts against the limit.
    pub user_retry: bool,
    /// Another attempt that does not.
    pub platform_retry: bool,
    /// When the next attempt may begin.
    pub not_before: Option<Timestamp>,
    /// A node on which the attempt failed through the platform.
    pub avoid: Option<NodeName>,
}

/// Something to do to a container. Every action is safe to repeat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Get the image, make the container if there is none, and start it.
    Launch(TaskKey),
    /// Stop a container, or give up its launch.
    Stop(TaskKey),
    /// Send the job's own signal, and stop the container once its grace is over; or give up its launch.
    LetFinish(TaskKey, Grace),
    /// Remove a container that was made and has not been started; or give up its launch.
    Discard(TaskKey),
    /// Read its log to explain its exit code; the next look has the explanation.
    Explain(TaskKey),
}
