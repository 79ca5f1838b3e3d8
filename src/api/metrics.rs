//! What tasks and their GPUs use over time.

mod job_use;
mod lately;

use async_trait::async_trait;
use protocol::ids::{JobKey, NodeName, RoleName, VirtualClusterName};
use protocol::resources::Resources;
use protocol::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::error::Result;
pub use job_use::{Extent, JobUse, RoleUse};
pub use lately::Lately;

/// What was measured of jobs, which is gone with the job, and of nodes.
#[async_trait]
pub trait Metrics: Send + Sync {
    /// What the tasks of an attempt used, for everybody who may see what happened to the job.
    ///
    /// # Errors
    /// `NoJobError`; `ForbiddenUserError`; `InvalidParametersError` for a range that ends before it
    /// begins.
    async fn of_job(&self, actor: &Actor, ask: &MetricsAsk) -> Result<JobMetrics>;
    /// What a job came to in all its attempts, until now or its end, for everybody who may see what happened to it.
    ///
    /// # Errors
    /// `NoJobError`; `ForbiddenUserError`.
    async fn use_of_job(&self, actor: &Actor, job: &JobKey) -> Result<JobUse>;
    /// What a node's tasks used together, and what its GPUs did, for everybody.
    ///
    /// # Errors
    /// `NoNodeError`; `InvalidParametersError` for a range that ends before it begins.
    async fn of_node(&self, actor: &Actor, ask: &NodeMetricsAsk) -> Result<NodeMetrics>;
}

/// What somebody wants to know of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetricsAsk {
    /// The job.
    pub job: JobKey,
    /// The attempt, from 0; the current one when it is not given.
    pub attempt: Option<u32>,
    /// Only this task, by its role and its index in it.
    pub task: Option<(RoleName, u32)>,
    /// From then on; from when the attempt was placed, if it is not given.
    pub from: Option<Timestamp>,
    /// Until then; until the attempt's end, or now.
    pub until: Option<Timestamp>,
    /// About so many points of each at most.
    pub points: Option<u32>,
}

impl MetricsAsk {
    /// All of a job's current attempt.
    #[must_use]
    pub fn new(job: JobKey) -> Self {
        Self { job, attempt: None, task: None, from: None, until: None, points: None }
    }
}

/// What somebody wants to know of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeMetricsAsk {
    /// The node.
    pub node: NodeName,
    /// From then on; the hour before the end, if it is not given.
    pub from: Option<Timestamp>,
    /// Until then; until now.
    pub until: Option<Timestamp>,
    /// About so many points of each at most.
    pub points: Option<u32>,
}

/// What a node did.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct NodeMetrics {
    /// When the first point begins.
    pub from: Timestamp,
    /// How long a point is, in milliseconds.
    pub step_ms: i64,
    /// How many points there are.
    pub points: u32,
    /// What its tasks used together; empty: nothing was measured.
    pub series: Vec<Series>,
    /// What its GPUs did.
    pub gpus: Vec<GpuMetrics>,
}

/// What the tasks of an attempt used, all on one axis of time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct JobMetrics {
    /// The attempt, from 0.
    pub attempt: u32,
    /// When it was placed.
    pub placed_at: Timestamp,
    /// When its first container ran.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// When the first point begins.
    pub from: Timestamp,
    /// How long a point is, in milliseconds.
    pub step_ms: i64,
    /// How many points there are.
    pub points: u32,
    /// The tasks, by role and index.
    pub tasks: Vec<TaskMetrics>,
    /// How many tasks the attempt has, of which some may be left out.
    pub of_tasks: u32,
}

/// What one task used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskMetrics {
    /// Its role.
    pub role: RoleName,
    /// Its index in the role.
    pub index: u32,
    /// Where it runs or ran.
    pub node: NodeName,
    /// What it asked for.
    #[serde(default)]
    pub asked: Resources,
    /// What was measured of its container; empty: nothing was.
    pub series: Vec<Series>,
    /// What was measured of its GPUs.
    pub gpus: Vec<GpuMetrics>,
}

/// What one GPU of a task did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GpuMetrics {
    /// Its index on the node.
    pub index: u32,
    /// What was measured of it.
    pub series: Vec<Series>,
}

/// What a GPU does at the moment; what is not measured is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct GpuNow {
    /// How busy it is, in percent.
    pub load: Option<u32>,
    /// MiB of its memory in use.
    pub memory_mb: Option<u64>,
    /// MiB of its memory.
    pub all_memory_mb: Option<u64>,
    /// Degrees Celsius.
    pub temperature: Option<u32>,
    /// Watts.
    pub power: Option<u32>,
    /// Since when it does nothing though it is held, once that has lasted for a quarter of an hour.
    pub idle_since: Option<Timestamp>,
}

/// A GPU that is held and has done nothing for long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleGpu {
    /// Its index on the node.
    pub gpu: u32,
    /// Since when.
    pub since: Timestamp,
}

/// A job none of whose GPUs does anything, by the rule of its virtual cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Idling {
    /// Since when.
    pub since: Timestamp,
    /// When it is stopped, unless it does something or somebody keeps it; `None`: it is only marked.
    pub stops_at: Option<Timestamp>,
    /// Until when somebody keeps it.
    pub kept_until: Option<Timestamp>,
}

/// A job that holds GPUs and does not use them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IdleJob {
    /// Owner and name.
    pub key: JobKey,
    /// Where it runs.
    pub virtual_cluster: VirtualClusterName,
    /// So many GPUs it holds.
    pub gpus: u32,
    /// For how long, and what becomes of it.
    pub idling: Idling,
}

/// For so many hours a job can be kept that does nothing.
pub const LONGEST_KEPT: u32 = 168;

impl GpuNow {
    /// How full its memory is, in percent.
    #[must_use]
    pub fn memory_percent(&self) -> Option<u32> {
        let all = self.all_memory_mb.filter(|all| *all > 0)?;
        u32::try_from(self.memory_mb?.saturating_mul(100) / all).ok()
    }
}

/// Something that was measured over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// What it is.
    pub metric: Metric,
    /// A value for each point; `None`: it was not measured then.
    pub values: Vec<Option<f32>>,
}

/// What is measured, and in which unit.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Cores in use.
    Cpus,
    /// Bytes of memory, caches left out.
    Memory,
    /// Bytes received in a second.
    Received,
    /// Bytes sent in a second.
    Sent,
    /// Bytes read from disks in a second.
    DiskRead,
    /// Bytes written to disks in a second.
    DiskWritten,
    /// How busy a GPU is, in percent.
    GpuLoad,
    /// Bytes of a GPU's memory in use.
    GpuMemory,
    /// Watts that a GPU takes.
    GpuPower,
    /// Degrees Celsius of a GPU.
    GpuTemperature,
    /// MHz of a GPU's cores.
    GpuClock,
    /// Errors of a GPU's memory that could not be corrected, since its driver was loaded.
    GpuEccErrors,
    /// The code of the last error that a GPU's driver told of; 0: none.
    GpuXid,
}

impl Metric {
    /// What is measured of each task.
    pub const OF_TASK: [Metric; 6] = [
        Metric::Cpus,
        Metric::Memory,
        Metric::Received,
        Metric::Sent,
        Metric::DiskRead,
        Metric::DiskWritten,
    ];

    /// What is measured of each of its GPUs, where an exporter tells it.
    pub const OF_GPU: [Metric; 7] = [
        Metric::GpuLoad,
        Metric::GpuMemory,
        Metric::GpuPower,
        Metric::GpuTemperature,
        Metric::GpuClock,
        Metric::GpuEccErrors,
        Metric::GpuXid,
    ];

    /// Whether of several values the highest stands for all of them: of what must not grow too large,
    /// and of what is rare. Of the others their mean does.
    #[must_use]
    pub fn is_peak(self) -> bool {
        match self {
            Metric::Memory
            | Metric::GpuMemory
            | Metric::GpuTemperature
            | Metric::GpuEccErrors
            | Metric::GpuXid => true,
            Metric::Cpus
            | Metric::Received
            | Metric::Sent
            | Metric::DiskRead
            | Metric::DiskWritten
            | Metric::GpuLoad
            | Metric::GpuPower
            | Metric::GpuClock => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_a_part_of_what_there_is() {
        let percent = |memory_mb, all_memory_mb| {
            GpuNow { memory_mb, all_memory_mb, ..GpuNow::default() }.memory_percent()
        };
        assert_eq!(percent(Some(20_000), Some(80_000)), Some(25));
        assert_eq!(percent(Some(5), Some(0)), None);
        assert_eq!(percent(Some(5), None), None);
        assert_eq!(percent(None, Some(5)), None);
    }
}
