//! `api::metrics`: from beside the tasks' logs, and from memory what is not there yet.

mod job_use;
mod read;

use std::sync::Arc;

use api::metrics::{
    GpuMetrics, JobMetrics, JobUse, Metric, Metrics, MetricsAsk, NodeMetrics, NodeMetricsAsk,
    Series, TaskMetrics,
};
use api::{Actor, Error, ErrorCode, Result};
use async_trait::async_trait;
use database::attempts::Attempt;
use database::jobs::JobRow;
use database::tasks::Task;
use futures::{StreamExt, TryStreamExt};
use protocol::ids::JobKey;
use protocol::time::Timestamp;

use super::{jobs, nodes, tasks};
use crate::accounts::rights::owner_only;
use crate::error::internal;
use crate::known::metrics::{Axis, History};
use crate::shared::Shared;
use crate::wake::now;

/// Points of an answer where nobody says how many, and the most that there may be.
const POINTS: (u32, u32) = (300, 1_000);
/// What is told of a node where nobody says since when, in milliseconds.
const HOUR: i64 = 3_600_000;
/// Tasks of an answer at most.
const MOST_TASKS: usize = 32;
/// So many files are read at the same time.
const AT_ONCE: usize = 8;

#[derive(Debug)]
pub(crate) struct Ops(pub(crate) Arc<Shared>);

#[async_trait]
impl Metrics for Ops {
    async fn of_job(&self, actor: &Actor, ask: &MetricsAsk) -> Result<JobMetrics> {
        let row = self.job(actor, &ask.job).await?;
        let reader = self.0.store.database.read();
        let attempts = database::attempts::of_job(reader, row.id).await?;
        let wanted = ask.attempt.or(row.attempt);
        let Some(attempt) = attempts.into_iter().find(|one| Some(one.number) == wanted) else {
            return Ok(JobMetrics::default());
        };
        let axis = axis(ask, &attempt)?;
        let mut tasks = tasks::last_runs(&self.0.store, &ask.job, Some(attempt.number)).await?;
        if let Some((role, index)) = &ask.task {
            tasks.retain(|task| task.role_name == *role && task.key.index == *index);
        }
        let of_tasks = u32::try_from(tasks.len()).unwrap_or(u32::MAX);
        tasks.truncate(MOST_TASKS);
        let mut read = Vec::new();
        for task in tasks {
            read.push(self.task(task, axis));
        }
        let read = futures::stream::iter(read).buffered(AT_ONCE);
        Ok(JobMetrics {
            attempt: attempt.number,
            placed_at: attempt.placed_at,
            started_at: attempt.started_at,
            completed_at: attempt.completed_at,
            from: Timestamp(axis.from),
            step_ms: axis.step,
            points: points(axis),
            tasks: read.try_collect().await?,
            of_tasks,
        })
    }

    async fn use_of_job(&self, actor: &Actor, job: &JobKey) -> Result<JobUse> {
        let row = self.job(actor, job).await?;
        job_use::of(&self.0, &row).await
    }

    async fn of_node(&self, _everybody: &Actor, ask: &NodeMetricsAsk) -> Result<NodeMetrics> {
        let name = &ask.node;
        if self.0.nodes.cluster().node(name).is_none() {
            return Err(nodes::missing(name));
        }
        let until = ask.until.unwrap_or_else(now);
        let from = ask.from.unwrap_or(until.plus_millis(-HOUR));
        let axis = between(from, until, ask.points)?;
        // What is kept meanwhile is in both, never in neither.
        let part = self.0.readings.measured_nodes.part(name);
        let kept = self.0.store.storage.kept_node_metrics(name).await.map_err(internal)?;
        let history = read::whole(part, kept);
        let (series, gpus) = history.map_or_else(Default::default, |known| seen(&known, axis));
        let (from, points) = (Timestamp(axis.from), points(axis));
        Ok(NodeMetrics { from, step_ms: axis.step, points, series, gpus })
    }
}

impl Ops {
    /// A job of which he may see what happened to it.
    async fn job(&self, actor: &Actor, key: &JobKey) -> Result<JobRow> {
        let found = database::jobs::by_key(self.0.store.database.read(), key).await?;
        let row = found.ok_or_else(|| jobs::missing(key))?.row;
        if self.0.settings.rules.private_jobs {
            owner_only(actor, &row.key.user, "read what happened to this job")?;
        }
        Ok(row)
    }

    async fn task(&self, task: Task, axis: Axis) -> Result<TaskMetrics> {
        let history = read::history(&self.0, &task.key).await?;
        let (series, gpus) = history.map_or_else(Default::default, |known| seen(&known, axis));
        let (role, index, asked) = (task.role_name, task.key.index, task.resources);
        Ok(TaskMetrics { role, index, node: task.placement.node, asked, series, gpus })
    }
}

/// The points that are asked for: of the attempt from its placement to its end, if nothing else is.
fn axis(ask: &MetricsAsk, attempt: &Attempt) -> Result<Axis> {
    let from = ask.from.unwrap_or(attempt.placed_at);
    let until = ask.until.or(attempt.completed_at).unwrap_or_else(now);
    match ask.from.is_some() || ask.until.is_some() {
        true => between(from, until, ask.points),
        false => between(from, until.max(from), ask.points),
    }
}

fn between(from: Timestamp, until: Timestamp, points: Option<u32>) -> Result<Axis> {
    if until < from {
        let message = "the range of time ends before it begins";
        return Err(Error::new(ErrorCode::InvalidParametersError, message));
    }
    let (usual, most) = POINTS;
    let points = points.unwrap_or(usual).clamp(1, most);
    Ok(Axis::new(from.0, until.0, points as usize))
}

fn points(axis: Axis) -> u32 {
    u32::try_from(axis.points).unwrap_or(u32::MAX)
}

/// What was measured of a task and of its GPUs.
fn seen(history: &History, axis: Axis) -> (Vec<Series>, Vec<GpuMetrics>) {
    let series = |metrics: &[Metric], first: usize| {
        let columns = metrics.iter().zip(first..);
        let all = columns.map(|(metric, column)| {
            let values = history.on(axis, column).into_iter();
            Series { metric: *metric, values: values.map(|value| value.map(told)).collect() }
        });
        all.filter(|series| series.values.iter().any(Option::is_some)).collect::<Vec<_>>()
    };
    let first = Metric::OF_TASK.len();
    let gpus = history.gpus().iter().zip(0..).map(|(index, at)| {
        let series = series(&Metric::OF_GPU, first + at * Metric::OF_GPU.len());
        GpuMetrics { index: *index, series }
    });
    (series(&Metric::OF_TASK, 0), gpus.collect())
}

/// A value with four figures: it is kept to one part in 500, and more would be noise that pages carry.
#[expect(clippy::cast_possible_truncation, reason = "it came from one that is as small")]
fn told(value: f32) -> f32 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let value = f64::from(value);
    let step = 10_f64.powi(value.abs().log10().floor() as i32 - 3);
    ((value / step).round() * step) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_with_four_figures() {
        let told = [0.0, 83.333_336, 0.012_345_67, 1_073_741_824.0, 143.0, -2.000_01].map(told);
        assert_eq!(told, [0.0, 83.33, 0.012_35, 1_074_000_000.0, 143.0, -2.0]);
    }
}
