//! What it costs to measure what runs: 1 000 simulated nodes of eight GPUs, each of which is held by a task
//! that only sleeps. Their histories grow for as long as they are looked at; memory should not.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::json;

use super::Measured;
use super::berth::Berth;
use super::nodes::{nodes, processor_seconds};

const NODES: u32 = 1_000;
/// Jobs, and tasks of each: together one for each GPU.
const JOBS: u32 = 20;
const TASKS: u32 = 400;
/// All run by then, or something is wrong.
const PATIENCE: Duration = Duration::from_secs(900);
/// What was measured is kept every five minutes: twice that goes by.
const LOOKED_AT: Duration = Duration::from_secs(600);

pub(super) fn measure(binary: &Path) -> Result<Vec<Measured>> {
    let berth = Berth::start(binary, &nodes(NODES))?;
    for number in 0..JOBS {
        berth.submit(&json!({
            "jobName": format!("held-{number}"),
            "image": "any:latest",
            "taskRoles": [{
                "name": "worker", "taskNumber": TASKS, "cpuNumber": 1, "memoryMB": 256,
                "gpuNumber": 1, "command": "sleep 1000000",
            }],
        }))?;
    }
    let begun = Instant::now();
    while berth.count("RUNNING")? < u64::from(JOBS) {
        if begun.elapsed() > PATIENCE {
            bail!("after {} s not all jobs run", PATIENCE.as_secs());
        }
        thread::sleep(Duration::from_secs(1));
    }
    let memory = berth.memory("VmRSS")?;
    let (looked, before) = (Instant::now(), processor_seconds(&berth)?);
    thread::sleep(LOOKED_AT);
    let used = processor_seconds(&berth)? - before;
    let cpu = used * 100.0 / looked.elapsed().as_secs_f64();
    let more = berth.memory("VmRSS")? - memory;
    Ok(vec![
        Measured { name: "measuring_cpu", value: cpu, unit: "% of a core" },
        Measured { name: "measuring_memory", value: more, unit: "MiB more" },
    ])
}
