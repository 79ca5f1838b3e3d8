//! What a node's exporter, its engine or its driver tells of its GPUs, and what that says of how well they are.

use std::time::Duration;

use engine::Engine;
use engine::exporter::{self, GpuSample};
use protocol::health::GpuSigns;
use protocol::ids::NodeName;

use crate::known::cluster::capacity;
use crate::known::nodes::KnownNodes;
use crate::known::readings::Readings;
use crate::records::health;
use crate::shared::Shared;
use crate::wake::now;

/// Whoever tells may take so long.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the node's exporter tells, or its engine, or what its driver said last, by the indices of its GPUs.
pub(crate) async fn read(
    nodes: &KnownNodes,
    readings: &Readings,
    name: &NodeName,
    exporter: Option<&str>,
    engine: &dyn Engine,
) -> Vec<GpuSample> {
    let told = match exporter {
        Some(address) => tokio::time::timeout(PATIENCE, exporter::read(address)).await,
        None => tokio::time::timeout(PATIENCE, engine.gpu_samples()).await,
    };
    let mut gpus = match told {
        Ok(Ok(gpus)) => gpus,
        Ok(Err(error)) => {
            tracing::debug!(node = %name, %error, "nobody tells what its GPUs do");
            return Vec::new();
        }
        Err(_) => {
            tracing::debug!(node = %name, "what its GPUs do is not told in time");
            return Vec::new();
        }
    };
    if exporter.is_none() && gpus.is_empty() {
        gpus = readings.asked_gpus.of(name, now());
    }
    let cluster = nodes.cluster();
    let Some(record) = cluster.node(name) else { return gpus };
    // Where both know the UUID, it says which GPU is which.
    for known in capacity(record).gpus.iter().filter(|known| known.uuid.is_some()) {
        for gpu in gpus.iter_mut().filter(|gpu| gpu.uuid == known.uuid) {
            gpu.index = Some(known.index);
        }
    }
    gpus
}

/// Notes what it says of how well they are.
pub(crate) async fn note(shared: &Shared, name: &NodeName, samples: &[GpuSample]) {
    let signs: Vec<GpuSigns> = samples.iter().filter_map(signs).collect();
    if signs.is_empty() {
        return;
    }
    let at = now();
    if let Err(error) =
        health::change(&shared.store, &shared.live, &shared.jobs, &shared.nodes, name, |known| {
            known.measured(&signs, at)
        })
        .await
    {
        tracing::error!(node = %name, %error, "how well its GPUs are cannot be stored");
    }
}

fn signs(sample: &GpuSample) -> Option<GpuSigns> {
    let whole = |value: Option<f32>| value.map(|value| value.max(0.0).round() as u32);
    Some(GpuSigns {
        index: sample.index?,
        xid: whole(sample.xid),
        errors: whole(sample.ecc_errors).map(u64::from),
        degrees: whole(sample.temperature),
        throttle: whole(sample.throttle),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_says_how_well_a_gpu_is_once_it_is_known_which() {
        let sample = GpuSample { xid: Some(79.0), ecc_errors: Some(2.0), ..GpuSample::default() };
        assert_eq!(signs(&sample), None);
        let known = GpuSample { index: Some(3), temperature: Some(61.5), ..sample };
        let expected = GpuSigns {
            index: 3,
            xid: Some(79),
            errors: Some(2),
            degrees: Some(62),
            throttle: None,
        };
        assert_eq!(signs(&known), Some(expected));
    }
}
