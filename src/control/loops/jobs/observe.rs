//! What is seen of a task, in the words of `lifecycle`.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use database::tasks::Task;
use engine::{Container, ContainerStatus};
use lifecycle::model::Observed;
use protocol::exit::{Cause, Exit};
use protocol::ids::{NodeName, TaskKey};
use protocol::spec::JobSpec;
use protocol::time::Timestamp;

use super::memory::{Memory, Pending};
use crate::known::cluster::{Cluster, Contact, Observation};

/// Disk is asked for in these.
const GIBIBYTE: u64 = 1 << 30;

/// What is seen of each node's engine.
pub(super) type Seen = HashMap<NodeName, Observation>;

/// What is decided from, besides the records and what is seen.
#[derive(Clone, Copy)]
pub(super) struct Beside<'a> {
    pub(super) memory: &'a Memory,
    pub(super) cluster: &'a Cluster,
    /// What a task has written into its container, in bytes.
    pub(super) written: &'a dyn Fn(&TaskKey) -> Option<u64>,
    /// So much any task may write.
    pub(super) most_written: u64,
    /// How long it must be waited until surely nothing of a task runs whose node is silent; `None`:
    /// nobody can tell.
    pub(super) lease: &'a dyn Fn(&TaskKey) -> Option<Duration>,
    pub(super) now: Timestamp,
    pub(super) instant: Instant,
}

/// Until when a job need not be looked at, if nothing is told of it meanwhile.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Until {
    /// This moment,
    pub(super) moment: Option<Timestamp>,
    /// or the next look at one of these nodes, whatever it shows,
    pub(super) looks: HashSet<NodeName>,
    /// or another state of the cluster: one of its nodes does not answer, and what is known of that
    /// node decides.
    pub(super) cluster: bool,
}

impl Until {
    pub(super) fn at(&mut self, moment: Timestamp) {
        self.moment = Some(self.moment.map_or(moment, |other| other.min(moment)));
    }
}

/// What is seen of a task, and until when that stays so if it says nothing.
pub(super) fn observed(
    task: &Task,
    seen: &Seen,
    beside: Beside<'_>,
    until: &mut Until,
) -> Observed {
    let Beside { memory, cluster, .. } = beside;
    let node = &task.placement.node;
    if let Some((at, exit)) = memory.launch_failed(&task.key) {
        return Observed::LaunchFailed { at, exit };
    }
    match seen.get(node) {
        // Not looked at yet since this server started: that says nothing.
        None if cluster.node(node).is_some() => {
            until.cluster = true;
            Observed::Pending
        }
        Some(Observation::Silent) if cluster.node(node).is_some_and(|node| node.emptied) => {
            Observed::Dead
        }
        None | Some(Observation::Silent) => {
            until.cluster = true;
            of_silent((beside.lease)(&task.key), beside.now, until)
        }
        Some(Observation::Answers { looked, containers, contact, .. }) => {
            if let Some(pending) = memory.pending(&task.key, *looked, beside.instant) {
                wait(pending, node, beside.now, until);
                return Observed::Pending;
            }
            containers.get(&task.key).map_or(Observed::Absent, |container| {
                of_container(memory, task, container, contact, beside.now)
            })
        }
    }
}

/// What is known of a task whose node is silent, by what is left of its lease.
fn of_silent(left: Option<Duration>, now: Timestamp, until: &mut Until) -> Observed {
    match left {
        None => Observed::Silent,
        Some(left) if left.is_zero() => Observed::Dead,
        Some(left) => {
            let left = i64::try_from(left.as_millis()).unwrap_or(i64::MAX);
            until.at(now.plus_millis(left.saturating_add(1)));
            Observed::Silent
        }
    }
}

/// Notes until when nothing is to be seen of a task of that node.
fn wait(pending: Pending, node: &NodeName, now: Timestamp, until: &mut Until) {
    match pending {
        // Its end is told.
        Pending::UnderWay => {}
        Pending::Look => {
            until.looks.insert(node.clone());
        }
        Pending::Pause(pause) => {
            let pause = i64::try_from(pause.as_millis()).unwrap_or(i64::MAX);
            until.at(now.plus_millis(pause));
        }
    }
}

/// How a task ends that has written more into its container than it may: what it asked for, or what
/// all may.
pub(super) fn excess(spec: &JobSpec, task: &TaskKey, beside: Beside<'_>) -> Option<Exit> {
    let written = (beside.written)(task)?;
    let asked = spec.roles.get(task.role as usize)?.resources.disk_gb.saturating_mul(GIBIBYTE);
    let most = asked.max(beside.most_written);
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

fn of_container(
    memory: &Memory,
    task: &Task,
    container: &Container,
    contact: &Contact,
    now: Timestamp,
) -> Observed {
    match container.status {
        // What failed to start is started again: the engine then says of that start why it failed.
        ContainerStatus::Created | ContainerStatus::Exited { started_at: None, .. } => {
            Observed::Created
        }
        ContainerStatus::Running { started_at } => {
            Observed::Running { started_at: started_at.min(now) }
        }
        ContainerStatus::Exited {
            started_at: started_at @ Some(_),
            finished_at,
            code,
            oom_killed,
            ..
        } => {
            let unseen = contact.ended_before(&task.key);
            let exit = if code == 0 && !oom_killed && !unseen {
                Some(Exit { code: Some(0), cause: Cause::Succeeded, evidence: Vec::new() })
            } else {
                memory.explained(&task.key, unseen)
            };
            Observed::Exited { started_at, finished_at: finished_at.min(now), exit }
        }
    }
}
