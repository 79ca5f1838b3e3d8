//! Shapes of version 2, as OpenPAI 1.8 gave them, and their one conversion from the contract's. The
//! command line reads what it is answered into the same types.

use std::collections::BTreeMap;

use api::jobs::{AttemptView, JobDetail, JobSummary, Retries, RoleView, TaskView};
use api::queue::{Explanation, Hold};
use protocol::amount::Amount;
use protocol::ids::{JobName, NodeName, PortLabel, RoleName, Tag, UserName, VirtualClusterName};
use protocol::spec::Priority;
use protocol::state::State;
use protocol::time::Timestamp;
use protocol::wait::{Expected, Waiting};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rest::exit::{self, ExitSpec, ExitType};

/// Whether somebody asked to stop it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum ExecutionType {
    Start,
    Stop,
}

impl ExecutionType {
    pub(crate) fn of(job: &JobSummary) -> Self {
        if job.stop_requested { Self::Stop } else { Self::Start }
    }
}

/// Further attempts by what made them necessary.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RetryDetails {
    user: u32,
    platform: u32,
    resource: u32,
}

impl From<Retries> for RetryDetails {
    fn from(Retries { user, platform }: Retries) -> Self {
        Self { user, platform, resource: 0 }
    }
}

impl RetryDetails {
    pub(crate) fn sum(self) -> u32 {
        self.user + self.platform + self.resource
    }
}

/// GPU indices as a bit mask: GPU 3 alone is 8.
pub(crate) fn gpu_mask(gpus: &[u32]) -> u64 {
    gpus.iter().filter(|index| **index < 64).fold(0, |mask, index| mask | 1 << index)
}

/// Ports by label, each list as a text with commas.
pub(crate) fn ports(task: &TaskView) -> BTreeMap<PortLabel, String> {
    let text = |ports: &Vec<u16>| ports.iter().map(u16::to_string).collect::<Vec<_>>().join(",");
    task.ports.iter().map(|(label, ports)| (label.clone(), text(ports))).collect()
}

/// The framework controller's word for a state.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
enum FrameworkState {
    AttemptCreationPending,
    AttemptPreparing,
    AttemptRunning,
    AttemptDeletionRequested,
    Completed,
}

/// A class of priorities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum PriorityClass {
    Oppo,
    Test,
    Prod,
    Crit,
}

/// A row of `GET /jobs`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobItem {
    debug_id: String,
    pub(crate) name: JobName,
    pub(crate) username: UserName,
    pub(crate) state: State,
    sub_state: FrameworkState,
    execution_type: ExecutionType,
    tags: Vec<Tag>,
    retries: u32,
    retry_details: RetryDetails,
    retry_delay_time: Option<u64>,
    pub(crate) submission_time: Timestamp,
    created_time: Timestamp,
    launched_time: Option<Timestamp>,
    completed_time: Option<Timestamp>,
    pub(crate) app_exit_code: Option<i32>,
    pub(crate) virtual_cluster: VirtualClusterName,
    pub(crate) total_gpu_number: Amount,
    pub(crate) total_task_number: u32,
    total_task_role_number: u32,
    job_priority: Option<PriorityClass>,
    /// Berth's own: why it waits, its place and when it may start, while it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    waiting: Option<WaitingItem>,
    /// Berth's own: when it ends at the latest, while it runs and has a time limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ends_by: Option<Timestamp>,
}

/// What a row says of a job that waits, by the words of [`Explanation`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct WaitingItem {
    #[serde(flatten)]
    waiting: Waiting,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expected: Option<Expected>,
}

impl From<&JobSummary> for JobItem {
    fn from(job: &JobSummary) -> Self {
        let retry_details = RetryDetails::from(job.retries);
        let waiting = |waiting: Waiting| WaitingItem { waiting, expected: job.expected };
        Self {
            debug_id: job.id.to_string(),
            name: job.key.name.clone(),
            username: job.key.user.clone(),
            state: job_state(job.state),
            sub_state: framework_state(job.state),
            execution_type: ExecutionType::of(job),
            tags: job.tags.clone(),
            retries: retry_details.sum(),
            retry_details,
            retry_delay_time: None,
            submission_time: job.submitted_at,
            created_time: job.submitted_at,
            launched_time: job.started_at,
            completed_time: job.completed_at,
            app_exit_code: job.ended().map(exit::code),
            virtual_cluster: job.virtual_cluster.clone(),
            total_gpu_number: job.gpus,
            total_task_number: job.tasks,
            total_task_role_number: job.roles,
            job_priority: priority(job.priority),
            waiting: job.waiting.clone().map(waiting),
            ends_by: job.ends_by,
        }
    }
}

/// The class of a priority; the default class is nothing, as the old servers had it.
pub(super) fn priority(priority: Priority) -> Option<PriorityClass> {
    match priority {
        Priority::TEST => None,
        Priority(number) if number < 0 => Some(PriorityClass::Oppo),
        Priority(number) if number < Priority::PRODUCTION.0 => Some(PriorityClass::Test),
        Priority(number) if number < Priority::CRITICAL.0 => Some(PriorityClass::Prod),
        Priority(_) => Some(PriorityClass::Crit),
    }
}

/// `GET /jobs/:user~:name`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobWire {
    debug_id: String,
    pub(crate) name: JobName,
    tags: Vec<Tag>,
    job_priority: Option<PriorityClass>,
    pub(crate) job_status: JobStatus,
    pub(crate) task_roles: BTreeMap<RoleName, RoleWire>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobStatus {
    pub(crate) username: UserName,
    pub(crate) virtual_cluster: VirtualClusterName,
    pub(crate) state: State,
    sub_state: FrameworkState,
    execution_type: ExecutionType,
    retries: u32,
    retry_details: RetryDetails,
    retry_delay_time: Option<u64>,
    submission_time: Timestamp,
    created_time: Timestamp,
    launched_time: Option<Timestamp>,
    completed_time: Option<Timestamp>,
    attempt_id: u32,
    attempt_state: State,
    app_id: Option<String>,
    app_progress: u8,
    app_tracking_url: String,
    app_created_time: Option<Timestamp>,
    app_launched_time: Option<Timestamp>,
    app_completed_time: Option<Timestamp>,
    app_exit_code: Option<i32>,
    app_exit_spec: Option<ExitSpec>,
    pub(crate) app_exit_diagnostics: Option<String>,
    app_exit_messages: Option<ExitMessages>,
    app_exit_trigger_message: Option<String>,
    app_exit_trigger_task_role_name: Option<String>,
    app_exit_trigger_task_index: Option<u32>,
    app_exit_type: Option<ExitType>,
    /// Berth's own: why it waits, while it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) waiting: Option<Explanation>,
    /// Berth's own: who holds it, if anybody does.
    #[serde(skip_serializing_if = "Option::is_none")]
    held: Option<Hold>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct ExitMessages {
    container: Option<String>,
    runtime: Option<String>,
    launcher: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RoleWire {
    task_role_status: RoleStatus,
    pub(crate) task_statuses: Vec<TaskWire>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct RoleStatus {
    name: RoleName,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskWire {
    pub(crate) task_index: u32,
    task_uid: Option<String>,
    pub(crate) task_state: State,
    container_id: Option<String>,
    pub(crate) container_ip: Option<String>,
    pub(crate) container_node_name: Option<NodeName>,
    /// Each list as a text with commas.
    pub(crate) container_ports: BTreeMap<PortLabel, String>,
    container_gpus: Option<u64>,
    /// Berth's own: the part of its one GPU that it has, where it is not its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    gpu_part: Option<Amount>,
    container_log: Option<String>,
    pub(crate) container_exit_code: Option<i32>,
    container_exit_spec: Option<ExitSpec>,
    container_exit_diagnostics: Option<String>,
    /// What it is doing, for people to read, beyond its state.
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<String>,
    retries: u32,
    accountable_retries: u32,
    created_time: Option<Timestamp>,
    launched_time: Option<Timestamp>,
    completed_time: Option<Timestamp>,
    attempt_id: u32,
    attempt_state: State,
    current_attempt_created_time: Option<Timestamp>,
    current_attempt_launched_time: Option<Timestamp>,
    current_attempt_completed_time: Option<Timestamp>,
}

impl From<&JobDetail> for JobWire {
    fn from(detail: &JobDetail) -> Self {
        Self::seen(detail, detail.attempts.last())
    }
}

impl JobWire {
    /// The job with one of its attempts in the place of the last.
    pub(super) fn seen(detail: &JobDetail, attempt: Option<&AttemptView>) -> Self {
        let job = &detail.summary;
        let roles = detail.roles.iter();
        Self {
            debug_id: job.id.to_string(),
            name: job.key.name.clone(),
            tags: job.tags.clone(),
            job_priority: priority(job.priority),
            job_status: job_status(detail, attempt),
            task_roles: roles
                .map(|role| (role.name.clone(), role_wire(detail, role, attempt)))
                .collect(),
        }
    }
}

fn job_status(detail: &JobDetail, attempt: Option<&AttemptView>) -> JobStatus {
    let job = &detail.summary;
    let retry_details = RetryDetails::from(job.retries);
    let exit = attempt.and_then(|attempt| attempt.exit.as_ref()).or(job.ended());
    let trigger = exit.and_then(exit::trigger);
    JobStatus {
        username: job.key.user.clone(),
        virtual_cluster: job.virtual_cluster.clone(),
        state: job_state(job.state),
        sub_state: framework_state(job.state),
        execution_type: ExecutionType::of(job),
        retries: retry_details.sum(),
        retry_details,
        retry_delay_time: None,
        submission_time: job.submitted_at,
        created_time: job.submitted_at,
        launched_time: job.started_at,
        completed_time: job.completed_at,
        attempt_id: attempt.map_or(0, |attempt| attempt.number),
        attempt_state: job_state(attempt.map_or(job.state, |attempt| attempt.state)),
        app_id: Some(format!("{}_{}", attempt.map_or(0, |attempt| attempt.number), job.id)),
        app_progress: u8::from(job.state.is_final()),
        app_tracking_url: String::new(),
        app_created_time: attempt.map(|attempt| attempt.placed_at),
        app_launched_time: attempt.and_then(|attempt| attempt.started_at),
        app_completed_time: attempt.and_then(|attempt| attempt.completed_at),
        app_exit_code: exit.map(exit::code),
        app_exit_spec: exit.map(exit::spec),
        app_exit_diagnostics: exit.map(exit::diagnostics),
        app_exit_messages: exit.map(|exit| ExitMessages {
            container: (!exit.evidence.is_empty()).then(|| exit.evidence.join("\n")),
            runtime: None,
            launcher: Some(exit::reason(&exit.cause)),
        }),
        app_exit_trigger_message: exit.map(|exit| exit::reason(&exit.cause)),
        app_exit_trigger_task_role_name: trigger.as_ref().map(|(role, _)| role.clone()),
        app_exit_trigger_task_index: trigger.map(|(_, index)| index),
        app_exit_type: exit.map(exit::kind),
        waiting: waiting(detail),
        held: job.held.clone(),
    }
}

/// All that can be said; of a job that was not looked at since it came, what is stored.
fn waiting(detail: &JobDetail) -> Option<Explanation> {
    detail.explanation.clone().or_else(|| {
        let waiting = detail.summary.waiting.clone()?;
        Some(Explanation::only(waiting, detail.summary.virtual_cluster.clone()))
    })
}

fn role_wire(detail: &JobDetail, role: &RoleView, attempt: Option<&AttemptView>) -> RoleWire {
    let mine = attempt.into_iter().flat_map(|attempt| {
        let tasks = attempt.tasks.iter().filter(|task| task.role == role.name);
        tasks.map(|task| task_wire(detail, attempt, task))
    });
    let mut task_statuses: Vec<_> = mine.collect();
    if task_statuses.is_empty() {
        let state = job_state(detail.summary.state);
        let number = attempt.map_or(0, |attempt| attempt.number);
        let task = |index| TaskWire {
            task_uid: Some(task_uid(detail, number, &role.name, index)),
            container_log: Some(log_address(detail, number, &role.name, index)),
            ..unplaced(index, state)
        };
        task_statuses = (0..role.count).map(task).collect();
    }
    RoleWire { task_role_status: RoleStatus { name: role.name.clone() }, task_statuses }
}

pub(super) fn task_wire(detail: &JobDetail, attempt: &AttemptView, task: &TaskView) -> TaskWire {
    let exit = task.exit.as_ref();
    TaskWire {
        task_uid: Some(task_uid(detail, attempt.number, &task.role, task.index)),
        container_id: task.container.clone(),
        container_ip: Some(task.address.clone()),
        container_node_name: Some(task.node.clone()),
        container_ports: ports(task),
        container_gpus: container_gpus(task.container.as_deref(), &task.gpus),
        gpu_part: task.gpu_part,
        container_log: Some(log_address(detail, attempt.number, &task.role, task.index)),
        container_exit_code: exit.map(|exit| exit.code.unwrap_or_else(|| exit::code(exit))),
        container_exit_spec: exit.map(exit::spec),
        container_exit_diagnostics: exit.map(exit::diagnostics),
        progress: task.progress.clone(),
        retries: task.retry,
        accountable_retries: task.retry,
        created_time: Some(attempt.placed_at),
        launched_time: task.started_at,
        completed_time: task.completed_at,
        attempt_id: task.retry,
        current_attempt_created_time: Some(attempt.placed_at),
        current_attempt_launched_time: task.started_at,
        current_attempt_completed_time: task.completed_at,
        ..unplaced(task.index, job_state(task.state))
    }
}

/// The GPUs of a container, once there is one: OpenPAI's clients are told of none before.
fn container_gpus(container: Option<&str>, gpus: &[u32]) -> Option<u64> {
    (container.is_some() && !gpus.is_empty()).then(|| gpu_mask(gpus))
}

fn task_uid(detail: &JobDetail, attempt: u32, role: &RoleName, index: u32) -> String {
    format!("{}-{attempt}-{role}-{index}", detail.summary.id)
}

/// Where a task's log is.
fn log_address(detail: &JobDetail, attempt: u32, role: &RoleName, index: u32) -> String {
    let job = &detail.summary.key;
    format!("/api/v2/jobs/{job}/logs?role={role}&index={index}&attempt={attempt}")
}

/// A task that has no place yet.
fn unplaced(task_index: u32, state: State) -> TaskWire {
    TaskWire {
        task_index,
        task_uid: None,
        task_state: state,
        container_id: None,
        container_ip: None,
        container_node_name: None,
        container_ports: BTreeMap::new(),
        container_gpus: None,
        gpu_part: None,
        container_log: None,
        container_exit_code: None,
        container_exit_spec: None,
        container_exit_diagnostics: None,
        progress: None,
        retries: 0,
        accountable_retries: 0,
        created_time: None,
        launched_time: None,
        completed_time: None,
        attempt_id: 0,
        attempt_state: state,
        current_attempt_created_time: None,
        current_attempt_launched_time: None,
        current_attempt_completed_time: None,
    }
}

/// The state as version 2 says it, which did not know preparing.
pub(super) fn job_state(state: State) -> State {
    match state {
        State::Waiting | State::Preparing => State::Waiting,
        State::Running
        | State::Stopping
        | State::Succeeded
        | State::Failed
        | State::Stopped
        | State::Unknown => state,
    }
}

fn framework_state(state: State) -> FrameworkState {
    match state {
        State::Waiting => FrameworkState::AttemptCreationPending,
        State::Preparing => FrameworkState::AttemptPreparing,
        State::Running | State::Unknown => FrameworkState::AttemptRunning,
        State::Stopping => FrameworkState::AttemptDeletionRequested,
        State::Succeeded | State::Failed | State::Stopped => FrameworkState::Completed,
    }
}

#[cfg(test)]
mod tests;
