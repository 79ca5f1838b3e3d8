//! How large the server is, again and again, and whether it stays so.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::bench::berth::Berth;
use crate::bench::figures::median;

/// What memory may grow by between the second quarter of the time and the last one: a part of it, and MiB.
const MORE_MEMORY: (f64, f64) = (1.1, 8.0);
/// Handles that may be more: connections come and go.
const MORE_HANDLES: u64 = 16;
/// How much more of the database a job may take in the end than before, in percent.
const MORE_A_JOB: u64 = 120;

/// What can be judged at all, in samples: two of each quarter.
pub(super) const LEAST: u64 = 8;

/// What may stay when all jobs are forgotten: a part of what there was, and some that was always there.
const STAYS: u64 = 4;
const STAYING_FILES: u64 = 100;

/// How large the server is at some moment.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sample {
    /// Jobs that it knows.
    pub(super) jobs: u64,
    /// Resident memory in MiB.
    pub(super) memory: f64,
    /// Open files and connections.
    pub(super) handles: u64,
    /// Bytes of the database that hold something.
    pub(super) used: u64,
    /// Bytes of the database in all.
    pub(super) size: u64,
    /// Files of users and logs.
    pub(super) files: u64,
}

impl Sample {
    pub(super) fn take(berth: &Berth) -> Result<Self> {
        let [size, free] = ["page_count", "freelist_count"].map(|pages| {
            berth.ask(&format!(
                "SELECT {pages} * page_size FROM pragma_{pages}(), pragma_page_size()"
            ))
        });
        let (size, free) = (number(&size?)?, number(&free?)?);
        Ok(Self {
            jobs: number(&berth.ask("SELECT count(*) FROM jobs")?)?,
            memory: berth.memory("VmRSS")?,
            handles: fs::read_dir(format!("/proc/{}/fd", berth.process_id()))?.count() as u64,
            used: size - free,
            size,
            files: files(&berth.folder().join("data/storage"))?,
        })
    }

    /// What is still there of what was too old.
    pub(super) fn stays_of(&self, old: &Self) -> Vec<String> {
        let mut stays = Vec::new();
        let mut judge = |what: &str, now: u64, most: u64| {
            stays.extend((now > most).then(|| format!("{now} {what} stay, more than {most}")));
        };
        judge("jobs", self.jobs, 0);
        judge("bytes of the database", self.used, old.used / STAYS);
        judge("files", self.files, old.files / STAYS + STAYING_FILES);
        stays
    }

    /// Whether the file of the database is larger than it was, though there was room in it.
    pub(super) fn outgrows(&self, old: &Self) -> Option<String> {
        let larger = self.size > old.size;
        larger.then(|| format!("the database grew from {} to {} bytes again", old.size, self.size))
    }

    pub(super) fn print(&self, name: &str) {
        let Self { jobs, memory, handles, used, size, files } = self;
        println!(
            "life_{name} {jobs} jobs {memory:.1} MiB {handles} handles {} kB used of {} kB {files} files",
            used / 1_000,
            size / 1_000
        );
    }
}

/// The only number that a query gives.
pub(super) fn number(rows: &[String]) -> Result<u64> {
    rows.first().context("the database tells no number")?.parse().context("no number")
}

/// Files of a folder and all below it. What goes meanwhile is not counted.
fn files(folder: &Path) -> Result<u64> {
    let mut count = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let entry = entry?;
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(_) => count += 1,
                Err(_) => {}
            }
        }
    }
    Ok(count)
}

/// What is not flat, from samples at equal distances; [`LEAST`] at least.
pub(super) fn growth(samples: &[Sample]) -> Vec<String> {
    let quarter = samples.len() / 4;
    let (early, late) = (&samples[quarter..2 * quarter], &samples[samples.len() - quarter..]);
    let mut grows = Vec::new();
    let memory = |of: &[Sample]| median(of.iter().map(|sample| sample.memory).collect());
    let (before, after) = (memory(early), memory(late));
    if after > before * MORE_MEMORY.0 + MORE_MEMORY.1 {
        grows.push(format!("memory grew from {before:.1} to {after:.1} MiB"));
    }
    let handles = |of: &[Sample]| of.iter().map(|sample| sample.handles).max().unwrap_or(0);
    let (before, after) = (handles(early), handles(late));
    if after > before + MORE_HANDLES {
        grows.push(format!("handles grew from {before} to {after}"));
    }
    let (before, after) = (a_job(&samples[..2 * quarter]), a_job(&samples[2 * quarter..]));
    if after * 100 > before * MORE_A_JOB {
        grows.push(format!("a job took {before} bytes of the database, and then {after}"));
    }
    grows
}

/// Bytes that the database grew by with each job.
fn a_job(samples: &[Sample]) -> u64 {
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else { return 0 };
    let bytes = last.used.saturating_sub(first.used);
    bytes.checked_div(last.jobs.saturating_sub(first.jobs)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(change: impl Fn(u64, &mut Sample)) -> Vec<String> {
        let sample = |hour: u64| {
            let mut sample = Sample {
                jobs: hour * 500,
                memory: 90.0,
                handles: 40,
                used: 1_000_000 + hour * 2_000_000,
                size: 1_000_000 + hour * 2_000_000,
                files: hour,
            };
            change(hour, &mut sample);
            sample
        };
        growth(&(0..24).map(sample).collect::<Vec<_>>())
    }

    #[test]
    fn what_stays_is_flat_and_what_grows_is_told() {
        assert_eq!(samples(|_, _| {}), Vec::<String>::new());
        let early = samples(|hour, sample| sample.memory -= if hour < 3 { 60.0 } else { 0.0 });
        assert_eq!(early, Vec::<String>::new(), "a start is not growth");
        let told =
            samples(|hour, sample| sample.memory += 3.0 * f64::from(u32::try_from(hour).unwrap()));
        assert!(told.len() == 1 && told[0].starts_with("memory"), "{told:?}");
        let told = samples(|hour, sample| sample.handles += hour * 2);
        assert!(told.len() == 1 && told[0].starts_with("handles"), "{told:?}");
        let told = samples(|hour, sample| sample.used += hour * hour * 100_000);
        assert!(told.len() == 1 && told[0].starts_with("a job"), "{told:?}");
    }

    #[test]
    fn what_is_too_old_goes_and_leaves_its_room() {
        let old = Sample { jobs: 9, memory: 90.0, handles: 40, used: 800, size: 900, files: 4_000 };
        let swept = Sample { jobs: 0, used: 100, files: 90, ..old.clone() };
        assert_eq!(swept.stays_of(&old), Vec::<String>::new());
        assert_eq!(old.stays_of(&old).len(), 3);
        assert_eq!(swept.outgrows(&old), None);
        assert!(Sample { size: 901, ..swept }.outgrows(&old).is_some());
    }
}
