use super::container::Kept;
use crate::Stats;

/// One round of a training, in seconds.
const ROUND: f64 = 120.0;
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
