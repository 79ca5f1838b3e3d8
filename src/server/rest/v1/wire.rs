//! Shapes of version 1, as OpenPAI 0.14 gave them, and their one conversion from the contract's.

use std::collections::BTreeMap;

use api::jobs::{AttemptView, JobDetail, JobSummary, RoleView, TaskView};
use protocol::amount::Amount;
use protocol::environment::application_id;
use protocol::ids::{JobName, PortLabel, RoleName, UserName, VirtualClusterName};
use protocol::state::State;
use protocol::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rest::exit::{self, ExitSpec, ExitType};
use crate::rest::v2::wire::{ExecutionType, RetryDetails, gpu_mask, ports};

/// The launcher's word for a state.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum FrameworkState {
    FrameworkWaiting,
    ApplicationLaunched,
    ApplicationRunning,
    FrameworkCompleted,
}

/// A row of `GET /jobs`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobItem {
    name: JobName,
    username: UserName,
    state: State,
    sub_state: FrameworkState,
    execution_type: ExecutionType,
    retries: u32,
    retry_details: RetryDetails,
    created_time: Timestamp,
    completed_time: Option<Timestamp>,
    app_exit_code: Option<i32>,
    virtual_cluster: VirtualClusterName,
    total_gpu_number: Amount,
    total_task_number: u32,
    total_task_role_number: u32,
}

impl From<&JobSummary> for JobItem {
    fn from(job: &JobSummary) -> Self {
        let retry_details = RetryDetails::from(job.retries);
        Self {
            name: job.key.name.clone(),
            username: job.key.user.clone(),
            state: job_state(job.state),
            sub_state: framework_state(job.state),
            execution_type: ExecutionType::of(job),
            retries: retry_details.sum(),
            retry_details,
            created_time: job.submitted_at,
            completed_time: job.completed_at,
            app_exit_code: job.ended().map(exit::code),
            virtual_cluster: job.virtual_cluster.clone(),
            total_gpu_number: job.gpus,
            total_task_number: job.tasks,
            total_task_role_number: job.roles,
        }
    }
}

/// `GET /jobs/:name`, which the command line asks whose job is meant by a name.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobWire {
    pub(crate) name: JobName,
    pub(crate) job_status: JobStatus,
    task_roles: BTreeMap<RoleName, RoleWire>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobStatus {
    pub(crate) username: UserName,
    state: State,
    sub_state: FrameworkState,
    execution_type: ExecutionType,
    retries: u32,
    retry_details: RetryDetails,
    created_time: Timestamp,
    completed_time: Option<Timestamp>,
    app_id: String,
    app_progress: u8,
    app_tracking_url: String,
    app_launched_time: Option<Timestamp>,
    app_completed_time: Option<Timestamp>,
    app_exit_code: Option<i32>,
    app_exit_spec: Option<ExitSpec>,
    app_exit_diagnostics: Option<String>,
    app_exit_messages: Option<ExitMessages>,
    app_exit_trigger_message: Option<String>,
    app_exit_trigger_task_role_name: Option<String>,
    app_exit_trigger_task_index: Option<u32>,
    app_exit_type: Option<ExitType>,
    virtual_cluster: VirtualClusterName,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct ExitMessages {
    container: Option<String>,
    runtime: Option<String>,
    launcher: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RoleWire {
    task_role_status: RoleStatus,
    task_statuses: Vec<TaskWire>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct RoleStatus {
    name: RoleName,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TaskWire {
    task_index: u32,
    task_state: State,
    container_id: Option<String>,
    container_ip: Option<String>,
    container_ports: BTreeMap<PortLabel, String>,
    container_gpus: u64,
    /// A page; a file's name may follow it.
    container_log: Option<String>,
    container_exit_code: Option<i32>,
}

impl JobWire {
    /// The job for who finds this server at this address.
    pub(super) fn of(detail: &JobDetail, own: &str) -> Self {
        let attempt = detail.attempts.last();
        let roles = detail
            .roles
            .iter()
            .map(|role| (role.name.clone(), role_wire(detail, own, role, attempt)));
        Self {
            name: detail.summary.key.name.clone(),
            job_status: job_status(&detail.summary, attempt),
            task_roles: roles.collect(),
        }
    }
}

fn job_status(job: &JobSummary, attempt: Option<&AttemptView>) -> JobStatus {
    let retry_details = RetryDetails::from(job.retries);
    let exit = job.ended();
    let trigger = exit.and_then(exit::trigger);
    JobStatus {
        username: job.key.user.clone(),
        state: job_state(job.state),
        sub_state: framework_state(job.state),
        execution_type: ExecutionType::of(job),
        retries: retry_details.sum(),
        retry_details,
        created_time: job.submitted_at,
        completed_time: job.completed_at,
        app_id: application_id(job.id, attempt.map_or(0, |attempt| attempt.number)),
        app_progress: u8::from(job.state.is_final()),
        app_tracking_url: String::new(),
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
        virtual_cluster: job.virtual_cluster.clone(),
    }
}

fn role_wire(
    detail: &JobDetail,
    own: &str,
    role: &RoleView,
    attempt: Option<&AttemptView>,
) -> RoleWire {
    let tasks = attempt.map_or(&[][..], |attempt| &attempt.tasks);
    let mine = tasks.iter().filter(|task| task.role == role.name);
    let mut task_statuses: Vec<_> = mine.map(|task| task_wire(detail, own, task)).collect();
    if task_statuses.is_empty() {
        task_statuses = (0..role.count).map(unplaced).collect();
    }
    RoleWire { task_role_status: RoleStatus { name: role.name.clone() }, task_statuses }
}

fn task_wire(detail: &JobDetail, own: &str, task: &TaskView) -> TaskWire {
    let job = &detail.summary.key;
    let (role, index) = (&task.role, task.index);
    TaskWire {
        task_index: index,
        task_state: job_state(task.state),
        container_id: task.container.clone(),
        container_ip: Some(task.address.clone()),
        container_ports: ports(task),
        container_gpus: gpu_mask(&task.gpus),
        container_log: Some(format!(
            "{own}/api/v1/user/{}/jobs/{}/logs/{role}/{index}/",
            job.user, job.name
        )),
        container_exit_code: task
            .exit
            .as_ref()
            .map(|exit| exit.code.unwrap_or_else(|| exit::code(exit))),
    }
}

/// A task that has no place yet.
fn unplaced(index: u32) -> TaskWire {
    TaskWire {
        task_index: index,
        task_state: job_state(State::Waiting),
        container_id: None,
        container_ip: None,
        container_ports: BTreeMap::new(),
        container_gpus: 0,
        container_log: None,
        container_exit_code: None,
    }
}

/// The state as version 1 says it, which knew neither preparing nor stopping.
fn job_state(state: State) -> State {
    match state {
        State::Waiting | State::Preparing => State::Waiting,
        State::Running | State::Stopping => State::Running,
        State::Succeeded | State::Failed | State::Stopped | State::Unknown => state,
    }
}

fn framework_state(state: State) -> FrameworkState {
    match state {
        State::Waiting => FrameworkState::FrameworkWaiting,
        State::Preparing => FrameworkState::ApplicationLaunched,
        State::Running | State::Stopping | State::Unknown => FrameworkState::ApplicationRunning,
        State::Succeeded | State::Failed | State::Stopped => FrameworkState::FrameworkCompleted,
    }
}
