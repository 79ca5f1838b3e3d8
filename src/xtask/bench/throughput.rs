//! Jobs a second from submission by REST to SUCCEEDED, durably stored, on simulated nodes.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::Measured;
use super::berth::{Berth, small_job};

/// Jobs of the measurement.
const JOBS: u32 = 10_000;

/// Clients that submit at the same time.
const CLIENTS: u32 = 8;

/// Simulated nodes whose jobs end as soon as they started.
pub(super) const NODES: &str = r#"
[[nodes]]
name = "sim-1"
address = "10.0.0.1"
endpoint = "sim://sim-1?cpus=4096&memory_mb=16777216&disk_gb=100000"
ports = "20000-59999"

[[nodes]]
name = "sim-2"
address = "10.0.0.2"
endpoint = "sim://sim-2?cpus=4096&memory_mb=16777216&disk_gb=100000"
ports = "20000-59999"
"#;

pub(super) fn measure(binary: &Path) -> Result<Vec<Measured>> {
    let berth = Berth::start(binary, NODES)?;
    let begun = Instant::now();
    run_jobs(&berth, JOBS)?;
    let rate = f64::from(JOBS) / begun.elapsed().as_secs_f64();
    Ok(vec![Measured { name: "throughput", value: rate, unit: "jobs/s" }])
}

/// Submits so many jobs and waits until all have succeeded.
pub(super) fn run_jobs(berth: &Berth, jobs: u32) -> Result<()> {
    submit_all(berth, jobs, "true")?;
    let mut seen = 0;
    let mut patience = Instant::now();
    while seen < u64::from(jobs) {
        thread::sleep(Duration::from_millis(50));
        let succeeded = berth.count("SUCCEEDED")?;
        if succeeded > seen {
            (seen, patience) = (succeeded, Instant::now());
        }
        if patience.elapsed() > Duration::from_secs(60) {
            bail!("{seen} of {jobs} jobs succeeded and for a minute no further one");
        }
    }
    Ok(())
}

/// Submits so many jobs of a command.
pub(super) fn submit_all(berth: &Berth, jobs: u32, command: &str) -> Result<()> {
    let next = AtomicU32::new(0);
    let submit = || -> Result<()> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= jobs {
                return Ok(());
            }
            berth.submit(&small_job(&format!("job-{number}"), "any:latest", command))?;
        }
    };
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(submit)).collect();
        clients
            .into_iter()
            .try_for_each(|client| client.join().ok().context("a client ended early")?)
    })
}
