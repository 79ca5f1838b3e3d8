//! Resident memory of a server that has served a page and now has nothing to do.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use super::berth::Berth;
use super::{Measured, throughput};

/// What is left of the start has been given back by then.
const SETTLING: Duration = Duration::from_secs(10);

pub(super) fn measure(binary: &Path) -> Result<Vec<Measured>> {
    let berth = Berth::start(binary, throughput::NODES)?;
    berth.agent().get(berth.url("/sign-in")).call()?.body_mut().read_to_vec()?;
    thread::sleep(SETTLING);
    let status = fs::read_to_string(format!("/proc/{}/status", berth.process_id()))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    let kilobytes: f64 = kilobytes.context("the kernel tells no VmRSS")?.parse()?;
    Ok(vec![Measured { name: "idle_memory", value: kilobytes / 1024.0, unit: "MiB" }])
}
