//! Two jobs of 2 500 tasks each on 1 000 simulated nodes: what their launch takes of the server's
//! memory, and how long others wait for an answer meanwhile.

use std::fmt::Write as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::json;

use super::Measured;
use super::berth::Berth;

const NODES: u32 = 1_000;
const JOBS: u32 = 2;
const TASKS: u32 = 2_500;

/// All tasks run by then, or something is wrong.
const PATIENCE: Duration = Duration::from_secs(900);

/// Between two questions of somebody else.
const BETWEEN: Duration = Duration::from_millis(50);

pub(super) fn measure(binary: &Path) -> Result<Vec<Measured>> {
    let berth = Berth::start(binary, &nodes()?)?;
    let begun = Instant::now();
    let names: Vec<_> = (0..JOBS).map(|number| format!("large-{number}")).collect();
    for name in &names {
        berth.submit(&json!({
            "jobName": name,
            "image": "any:latest",
            "taskRoles": [{
                "name": "worker", "taskNumber": TASKS, "cpuNumber": 1, "memoryMB": 256,
                "gpuNumber": 0, "command": "sleep 1000000",
            }],
        }))?;
    }
    let (mut answers, mut looked) = (Vec::new(), Instant::now());
    loop {
        let asked = Instant::now();
        berth.get("/api/v2/jobs?limit=20")?;
        answers.push(asked.elapsed().as_secs_f64() * 1e3);
        if looked.elapsed() > Duration::from_secs(2) {
            if all_run(&berth, &names)? {
                break;
            }
            looked = Instant::now();
        }
        if begun.elapsed() > PATIENCE {
            bail!("after {} s not all tasks run", PATIENCE.as_secs());
        }
        thread::sleep(BETWEEN);
    }
    let started = begun.elapsed().as_secs_f64();
    answers.sort_by(f64::total_cmp);
    let late = answers.get(answers.len() * 99 / 100).or(answers.last());
    Ok(vec![
        Measured { name: "large_job_memory", value: berth.memory("VmHWM")?, unit: "MiB" },
        Measured { name: "large_job_list_p99", value: *late.context("no answer")?, unit: "ms" },
        Measured { name: "large_job_started", value: started, unit: "s" },
    ])
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

fn all_run(berth: &Berth, names: &[String]) -> Result<bool> {
    for name in names {
        let detail = berth.get(&format!("/api/v2/jobs/admin~{name}"))?.to_string();
        if detail.matches("\"taskState\":\"RUNNING\"").count() < TASKS as usize {
            return Ok(false);
        }
    }
    Ok(true)
}
