//! What simulated tasks use, which follows from their job and from how long they have run.

use protocol::ids::{GpuType, JobId};

use crate::exporter::GpuSample;
use crate::model::Stats;

/// One round of a training, in seconds.
const ROUND: f64 = 120.0;
/// Of so many jobs one leaves its GPUs alone.
const IDLE: i64 = 11;
/// Of so many one is written for one GPU of two.
const HALF: i64 = 13;
/// Of so many one needs little of the cores and of the memory that it asked for: one part in so many.
const MODEST: i64 = 17;
const LITTLE: f64 = 10.0;
/// Bytes in a second.
const RECEIVED: f64 = 6_000_000.0;
const SENT: f64 = 900_000.0;
const READ: f64 = 45_000_000.0;
const WRITTEN: f64 = 3_000_000.0;

/// Whether a job is the last one of so many.
fn is_last(job: JobId, of: i64) -> bool {
    job.0.rem_euclid(of) == of - 1
}

/// What the container of a job's task uses that asked for so many cores and MiB and has run for so many
/// milliseconds: its load swings, its memory fills in its first minutes, and what it has sent and written only
/// grows.
#[must_use]
pub fn of_task(job: JobId, (cpus, memory_mb): (u32, u64), ran_ms: i64) -> Stats {
    let ran = ran_ms.max(0) as f64 / 1000.0;
    let swing = (ran / ROUND * std::f64::consts::TAU).sin();
    let filled = 1.0 - (-(ran + 30.0) / 120.0).exp();
    let memory = (memory_mb << 20) as f64;
    let needs = if is_last(job, MODEST) { 1.0 / LITTLE } else { 1.0 };
    Stats {
        cpus: f64::from(cpus) * (0.7 + 0.2 * swing) * needs,
        memory_bytes: (memory * 0.6 * filled * needs) as u64,
        network_in: (ran * RECEIVED) as u64,
        network_out: (ran * SENT) as u64,
        disk_read: (ran * READ) as u64,
        disk_written: (ran * WRITTEN) as u64,
    }
}

/// How much memory a GPU of a type has, in MiB; one of a type that is not known here has as much as many.
#[must_use]
pub fn memory_mb(gpu_type: Option<&GpuType>) -> u64 {
    match gpu_type.map(GpuType::as_str) {
        Some("TITANX") => 12_288,
        Some("V100") => 32_768,
        Some("A100-3g.40gb") => 40_960,
        Some("Ascend910B") => 65_536,
        Some("MI300X") => 196_608,
        Some(_) | None => 81_920,
    }
}

/// What a GPU with so many MiB does whose task has run for so many milliseconds: its load swings with the
/// task's.
#[must_use]
pub fn of_gpu((index, memory_mb): (u32, u64), job: JobId, ran_ms: i64) -> GpuSample {
    let ran = ran_ms.max(0) as f64 / 1000.0;
    let swing = (ran / ROUND * std::f64::consts::TAU + f64::from(index)).sin();
    let idle = is_last(job, IDLE) || is_last(job, HALF) && index % 2 == 1;
    let (load, filled) = if idle { (0.0, 0.01) } else { (85.0 + 12.0 * swing, 0.74) };
    let memory = (memory_mb << 20) as f64;
    GpuSample {
        index: Some(index),
        uuid: None,
        instance: None,
        load: Some(load as f32),
        memory: Some((memory * filled) as f32),
        all_memory: Some(memory as f32),
        power: Some((55.0 + 3.0 * load) as f32),
        temperature: Some((33.0 + 0.4 * load) as f32),
        clock: Some(if idle { 210.0 } else { 1_410.0 }),
        ecc_errors: Some(0.0),
        xid: Some(0.0),
        throttle: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_work_unless_their_job_leaves_them_alone() {
        for ran in [0, 30_000, 90_000, 10_000_000] {
            let sample = of_gpu((3, 81_920), JobId(5), ran);
            let load = sample.load.unwrap();
            assert!((70.0..100.0).contains(&load), "{load}");
            assert!(sample.memory < sample.all_memory);
            assert_eq!(of_gpu((3, 81_920), JobId(21), ran).load, Some(0.0));
            let half =
                [0, 1, 2].map(|index| of_gpu((index, 81_920), JobId(12), ran).load == Some(0.0));
            assert_eq!(half, [false, true, false]);
        }
    }

    #[test]
    fn some_need_little_of_what_they_asked_for() {
        let uses = |job| of_task(JobId(job), (8, 65_536), 3_600_000);
        let (usual, modest) = (uses(5), uses(16));
        assert!(usual.cpus > 4.0 && modest.cpus < 1.0, "{usual:?} {modest:?}");
        assert!(modest.memory_bytes * 9 < usual.memory_bytes, "{usual:?} {modest:?}");
    }
}
