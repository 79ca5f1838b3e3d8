//! What tasks ask for and nodes have.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::amount::Amount;
use crate::architecture::Architecture;
use crate::ids::{GpuType, InvalidName};

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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Capacity {
    /// CPU cores.
    pub cpus: u32,
    /// Memory in MiB.
    pub memory_mb: u64,
    /// Disk in GiB.
    pub disk_gb: u64,
    /// Its GPUs by index.
    pub gpus: Vec<Gpu>,
    /// What its processors are, once its engine has said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<Architecture>,
}

impl Capacity {
    /// What is left of it for others. A disk whose size nobody knows stays one.
    #[must_use]
    pub fn without(mut self, taken: &Taken) -> Self {
        let Taken { cpus, memory_mb, disk_gb, gpus } = taken;
        self.cpus = self.cpus.saturating_sub(*cpus);
        self.memory_mb = self.memory_mb.saturating_sub(*memory_mb);
        if self.disk_gb > 0 {
            self.disk_gb = self.disk_gb.saturating_sub(*disk_gb).max(1);
        }
        for gpu in self.gpus.iter_mut().filter(|gpu| gpus.contains(&gpu.index)) {
            gpu.healthy = false;
        }
        self
    }
}

/// What of a node is taken by what is no job's.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Taken {
    /// CPU cores.
    pub cpus: u32,
    /// Memory in MiB.
    pub memory_mb: u64,
    /// Disk in GiB.
    pub disk_gb: u64,
    /// GPUs by index, whole ones.
    pub gpus: BTreeSet<u32>,
}

impl Taken {
    /// Whether it is nothing.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// This and more.
    #[must_use]
    pub fn plus(mut self, more: &Self) -> Self {
        self.cpus = self.cpus.saturating_add(more.cpus);
        self.memory_mb = self.memory_mb.saturating_add(more.memory_mb);
        self.disk_gb = self.disk_gb.saturating_add(more.disk_gb);
        self.gpus.extend(&more.gpus);
        self
    }
}

/// The ports a node gives to tasks, both ends included. It is written `10000-31999`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(into = "String")]
#[schemars(try_from = "String")]
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
    /// What a node may give, in words. The ports below belong to the system.
    pub const ALLOWED: &'static str = "FIRST-LAST with 1024 ≤ FIRST ≤ LAST ≤ 65535, as 10000-31999";

    /// Whether a node may give them to tasks.
    #[must_use]
    pub fn is_usable(self) -> bool {
        self.first >= 1024 && self.first <= self.last
    }

    /// The ports as a range.
    #[must_use]
    pub fn ports(self) -> RangeInclusive<u16> {
        self.first..=self.last
    }
}

impl fmt::Display for PortRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.first, self.last)
    }
}

impl FromStr for PortRange {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let ends = || {
            let (first, last) = text.split_once(['-', '–'])?;
            Some(Self { first: first.trim().parse().ok()?, last: last.trim().parse().ok()? })
        };
        ends().ok_or_else(|| InvalidName {
            what: "range of ports",
            value: text.to_owned(),
            allowed: Self::ALLOWED,
        })
    }
}

impl From<PortRange> for String {
    fn from(range: PortRange) -> String {
        range.to_string()
    }
}

/// A range is a text, and once was an object of its two ends.
impl<'de> Deserialize<'de> for PortRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Value::deserialize(deserializer)?;
        if let Some(text) = written.as_str() {
            return text.parse().map_err(D::Error::custom);
        }
        let end = |name: &str| u16::try_from(written.get(name)?.as_u64()?).ok();
        let ends = end("first").zip(end("last"));
        ends.map(|(first, last)| Self { first, last })
            .ok_or_else(|| D::Error::custom("a range of ports is a text such as 10000-31999"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_ports_are_texts() {
        let range = PortRange { first: 20_000, last: 39_999 };
        assert_eq!(serde_json::to_string(&range).unwrap(), "\"20000-39999\"");
        for text in ["\"20000-39999\"", "\" 20000 – 39999\"", r#"{"first": 20000, "last": 39999}"#]
        {
            assert_eq!(serde_json::from_str::<PortRange>(text).unwrap(), range, "{text}");
        }
        for (wrong, told) in [
            ("\"many\"", "\"many\" is not a valid range of ports: allowed are FIRST-LAST"),
            ("\"1-70000\"", "\"1-70000\" is not a valid range"),
            ("9", "a range of ports is a text such as 10000-31999"),
        ] {
            let error = serde_json::from_str::<PortRange>(wrong).unwrap_err().to_string();
            assert!(error.starts_with(told), "{error}");
        }
    }

    #[test]
    fn what_is_taken_is_left_for_nobody() {
        let gpu = |index| Gpu {
            index,
            gpu_type: GpuType::new("A100").unwrap(),
            uuid: None,
            healthy: true,
        };
        let gpus = vec![gpu(0), gpu(1)];
        let whole = Capacity { cpus: 8, memory_mb: 100, gpus, ..Capacity::default() };
        let one = Taken { cpus: 6, memory_mb: 60, disk_gb: 5, gpus: [1].into() };
        let both = one.clone().plus(&Taken { cpus: 6, ..Taken::default() });
        assert_eq!((both.cpus, both.memory_mb, both.disk_gb), (12, 60, 5));
        let left = whole.clone().without(&both);
        assert_eq!((left.cpus, left.memory_mb, left.disk_gb), (0, 40, 0));
        assert_eq!(left.gpus.iter().map(|gpu| gpu.healthy).collect::<Vec<_>>(), [true, false]);
        assert!(!one.is_nothing() && Taken::default().is_nothing());
        assert_eq!(whole.clone().without(&Taken::default()), whole);
        let small = Capacity { disk_gb: 3, ..Capacity::default() };
        assert_eq!(small.without(&one).disk_gb, 1, "a disk that is full is not one of any size");
    }

    #[test]
    fn tasks_are_given_ports_that_are_not_the_systems() {
        for (first, last, usable) in
            [(1024, 1024, true), (10_000, 65_535, true), (1023, 2000, false), (9000, 8999, false)]
        {
            assert_eq!(PortRange { first, last }.is_usable(), usable, "{first}-{last}");
        }
    }
}
