//! A cluster that is full: ten thousand nodes of eight GPUs with a job on each, and a hundred thousand jobs that
//! wait. What that takes of memory, what comes to it and who looks at it waits for, and how soon all of it is
//! known again after a crash.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::berth::{Berth, small_job};
use super::figures::{Measured, part};
use super::first_page::sign_in;
use super::nodes;
use super::throughput::submit_each;

const NODES: u32 = 10_000;
/// One on each node.
const RUNNING: u32 = NODES;
const WAITING: u32 = 100_000;

/// The newest jobs: at once after all of them came, and later again and again.
const LIST: &str = "/api/v2/jobs?limit=20";

/// All nodes answer by then and all run that have room, or something is wrong.
const PATIENCE: Duration = Duration::from_secs(900);
/// So long nothing happens, before what it takes is measured.
const SETTLING: Duration = Duration::from_secs(15);
const IDLE: Duration = Duration::from_secs(30);

pub(super) fn measure(binary: &Path) -> Result<Vec<Measured>> {
    let berth = Berth::start(binary, &nodes::nodes(NODES))?;
    nodes::until_all_answer(&berth, &sign_in(&berth)?, NODES)?;
    // What the first submission sets up is for all that follow.
    berth.submit(&small_job("first", "any:latest", "true"))?;
    thread::sleep(SETTLING);
    let empty = berth.memory("VmRSS")?;
    submit_each(&berth, RUNNING, |number| whole_node(&format!("runs-{number}")))?;
    until_run(&berth)?;
    thread::sleep(SETTLING);
    let full = berth.memory("VmRSS")?;
    submit_each(&berth, WAITING, |number| whole_node(&format!("waits-{number}")))?;
    let first = nodes::timed(|| berth.get(LIST).map(drop))?;
    thread::sleep(SETTLING);
    let waiting = berth.memory("VmRSS")?;
    let (idle, before) = (Instant::now(), berth.processor_seconds()?);
    thread::sleep(IDLE);
    let used = (berth.processor_seconds()? - before) * 100.0 / idle.elapsed().as_secs_f64();
    let mut submitted = nodes::submissions(&berth)?;
    let job = nodes::late(&berth, "/api/v2/jobs/admin~runs-0")?;
    let list = nodes::late(&berth, LIST)?;
    let each = |more: f64, jobs: u32| more * 1024.0 / f64::from(jobs);
    Ok(vec![
        Measured { name: "full_running", value: each(full - empty, RUNNING), unit: "KiB a job" },
        Measured { name: "full_waiting", value: each(waiting - full, WAITING), unit: "KiB a job" },
        Measured { name: "full_memory", value: berth.memory("VmHWM")?, unit: "MiB" },
        Measured { name: "full_idle_cpu", value: used, unit: "% of a core" },
        Measured { name: "full_submit_p50", value: part(&mut submitted, 50), unit: "ms" },
        Measured { name: "full_submit_p99", value: part(&mut submitted, 99), unit: "ms" },
        Measured { name: "full_job_p99", value: job, unit: "ms" },
        Measured { name: "full_list_first", value: first, unit: "ms" },
        Measured { name: "full_list_p99", value: list, unit: "ms" },
        Measured { name: "full_restart", value: restart(&berth, binary)?, unit: "s" },
    ])
}

fn whole_node(name: &str) -> Value {
    let mut job = small_job(name, "any:latest", "sleep 1000000");
    job["taskRoles"][0]["gpuNumber"] = json!(8);
    job
}

fn until_run(berth: &Berth) -> Result<()> {
    let begun = Instant::now();
    while berth.count("RUNNING")? < u64::from(RUNNING) {
        if begun.elapsed() > PATIENCE {
            bail!("after {} s not all of {RUNNING} jobs run", PATIENCE.as_secs());
        }
        thread::sleep(Duration::from_millis(500));
    }
    Ok(())
}

/// How long it takes after a crash until the server is ready again, in seconds.
fn restart(berth: &Berth, binary: &Path) -> Result<f64> {
    berth.kill()?;
    let begun = Instant::now();
    berth.revive(binary)?;
    while !berth.is_ready() {
        if begun.elapsed() > PATIENCE {
            bail!("after {} s it is not ready again", PATIENCE.as_secs());
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok(begun.elapsed().as_secs_f64())
}
