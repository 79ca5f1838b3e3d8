//! What a job came to: all its attempts together.

use protocol::ids::RoleName;
use protocol::resources::Resources;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a job asked for, held and used, from its submission to its end, or until now. It is known for as long as
/// what was measured of it is kept.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct JobUse {
    /// GPUs that were asked for, from when it was submitted: while it waited as well.
    pub asked_gpu_seconds: u64,
    /// GPUs that its tasks held.
    pub held_gpu_seconds: u64,
    /// Those of them that came to nothing: held by attempts that failed or gave way.
    pub lost_gpu_seconds: u64,
    /// Seconds of GPUs that were measured,
    pub measured_gpu_seconds: u64,
    /// and in which they were busy: the measured ones by their load.
    pub busy_gpu_seconds: u64,
    /// For how long it waited.
    pub queue_seconds: u64,
    /// Watt hours of its GPUs, as far as their power was measured.
    pub energy_wh: Option<f64>,
    /// What its tasks used, by role; those of which nothing was measured are left out.
    pub roles: Vec<RoleUse>,
    /// Runs of its tasks, in all attempts,
    pub of_runs: u32,
    /// and how many of them, the last ones, were looked at for what was used.
    pub runs: u32,
}

/// What the tasks of a role used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoleUse {
    /// The role.
    pub role: RoleName,
    /// What each of its tasks asked for.
    pub asked: Resources,
    /// For how many seconds the one was measured that was measured longest.
    pub longest: u64,
    /// Cores of one task.
    pub cpus: Option<Extent>,
    /// Bytes of memory of one task.
    pub memory: Option<Extent>,
    /// Percent of one of its GPUs.
    pub gpu_load: Option<Extent>,
    /// Bytes of memory of one of its GPUs.
    pub gpu_memory: Option<Extent>,
    /// GPUs of its tasks that were measured for long in the last attempt,
    pub gpus: u32,
    /// and those of them that did nothing all the time.
    pub idle_gpus: u32,
}

/// How much of something was used.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Extent {
    /// Over all of the time that was measured.
    pub mean: f32,
    /// At most, as finely as it is still known.
    pub most: f32,
}
