use protocol::ids::JobId;

use super::container::Kept;
use crate::Stats;
use crate::exporter::GpuSample;

/// One round of a training, in seconds.
const ROUND: f64 = 120.0;
/// Of so many jobs one leaves its GPUs alone.
const IDLE: i64 = 11;
/// Bytes in a second.
const RECEIVED: f64 = 6_000_000.0;
const SENT: f64 = 900_000.0;
const READ: f64 = 45_000_000.0;
const WRITTEN: f64 = 3_000_000.0;

/// What a container uses that has run for so many milliseconds: its load swings, its memory fills in
/// its first minutes, and what it has sent and written only grows.
pub(super) fn of(kept: &Kept, ran_ms: i64) -> Stats {
    let ran = ran_ms.max(0) as f64 / 1000.0;
    let swing = (ran / ROUND * std::f64::consts::TAU).sin();
    let filled = 1.0 - (-(ran + 30.0) / 120.0).exp();
    let memory = (kept.memory_mb << 20) as f64;
    Stats {
        cpus: f64::from(kept.cpus) * (0.7 + 0.2 * swing),
        memory_bytes: (memory * 0.6 * filled) as u64,
        network_in: (ran * RECEIVED) as u64,
        network_out: (ran * SENT) as u64,
        disk_read: (ran * READ) as u64,
        disk_written: (ran * WRITTEN) as u64,
    }
}

/// How much memory GPUs have, in MiB.
pub(super) const MEMORY_MB: u64 = 81_920;

/// What a GPU does whose task has run for so many milliseconds: its load swings with the task's.
pub(super) fn of_gpu(index: u32, job: JobId, ran_ms: i64) -> GpuSample {
    let ran = ran_ms.max(0) as f64 / 1000.0;
    let swing = (ran / ROUND * std::f64::consts::TAU + f64::from(index)).sin();
    let idle = job.0.rem_euclid(IDLE) == IDLE - 1;
    let (load, filled) = if idle { (0.0, 0.01) } else { (85.0 + 12.0 * swing, 0.74) };
    let memory = (MEMORY_MB << 20) as f64;
    GpuSample {
        index: Some(index),
        uuid: None,
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
            let sample = of_gpu(3, JobId(5), ran);
            let load = sample.load.unwrap();
            assert!((70.0..100.0).contains(&load), "{load}");
            assert!(sample.memory < sample.all_memory);
            assert_eq!(of_gpu(3, JobId(21), ran).load, Some(0.0));
        }
    }
}
