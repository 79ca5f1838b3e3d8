//! What tasks ask for and nodes have.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::amount::Amount;
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

/// The ports a node gives to tasks, both ends included. It is written `10000-31999`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
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
    fn tasks_are_given_ports_that_are_not_the_systems() {
        for (first, last, usable) in
            [(1024, 1024, true), (10_000, 65_535, true), (1023, 2000, false), (9000, 8999, false)]
        {
            assert_eq!(PortRange { first, last }.is_usable(), usable, "{first}-{last}");
        }
    }
}
