//! How long a place that becomes free stays free while 100 000 jobs wait, as a client sees it.

use std::collections::VecDeque;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::json;

use super::berth::{Berth, small_job};
use super::figures::{Measured, median};
use super::throughput;

/// Jobs that wait.
const WAITING: u32 = 100_000;

/// Jobs that run.
const PLACES: u32 = 8;

/// Places that become free, one after the other.
const TURNS: u32 = 30;

/// A job that goes on until it is stopped.
const COMMAND: &str = "sleep 1000000";

const NODES: &str = r#"
[[nodes]]
name = "sim-1"
address = "10.0.0.1"
endpoint = "sim://sim-1?cpus=8&memory_mb=65536&disk_gb=1000"
"#;

pub(super) fn measure(binary: &Path) -> Result<Vec<Measured>> {
    let berth = Berth::start(binary, NODES)?;
    // One after the other, so that it is known who comes next.
    let name = |number: u32| format!("next-{number}");
    for number in 0..PLACES + TURNS {
        berth.submit(&small_job(&name(number), "any:latest", COMMAND))?;
    }
    throughput::submit_all(&berth, WAITING, COMMAND)?;
    let mut running: VecDeque<String> = (0..PLACES).map(name).collect();
    for job in &running {
        until_running(&berth, job)?;
    }
    let mut turns = Vec::new();
    for number in PLACES..PLACES + TURNS {
        let (ends, next) = (running.pop_front().context("nothing runs")?, name(number));
        // What came before is over.
        thread::sleep(Duration::from_millis(500));
        let begun = Instant::now();
        berth
            .put(&format!("/api/v2/jobs/admin~{ends}/executionType"), &json!({"value": "STOP"}))?;
        until_running(&berth, &next)?;
        turns.push(begun.elapsed().as_secs_f64() * 1e3);
        running.push_back(next);
    }
    let begun = Instant::now();
    berth.submit(&small_job("one-more", "any:latest", COMMAND))?;
    let submitted = begun.elapsed().as_secs_f64() * 1e3;
    Ok(vec![
        Measured { name: "backlog_turn", value: median(turns), unit: "ms" },
        Measured { name: "backlog_submit", value: submitted, unit: "ms" },
    ])
}

fn until_running(berth: &Berth, job: &str) -> Result<()> {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(120) {
        let answer = berth.get(&format!("/api/v2/jobs/admin~{job}"))?;
        if answer["jobStatus"]["state"] == "RUNNING" {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(2));
    }
    bail!("{job} does not run")
}
