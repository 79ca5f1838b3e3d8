//! What it costs to measure what runs: 1 000 simulated nodes of eight GPUs, each of which is held by a task that
//! only sleeps, once with nothing measured and once as always. What the second has more of is what measuring
//! costs: less than a tenth of a core, less than 128 MB, and no more than a twentieth of the jobs a second.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::json;

use super::berth::Berth;
use super::figures::{Measured, median};
use super::nodes::nodes;
use super::throughput::rate_of_named;

const NODES: u32 = 1_000;
/// Jobs, and tasks of each: together one for each GPU.
const JOBS: u32 = 20;
const TASKS: u32 = 400;
/// All run by then, or something is wrong.
const PATIENCE: Duration = Duration::from_secs(120);
/// Each task is measured some times in it.
const LOOKED_AT: Duration = Duration::from_secs(60);
/// Short jobs beside those that hold the GPUs, and how often so many.
const BESIDE: u32 = 2_000;
const TIMES: usize = 3;
/// What tells the server to measure nothing.
const UNMEASURED: &str = "[metrics]\ntasks = false\n";

/// What a server takes that has all those tasks.
struct Cost {
    /// Of a core, in percent.
    cpu: f64,
    /// MiB.
    memory: f64,
    /// Jobs a second beside them.
    rate: f64,
}

pub(super) fn measure(binary: &Path) -> Result<Vec<Measured>> {
    let without = cost(binary, &(nodes(NODES) + UNMEASURED))?;
    let with = cost(binary, &nodes(NODES))?;
    let slower = (1.0 - with.rate / without.rate) * 100.0;
    Ok(vec![
        Measured { name: "measuring_cpu", value: with.cpu - without.cpu, unit: "% of a core" },
        Measured { name: "measuring_memory", value: with.memory - without.memory, unit: "MiB" },
        Measured { name: "measuring_throughput", value: with.rate, unit: "jobs/s" },
        Measured { name: "measuring_throughput_without", value: without.rate, unit: "jobs/s" },
        Measured { name: "measuring_throughput_lost", value: slower, unit: "%" },
    ])
}

fn cost(binary: &Path, settings: &str) -> Result<Cost> {
    let berth = Berth::start(binary, settings)?;
    hold_all(&berth)?;
    let (looked, before) = (Instant::now(), berth.processor_seconds()?);
    thread::sleep(LOOKED_AT);
    let used = berth.processor_seconds()? - before;
    let cpu = used * 100.0 / looked.elapsed().as_secs_f64();
    let memory = berth.memory("VmRSS")?;
    let rates = (0..TIMES).map(|time| rate_of_named(&berth, &format!("short-{time}"), BESIDE));
    let rate = median(rates.collect::<Result<Vec<_>>>()?);
    Ok(Cost { cpu, memory, rate })
}

/// Gives each GPU a task, and waits until all of them run.
fn hold_all(berth: &Berth) -> Result<()> {
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
    Ok(())
}
