//! What NVIDIA's program says of what a machine's GPUs do, read. Nothing here talks to an engine.

use super::read::{known, parts};
use crate::exporter::GpuSample;

/// Bytes of a MiB.
const MIB: f32 = 1_048_576.0;

/// What the helper runs: each part of the answer stands under a heading. A driver that does not know one
/// of the fields of a question answers none of them, so what not every driver knows is asked for itself.
pub(super) const SCRIPT: &str = "\
q() { echo \"== $1\"; nvidia-smi --query-gpu=index,$2 --format=csv,noheader,nounits 2>&1; }; \
q load uuid,utilization.gpu,memory.used,memory.total,power.draw,temperature.gpu,clocks.sm; \
q errors ecc.errors.uncorrected.volatile.total; \
q throttle clocks_throttle_reasons.active; \
q mig mig.mode.current";

/// The answer of the helper, by the indices of the driver. GPUs that are parted are left out: what their
/// instances do is told to nobody this way.
pub(super) fn read(answer: &str) -> Vec<GpuSample> {
    let parts = parts(answer);
    let part = |name: &str| parts.get(name).map(Vec::as_slice).unwrap_or_default();
    let mut gpus: Vec<GpuSample> = part("load").iter().copied().filter_map(gpu).collect();
    for (index, value) in pairs(part("errors")) {
        let errors = value.parse().ok();
        for gpu in gpus.iter_mut().filter(|gpu| gpu.index == Some(index)) {
            gpu.ecc_errors = errors;
        }
    }
    for (index, value) in pairs(part("throttle")) {
        let reasons = bits(value);
        for gpu in gpus.iter_mut().filter(|gpu| gpu.index == Some(index)) {
            gpu.throttle = reasons;
        }
    }
    for (index, value) in pairs(part("mig")) {
        gpus.retain(|gpu| gpu.index != Some(index) || value != "Enabled");
    }
    gpus
}

/// `0, GPU-5ae7…, 97, 40960, 81920, 388.25, 61, 1410`. What the driver cannot tell stands in brackets.
fn gpu(line: &str) -> Option<GpuSample> {
    let mut fields = line.split(',').map(str::trim);
    let index = fields.next()?.parse().ok()?;
    let uuid = known(fields.next()?)?.to_owned();
    let mut number = || fields.next().and_then(known).and_then(|field| field.parse::<f32>().ok());
    Some(GpuSample {
        index: Some(index),
        uuid: Some(uuid),
        load: number(),
        memory: number().map(|mib| mib * MIB),
        all_memory: number().map(|mib| mib * MIB),
        power: number(),
        temperature: number(),
        clock: number(),
        ..GpuSample::default()
    })
}

/// `0, 0` for each GPU of which there is something to tell.
fn pairs<'a>(lines: &'a [&'a str]) -> impl Iterator<Item = (u32, &'a str)> {
    lines.iter().filter_map(|line| {
        let (index, value) = line.split_once(',')?;
        Some((index.trim().parse().ok()?, known(value.trim())?))
    })
}

/// `0x0000000000000004`: no such number has more digits than fit.
fn bits(value: &str) -> Option<f32> {
    let digits = value.strip_prefix("0x")?;
    u64::from_str_radix(digits, 16).ok().map(|bits| bits as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two A100s, one at work and one that does nothing.
    const TWO: &str = "\
== load
0, GPU-604ac76c-d9cf-fef3-62e9-d92044ab6e52, 97, 40960, 81920, 388.25, 61, 1410
1, GPU-9c5b7f2e-1111-2222-3333-444455556666, 0, 0, 81920, 62.10, 31, 210
== errors
0, 0
1, 2
== throttle
0, 0x0000000000000004
1, 0x0000000000000001
== mig
0, Disabled
1, Disabled
";

    #[test]
    fn what_gpus_do_is_read() {
        let told = read(TWO);
        let [busy, idle] = told.as_slice() else { panic!("two are told of") };
        let expected = GpuSample {
            index: Some(0),
            uuid: Some("GPU-604ac76c-d9cf-fef3-62e9-d92044ab6e52".to_owned()),
            instance: None,
            load: Some(97.0),
            memory: Some(40_960.0 * MIB),
            all_memory: Some(81_920.0 * MIB),
            power: Some(388.25),
            temperature: Some(61.0),
            clock: Some(1_410.0),
            ecc_errors: Some(0.0),
            xid: None,
            throttle: Some(4.0),
        };
        assert_eq!(*busy, expected);
        assert_eq!((idle.index, idle.load, idle.ecc_errors), (Some(1), Some(0.0), Some(2.0)));
    }

    #[test]
    fn what_a_driver_does_not_know_is_left_out_and_the_rest_is_read() {
        let old = "\
== load
0, GPU-2e2f, 12, 300, 12288, [Not Supported], 45, 1100
== errors
0, [N/A]
== throttle
Field \"clocks_throttle_reasons.active\" is not a valid field to query.

== mig
Field \"mig.mode.current\" is not a valid field to query.
";
        let told = read(old);
        let [gpu] = told.as_slice() else { panic!("one is told of") };
        assert_eq!((gpu.load, gpu.temperature), (Some(12.0), Some(45.0)));
        assert_eq!((gpu.power, gpu.ecc_errors, gpu.throttle), (None, None, None));
    }

    #[test]
    fn parted_gpus_and_broken_ones_are_not_told_of() {
        let parted = "\
== load
0, GPU-a, [N/A], 25, 40960, 51.20, 33, 210
1, [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost], 0
2, GPU-c, 5, 25, 40960, 51.20, 33, 210
== mig
0, Enabled
2, Disabled
";
        let told = read(parted);
        assert_eq!(told.iter().map(|gpu| gpu.index).collect::<Vec<_>>(), [Some(2)]);
    }

    #[test]
    fn what_is_no_answer_tells_of_no_gpu() {
        for said in [
            "",
            "== load\n/bin/sh: 1: nvidia-smi: not found\n",
            "== load\nNVIDIA-SMI has failed because it couldn't communicate with the driver.\n",
            "== load\nUnable to determine the device handle for GPU 0000:3B:00.0: GPU is lost.\n",
        ] {
            assert_eq!(read(said), [], "{said}");
        }
    }
}
