//! Attempts of a job and of its tasks, in the words of OpenPAI.

use api::ErrorCode;
use api::jobs::{AttemptView, JobDetail, TaskView};
use axum::Json;
use axum::extract::{Path, State};
use protocol::ids::{JobKey, JobName, RoleName, UserName};
use serde::{Deserialize, Serialize};

use super::wire::{JobWire, TaskWire, task_wire};
use crate::auth::Signed;
use crate::failure::Failure;
use crate::rest::body::Params;
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
    let attempt = attempt(&detail, &key, number)?;
    Ok(Json(JobWire::seen(&detail, Some(attempt))))
}

/// A task and its runs in one attempt of its job.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaskHistory {
    username: UserName,
    job_name: JobName,
    job_attempt_id: u32,
    task_role_name: RoleName,
    #[serde(flatten)]
    task: TaskWire,
    /// The latest run; of those before it, their number is known.
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
    Ok(Json(TaskHistory {
        username: key.user,
        job_name: key.name,
        job_attempt_id: number,
        task_role_name: task.role.clone(),
        task: task_wire(&detail, attempt, task),
        attempts: vec![task_wire(&detail, attempt, task)],
    }))
}

/// Whether only the end is asked for.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct LogsParams {
    tail_mode: Option<bool>,
}

#[derive(Debug, Serialize)]
pub(super) struct Locations {
    locations: Vec<Location>,
}

/// Where a log is; both streams of a task are one.
#[derive(Debug, Serialize)]
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
    if params.tail_mode == Some(true) {
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

fn task_of<'a>(attempt: &'a AttemptView, role: &str, index: u32) -> Option<&'a TaskView> {
    attempt.tasks.iter().find(|task| task.role.as_str() == role && task.index == index)
}
