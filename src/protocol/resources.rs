//! What tasks ask for and nodes have.

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::amount::Amount;
use crate::ids::GpuType;

/// The least memory that a task may ask for, in MiB.
pub const MIN_MEMORY_MB: u64 = 100;

/// What one task asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Resources {
    /// CPU cores.
    pub cpus: u32,
    /// Memory in MiB.
    pub memory_mb: u64,
    /// GPUs: whole ones, or a part of one.
    #[schemars(with = "f64")]
    pub gpus: Amount,
    /// Disk in GiB; 0 when the job asks for none.
    #[serde(default)]
    pub disk_gb: u64,
}

impl Resources {
    /// How many GPUs the task sees; a part of one is one that it shares with others.
    #[must_use]
    pub fn gpu_devices(&self) -> u32 {
        u32::try_from(self.gpus.ceil()).unwrap_or(u32::MAX)
    }

    /// The part of one GPU that the task asks for, unless it asks for whole ones.
    #[must_use]
    pub fn gpu_part(&self) -> Option<Amount> {
        self.gpus.is_part().then_some(self.gpus)
    }
}

/// One GPU of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gpu {
    /// Index on its node, as the driver counts.
    pub index: u32,
    /// Model.
    #[serde(rename = "type")]
    pub gpu_type: GpuType,
    /// The driver's UUID, where the node has a driver.
    pub uuid: Option<String>,
    /// False when it fell off the bus or reports uncorrectable errors.
    pub healthy: bool,
}

/// What a node has in all.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Capacity {
    /// CPU cores.
    pub cpus: u32,
    /// Memory in MiB.
    pub memory_mb: u64,
    /// Disk in GiB.
    pub disk_gb: u64,
    /// Its GPUs by index.
    pub gpus: Vec<Gpu>,
}

/// The ports a node gives to tasks, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortRange {
    /// First port.
    pub first: u16,
    /// Last port.
    pub last: u16,
}

impl Default for PortRange {
    /// 10000–31999: below those that Linux gives to whoever connects without asking for one.
    fn default() -> Self {
        Self { first: 10_000, last: 31_999 }
    }
}

impl PortRange {
    /// The ports as a range.
    #[must_use]
    pub fn ports(self) -> RangeInclusive<u16> {
        self.first..=self.last
    }
}
