//! Jobs: what can be asked of them and what the answers look like.

use std::collections::BTreeMap;

use async_trait::async_trait;
use protocol::amount::Amount;
pub use protocol::document::Syntax;
use protocol::exit::Exit;
use protocol::ids::{
    GpuType, JobId, JobKey, JobName, NodeName, PortLabel, RoleName, Tag, UserName,
    VirtualClusterName,
};
pub use protocol::jobs::{JobOrder, JobQuery, Retries};
use protocol::problem::Problem;
use protocol::resources::Resources;
use protocol::spec::{Completion, Dialect, Grace, NodeSelector, Priority, RetryLimit, TimeLimit};
use protocol::state::State;
use protocol::time::Timestamp;
use protocol::wait::{Expected, WaitReason, Waiting};
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::error::Result;
use crate::metrics::{IdleGpu, IdleJob, Idling, Lately};
use crate::queue::{Explanation, Hold};
use crate::storages::MountView;
use crate::usage::{UsageOfDay, UsageQuery};

/// What people do with jobs. Jobs are visible to every signed-in user; only the owner and
/// administrators may change them.
#[async_trait]
pub trait Jobs: Send + Sync {
    /// Parses, checks and stores a job; nothing is stored when anything is wrong.
    async fn submit(&self, actor: &Actor, request: Submission) -> Result<Submitted>;
    /// All that `submit` would check, and what the scheduler would do with it now. Stores nothing.
    async fn check(&self, actor: &Actor, text: &str) -> Result<CheckReport>;
    /// One page of jobs.
    async fn list(&self, actor: &Actor, query: &JobQuery) -> Result<JobPage>;
    /// One job with its tasks and attempts.
    async fn get(&self, actor: &Actor, key: &JobKey) -> Result<JobDetail>;
    /// All runs of a task in one attempt of its job, the latest first.
    async fn runs(&self, actor: &Actor, key: &JobKey, task: &TaskPlace) -> Result<Vec<TaskView>>;
    /// The job file: as it was written, or rendered in another notation, with the time limit that the job has by
    /// now. Secrets are `******`.
    async fn config(&self, actor: &Actor, key: &JobKey, form: ConfigForm) -> Result<JobConfig>;
    /// Asks the job to stop. Stopping a job that has ended changes nothing and is no error.
    async fn stop(&self, actor: &Actor, key: &JobKey) -> Result<()>;
    /// Deletes a job that has ended, with all that is recorded of it, its secrets and its logs. Its name
    /// is free then; what it wrote to the storage and images that were saved of it stay.
    async fn delete(&self, actor: &Actor, key: &JobKey) -> Result<()>;
    /// Gives the job a tag. One that it has already stays.
    async fn add_tag(&self, actor: &Actor, key: &JobKey, tag: &Tag) -> Result<()>;
    /// Takes a tag from the job.
    async fn remove_tag(&self, actor: &Actor, key: &JobKey, tag: &Tag) -> Result<()>;
    /// Keeps a job for so many hours from being stopped since its GPUs do nothing, 168 at most.
    async fn keep(&self, actor: &Actor, key: &JobKey, hours: u32) -> Result<()>;
    /// Gives a job that runs another time limit, from when its current attempt began: its owner a longer one only
    /// while no job waits in its virtual cluster.
    async fn set_time_limit(&self, actor: &Actor, key: &JobKey, limit: TimeLimit) -> Result<()>;
    /// Whose jobs hold GPUs now that do nothing, the longest first: everybody's, for administrators; or a
    /// user's own, as far as their virtual clusters mind.
    async fn idle(&self, actor: &Actor, of: Option<&UserName>) -> Result<Vec<IdleJob>>;
    /// What happened to the job, newest first.
    async fn events(&self, actor: &Actor, key: &JobKey) -> Result<Vec<EventView>>;
    /// How many of the jobs of `query` are in each state (its own state filter left out).
    async fn counts(&self, actor: &Actor, query: &JobQuery) -> Result<BTreeMap<State, u64>>;
    /// What jobs have used, by day, also of those that are deleted: of others for administrators only.
    async fn usage(&self, actor: &Actor, query: &UsageQuery) -> Result<Vec<UsageOfDay>>;
}

/// A job file to be submitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submission {
    /// The text, in any of the five dialects.
    pub text: String,
    /// The job this one was cloned from: its secrets are used where the text has `******`.
    pub cloned_from: Option<JobKey>,
    /// The name in the address of a `PUT`; it must be the file's.
    pub expected_name: Option<JobName>,
}

/// A stored job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submitted {
    /// Its database key.
    pub id: JobId,
    /// Its name.
    pub key: JobKey,
    /// What was accepted but is worth knowing.
    pub warnings: Vec<String>,
}

/// What a submission would meet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckReport {
    /// All mistakes, in the text's order; empty: it would be accepted.
    pub problems: Vec<Problem>,
    /// What was accepted but is worth knowing.
    pub warnings: Vec<String>,
    /// What the scheduler would do, when the text is valid.
    pub dry_run: Option<DryRun>,
}

protocol::tagged! {
    "answer" "DryRun"
    /// What the scheduler would do with a job submitted now.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize)]
    pub enum DryRun {
        /// It would start at once.
        FitsNow {
            /// On these nodes.
            nodes: Vec<NodeName>,
            /// On what is lent: it gives way when others want it back.
            #[serde(default)]
            borrowed: bool,
            /// Of several nodes: the narrowest place in which all of them are, as `rack=3`.
            #[serde(default)]
            place: Option<String>,
        },
        /// It would wait.
        Waits(Box<Explanation>),
        /// It could never start and would be refused.
        Never {
            /// Why.
            reason: WaitReason,
        },
    }
}

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct JobPage {
    /// The jobs.
    pub jobs: Vec<JobSummary>,
    /// How many there are on all pages.
    pub total: u64,
}

/// A row of the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobSummary {
    /// Database key.
    pub id: JobId,
    /// Owner and name.
    pub key: JobKey,
    /// State.
    pub state: State,
    /// Whether somebody asked to stop it.
    pub stop_requested: bool,
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
    /// GPU types asked for; empty: any.
    pub gpu_types: Vec<GpuType>,
    /// Attempts begun so far minus one: counted ones and those of the platform.
    pub retries: Retries,
    /// When it was submitted.
    pub submitted_at: Timestamp,
    /// When its first container ran.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// Why it waits, while it waits.
    pub waiting: Option<Waiting>,
    /// When it may start, while it waits.
    #[serde(default)]
    pub expected: Option<Expected>,
    /// Who holds it, if anybody does.
    pub held: Option<Hold>,
    /// What people call it beside its name, in alphabetical order.
    #[serde(default)]
    pub tags: Vec<Tag>,
    /// When it ends at the latest, of one in a list that runs and has a time limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends_by: Option<Timestamp>,
    /// How busy its GPUs are, of one that runs in a list.
    #[serde(default, skip_serializing_if = "Lately::is_empty")]
    pub lately: Lately,
    /// How it, or of one that goes on its last attempt, ended.
    pub exit: Option<Exit>,
}

impl JobSummary {
    /// How it ended; `None` while it goes on, whatever befell its earlier attempts.
    #[must_use]
    pub fn ended(&self) -> Option<&Exit> {
        self.exit.as_ref().filter(|_| self.state.is_final())
    }
}

/// Everything the job page shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobDetail {
    /// As in the list.
    pub summary: JobSummary,
    /// Free text of the file.
    pub description: Option<String>,
    /// Which document's rules the file follows.
    pub dialect: Dialect,
    /// How many more attempts follow a failure that is the user's.
    pub retry_limit: RetryLimit,
    /// How long each attempt may run.
    pub time_limit: Option<TimeLimit>,
    /// What its tasks are told before they have to go.
    #[serde(default)]
    pub grace: Option<Grace>,
    /// By when it is to have ended, if that was said.
    #[serde(default)]
    pub deadline: Option<Due>,
    /// Which nodes will do for it.
    pub nodes: NodeSelector,
    /// The task roles.
    pub roles: Vec<RoleView>,
    /// The storages that its tasks have.
    pub storages: Vec<MountView>,
    /// The attempts, oldest first; the last is the current one.
    pub attempts: Vec<AttemptView>,
    /// Since when its GPUs do nothing, where its virtual cluster minds.
    #[serde(default)]
    pub idling: Option<Idling>,
    /// Whether the actor may stop it, read its logs and, once it has ended, delete it.
    pub may_manage: bool,
    /// The highest priority that the actor may give it while it waits; `None`: any.
    pub most_priority: Option<Priority>,
    /// All that can be said of why it waits, while it waits.
    pub explanation: Option<Explanation>,
}

/// By when a job is to have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Due {
    /// By then.
    pub at: Timestamp,
    /// While it waits: when it has to start for that, by what is expected of its run.
    pub latest_start: Option<Timestamp>,
}

/// A task role as submitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleView {
    /// Name.
    pub name: RoleName,
    /// Number of tasks.
    pub count: u32,
    /// What each gets.
    pub resources: Resources,
    /// `/dev/shm` in MiB.
    pub shm_mb: u64,
    /// Image.
    pub image: String,
    /// Command.
    pub command: String,
    /// When its tasks end the job.
    pub completion: Completion,
}

/// One attempt of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptView {
    /// Its number, from 0.
    pub number: u32,
    /// State.
    pub state: State,
    /// When it was placed.
    pub placed_at: Timestamp,
    /// When its first container ran.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// How it ended.
    pub exit: Option<Exit>,
    /// Its tasks, by role and index; of a task that was started again, the latest run.
    pub tasks: Vec<TaskView>,
}

/// One task of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskView {
    /// Role.
    pub role: RoleName,
    /// Index in the role.
    pub index: u32,
    /// How often it was started again inside the attempt.
    pub retry: u32,
    /// State.
    pub state: State,
    /// What it is doing while it prepares (`pulling the image`), in English.
    pub progress: Option<String>,
    /// Node.
    pub node: NodeName,
    /// The node's address.
    pub address: String,
    /// GPU indices.
    pub gpus: Vec<u32>,
    /// The part of its one GPU that it has; none: they are its own.
    #[serde(default)]
    pub gpu_part: Option<Amount>,
    /// Those of its GPUs that have done nothing for long.
    #[serde(default)]
    pub idle: Vec<IdleGpu>,
    /// Ports by label.
    pub ports: BTreeMap<PortLabel, Vec<u16>>,
    /// The engine's id of the container.
    pub container: Option<String>,
    /// When its container ran.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// How it ended.
    pub exit: Option<Exit>,
}

/// A task in one attempt of its job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskPlace {
    /// The attempt.
    pub attempt: u32,
    /// Role.
    pub role: RoleName,
    /// Index in the role.
    pub index: u32,
}

/// In which form a job file is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConfigForm {
    /// As it was written.
    Written,
    /// JSON of version 1.
    Json,
    /// YAML of version 2.
    Yaml,
}

/// A job file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobConfig {
    /// The text.
    pub text: String,
    /// Its notation.
    pub syntax: Syntax,
}

/// Something that happened to a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventView {
    /// When.
    pub at: Timestamp,
    /// `submitted`, `placed`, `started`, `completed`, `stop requested`, … : a stable word.
    pub kind: String,
    /// In words, English.
    pub message: String,
    /// The attempt it belongs to.
    pub attempt: Option<u32>,
    /// Whether it is worth a second look.
    pub warning: bool,
}
