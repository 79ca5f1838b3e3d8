//! What many nodes cost: simulated ones of eight GPUs each, that only are there, then with jobs that
//! come at a steady rate, with people who look at the nodes, and with nodes that are drained.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::berth::{Berth, small_job};
use super::figures::part;
use super::first_page::{fetch, sign_in};

/// Nodes of each measurement.
const COUNTS: [u32; 2] = [1_000, 10_000];
/// All nodes answer by then, or something is wrong.
const PATIENCE: Duration = Duration::from_secs(300);
/// What is left of the start has been given back by then.
const SETTLING: Duration = Duration::from_secs(10);
/// So long it is measured what the server does when nothing happens.
const IDLE: Duration = Duration::from_secs(30);
/// Submissions a second, whether those before have been answered or not, and how many.
const RATE: u32 = 200;
const SUBMISSIONS: u32 = 4_000;
/// Clients that submit at the same time.
const CLIENTS: u32 = 16;
/// Looks at a page of the table of nodes, at a job, and at the newest jobs.
const LOOKS: u32 = 100;
/// Nodes that are drained, one after the other.
const FLAPS: u32 = 20;

/// A page of the table of nodes, and as little of them as is ever sent.
const TABLE: &str = "/fn/nodes/map?query%5Bface%5D=table&query%5Blimit%5D=40";
const LEAST: &str = "/fn/nodes/map?query%5Blimit%5D=1";

/// Measures and prints `name value unit` lines.
pub(super) fn run(binary: &Path) -> Result<()> {
    COUNTS.into_iter().try_for_each(|count| measure(binary, count))
}

fn measure(binary: &Path, count: u32) -> Result<()> {
    let say = |what: &str, value: f64, unit: &str| {
        println!("nodes_{count}_{what} {value:.1} {unit}");
    };
    let begun = Instant::now();
    let berth = Berth::start(binary, &nodes(count))?;
    let cookie = sign_in(&berth)?;
    until_all_answer(&berth, &cookie, count)?;
    say("ready", begun.elapsed().as_secs_f64(), "s");
    thread::sleep(SETTLING);
    say("memory", berth.memory("VmRSS")?, "MiB");
    let (idle, before) = (Instant::now(), berth.processor_seconds()?);
    thread::sleep(IDLE);
    let used = berth.processor_seconds()? - before;
    say("idle_cpu", used * 100.0 / idle.elapsed().as_secs_f64(), "% of a core");
    let mut times = submissions(&berth)?;
    say("submit_p50", part(&mut times, 50), "ms");
    say("submit_p99", part(&mut times, 99), "ms");
    let look = |_number| timed(|| fetch(&berth, TABLE, &cookie, "identity").map(drop));
    let mut times = (0..LOOKS).map(look).collect::<Result<Vec<_>>>()?;
    say("table_p50", part(&mut times, 50), "ms");
    say("table_p99", part(&mut times, 99), "ms");
    say("job_p99", late(&berth, "/api/v2/jobs/admin~job-0")?, "ms");
    say("list_p99", late(&berth, "/api/v2/jobs?limit=20")?, "ms");
    let mut times = (1..=FLAPS).map(|number| flap(&berth, number)).collect::<Result<Vec<_>>>()?;
    say("flap_p50", part(&mut times, 50), "ms");
    say("flap_max", part(&mut times, 100), "ms");
    say("memory_peak", berth.memory("VmHWM")?, "MiB");
    Ok(())
}

pub(super) fn nodes(count: u32) -> String {
    let mut text = String::new();
    for number in 1..=count {
        let (second, third, fourth) = (number / 62_500, number / 250 % 250, number % 250 + 1);
        // Writing to a text never fails.
        let _written = write!(
            text,
            "[[nodes]]\nname = \"sim-{number}\"\naddress = \"10.{second}.{third}.{fourth}\"\n\
             endpoint = \"sim://sim-{number}\"\ncpus = 64\nmemory_mb = 524288\ndisk_gb = 1000\n\
             gpus = [{{ type = \"A100\", count = 8 }}]\n"
        );
    }
    text
}

/// Until all nodes have answered: then all of them have free GPUs.
pub(super) fn until_all_answer(berth: &Berth, cookie: &str, count: u32) -> Result<()> {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let answer = fetch(berth, LEAST, cookie, "identity")?;
        let answer: Value = serde_json::from_slice(&answer)?;
        if answer["counts"]["free"] == json!(count) {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(250));
    }
    bail!("after {} s not all of {count} nodes have answered", PATIENCE.as_secs())
}

/// How long each submission took from the moment at which it was due, in milliseconds.
pub(super) fn submissions(berth: &Berth) -> Result<Vec<f64>> {
    let (begun, next, times) = (Instant::now(), AtomicU32::new(0), Mutex::new(Vec::new()));
    let submit = || -> Result<()> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= SUBMISSIONS {
                return Ok(());
            }
            let due = begun + Duration::from_secs(1) / RATE * number;
            thread::sleep(due.saturating_duration_since(Instant::now()));
            berth.submit(&small_job(&format!("job-{number}"), "any:latest", "true"))?;
            let took = due.elapsed().as_secs_f64() * 1e3;
            times.lock().unwrap_or_else(PoisonError::into_inner).push(took);
        }
    };
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(submit)).collect();
        clients
            .into_iter()
            .try_for_each(|client| client.join().ok().context("a client ended early")?)
    })?;
    Ok(times.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// What 99 of 100 looks take at most, in milliseconds.
pub(super) fn late(berth: &Berth, path: &str) -> Result<f64> {
    let look = |_number| timed(|| berth.get(path).map(drop));
    let mut times = (0..LOOKS).map(look).collect::<Result<Vec<_>>>()?;
    Ok(part(&mut times, 99))
}

/// Drains a node and lets it go again: how long it takes, with a job that comes just then, until that
/// has ended.
fn flap(berth: &Berth, number: u32) -> Result<f64> {
    let (drain, job) = (format!("/api/v2/nodes/sim-{number}/drain"), format!("flap-{number}"));
    timed(|| {
        berth.put(&drain, &json!({"value": true}))?;
        berth.submit(&small_job(&job, "any:latest", "true"))?;
        berth.put(&drain, &json!({"value": false}))?;
        until_succeeded(berth, &job)
    })
}

fn until_succeeded(berth: &Berth, job: &str) -> Result<()> {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let answer = berth.get(&format!("/api/v2/jobs/admin~{job}"))?;
        if answer["jobStatus"]["state"] == "SUCCEEDED" {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(2));
    }
    bail!("{job} does not end")
}

/// How long something takes, in milliseconds.
pub(super) fn timed(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let begun = Instant::now();
    work()?;
    Ok(begun.elapsed().as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_node_has_an_address_of_its_own() {
        let text = nodes(10_000);
        let addresses = text.lines().filter(|line| line.starts_with("address"));
        assert_eq!(addresses.collect::<BTreeSet<_>>().len(), 10_000);
        assert_eq!(text.matches("count = 8").count(), 10_000);
    }
}
