use std::time::Duration;

use protocol::ids::{GpuType, NodeName};
use protocol::resources::{Capacity, Gpu};

/// What a `sim://` endpoint says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SimAddress {
    pub(super) name: String,
    pub(super) capacity: Capacity,
    /// How long containers run whose command does not say.
    pub(super) duration: Duration,
}

const ALLOWED: &str = "a simulated node is written \
    sim://name?cpus=16&memory_mb=65536&disk_gb=1000&gpus=8xA100&duration=1.5";

impl SimAddress {
    /// Reads what follows `sim://`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (name, query) = text.split_once('?').unwrap_or((text, ""));
        let name = NodeName::new(name).map_err(|error| format!("{error}; {ALLOWED}"))?;
        let mut address = Self {
            name: name.into(),
            capacity: Capacity {
                cpus: 16,
                memory_mb: 65_536,
                disk_gb: 1000,
                ..Capacity::default()
            },
            duration: Duration::ZERO,
        };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            address
                .take(key, value)
                .ok_or_else(|| format!("{pair} is not understood; {ALLOWED}"))?;
        }
        Ok(address)
    }

    fn take(&mut self, key: &str, value: &str) -> Option<()> {
        match key {
            "cpus" => self.capacity.cpus = value.parse().ok()?,
            "memory_mb" => self.capacity.memory_mb = value.parse().ok()?,
            "disk_gb" => self.capacity.disk_gb = value.parse().ok()?,
            "gpus" => self.capacity.gpus = gpus(value)?,
            "duration" => {
                self.duration = Duration::try_from_secs_f64(value.parse().ok()?).ok()?;
            }
            _ => return None,
        }
        Some(())
    }
}

/// `8xA100,2xV100`.
fn gpus(text: &str) -> Option<Vec<Gpu>> {
    let mut gpus = Vec::new();
    for group in text.split(',').filter(|group| !group.is_empty()) {
        let (count, model) = group.split_once('x')?;
        let gpu_type = GpuType::new(model).ok()?;
        for _ in 0..count.parse::<u16>().ok()? {
            let index = u32::try_from(gpus.len()).ok()?;
            gpus.push(Gpu {
                index,
                gpu_type: gpu_type.clone(),
                uuid: Some(format!("GPU-simulated-{index}")),
                healthy: true,
            });
        }
    }
    Some(gpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let address =
            SimAddress::parse("n1?cpus=4&memory_mb=8000&gpus=2xA100,1xV100&duration=0.5").unwrap();
        assert_eq!((address.name.as_str(), address.capacity.cpus), ("n1", 4));
        assert_eq!(address.capacity.memory_mb, 8000);
        let types: Vec<_> = address.capacity.gpus.iter().map(|gpu| gpu.gpu_type.as_str()).collect();
        assert_eq!(types, ["A100", "A100", "V100"]);
        assert_eq!(address.capacity.gpus[2].index, 2);
        assert_eq!(address.duration, Duration::from_millis(500));
        assert_eq!(SimAddress::parse("n1").unwrap().capacity.cpus, 16);
    }

    #[test]
    fn mistakes_are_named() {
        for (bad, named) in [
            ("", "node name"),
            ("a/b", "node name"),
            ("n?cpus=many", "cpus=many"),
            ("n?colour=red", "colour=red"),
            ("n?gpus=A100", "gpus=A100"),
            ("n?duration=-1", "duration=-1"),
        ] {
            let error = SimAddress::parse(bad).unwrap_err();
            assert!(error.contains(named) && error.contains("sim://name"), "{error}");
        }
    }
}
