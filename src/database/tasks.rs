//! Tasks: one row for every run of every task, the record of a container.

use protocol::epoch::Epoch;
use protocol::exit::Exit;
use protocol::ids::{RoleName, TaskKey};
use protocol::placement::TaskPlacement;
use protocol::resources::Resources;
use protocol::state::State;
use protocol::time::Timestamp;

mod read;
mod row;
mod write;

pub use read::{
    active, active_but, active_of, get, given, of_job, of_jobs, of_node, places_of, recorded,
};
pub(crate) use read::{examine, jobs_on, nodes_of};
pub use write::{insert_many, update, update_many};

/// One run of one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its key; role and index are those of `placement`.
    pub key: TaskKey,
    /// In which life of the database it was given: its container says the same.
    pub epoch: Epoch,
    /// Its role's name.
    pub role_name: RoleName,
    /// State.
    pub state: State,
    /// Where it runs.
    pub placement: TaskPlacement,
    /// What it holds there.
    pub resources: Resources,
    /// The engine's id of its container, once one was seen.
    pub container: Option<String>,
    /// What it is doing while it prepares, in English.
    pub progress: Option<String>,
    /// What was last begun with its container: written before it is done.
    pub intent: Option<Intent>,
    /// When its container ran.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// How it ended.
    pub exit: Option<Box<Exit>>,
}

/// What was begun with a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Intent {
    /// It is made and started: from here on there may be one.
    Launch,
    /// It is stopped.
    Stop,
    /// Its log is kept and it is removed.
    Remove,
}

impl Intent {
    const ALL: [Intent; 3] = [Intent::Launch, Intent::Stop, Intent::Remove];

    fn as_str(self) -> &'static str {
        match self {
            Intent::Launch => "launch",
            Intent::Stop => "stop",
            Intent::Remove => "remove",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|intent| intent.as_str() == word)
    }
}

/// What happens to a fact that may be forgotten again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Change<T> {
    /// It stays as it is.
    #[default]
    Keep,
    /// It is forgotten.
    Clear,
    /// It becomes this.
    Set(T),
}

/// A task's new facts; what is `None` or `Keep` stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskUpdate {
    /// New state; it may be the old one.
    pub state: State,
    /// The engine's id of its container.
    pub container: Option<String>,
    /// What it is doing while it prepares; forgotten by every state but `PREPARING`.
    pub progress: Change<String>,
    /// What is begun with its container.
    pub intent: Change<Intent>,
    /// When its container ran.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// How it ended.
    pub exit: Option<Box<Exit>>,
}

impl TaskUpdate {
    /// A change of state and of nothing else.
    #[must_use]
    pub fn to(state: State) -> Self {
        Self {
            state,
            container: None,
            progress: Change::Keep,
            intent: Change::Keep,
            started_at: None,
            completed_at: None,
            exit: None,
        }
    }

    /// Changes a task that is known from before as the database changes it.
    pub fn apply(&self, task: &mut Task) {
        let Self { state, container, progress, intent, started_at, completed_at, exit } = self;
        task.state = *state;
        if container.is_some() {
            task.container.clone_from(container);
        }
        match (state, progress) {
            (State::Preparing, Change::Keep) => {}
            (State::Preparing, Change::Set(progress)) => task.progress = Some(progress.clone()),
            // Only what prepares is told of.
            (_, _) => task.progress = None,
        }
        match intent {
            Change::Keep => {}
            Change::Clear => task.intent = None,
            Change::Set(intent) => task.intent = Some(*intent),
        }
        task.started_at = started_at.or(task.started_at);
        task.completed_at = completed_at.or(task.completed_at);
        if exit.is_some() {
            task.exit.clone_from(exit);
        }
    }
}
