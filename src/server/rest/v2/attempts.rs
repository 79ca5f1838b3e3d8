//! Attempts of a job and of its tasks, in the words of OpenPAI.

use std::collections::BTreeMap;

use api::ErrorCode;
use api::jobs::{AttemptView, JobDetail, TaskPlace, TaskView};
use axum::Json;
use axum::extract::{Path, State};
use protocol::amount::Amount;
use protocol::exit::Exit;
use protocol::ids::{JobKey, JobName, RoleName, UserName};
use protocol::state::State as Stands;
use protocol::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::wire::{JobWire, PriorityClass, RoleWire, TaskWire, job_state, priority, task_wire};
use crate::auth::Signed;
use crate::failure::Failure;
use crate::rest::body::Params;
use crate::rest::exit::{self, ExitSpec, ExitType};
use crate::rest::job_key;
use crate::state::AppState;

/// Bytes of a log's end, where nothing but the end is asked for.
const TAIL: u64 = 16 * 1024;

/// `GET /jobs/:key/attempts/:attempt`: the job as it was in that attempt.
pub(super) async fn job(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path((key, number)): Path<(String, u32)>,
) -> Result<Json<JobWire>, Failure> {
    let key = job_key::parse(&key)?;
    let detail = state.backend.jobs.get(&actor, &key).await?;
    let attempt = attempt_or_first(&detail, &key, number)?;
    Ok(Json(JobWire::seen(&detail, attempt)))
}

/// An attempt of a job, as OpenPAI's history of jobs had it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct JobAttempt {
    job_name: JobName,
    framework_name: String,
    uid: String,
    user_name: UserName,
    state: Stands,
    origin_state: Stands,
    attempt_index: u32,
    job_started_time: Option<Timestamp>,
    attempt_started_time: Option<Timestamp>,
    attempt_completed_time: Option<Timestamp>,
    exit_code: Option<i32>,
    exit_phrase: Option<&'static str>,
    exit_type: Option<ExitType>,
    exit_diagnostics: Option<Diagnostics>,
    app_exit_spec: Option<ExitSpec>,
    app_exit_diagnostics: Option<String>,
    app_exit_trigger_message: Option<String>,
    app_exit_trigger_task_role_name: Option<String>,
    app_exit_trigger_task_index: Option<u32>,
    total_gpu_number: Amount,
    total_task_number: u32,
    total_task_role_number: u32,
    job_priority: Option<PriorityClass>,
    /// Of one that is asked for alone: all of them with all of their tasks would be too much.
    #[serde(skip_serializing_if = "Option::is_none")]
    task_roles: Option<BTreeMap<RoleName, RoleWire>>,
    is_latest: bool,
}

/// How it ended, in words.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Diagnostics {
    diagnostics_summary: String,
    launcher: String,
}

impl Diagnostics {
    fn of(exit: &Exit) -> Self {
        Self { diagnostics_summary: exit::diagnostics(exit), launcher: exit::reason(&exit.cause) }
    }
}

impl JobAttempt {
    /// `attempt` is `None` of the first one, while the job waits for it.
    fn new(detail: &JobDetail, attempt: Option<&AttemptView>) -> Self {
        let job = &detail.summary;
        let state = attempt.map_or(job.state, |attempt| attempt.state);
        let number = attempt.map_or(0, |attempt| attempt.number);
        let exit = attempt.and_then(|attempt| attempt.exit.as_ref());
        let trigger = exit.and_then(exit::trigger);
        let latest = detail.attempts.last().map_or(0, |last| last.number);
        Self {
            job_name: job.key.name.clone(),
            framework_name: job.key.to_string(),
            uid: format!("{number}_{}", job.id),
            user_name: job.key.user.clone(),
            state: job_state(state),
            origin_state: state,
            attempt_index: number,
            job_started_time: job.started_at,
            attempt_started_time: attempt.map(|attempt| attempt.placed_at),
            attempt_completed_time: attempt.and_then(|attempt| attempt.completed_at),
            exit_code: exit.map(exit::code),
            exit_phrase: exit.map(exit::phrase),
            exit_type: exit.map(exit::kind),
            exit_diagnostics: exit.map(Diagnostics::of),
            app_exit_spec: exit.map(exit::spec),
            app_exit_diagnostics: exit.map(exit::diagnostics),
            app_exit_trigger_message: exit.map(|exit| exit::reason(&exit.cause)),
            app_exit_trigger_task_role_name: trigger.as_ref().map(|(role, _)| role.clone()),
            app_exit_trigger_task_index: trigger.map(|(_, index)| index),
            total_gpu_number: job.gpus,
            total_task_number: job.tasks,
            total_task_role_number: job.roles,
            job_priority: priority(job.priority),
            task_roles: None,
            is_latest: latest == number,
        }
    }
}

/// `GET /jobs/:key/job-attempts/healthz`: that the history of attempts is there.
pub(super) async fn healthy(_: Signed) -> &'static str {
    "ok"
}

/// `GET /jobs/:key/job-attempts`: newest first.
pub(super) async fn list(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(key): Path<String>,
) -> Result<Json<Vec<JobAttempt>>, Failure> {
    let detail = state.backend.jobs.get(&actor, &job_key::parse(&key)?).await?;
    if detail.attempts.is_empty() {
        return Ok(Json(vec![JobAttempt::new(&detail, None)]));
    }
    let newest_first = detail.attempts.iter().rev();
    Ok(Json(newest_first.map(|attempt| JobAttempt::new(&detail, Some(attempt))).collect()))
}

/// `GET /jobs/:key/job-attempts/:attempt`.
pub(super) async fn get(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path((key, number)): Path<(String, u32)>,
) -> Result<Json<JobAttempt>, Failure> {
    let key = job_key::parse(&key)?;
    let detail = state.backend.jobs.get(&actor, &key).await?;
    let attempt = attempt_or_first(&detail, &key, number)?;
    let task_roles = Some(JobWire::seen(&detail, attempt).task_roles);
    Ok(Json(JobAttempt { task_roles, ..JobAttempt::new(&detail, attempt) }))
}

/// A task and its runs in one attempt of its job.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaskHistory {
    username: UserName,
    job_name: JobName,
    job_attempt_id: u32,
    task_role_name: RoleName,
    #[serde(flatten)]
    task: TaskWire,
    /// All runs, the latest first.
    attempts: Vec<TaskWire>,
}

/// `GET …/attempts/:attempt/taskRoles/:role/taskIndex/:index/attempts`.
pub(super) async fn task(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path((key, number, role, index)): Path<(String, u32, String, u32)>,
) -> Result<Json<TaskHistory>, Failure> {
    let key = job_key::parse(&key)?;
    let detail = state.backend.jobs.get(&actor, &key).await?;
    let attempt = attempt(&detail, &key, number)?;
    let task = task_of(attempt, &role, index).ok_or_else(|| {
        let message = format!("Task {role}[{index}] is not found in attempt {number} of {key}.");
        Failure::new(ErrorCode::NoJobError, message)
    })?;
    let place = TaskPlace { attempt: number, role: task.role.clone(), index };
    let runs = state.backend.jobs.runs(&actor, &key, &place).await?;
    Ok(Json(TaskHistory {
        username: key.user,
        job_name: key.name,
        job_attempt_id: number,
        task_role_name: task.role.clone(),
        task: task_wire(&detail, attempt, task),
        attempts: runs.iter().map(|run| task_wire(&detail, attempt, run)).collect(),
    }))
}

/// Whether only the end is asked for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) struct LogsParams {
    tail_mode: Option<bool>,
    /// OpenPAI's own library asks by this word.
    #[serde(rename = "tailMode")]
    tail_mode_of_library: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Locations {
    locations: Vec<Location>,
}

/// Where a log is; both streams of a task are one.
#[derive(Debug, Serialize, JsonSchema)]
struct Location {
    name: &'static str,
    uri: String,
}

/// `GET …/taskIndex/:index/attempts/:run/logs`: where the log of a run is, which is read there by
/// whoever may.
pub(super) async fn logs(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path((key, number, role, index, run)): Path<(String, u32, String, u32, u32)>,
    Params(params): Params<LogsParams>,
) -> Result<Json<Locations>, Failure> {
    let key = job_key::parse(&key)?;
    let detail = state.backend.jobs.get(&actor, &key).await?;
    let task = task_of(attempt(&detail, &key, number)?, &role, index);
    let Some(task) = task.filter(|task| task.retry == run) else {
        return Err(Failure::new(ErrorCode::NoTaskLogError, "Log of task is not found."));
    };
    let role = &task.role;
    let mut uri = format!("/api/v2/jobs/{key}/logs?role={role}&index={index}&attempt={number}");
    if params.tail_mode.or(params.tail_mode_of_library) == Some(true) {
        uri = format!("{uri}&tail={TAIL}");
    }
    Ok(Json(Locations { locations: vec![Location { name: "all", uri }] }))
}

fn attempt<'a>(
    detail: &'a JobDetail,
    key: &JobKey,
    number: u32,
) -> Result<&'a AttemptView, Failure> {
    let found = detail.attempts.iter().find(|attempt| attempt.number == number);
    found.ok_or_else(|| {
        let message = format!("JobAttemptId {number} is not found in {key}.");
        Failure::new(ErrorCode::NoJobError, message)
    })
}

/// The same, or `None` of the first one while the job waits for it: OpenPAI's clients ask at once.
fn attempt_or_first<'a>(
    detail: &'a JobDetail,
    key: &JobKey,
    number: u32,
) -> Result<Option<&'a AttemptView>, Failure> {
    if number == 0 && detail.attempts.is_empty() {
        return Ok(None);
    }
    attempt(detail, key, number).map(Some)
}

fn task_of<'a>(attempt: &'a AttemptView, role: &str, index: u32) -> Option<&'a TaskView> {
    attempt.tasks.iter().find(|task| task.role.as_str() == role && task.index == index)
}
