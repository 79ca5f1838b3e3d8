//! What a node's exporter, its engine or its driver tells of its GPUs, and what that says of how well they are.

use std::time::Duration;

use engine::Engine;
use engine::exporter::{self, GpuSample};
use protocol::gpus::FoundGpu;
use protocol::health::GpuSigns;
use protocol::ids::NodeName;
use protocol::resources::Gpu;

use crate::known::capacity::seen_gpus;
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
    if let Some(record) = cluster.node(name) {
        let found = record.observed.as_ref().and_then(|observed| observed.gpus.as_ref());
        let found = found.map(|report| report.gpus.as_slice()).unwrap_or_default();
        let known = seen_gpus(record);
        gpus.iter_mut().for_each(|gpu| gpu.index = index(gpu, known, found));
    }
    gpus
}

/// Which of the node's GPUs it is that somebody tells of. Where both know the UUID, it says that; of an instance that
/// of its GPU, with its number. A GPU that is parted is nobody's as a whole.
fn index(told: &GpuSample, known: &[Gpu], found: &[FoundGpu]) -> Option<u32> {
    let is_of = |of: &str| told.uuid.as_deref() == Some(of);
    let parts = found.iter().filter_map(|found| Some((found.gpu.index, found.part_of.as_ref()?)));
    let mut own = parts.filter(|(_, part)| is_of(&part.uuid));
    if let Some(instance) = told.instance {
        let same = own.find(|(_, part)| part.instance == instance);
        return same.map(|(index, _)| index);
    }
    let same = known.iter().find(|known| known.uuid.as_deref().is_some_and(is_of));
    match same {
        Some(known) => Some(known.index),
        None if own.next().is_some() => None,
        None => told.index,
    }
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
    use protocol::gpus::PartOf;

    use super::*;

    #[test]
    fn parts_of_gpus_are_told_apart_and_a_parted_one_is_nobodys() {
        let found = |index, uuid: &str, part: Option<(&str, u32)>| FoundGpu {
            gpu: Gpu {
                index,
                gpu_type: "A100".parse().unwrap(),
                uuid: Some(uuid.to_owned()),
                healthy: true,
            },
            model: String::new(),
            memory_mb: 0,
            fault: None,
            part_of: part.map(|(uuid, instance)| PartOf { uuid: uuid.to_owned(), instance }),
        };
        // The first and the last GPU of the driver's three are parted: it calls the second one 1.
        let found = [
            found(0, "MIG-1", Some(("GPU-a", 7))),
            found(1, "MIG-2", Some(("GPU-a", 8))),
            found(2, "GPU-b", None),
            found(3, "MIG-3", Some(("GPU-c", 7))),
        ];
        let known: Vec<Gpu> = found.iter().map(|found| found.gpu.clone()).collect();
        let of = |uuid: &str, index, instance| {
            let uuid = Some(uuid.to_owned());
            let told = GpuSample { uuid, index, instance, ..GpuSample::default() };
            super::index(&told, &known, &found)
        };
        assert_eq!(of("GPU-a", None, Some(8)), Some(1));
        assert_eq!(of("GPU-c", None, Some(7)), Some(3));
        assert_eq!(of("GPU-c", None, Some(9)), None, "it was made since they were looked for");
        assert_eq!(of("GPU-b", Some(1), None), Some(2));
        assert_eq!(of("GPU-c", Some(2), None), None, "what is told of it is not GPU b's");
        assert_eq!(of("GPU-d", Some(4), None), Some(4), "its driver calls it otherwise");
    }

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
