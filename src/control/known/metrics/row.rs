//! What is measured at one moment, in the order in which it is kept.

use api::metrics::Metric;
use engine::Stats;
use engine::exporter::GpuSample;
use protocol::time::Timestamp;

/// What containers use, in the order of [`Metric::OF_TASK`].
pub(crate) type Use = [Option<f32>; Metric::OF_TASK.len()];

/// That, and after it what each of these GPUs does, as far as it was told.
pub(super) fn of_node(
    uses: Use,
    gpus: &[u32],
    told: &[GpuSample],
) -> impl Iterator<Item = Option<f32>> {
    let nothing = [None; Metric::OF_GPU.len()];
    let of_index = move |index: &u32| told.iter().find(|sample| sample.index == Some(*index));
    let of_gpus = gpus.iter().flat_map(move |index| of_index(index).map_or(nothing, of_gpu));
    uses.into_iter().chain(of_gpus)
}

/// What several use together.
pub(crate) fn together(all: &[Use]) -> Use {
    let mut sum: Use = [None; Metric::OF_TASK.len()];
    for uses in all {
        for (sum, value) in sum.iter_mut().zip(uses) {
            *sum = value.map_or(*sum, |value| Some(sum.unwrap_or(0.0) + value));
        }
    }
    sum
}

/// In the order of [`Metric::OF_TASK`]. What is counted says how much it was in a second once it was
/// read twice.
pub(super) fn of_task(stats: &Stats, at: Timestamp, last: Option<(Timestamp, Stats)>) -> Use {
    let rate = |count: fn(&Stats) -> u64| {
        let (then, before) = last?;
        let span = at.since(then);
        let more = count(stats).checked_sub(count(&before))?;
        (span > 0).then(|| (more as f64 * 1000.0 / span as f64) as f32)
    };
    [
        Some(stats.cpus as f32),
        Some(stats.memory_bytes as f32),
        rate(|stats| stats.network_in),
        rate(|stats| stats.network_out),
        rate(|stats| stats.disk_read),
        rate(|stats| stats.disk_written),
    ]
}

/// In the order of [`Metric::OF_GPU`].
fn of_gpu(sample: &GpuSample) -> [Option<f32>; Metric::OF_GPU.len()] {
    let GpuSample { load, memory, power, temperature, clock, ecc_errors, xid, .. } = *sample;
    [load, memory, power, temperature, clock, ecc_errors, xid]
}
