use control::HalfLife;
use serde::Deserialize;

/// Who goes first.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SchedulerConfig {
    /// After which time what users have had of a virtual cluster's GPUs counts half as much between them.
    pub half_life: HalfLife,
}
