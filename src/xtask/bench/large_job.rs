//! A job of 5 000 tasks on 1 000 simulated nodes, and then 5 000 jobs at once: what their launch takes of the
//! server's memory, and how long others wait for an answer meanwhile.

use std::fmt::Write as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::json;

use super::berth::Berth;
use super::figures::{Measured, part};
use super::postgres::{Kind, Postgres};
use super::throughput;

const NODES: u32 = 1_000;
const TASKS: u32 = 5_000;
const JOBS: u32 = 5_000;
const COMMAND: &str = "sleep 1000000";

/// All tasks run by then, or something is wrong.
const PATIENCE: Duration = Duration::from_secs(900);

/// Between two questions of somebody else.
const BETWEEN: Duration = Duration::from_millis(50);

/// So often it is looked whether all run.
const LOOK: Duration = Duration::from_secs(2);

pub(super) fn measure(binary: &Path, database: Kind) -> Result<Vec<Measured>> {
    let postgres = database.start()?;
    let settings = postgres.as_ref().map(Postgres::settings).unwrap_or_default();
    let berth = Berth::start(binary, &(nodes()? + &settings))?;
    let begun = Instant::now();
    berth.submit(&json!({
        "jobName": "large",
        "image": "any:latest",
        "taskRoles": [{
            "name": "worker", "taskNumber": TASKS, "cpuNumber": 1, "memoryMB": 256,
            "gpuNumber": 0, "command": COMMAND,
        }],
    }))?;
    let one = until(&berth, || all_run(&berth))?;
    let started = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let many = thread::scope(|scope| {
        let submitting = scope.spawn(|| throughput::submit_all(&berth, JOBS, COMMAND));
        // The large one runs as well.
        let late = until(&berth, || Ok(berth.count("RUNNING")? > u64::from(JOBS)))?;
        submitting.join().ok().context("who submits ended early")??;
        anyhow::Ok(late)
    })?;
    let all_started = begun.elapsed().as_secs_f64();
    Ok(vec![
        Measured { name: "large_job_memory", value: berth.memory("VmHWM")?, unit: "MiB" },
        Measured { name: "large_job_list_p99", value: one, unit: "ms" },
        Measured { name: "large_job_started", value: started, unit: "s" },
        Measured { name: "many_jobs_list_p99", value: many, unit: "ms" },
        Measured { name: "many_jobs_started", value: all_started, unit: "s" },
    ])
}

/// Waits until it is so, and asks meanwhile as somebody else would: says how long 99 of 100 answers take at
/// most, in milliseconds.
fn until(berth: &Berth, is_so: impl Fn() -> Result<bool>) -> Result<f64> {
    let (begun, mut answers, mut looked) = (Instant::now(), Vec::new(), Instant::now());
    loop {
        let asked = Instant::now();
        berth.text("/api/v2/jobs?limit=20")?.context("there is no list")?;
        answers.push(asked.elapsed().as_secs_f64() * 1e3);
        if looked.elapsed() > LOOK {
            if is_so()? {
                return Ok(part(&mut answers, 99));
            }
            looked = Instant::now();
        }
        if begun.elapsed() > PATIENCE {
            bail!("after {} s not all tasks run", PATIENCE.as_secs());
        }
        thread::sleep(BETWEEN);
    }
}

fn nodes() -> Result<String> {
    let mut text = String::new();
    for number in 1..=NODES {
        let (high, low) = (number / 250, number % 250 + 1);
        write!(
            text,
            "[[nodes]]\nname = \"sim-{number}\"\naddress = \"10.0.{high}.{low}\"\n\
             endpoint = \"sim://sim-{number}?cpus=16&memory_mb=65536&disk_gb=1000\"\n\n"
        )?;
    }
    Ok(text)
}

fn all_run(berth: &Berth) -> Result<bool> {
    let detail = berth.get("/api/v2/jobs/admin~large")?.to_string();
    Ok(detail.matches("\"taskState\":\"RUNNING\"").count() >= TASKS as usize)
}
