//! Jobs a second from submission by REST to SUCCEEDED, durably stored, on simulated nodes: with nothing else,
//! and beside many that run; what a job takes of processors; and what a bare loop over the same rows comes to.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::berth::{Berth, small_job};
use super::figures::Measured;
use super::floor;
use super::postgres::{Kind, Postgres};

/// Jobs of the measurement.
const JOBS: u32 = 10_000;

/// Clients that submit at the same time, one job after the other: what they wait for together is stored
/// together.
const CLIENTS: u32 = 64;

/// Jobs that run meanwhile, and short ones that come and go beside them.
const RUNNING: u32 = 10_000;
const BESIDE: u32 = 5_000;

/// All of those run by then, or something is wrong.
const PATIENCE: Duration = Duration::from_secs(600);

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

/// Simulated nodes with room for those that run and those beside them.
const LARGE_NODES: &str = r#"
[[nodes]]
name = "sim-1"
address = "10.0.0.1"
endpoint = "sim://sim-1?cpus=16384&memory_mb=16777216&disk_gb=100000"
ports = "20000-59999"

[[nodes]]
name = "sim-2"
address = "10.0.0.2"
endpoint = "sim://sim-2?cpus=16384&memory_mb=16777216&disk_gb=100000"
ports = "20000-59999"
"#;

pub(super) fn measure(binary: &Path, database: Kind) -> Result<Vec<Measured>> {
    let mut measured = alone(binary, database)?;
    let rate = beside_others(binary, database)?;
    measured.push(Measured { name: "throughput_beside", value: rate, unit: "jobs/s" });
    Ok(measured)
}

fn alone(binary: &Path, database: Kind) -> Result<Vec<Measured>> {
    let postgres = database.start()?;
    let berth = start(binary, NODES, postgres.as_ref())?;
    let before = berth.processor_seconds()?;
    let rate = rate_of(&berth, JOBS)?;
    let each = (berth.processor_seconds()? - before) * 1e3 / f64::from(JOBS);
    let mut measured = vec![
        Measured { name: "throughput", value: rate, unit: "jobs/s" },
        Measured { name: "throughput_cpu", value: each, unit: "ms a job" },
    ];
    if postgres.is_none() {
        let floor = floor::measure(&berth, CLIENTS)?;
        measured.push(Measured { name: "throughput_floor", value: floor, unit: "jobs/s" });
    }
    Ok(measured)
}

fn start(binary: &Path, nodes: &str, postgres: Option<&Postgres>) -> Result<Berth> {
    let settings = postgres.map(Postgres::settings).unwrap_or_default();
    Berth::start(binary, &format!("{nodes}{settings}"))
}

/// Jobs a second while many others run.
fn beside_others(binary: &Path, database: Kind) -> Result<f64> {
    let postgres = database.start()?;
    let berth = start(binary, LARGE_NODES, postgres.as_ref())?;
    submit_each(&berth, RUNNING, |number| {
        small_job(&format!("long-{number}"), "any:latest", "sleep 1000000")
    })?;
    let begun = Instant::now();
    while berth.count("RUNNING")? < u64::from(RUNNING) {
        if begun.elapsed() > PATIENCE {
            bail!("after {} s not all of {RUNNING} jobs run", PATIENCE.as_secs());
        }
        thread::sleep(Duration::from_millis(500));
    }
    rate_of(&berth, BESIDE)
}

fn rate_of(berth: &Berth, jobs: u32) -> Result<f64> {
    rate_of_named(berth, "job", jobs)
}

/// Jobs a second, of so many whose names begin so.
pub(super) fn rate_of_named(berth: &Berth, prefix: &str, jobs: u32) -> Result<f64> {
    let begun = Instant::now();
    run_named(berth, prefix, jobs)?;
    Ok(f64::from(jobs) / begun.elapsed().as_secs_f64())
}

/// Submits so many jobs and waits until all have succeeded.
pub(super) fn run_jobs(berth: &Berth, jobs: u32) -> Result<()> {
    run_named(berth, "job", jobs)
}

fn run_named(berth: &Berth, prefix: &str, jobs: u32) -> Result<()> {
    let before = berth.count("SUCCEEDED")?;
    submit_each(berth, jobs, |number| {
        small_job(&format!("{prefix}-{number}"), "any:latest", "true")
    })?;
    let mut seen = 0;
    let mut patience = Instant::now();
    while seen < u64::from(jobs) {
        thread::sleep(Duration::from_millis(50));
        let succeeded = berth.count("SUCCEEDED")?.saturating_sub(before);
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
    submit_each(berth, jobs, |number| small_job(&format!("job-{number}"), "any:latest", command))
}

/// Submits so many jobs, several at the same time.
pub(super) fn submit_each(
    berth: &Berth,
    jobs: u32,
    job: impl Fn(u32) -> Value + Sync,
) -> Result<()> {
    let next = AtomicU32::new(0);
    let submit = || -> Result<()> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= jobs {
                return Ok(());
            }
            berth.submit(&job(number))?;
        }
    };
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(submit)).collect();
        clients
            .into_iter()
            .try_for_each(|client| client.join().ok().context("a client ended early")?)
    })
}
