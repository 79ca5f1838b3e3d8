//! Resident memory of a server that has served a page and now has nothing to do.

use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::Result;

use super::berth::Berth;
use super::figures::Measured;
use super::throughput;

/// What is left of the start has been given back by then.
const SETTLING: Duration = Duration::from_secs(10);

pub(super) fn measure(binary: &Path) -> Result<Vec<Measured>> {
    let berth = Berth::start(binary, throughput::NODES)?;
    berth.agent().get(berth.url("/sign-in")).call()?.body_mut().read_to_vec()?;
    thread::sleep(SETTLING);
    Ok(vec![Measured { name: "idle_memory", value: berth.memory("VmRSS")?, unit: "MiB" }])
}
