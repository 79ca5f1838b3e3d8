//! Jobs of traces, and the nodes that each virtual cluster had.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use protocol::ids::{UserName, VirtualClusterName};

use crate::traces;

/// GPUs of a node.
pub(crate) const GPUS: u32 = 8;
/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// A job of a trace.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) cluster: VirtualClusterName,
    pub(crate) user: UserName,
    /// Milliseconds since the day of the first job began.
    pub(crate) submitted: i64,
    /// Milliseconds.
    pub(crate) runs: i64,
    pub(crate) gpus: u32,
}

/// By virtual cluster.
pub(crate) type Nodes = BTreeMap<VirtualClusterName, u32>;

/// Philly's form: of its jobs those of some months (all, where none is named), each as its virtual cluster's,
/// since it names no users.
pub(crate) fn philly(folder: &Path, months: &[&str]) -> Result<(Vec<Job>, Nodes), String> {
    let mut clusters = BTreeMap::new();
    for row in traces::rows(&traces::text(&folder.join("qssf_philly_vc_nodes.csv"))?) {
        clusters.insert(name(row[0])?, u32::try_from(traces::number(&row, 1)).unwrap_or(0));
    }
    let text = traces::text(&packed(folder, "philly_sia_pollux.csv"))?;
    let mut jobs = Vec::new();
    for row in traces::rows(&text) {
        let cluster = name(row[4])?;
        let month = row[0].get(5..7).unwrap_or_default();
        if !clusters.contains_key(&cluster) || !(months.is_empty() || months.contains(&month)) {
            continue;
        }
        let user = UserName::new(cluster.as_str()).map_err(|error| error.to_string())?;
        let submitted = moment(row[0]).ok_or_else(|| format!("no moment: {}", row[0]))?;
        let seconds: f64 = row[1].parse().map_err(|_| format!("no duration: {}", row[1]))?;
        let gpus = u32::try_from(traces::number(&row, 2)).unwrap_or(0);
        jobs.push(Job { cluster, user, submitted, runs: (seconds * 1000.0) as i64, gpus });
    }
    Ok((since_the_first_day(jobs), clusters))
}

/// Helios' form: `cluster_log.csv` with the jobs (`user`, `vc`, `gpu_num`, `submit_time`, `duration` in seconds),
/// and `cluster_gpu_number.csv` with the GPUs of each virtual cluster by day, of which the most count. Jobs
/// without GPU are left out.
pub(crate) fn helios(folder: &Path) -> Result<(Vec<Job>, Nodes), String> {
    let read = |name| traces::text(&packed(folder, name));
    helios_of(&read("cluster_gpu_number.csv")?, &read("cluster_log.csv")?)
}

/// The same of the texts of both files.
pub(crate) fn helios_of(gpus: &str, log: &str) -> Result<(Vec<Job>, Nodes), String> {
    let heading = heading(gpus);
    let mut clusters: Nodes = BTreeMap::new();
    for row in traces::rows(gpus) {
        for (column, of) in heading.iter().enumerate() {
            if !["date", "total"].contains(of) {
                let gpus = u32::try_from(traces::number(&row, column)).unwrap_or(0);
                let nodes = clusters.entry(name(of)?).or_default();
                *nodes = (gpus / GPUS).max(*nodes);
            }
        }
    }
    let columns = self::heading(log);
    let column = |wanted: &str| {
        let found = columns.iter().position(|column| *column == wanted);
        found.ok_or_else(|| format!("cluster_log.csv has no column {wanted}"))
    };
    let (user, cluster, gpus) = (column("user")?, column("vc")?, column("gpu_num")?);
    let (submitted, seconds) = (column("submit_time")?, column("duration")?);
    let mut jobs = Vec::new();
    for row in traces::rows(log).filter(|row| row.len() == columns.len()) {
        let cluster = name(row[cluster])?;
        let gpus = u32::try_from(traces::number(&row, gpus)).unwrap_or(0);
        if gpus == 0 || !clusters.contains_key(&cluster) {
            continue;
        }
        let text = row[submitted];
        let submitted = moment(text).ok_or_else(|| format!("no moment: {text}"))?;
        let user = row[user].to_ascii_lowercase();
        let user = UserName::new(user).map_err(|error| error.to_string())?;
        let runs = i64::try_from(traces::number(&row, seconds)).unwrap_or(0) * 1000;
        jobs.push(Job { cluster, user, submitted, runs, gpus });
    }
    Ok((since_the_first_day(jobs), clusters))
}

fn name(text: &str) -> Result<VirtualClusterName, String> {
    VirtualClusterName::new(text).map_err(|error| error.to_string())
}

fn heading(text: &str) -> Vec<&str> {
    text.lines().next().unwrap_or_default().split(',').map(str::trim).collect()
}

/// A file, packed where it is there so.
fn packed(folder: &Path, name: &str) -> PathBuf {
    let packed = folder.join(format!("{name}.gz"));
    if packed.exists() { packed } else { folder.join(name) }
}

/// In order, with moments since the day of the first began.
fn since_the_first_day(mut jobs: Vec<Job>) -> Vec<Job> {
    jobs.sort_by_key(|job| job.submitted);
    let first = jobs.first().map_or(0, |job| job.submitted);
    let day = first - first.rem_euclid(DAY);
    jobs.iter_mut().for_each(|job| job.submitted -= day);
    jobs
}

/// Milliseconds since 1970 of `2017-10-01 00:00:45`.
fn moment(text: &str) -> Option<i64> {
    let number =
        |range: std::ops::Range<usize>| text.get(range).and_then(|part| part.parse::<i64>().ok());
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let days = protocol::calendar::days(year, month, day);
    let seconds = (number(11..13)? * 60 + number(14..16)?) * 60 + number(17..19)?;
    Some(days * DAY + seconds * 1000)
}
