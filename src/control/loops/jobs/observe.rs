//! What is seen of a task, in the words of `lifecycle`.

use std::collections::HashMap;

use database::tasks::Task;
use engine::{Container, ContainerStatus};
use lifecycle::model::Observed;
use protocol::exit::{Cause, Exit};
use protocol::ids::{NodeName, TaskKey};
use protocol::spec::JobSpec;
use protocol::time::Timestamp;

use super::act::Acts;
use crate::known::cluster::Observation;
use crate::shared::Shared;

/// Signals by which an engine that goes down ends its containers, as exit codes: killed,
/// terminated, and "unknown" when it was not there to see.
const CODES_OF_A_DYING_ENGINE: [i32; 3] = [137, 143, 255];
/// Disk is asked for in these.
const GIBIBYTE: u64 = 1 << 30;
/// Clocks of engine and server may differ so much, in milliseconds.
const CLOCK_SLACK: i64 = 5_000;

pub(super) fn observed(
    shared: &Shared,
    acts: &Acts,
    task: &Task,
    observations: &HashMap<NodeName, Observation>,
    now: Timestamp,
) -> Observed {
    if let Some((at, exit)) = acts.launch_failed(&task.key) {
        return Observed::LaunchFailed { at, exit };
    }
    match observations.get(&task.placement.node) {
        // Not looked at yet since this server started: that says nothing.
        None if shared.cluster().node(&task.placement.node).is_some() => Observed::Pending,
        Some(Observation::Silent) if is_emptied(shared, &task.placement.node) => Observed::Dead,
        None | Some(Observation::Silent) => Observed::Silent,
        Some(Observation::Answers { looked, .. }) if acts.pending(&task.key, *looked) => {
            Observed::Pending
        }
        Some(Observation::Answers { containers, absence, .. }) => {
            containers.get(&task.key).map_or(Observed::Absent, |container| {
                of_container(acts, task, container, *absence, now)
            })
        }
    }
}

/// How a task ends that has written more into its container than it may: what it asked for, or what
/// all may.
pub(super) fn excess(shared: &Shared, spec: &JobSpec, task: &TaskKey) -> Option<Exit> {
    let written = shared.written(task)?;
    let asked = spec.roles.get(task.role as usize)?.resources.disk_gb.saturating_mul(GIBIBYTE);
    let most = asked.max(shared.of_nodes.container_disk.most);
    let evidence = || {
        let gigabytes = |bytes: u64| bytes as f64 / 1e9;
        format!(
            "it has written {:.1} GB into its container, where {:.1} GB are allowed: write to the \
             storage, or ask for disk",
            gigabytes(written),
            gigabytes(most)
        )
    };
    (written > most).then(|| Exit {
        code: None,
        cause: Cause::DiskFull,
        evidence: vec![evidence()],
    })
}

fn is_emptied(shared: &Shared, node: &NodeName) -> bool {
    shared.cluster().node(node).is_some_and(|node| node.emptied)
}

fn of_container(
    acts: &Acts,
    task: &Task,
    container: &Container,
    absence: Option<(Timestamp, Timestamp)>,
    now: Timestamp,
) -> Observed {
    match &container.status {
        ContainerStatus::Created => Observed::Created,
        ContainerStatus::Running { started_at } => {
            Observed::Running { started_at: (*started_at).min(now) }
        }
        ContainerStatus::Exited { started_at, finished_at, code, oom_killed, .. } => {
            let exit = if *code == 0 && !oom_killed && started_at.is_some() {
                Some(Exit { code: Some(0), cause: Cause::Succeeded, evidence: Vec::new() })
            } else if went_with_its_engine(*finished_at, *code, *oom_killed, absence) {
                let cause = Cause::EngineRestarted { node: task.placement.node.clone() };
                Some(Exit { code: Some(*code), cause, evidence: Vec::new() })
            } else {
                acts.explained(&task.key)
            };
            Observed::Exited { started_at: *started_at, finished_at: *finished_at, exit }
        }
    }
}

/// Whether a container was ended by its engine's going down and not by itself.
fn went_with_its_engine(
    finished_at: Timestamp,
    code: i32,
    oom_killed: bool,
    absence: Option<(Timestamp, Timestamp)>,
) -> bool {
    let Some((lost, found)) = absence else { return false };
    let between = lost.plus_millis(-CLOCK_SLACK) <= finished_at
        && finished_at <= found.plus_millis(CLOCK_SLACK);
    between && !oom_killed && CODES_OF_A_DYING_ENGINE.contains(&code)
}
