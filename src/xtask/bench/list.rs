//! One page of the list of 100 000 jobs, as a client on the same machine sees it: the server's time
//! and the transfer over the loopback.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::berth::Berth;
use super::{Measured, median, throughput};

const JOBS: u32 = 100_000;

/// Requests whose median counts.
const REQUESTS: usize = 50;

/// The pages measured: the newest jobs, some from the middle, a filtered one.
const PAGES: [(&str, &str); 3] = [
    ("list", "limit=20"),
    ("list_middle", "limit=20&offset=50000"),
    ("list_filtered", "limit=20&state=SUCCEEDED&keyword=job-777"),
];

pub(super) fn measure(binary: &Path) -> Result<Vec<Measured>> {
    let berth = Berth::start(binary, throughput::NODES)?;
    throughput::run_jobs(&berth, JOBS)?;
    PAGES.into_iter().map(|(name, query)| page(&berth, name, query)).collect()
}

fn page(berth: &Berth, name: &'static str, query: &str) -> Result<Measured> {
    let path = format!("/api/v2/jobs?withTotalCount=true&{query}");
    let mut took = Vec::with_capacity(REQUESTS);
    for _ in 0..REQUESTS {
        let begun = Instant::now();
        let answer = berth.get(&path)?;
        took.push(begun.elapsed().as_secs_f64() * 1e3);
        let jobs = answer["data"].as_array().context("the list has no data")?.len();
        if jobs != 20 {
            bail!("{path} gave {jobs} jobs");
        }
    }
    Ok(Measured { name, value: median(took), unit: "ms" })
}
