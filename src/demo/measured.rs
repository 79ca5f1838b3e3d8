//! What was measured before the demonstration began: of all that runs, of what ended last, and of the nodes, as
//! the simulated engine says what they use. What runs goes on from there.

use std::collections::BTreeMap;

use control::Past;
use database::tasks::Task;
use engine::Stats;
use engine::exporter::GpuSample;
use engine::simulated::load;
use protocol::cluster::NodeSettings;
use protocol::exit::Cause;
use protocol::ids::{GpuType, NodeName};
use protocol::time::Timestamp;
use storage::Storage;

use crate::desk::Life;
use crate::{Error, cast};

/// Of so many of the jobs that ended last it is there.
const ENDED: usize = 60;
const SECOND: i64 = 1_000;
const HOUR: i64 = 3_600 * SECOND;
const DAY: i64 = 24 * HOUR;

/// Keeps it: who writes logs has the ids of jobs.
pub(crate) async fn write(
    storage: &Storage,
    (past, present): (&[Life], &[Life]),
    now: Timestamp,
) -> Result<(), Error> {
    let ended = past.iter().rev().take(ENDED);
    for task in ended.chain(present).flat_map(|life| &life.tasks) {
        let Some(from) = task.started_at else { continue };
        let measured = of_task(task, from, task.completed_at.unwrap_or(now));
        storage.keep_metrics(&task.key, measured.to_bytes().into()).await?;
    }
    let mut on = BTreeMap::<_, Vec<&Task>>::new();
    for task in present.iter().flat_map(|life| &life.tasks) {
        on.entry(&task.placement.node).or_default().push(task);
    }
    let nodes = cast::nodes();
    for node in nodes.iter().filter(|node| node.name.as_str() != cast::CUT_OFF) {
        let tasks = on.get(&node.name).map(Vec::as_slice).unwrap_or_default();
        let measured = of_node(node, tasks, now);
        storage.keep_node_metrics(&node.name, measured.to_bytes().into()).await?;
    }
    Ok(())
}

/// When something was measured: every ten seconds, but more seldom what is told of in longer steps. A round of
/// the simulated engine's is no whole number of the longer ones, so that their means are right.
fn moments(from: Timestamp, until: Timestamp) -> impl Iterator<Item = Timestamp> {
    let later = move |at: &Timestamp| {
        let step = match until.since(*at) {
            ago if ago <= HOUR => 10 * SECOND,
            ago if ago <= DAY => 50 * SECOND,
            _longer_ago => 230 * SECOND,
        };
        Some(at.plus_millis(step)).filter(|next| *next <= until)
    };
    std::iter::successors(Some(from), later)
}

/// What a task and its GPUs use at a moment.
fn used(task: &Task, at: Timestamp) -> (Stats, Vec<GpuSample>) {
    let (job, ran) = (task.key.job, task.started_at.map_or(0, |from| at.since(from)));
    let asked = (task.resources.cpus, task.resources.memory_mb);
    let memory_mb = load::memory_mb(gpu_type(&task.placement.node).as_ref());
    let gpus = task.placement.gpus.iter();
    let gpus = gpus.map(|index| load::of_gpu((*index, memory_mb), job, ran));
    (load::of_task(job, asked, ran), gpus.collect())
}

/// The type of the GPUs of a node.
fn gpu_type(node: &NodeName) -> Option<GpuType> {
    let of = |rack: &&cast::Rack| {
        let at = node.as_str().strip_prefix(rack.prefix);
        at.is_some_and(|at| at.starts_with('-'))
    };
    cast::RACKS.iter().find(of).map(|rack| cast::gpu_type(rack.gpu_type))
}

fn of_task(task: &Task, from: Timestamp, until: Timestamp) -> Past {
    let mut measured = Past::new(from, task.placement.gpus.clone());
    let limit = task.exit.as_ref().and_then(|exit| {
        let Cause::OutOfMemory { limit_mb } = exit.cause else { return None };
        Some(limit_mb << 20)
    });
    for at in moments(from, until) {
        let (mut stats, gpus) = used(task, at);
        if let Some(limit) = limit {
            stats.memory_bytes = risen(stats.memory_bytes, limit, part(from, at, until));
        }
        measured.note(at, &stats, &gpus);
    }
    measured
}

/// How far a moment is between two others, from 0 to 1.
fn part(from: Timestamp, at: Timestamp, until: Timestamp) -> f64 {
    at.since(from) as f64 / until.since(from).max(1) as f64
}

/// What a task uses that is killed for its memory: in the second half of its time that rises to its limit.
fn risen(usual: u64, limit: u64, part: f64) -> u64 {
    let part = ((part - 0.5) * 4.0).clamp(0.0, 1.0);
    usual + (limit.saturating_sub(usual) as f64 * part) as u64
}

/// The last hour of a node.
fn of_node(node: &NodeSettings, tasks: &[&Task], now: Timestamp) -> Past {
    let from = now.plus_millis(-HOUR);
    let gpus: u32 = node.gpus.iter().flatten().map(|gpus| gpus.count).sum();
    let mut measured = Past::new(from, (0..gpus).collect());
    for at in moments(from, now) {
        let (mut together, mut all) = (Stats::default(), Vec::new());
        for task in tasks.iter().filter(|task| task.started_at.is_some_and(|from| from <= at)) {
            let (stats, gpus) = used(task, at);
            together = sum(&together, &stats);
            all.extend(gpus);
        }
        measured.note(at, &together, &all);
    }
    measured
}

fn sum(one: &Stats, other: &Stats) -> Stats {
    Stats {
        cpus: one.cpus + other.cpus,
        memory_bytes: one.memory_bytes + other.memory_bytes,
        network_in: one.network_in + other.network_in,
        network_out: one.network_out + other.network_out,
        disk_read: one.disk_read + other.disk_read,
        disk_written: one.disk_written + other.disk_written,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_killed_for_his_memory_had_used_all_of_it() {
        let (from, until) = (Timestamp(0), Timestamp(60 * SECOND));
        let used = |at: i64| risen(600, 1_000, part(from, Timestamp(at * SECOND), until));
        assert_eq!([used(0), used(30), used(45), used(50)], [600, 600, 1_000, 1_000]);
        assert_eq!(risen(5, 5, part(from, from, from)), 5, "what ends at once has no time to rise");
    }

    #[test]
    fn gpus_have_the_memory_of_their_type() {
        let memory = |node: &str| load::memory_mb(gpu_type(&cast::node(node)).as_ref());
        let nodes = ["sim-v100-03", "sim-titanx-01", "sim-mig-02", "sim-a100-01"];
        assert_eq!(nodes.map(memory), [32_768, 12_288, 40_960, 81_920]);
    }

    #[test]
    fn the_last_hour_is_measured_most_finely_and_nothing_after_its_end() {
        let (from, until) = (Timestamp(0), Timestamp(2 * DAY + 7));
        let moments: Vec<i64> = moments(from, until).map(|at| at.0).collect();
        let steps: Vec<i64> = moments.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!((moments[0], steps[0]), (0, 230 * SECOND));
        assert!(moments.last() <= Some(&until.0) && steps.last() == Some(&(10 * SECOND)));
        let finest = steps.iter().filter(|step| **step == 10 * SECOND).count();
        assert!((355..=360).contains(&finest), "{finest} in the last hour");
        assert!(steps.is_sorted_by(|one, next| one >= next), "ever more finely");
        let instant: Vec<_> = super::moments(from, from).collect();
        assert_eq!(instant, [from], "what has just begun was measured once");
    }
}
