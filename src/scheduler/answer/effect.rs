//! What a change would do, before it is done.

use std::collections::BTreeSet;

use protocol::cluster::NodeCondition;
use protocol::ids::{JobId, NodeName};
use protocol::spec::Priority;
use protocol::time::Timestamp;

use crate::model::{Node, QosClass, Request, Snapshot, VirtualCluster};
use crate::state::State;

/// A change at run time.
#[derive(Debug, Clone)]
pub enum Change {
    /// A node takes tasks again, or takes none any more.
    Condition(NodeName, NodeCondition),
    /// A node comes, or becomes this.
    Node(Box<Node>),
    /// A node goes.
    Removed(NodeName),
    /// A virtual cluster's share becomes this.
    Share(Box<VirtualCluster>),
    /// A job's priority.
    Priority(JobId, Priority),
    /// Jobs are moved in the queue: what each one's `moved_ms` becomes.
    Move(Vec<(JobId, i64)>),
    /// A job is held, or let go.
    Hold(JobId, bool),
}

/// What a change does at once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Effect {
    /// Jobs that would start.
    pub start: Vec<JobId>,
    /// Jobs that would start without the change, and wait with it.
    pub wait: Vec<JobId>,
    /// Jobs that would have to give way.
    pub preempted: Vec<JobId>,
    /// Jobs that run guaranteed and would run on borrowed resources.
    pub loses_guarantee: Vec<JobId>,
    /// Jobs that run on the nodes concerned and would have to leave them.
    pub displaced: Vec<JobId>,
    /// Jobs that could never start any more.
    pub impossible: Vec<JobId>,
}

impl Snapshot {
    /// The snapshot with the change made.
    #[must_use]
    pub fn with(&self, change: &Change) -> Self {
        let mut changed = self.clone();
        match change {
            Change::Condition(name, condition) => {
                let nodes = changed.nodes.iter_mut().filter(|node| node.name == *name);
                nodes.for_each(|node| node.condition = *condition);
            }
            Change::Node(node) => {
                match changed.nodes.iter_mut().find(|old| old.name == node.name) {
                    Some(old) => old.clone_from(node),
                    None => changed.nodes.push(Node::clone(node)),
                }
            }
            Change::Removed(name) => changed.nodes.retain(|node| node.name != *name),
            Change::Share(cluster) => {
                match changed.virtual_clusters.iter_mut().find(|old| old.name == cluster.name) {
                    Some(old) => old.clone_from(cluster),
                    None => changed.virtual_clusters.push(VirtualCluster::clone(cluster)),
                }
            }
            Change::Priority(job, priority) => changed.of(*job, |job| job.priority = *priority),
            Change::Move(moves) => {
                for (job, moved_ms) in moves {
                    changed.of(*job, |job| job.moved_ms = *moved_ms);
                }
            }
            Change::Hold(job, held) => changed.of(*job, |job| job.held = *held),
        }
        changed.reorder_since(self);
        changed
    }

    fn of(&mut self, job: JobId, change: impl Fn(&mut Request)) {
        self.waiting.iter_mut().filter(|request| request.job == job).for_each(change);
    }

    /// What a change would do to those who run and wait.
    #[must_use]
    pub fn effect_of(&self, change: &Change, now: Timestamp) -> Effect {
        let changed = self.with(change);
        let (before, after) = (Outcome::of(self, now), Outcome::of(&changed, now));
        let less = |a: &BTreeSet<JobId>, b: &BTreeSet<JobId>| a.difference(b).copied().collect();
        Effect {
            start: less(&after.starts, &before.starts),
            wait: less(&before.starts, &after.starts),
            preempted: less(&after.preempted, &before.preempted),
            loses_guarantee: less(&before.guaranteed, &after.guaranteed),
            displaced: displaced(self, change),
            impossible: less(&after.impossible, &before.impossible),
        }
    }
}

struct Outcome {
    starts: BTreeSet<JobId>,
    preempted: BTreeSet<JobId>,
    guaranteed: BTreeSet<JobId>,
    impossible: BTreeSet<JobId>,
}

impl Outcome {
    fn of(snapshot: &Snapshot, now: Timestamp) -> Self {
        let mut state = State::of(snapshot);
        let guaranteed = |state: &State| {
            let placed_jobs = state.cluster.placed_jobs.iter();
            let of = placed_jobs.filter(|(_, placed)| placed.qos_class == QosClass::Guaranteed);
            of.map(|(job, _)| *job).collect::<BTreeSet<_>>()
        };
        let guaranteed = guaranteed(&state);
        let impossible = snapshot.waiting.iter().filter(|request| {
            let class = state.cluster.class(request);
            crate::answer::admit::never(&state.cluster, &class).is_some()
        });
        let impossible = impossible.map(|request| request.job).collect();
        let pass = state.pass(now);
        let pending = state.pending.keys().copied();
        Self {
            starts: pass.placements.iter().map(|placement| placement.job).chain(pending).collect(),
            preempted: pass.preemptions.iter().map(|preemption| preemption.job).collect(),
            guaranteed,
            impossible,
        }
    }
}

/// Those who run on a node that shall be empty.
fn displaced(snapshot: &Snapshot, change: &Change) -> Vec<JobId> {
    let Change::Condition(name, NodeCondition::Draining | NodeCondition::Unreachable) = change
    else {
        return Vec::new();
    };
    let there =
        snapshot.running.iter().filter(|job| job.tasks.iter().any(|(t, _)| t.node == *name));
    there.map(|job| job.job).collect()
}
