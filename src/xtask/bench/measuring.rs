//! What it costs to measure what runs: 1 000 simulated nodes of eight GPUs each, all held by tasks that only sleep,
//! on a server that measures nothing and on one that measures as always. What the second has more of is what measuring
//! costs: less than a tenth of a core, less than 128 MB, and no more than a twentieth of the jobs a second. Both
//! stand side by side, and one is frozen while the other is looked at: by turns, so that what else goes on on this machine is as
//! much in the way of the one as of the other.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::berth::Berth;
use super::figures::{Measured, Missed, median};
use super::nodes::nodes;
use super::throughput::rate_of_named;

const NODES: u32 = 1_000;
/// Jobs, and tasks of each: together one for each GPU.
const JOBS: u32 = 20;
const TASKS: u32 = 400;
/// All run by then, or something is wrong.
const PATIENCE: Duration = Duration::from_secs(120);
/// Turns of each server.
const TURNS: u32 = 3;
/// Whoever was frozen catches up within so long.
const THAW: Duration = Duration::from_secs(15);
/// Each task is measured some times in one turn, and in all of them some are written to their files.
const LOOKED_AT: Duration = Duration::from_secs(40);
/// Short jobs beside those that hold the GPUs.
const BESIDE: u32 = 2_000;
/// What tells a server to measure nothing.
const UNMEASURED: &str = "[metrics]\ntasks = false\n";
/// What measuring may cost: percents of a core, MB, and percents of the jobs a second.
const MOST_CPU: f64 = 10.0;
const MOST_MEMORY: f64 = 128.0;
const MOST_LOST: f64 = 5.0;
/// Bytes of a MiB in MB.
const MB: f64 = 1.048_576;

/// A server that has all those tasks, and what was seen of it in each of its turns.
struct Watched {
    berth: Berth,
    /// Of a core, in percent.
    cpu: Vec<f64>,
    /// Jobs a second beside them.
    rates: Vec<f64>,
}

/// Measures and prints each figure, beside its limit where it has one.
pub(super) fn run(binary: &Path, missed: &mut Missed) -> Result<()> {
    let mut without = Watched::start(binary, &(nodes(NODES) + UNMEASURED))?;
    let mut with = Watched::start(binary, &nodes(NODES))?;
    for turn in 0..TURNS {
        without.turn(turn)?;
        with.turn(turn)?;
    }
    let (plain, measured) = (without.cost()?, with.cost()?);
    let figures = |name, value, unit| Measured { name, value, unit };
    let cpu = figures("measuring_cpu", measured.cpu - plain.cpu, "% of a core");
    missed.at_most(&cpu, MOST_CPU);
    let memory = figures("measuring_memory", measured.memory - plain.memory, "MB");
    missed.at_most(&memory, MOST_MEMORY);
    figures("measuring_throughput", measured.rate, "jobs/s").print();
    figures("measuring_throughput_without", plain.rate, "jobs/s").print();
    let lost = figures("measuring_throughput_lost", lost(plain.rate, measured.rate), "%");
    missed.at_most(&lost, MOST_LOST);
    if is_measured(&without.berth)? || !is_measured(&with.berth)? {
        bail!("the one server is to measure nothing and the other one its tasks and their GPUs");
    }
    Ok(())
}

/// What a server takes, in the middle of its turns.
struct Cost {
    /// Of a core, in percent.
    cpu: f64,
    /// MB.
    memory: f64,
    /// Jobs a second.
    rate: f64,
}

impl Watched {
    /// One that is frozen as soon as all its tasks run.
    fn start(binary: &Path, settings: &str) -> Result<Self> {
        let berth = Berth::start(binary, settings)?;
        hold_all(&berth)?;
        berth.signal("STOP")?;
        Ok(Self { berth, cpu: Vec::new(), rates: Vec::new() })
    }

    /// Thaws it, looks at it for a while, lets jobs come and go, and freezes it again.
    fn turn(&mut self, turn: u32) -> Result<()> {
        self.berth.signal("CONT")?;
        thread::sleep(THAW);
        let (looked, before) = (Instant::now(), self.berth.processor_seconds()?);
        thread::sleep(LOOKED_AT);
        let used = self.berth.processor_seconds()? - before;
        self.cpu.push(used * 100.0 / looked.elapsed().as_secs_f64());
        self.rates.push(rate_of_named(&self.berth, &format!("short-{turn}"), BESIDE)?);
        self.berth.signal("STOP")
    }

    /// It goes on from here.
    fn cost(&mut self) -> Result<Cost> {
        self.berth.signal("CONT")?;
        let memory = self.berth.memory("VmRSS")? * MB;
        let (cpu, rate) = (median(self.cpu.clone()), median(self.rates.clone()));
        Ok(Cost { cpu, memory, rate })
    }
}

/// How much slower the one is than the other, in percent.
fn lost(without: f64, with: f64) -> f64 {
    (1.0 - with / without) * 100.0
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

/// Whether it has measured a task that holds a GPU, and what that GPU does.
fn is_measured(berth: &Berth) -> Result<bool> {
    Ok(has_both(&berth.get("/api/v2/jobs/admin~held-0/metrics")?))
}

fn has_both(metrics: &Value) -> bool {
    let task = &metrics["tasks"][0];
    let any = |series: &Value| series.as_array().is_some_and(|series| !series.is_empty());
    any(&task["series"]) && any(&task["gpus"][0]["series"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_gpu_has_a_task() {
        assert_eq!(nodes(NODES).matches("count = 8").count(), NODES as usize);
        assert_eq!(JOBS * TASKS, NODES * 8);
    }

    #[test]
    fn what_is_lost_is_a_part_of_what_there_was_without() {
        assert!((lost(600.0, 570.0) - MOST_LOST).abs() < 1e-9);
        assert!(lost(600.0, 630.0) < 0.0, "chance may be on its side");
    }

    #[test]
    fn a_task_is_measured_when_its_gpu_is_too() {
        let seen = |series: Value, gpu: Value| {
            has_both(&json!({ "tasks": [{ "series": series, "gpus": [{ "series": gpu }] }] }))
        };
        let some = json!([{ "metric": "cpus", "values": [1.0] }]);
        assert!(seen(some.clone(), some.clone()));
        assert!(!seen(some.clone(), json!([])) && !seen(json!([]), some));
        assert!(!has_both(&json!({ "tasks": [] })));
    }
}
