//! The jobs that hold a place, as the loop knows them: kept between its passes and told what
//! changed, so that a pass costs what has happened and not what is there.
//!
//! A job is awake, and looked at in the next pass, once something is stored or seen of it, once an
//! action on one of its tasks has ended, and once its time has come. Of the others the same would be
//! decided as last time: nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use database::tasks::TaskUpdate;
use lifecycle::model::Decision;
use protocol::ids::{JobId, NodeName, TaskKey};
use protocol::state::State;
use protocol::time::Timestamp;

use super::case::Case;
use super::observe::{Beside, Seen};
use super::writes::Writes;
use crate::known::cluster::{Cluster, Contact, Observation};
use crate::known::containers::Containers;

mod alarms;
#[cfg(test)]
mod tests;

use alarms::Alarms;

/// The jobs that hold a place.
#[derive(Debug)]
pub(super) struct Cases {
    cases: BTreeMap<JobId, Box<Case>>,
    /// Those of them that are looked at in the next pass.
    awake: BTreeSet<JobId>,
    /// What wakes the others.
    alarms: Alarms,
    /// The jobs that have tasks on each node.
    on_nodes: HashMap<NodeName, HashSet<JobId>>,
    seen: Seen,
    /// The cluster by which it was decided what does not answer.
    cluster: Option<Arc<Cluster>>,
    /// Containers that are seen and belong to no active task, and where they are.
    left: BTreeMap<TaskKey, BTreeSet<NodeName>>,
    /// Tasks that have ended, or whose containers are gone: nothing of them need be remembered.
    over: Vec<TaskKey>,
    /// It may differ from the records: all is read anew.
    doubtful: bool,
}

impl Default for Cases {
    fn default() -> Self {
        Self {
            cases: BTreeMap::new(),
            awake: BTreeSet::new(),
            alarms: Alarms::default(),
            on_nodes: HashMap::new(),
            seen: Seen::new(),
            cluster: None,
            left: BTreeMap::new(),
            over: Vec::new(),
            doubtful: true,
        }
    }
}

impl Cases {
    pub(super) fn get(&self, job: JobId) -> Option<&Case> {
        self.cases.get(&job).map(Box::as_ref)
    }

    /// What is seen of each node's engine.
    pub(super) fn seen(&self) -> &Seen {
        &self.seen
    }

    /// Those that are looked at next.
    pub(super) fn awake(&self) -> impl Iterator<Item = &Case> {
        self.awake.iter().filter_map(|job| self.get(*job))
    }

    /// Whether this run of a task is one that has not ended, of a job that holds its place.
    pub(super) fn is_active(&self, key: &TaskKey) -> bool {
        self.get(key.job).is_some_and(|case| case.is_active(key))
    }

    /// Whether it is one, or has left a container.
    pub(super) fn concerns(&self, key: &TaskKey) -> bool {
        self.is_active(key) || self.left.contains_key(key)
    }

    /// Whether it is the attempt that a job is at.
    pub(super) fn is_current(&self, job: JobId, attempt: u32) -> bool {
        self.get(job).is_some_and(|case| case.attempt.number == attempt)
    }

    /// Containers that are seen and belong to no active task, and where they are.
    pub(super) fn left(&self) -> impl Iterator<Item = (TaskKey, &NodeName)> {
        self.left.iter().flat_map(|(key, nodes)| nodes.iter().map(move |node| (*key, node)))
    }

    /// Tasks of which nothing need be remembered since this was asked last, some of these among them.
    pub(super) fn take_over(&mut self, acted: &HashSet<TaskKey>) -> Vec<TaskKey> {
        let mut over = std::mem::take(&mut self.over);
        over.extend(acted.iter().filter(|task| !self.concerns(task)));
        over
    }

    /// Something could not be read or stored, or is not as it was thought to be.
    pub(super) fn doubt(&mut self) {
        self.doubtful = true;
    }

    /// Whether all is to be read anew.
    pub(super) fn is_doubtful(&self) -> bool {
        self.doubtful
    }

    /// Everything as it was seen and read now, whatever was told before.
    pub(super) fn begin_anew(&mut self, seen: Seen, cases: Vec<Case>) {
        *self = Self { seen, doubtful: false, ..Self::default() };
        cases.into_iter().for_each(|case| self.put(case));
        let nodes: Vec<NodeName> = self.seen.keys().cloned().collect();
        nodes.iter().for_each(|node| self.find_left(node));
    }

    /// Of these jobs something was stored, and this is what was read of those that hold a place.
    pub(super) fn take_in(&mut self, stored: &[JobId], read: Vec<Case>) {
        let there: HashSet<JobId> = read.iter().map(Case::id).collect();
        for job in stored.iter().filter(|job| !there.contains(job)) {
            self.remove(*job);
        }
        read.into_iter().for_each(|case| self.put(case));
    }

    /// A node was looked at, or is not looked at any more.
    pub(super) fn see(&mut self, node: &NodeName, observation: Option<Observation>) {
        let after = observation.as_ref().and_then(answer);
        let before = match observation {
            Some(observation) => self.seen.insert(node.clone(), observation),
            None => self.seen.remove(node),
        };
        match (before.as_ref().and_then(answer), after) {
            (Some(before), Some(after)) if Arc::ptr_eq(&before.contact, &after.contact) => {
                self.compare(node, &before.containers, &after.containers);
            }
            // It went, or came back after a while: whatever is known of its tasks may have changed.
            (before, _) => {
                for key in before.iter().flat_map(|before| before.containers.keys()) {
                    self.is_gone(key, node);
                }
                self.find_left(node);
                self.awake.extend(self.on_nodes.get(node).into_iter().flatten());
            }
        }
        self.awake.extend(self.alarms.looked(node));
    }

    /// An action on it has ended, or something else is known of it.
    pub(super) fn look_at(&mut self, task: &TaskKey) {
        self.awake.insert(task.job);
    }

    /// The cluster is as it is now.
    pub(super) fn set_cluster(&mut self, cluster: &Arc<Cluster>) {
        if self.cluster.as_ref().is_none_or(|known| !Arc::ptr_eq(known, cluster)) {
            self.cluster = Some(Arc::clone(cluster));
            self.awake.extend(self.alarms.cluster_changed());
        }
    }

    /// Wakes those whose time has come.
    pub(super) fn wake_due(&mut self, now: Timestamp) {
        self.awake.extend(self.alarms.due(now));
    }

    /// What is to be done with those that are awake. Those with which something is to be done stay
    /// awake; the others sleep until something happens.
    pub(super) fn decide(&mut self, beside: Beside<'_>) -> Vec<(JobId, Decision)> {
        let mut decided = Vec::new();
        for job in std::mem::take(&mut self.awake) {
            let Some(case) = self.cases.get(&job) else { continue };
            let (decision, until) = case.decide(&self.seen, beside);
            self.alarms.set(job, until);
            if decision != Decision::default() {
                self.awake.insert(job);
                decided.push((job, decision));
            }
        }
        decided
    }

    /// This was stored, all of it from the states in which the jobs are known to be. What runs again
    /// is not in it: that is read.
    pub(super) fn apply(&mut self, writes: &Writes) {
        for (key, _, update) in writes.intents.iter().chain(&writes.tasks) {
            self.apply_to_task(key, update);
        }
        for (job, _, _, update) in &writes.attempts {
            if let Some(case) = self.cases.get_mut(job) {
                update.apply(&mut case.attempt);
            }
        }
        for (job, _, update) in &writes.jobs {
            if update.state.is_final() || update.state == State::Waiting {
                self.remove(*job);
            } else if let Some(case) = self.cases.get_mut(job) {
                update.apply(case.job.row_mut());
            }
        }
    }

    fn apply_to_task(&mut self, key: &TaskKey, update: &TaskUpdate) {
        let case = self.cases.get_mut(&key.job);
        let Some(task) = case.and_then(|case| case.task_mut(key)) else { return };
        let was_active = !task.state.is_final();
        update.apply(task);
        if was_active && task.state.is_final() {
            let node = task.placement.node.clone();
            self.has_ended(key, &node);
        }
    }

    fn put(&mut self, case: Case) {
        let job = case.id();
        let before = self.cases.remove(&job);
        before.iter().for_each(|before| self.leave_nodes(before));
        for task in &case.tasks {
            let on_node = self.on_nodes.entry(task.placement.node.clone());
            on_node.or_default().insert(job);
        }
        for task in case.active() {
            self.left.remove(&task.key);
        }
        self.cases.insert(job, Box::new(case));
        self.awake.insert(job);
        for task in before.iter().flat_map(|before| before.active()) {
            if !self.is_active(&task.key) {
                self.has_ended(&task.key, &task.placement.node);
            }
        }
    }

    /// It holds no place any more.
    fn remove(&mut self, job: JobId) {
        let Some(case) = self.cases.remove(&job) else { return };
        self.leave_nodes(&case);
        self.alarms.forget(job);
        self.awake.remove(&job);
        for task in case.active() {
            self.has_ended(&task.key, &task.placement.node);
        }
    }

    fn leave_nodes(&mut self, case: &Case) {
        for task in &case.tasks {
            let node = &task.placement.node;
            let Some(jobs) = self.on_nodes.get_mut(node) else { continue };
            jobs.remove(&case.id());
            if jobs.is_empty() {
                self.on_nodes.remove(node);
            }
        }
    }

    /// A run of a task is active no more; its container may still be there.
    fn has_ended(&mut self, key: &TaskKey, node: &NodeName) {
        self.over.push(*key);
        let containers = self.seen.get(node).and_then(answer).map(|answer| answer.containers);
        if containers.is_some_and(|containers| containers.has(key)) {
            self.left.entry(*key).or_default().insert(node.clone());
        }
    }

    /// The containers of a node that answers are others than before, or do something else.
    fn compare(&mut self, node: &NodeName, before: &Arc<Containers>, after: &Arc<Containers>) {
        if Arc::ptr_eq(before, after) {
            return;
        }
        for container in after.iter() {
            let key = &container.key;
            let known = before.get(key);
            if known != Some(container) {
                self.awake.insert(key.job);
            }
            if known.is_none() && !self.is_active(key) {
                self.left.entry(*key).or_default().insert(node.clone());
            }
        }
        for key in before.keys().filter(|key| !after.has(key)) {
            self.awake.insert(key.job);
            self.is_gone(key, node);
        }
    }

    /// Finds those of a node's containers that belong to no active task.
    fn find_left(&mut self, node: &NodeName) {
        let Some(answer) = self.seen.get(node).and_then(answer) else { return };
        for key in answer.containers.keys() {
            if !self.is_active(key) {
                self.left.entry(*key).or_default().insert(node.clone());
            }
        }
    }

    /// A container is not seen on that node any more.
    fn is_gone(&mut self, key: &TaskKey, node: &NodeName) {
        let Some(nodes) = self.left.get_mut(key) else { return };
        nodes.remove(node);
        if nodes.is_empty() {
            self.left.remove(key);
            self.over.push(*key);
        }
    }
}

/// What an engine that answers has shown.
struct Answer {
    containers: Arc<Containers>,
    contact: Arc<Contact>,
}

fn answer(observation: &Observation) -> Option<Answer> {
    match observation {
        Observation::Silent => None,
        Observation::Answers { containers, contact, .. } => {
            Some(Answer { containers: Arc::clone(containers), contact: Arc::clone(contact) })
        }
    }
}
