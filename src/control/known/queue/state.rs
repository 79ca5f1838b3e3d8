//! What the scheduler knows between its passes, and how it comes to know it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use database::attempts::Attempt;
use database::nodes::NodeRecord;
use protocol::cluster::common_place;
use protocol::ids::{GpuType, JobId, JobKey, NodeName, UserName, VirtualClusterName};
use protocol::jobs::Hold;
use protocol::state::State;
use protocol::time::Timestamp;
use protocol::wait::WaitReason;
use scheduler::Pass;
use scheduler::model::{
    Node, Placement, Preemption, QosClass, Request, Running, Snapshot, VirtualCluster,
};

use super::counted::Jobs;
use super::free;
use super::holdings::Holdings;
use super::reasons::Reason;
use super::said::Said;
use super::told::{self, News};
use crate::known::active::Active;
use crate::known::cluster::{Cluster, scheduler_node};
use crate::known::lacks::Lacks;
use crate::known::runs::{self, Past};
use crate::wake::now;

/// What the scheduler knows between its passes.
#[derive(Debug)]
pub(crate) struct Queue {
    /// All jobs that have not ended.
    pub(super) jobs: Jobs,
    /// Those of them that hold something.
    pub(super) running: BTreeMap<JobId, Box<Running>>,
    /// All of them that borrow, and perhaps some that do no more.
    pub(super) borrowing: BTreeSet<JobId>,
    /// Those that wait and shall stop.
    pub(super) stopping: BTreeSet<JobId>,
    /// The nodes as the scheduler was told of them.
    pub(super) nodes: Vec<Arc<NodeRecord>>,
    pub(super) virtual_clusters: Vec<VirtualCluster>,
    /// The storages that nodes lack.
    pub(super) lacks: Arc<Lacks>,
    /// What the scheduler makes of it.
    pub(super) state: scheduler::State,
    /// It may differ from the records: all is read anew, and the state built from that.
    pub(super) doubtful: bool,
    /// Why those wait of whom somebody has asked since the last change.
    pub(super) said: Said,
    /// What is free in those virtual clusters of which somebody has asked since the last change; to whom,
    /// where users are limited.
    pub(super) free: HashMap<(VirtualClusterName, Option<UserName>), free::Said>,
    /// What is held.
    pub(super) holdings: Holdings,
    /// How often what was said before came to hold no more.
    pub(super) changes: u64,
    /// How long others took.
    pub(crate) past: Past,
    /// Others have ended since it was looked at last what is expected of all.
    pub(super) learned: bool,
    /// Jobs of which that is looked at anew.
    pub(super) to_expect: Vec<JobId>,
}

/// What a pass decided.
#[derive(Debug, Default)]
pub(crate) struct Decided {
    /// Jobs that start.
    pub(crate) placed: Vec<(Active, Placement)>,
    /// Jobs that have to make room.
    pub(crate) preempted: Vec<(Preemption, Option<JobKey>)>,
    /// Jobs that are stopped before they started.
    pub(crate) stopped: Vec<Active>,
    /// Anything in the queue is not as it was.
    pub(crate) changed: bool,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            jobs: Jobs::default(),
            running: BTreeMap::new(),
            borrowing: BTreeSet::new(),
            stopping: BTreeSet::new(),
            nodes: Vec::new(),
            virtual_clusters: Vec::new(),
            lacks: Arc::default(),
            state: scheduler::State::new(&[], Vec::new()),
            doubtful: true,
            said: Said::default(),
            free: HashMap::new(),
            holdings: Holdings::default(),
            changes: 0,
            past: Past::default(),
            learned: false,
            to_expect: Vec::new(),
        }
    }
}

impl Queue {
    /// A job that has not ended.
    pub(crate) fn job(&self, id: JobId) -> Option<&Active> {
        self.jobs.get(&id)
    }

    /// The name of a job that has not ended.
    pub(crate) fn key(&self, id: JobId) -> Option<&JobKey> {
        self.job(id).map(|job| &job.row.key)
    }

    /// The jobs that hold something.
    pub(crate) fn running(&self) -> impl Iterator<Item = &Running> {
        self.running.values().map(Box::as_ref)
    }

    /// Something that was decided was not done, or could not be read: nothing is taken for granted
    /// any more.
    pub(crate) fn doubt(&mut self) {
        self.doubtful = true;
    }

    /// Whether all is to be read anew.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.doubtful
    }

    /// Takes in what was read, in the cluster as it is now. Says whether anything may be different.
    pub(crate) fn take_in(&mut self, news: News, cluster: &Cluster) -> bool {
        let mut changed = self.doubtful;
        let News { whole, jobs, gone, attempts, gave_way, mut tasks, at } = news;
        let before: BTreeSet<JobId> = match whole {
            true => self.jobs.keys().copied().collect(),
            false => gone,
        };
        let there: HashSet<JobId> = jobs.iter().map(|job| job.row.id).collect();
        for job in before.into_iter().filter(|job| !there.contains(job)) {
            self.forget(job);
            changed = true;
        }
        let mut turned = BTreeSet::new();
        for job in jobs {
            let id = job.row.id;
            self.past.note_gave_way(id, gave_way.get(&id).copied());
            changed |= if job.row.state == State::Waiting {
                self.waits(job, &mut turned)
            } else {
                let tasks = tasks.remove(&id).unwrap_or_default();
                self.holds(job, attempts.get(&id), tasks, at)
            };
        }
        self.reorder(&turned);
        changed |= self.set_cluster(cluster);
        if self.doubtful {
            let mut snapshot = self.snapshot();
            let in_turned = |job: &JobId| {
                self.job(*job).is_some_and(|job| turned.contains(&job.row.virtual_cluster))
            };
            snapshot.reserved.retain(|reservation| !in_turned(&reservation.job));
            self.state = scheduler::State::of(&snapshot);
            self.doubtful = false;
            // What was said goes by the one before, whatever was found to doubt it.
            changed = true;
        }
        if changed {
            self.unsay();
        }
        changed
    }

    /// What was said holds no more.
    pub(super) fn unsay(&mut self) {
        self.said = Said::default();
        self.free.clear();
        self.changes += 1;
    }

    /// Says whether nodes or virtual clusters are others than before.
    fn set_cluster(&mut self, cluster: &Cluster) -> bool {
        let other_nodes = self.set_nodes(&cluster.nodes);
        let clusters = cluster.scheduler_clusters();
        let other_clusters = self.virtual_clusters != clusters;
        if other_clusters {
            self.virtual_clusters.clone_from(&clusters);
            self.tell(|state| state.set_virtual_clusters(clusters));
        }
        other_nodes || other_clusters
    }

    /// Looks at those alone that are not shared with what was told last.
    fn set_nodes(&mut self, nodes: &[Arc<NodeRecord>]) -> bool {
        let mut pairs = self.nodes.iter().zip(nodes);
        if self.nodes.len() == nodes.len() && pairs.all(|(one, other)| Arc::ptr_eq(one, other)) {
            return false;
        }
        let before = std::mem::replace(&mut self.nodes, nodes.to_vec());
        let anew = match changed(&before, nodes) {
            Some(changed) if changed.is_empty() => return false,
            Some(_) | None if self.doubtful => false,
            Some(changed) => self.state.change_nodes(&changed),
            None => {
                let nodes = self.scheduler_nodes();
                self.state.set_nodes(&nodes);
                true
            }
        };
        if anew {
            // What was on a node or GPU that is back again is still there.
            self.running.values().for_each(|running| self.state.runs(running));
        }
        true
    }

    /// All nodes as the scheduler sees them.
    fn scheduler_nodes(&self) -> Vec<Node> {
        self.nodes.iter().map(|node| scheduler_node(node)).collect()
    }

    /// The narrowest place in which all of these nodes are, as `rack=3`.
    pub(crate) fn place_of(&self, nodes: &[NodeName]) -> Option<String> {
        let there = self.nodes.iter().filter(|node| nodes.contains(&node.settings.name));
        common_place(there.map(|node| &node.settings.labels))
    }

    /// Tells the state, unless it will be built anew anyhow.
    pub(super) fn tell(&mut self, change: impl FnOnce(&mut scheduler::State)) {
        if !self.doubtful {
            change(&mut self.state);
        }
    }

    /// A job waits, for the first time, again, or differently; or there is nothing new: false.
    fn waits(&mut self, job: Active, turned: &mut BTreeSet<VirtualClusterName>) -> bool {
        let id = job.row.id;
        let came_back = self.lets_go(id);
        if came_back {
            self.gave_back(id);
        }
        let stops = job.row.stop.is_some();
        let before = self.jobs.insert(id, job).filter(|_| !came_back);
        if stops {
            self.stopping.insert(id);
            self.tell(|state| state.cancel(id));
            return true;
        }
        let now = &self.jobs[&id].row;
        if let Some(before) = &before {
            let turn = |row: &database::jobs::JobRow| (row.priority, row.moved_ms);
            let rest = |row: &database::jobs::JobRow| {
                (row.held.is_some(), row.not_before, row.avoid.clone())
            };
            if turn(&before.row) != turn(now) {
                turned.insert(now.virtual_cluster.clone());
            } else if rest(&before.row) == rest(now) {
                return false;
            }
        }
        let request = told::request_of_job(&self.jobs[&id], &self.past, &self.lacks);
        self.tell(|state| state.submit(&request));
        true
    }

    /// A job holds something. Says whether that is anything new.
    fn holds(
        &mut self,
        job: Active,
        attempt: Option<&Attempt>,
        tasks: Vec<database::tasks::Task>,
        at: Timestamp,
    ) -> bool {
        let id = job.row.id;
        let known = self.running.get(&id).map(Box::as_ref);
        let past = (&self.past, at);
        let running = told::running_of_job(&job, attempt, tasks, known, past);
        self.jobs.insert(id, job);
        if !self.doubtful && (known.is_none() || !self.state.has_place(id)) {
            // Somebody else placed it.
            self.doubtful = true;
        }
        self.tell(|state| state.runs(&running));
        let known = self.keeps(id, running);
        known.as_ref() != self.running.get(&id).map(Box::as_ref)
    }

    /// Where people changed somebody's turn, nobody stays first for what he was promised before.
    fn reorder(&mut self, turned: &BTreeSet<VirtualClusterName>) {
        if turned.is_empty() {
            return;
        }
        for job in self.state.promised() {
            let Some(job) = self.jobs.get(&job) else { continue };
            if turned.contains(&job.row.virtual_cluster) {
                let request = told::request_of_job(job, &self.past, &self.lacks);
                self.tell(|state| state.submit(&request));
            }
        }
    }

    /// One pass: what it decides is taken for done.
    pub(crate) fn decide(&mut self, now: Timestamp) -> Decided {
        let woken = self.state.wakes_at().is_some_and(|moment| moment <= now);
        let pass = self.state.pass(now);
        let changed = woken || pass != Pass::default();
        let Pass { placements, preemptions } = pass;
        let placed = placements.into_iter().filter_map(|placement| {
            let job = self.jobs.get(&placement.job)?;
            let running = told::running_of_placement(job, &placement, (&self.past, now));
            let placed = (job.clone(), placement);
            self.keeps(placed.1.job, running);
            Some(placed)
        });
        let placed = placed.collect();
        let preempted = preemptions.into_iter().map(|preemption| {
            let by = self.key(preemption.taken_by).cloned();
            (preemption, by)
        });
        let preempted = preempted.collect();
        self.follow_rights();
        let stopping = std::mem::take(&mut self.stopping);
        let stopped = stopping.iter().filter_map(|id| self.jobs.get(id)).cloned().collect();
        if changed {
            self.unsay();
        }
        Decided { placed, preempted, stopped, changed }
    }

    /// A job holds this. Gives what it held before.
    pub(super) fn keeps(&mut self, id: JobId, running: Running) -> Option<Running> {
        if running.qos_class == QosClass::Borrowed {
            self.borrowing.insert(id);
        }
        let before = self.running.insert(id, running.into()).map(|before| *before);
        if let (Some(job), Some(after)) = (self.jobs.get(&id), self.running.get(&id)) {
            self.holdings.change(job, before.as_ref(), after);
        }
        before
    }

    /// A job holds nothing any more. Says whether it held anything.
    pub(super) fn lets_go(&mut self, id: JobId) -> bool {
        let held = self.running.remove(&id);
        held.inspect(|before| self.holdings.remove(before)).is_some()
    }

    /// By what right jobs run, as a pass has left it: those alone are looked at that borrowed before it or do now.
    fn follow_rights(&mut self) {
        let mut perhaps = std::mem::take(&mut self.borrowing);
        perhaps.extend(self.state.borrowing());
        for id in perhaps {
            let Some(running) = self.running.get(&id).map(Box::as_ref) else { continue };
            let qos_class = self.state.qos_class(id).unwrap_or(running.qos_class);
            if running.qos_class != qos_class {
                let after = Running { qos_class, ..running.clone() };
                self.keeps(id, after);
            }
            if qos_class == QosClass::Borrowed {
                self.borrowing.insert(id);
            }
        }
    }

    /// A job that was to give up its place is told so.
    pub(crate) fn ends(&mut self, id: JobId) {
        if let Some(running) = self.running.get_mut(&id) {
            running.stopping = true;
            self.state.runs(running);
            self.unsay();
        }
    }

    /// The jobs that wait for their turn, as the scheduler is told them.
    pub(crate) fn requests(&self) -> Vec<Request> {
        let waits = |job: &&Active| job.row.state == State::Waiting && job.row.stop.is_none();
        let waiting = self.jobs.values().filter(waits);
        let waiting = waiting.filter(|job| !self.running.contains_key(&job.row.id));
        waiting.map(|job| told::request_of_job(job, &self.past, &self.lacks)).collect()
    }

    /// Everything as it is now, to think a change through on.
    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot {
            nodes: self.scheduler_nodes(),
            virtual_clusters: self.virtual_clusters.clone(),
            running: self.running().cloned().collect(),
            waiting: self.requests(),
            reserved: self.state.reservations(),
            past_use: self.state.past_use().clone(),
        }
    }

    /// The types of all GPUs.
    pub(crate) fn gpu_types(&self) -> BTreeSet<GpuType> {
        self.state.gpu_types()
    }

    /// A job that waits, as the scheduler is told it.
    pub(crate) fn request(&self, id: JobId) -> Option<Request> {
        Some(told::request_of_job(self.job(id)?, &self.past, &self.lacks))
    }

    /// Why jobs wait, their places, and when they may start.
    pub(super) fn waiting(&mut self, ids: &[JobId], now: Timestamp) -> HashMap<JobId, Reason> {
        self.said.of(&mut self.state, ids, now);
        let (state, jobs, past) = (&mut self.state, &self.jobs, &self.past.waits);
        let said = &self.said;
        let of = |id: &JobId| {
            let mut waiting = said.get(*id)?.clone();
            let row = &jobs.get(id)?.row;
            // The scheduler only knows that a job is held, not by whom.
            if let Some(hold) = &row.held {
                waiting.reason = held(hold);
            }
            let like = past.expect(&runs::like(row, None), &row.key.name, waits_since(row), now);
            let expected = runs::start(&waiting, state.promised_start(*id, now), like);
            Some((*id, (waiting, expected)))
        };
        ids.iter().filter_map(of).collect()
    }
}

/// Those of the nodes that are others than before, as the scheduler sees them; `None`: some came, or
/// went.
fn changed(before: &[Arc<NodeRecord>], nodes: &[Arc<NodeRecord>]) -> Option<Vec<Node>> {
    let others = || before.iter().zip(nodes).filter(|(one, other)| !Arc::ptr_eq(one, other));
    let same_names = others().all(|(one, other)| one.settings.name == other.settings.name);
    if before.len() != nodes.len() || !same_names {
        return None;
    }
    let seen = others().map(|(one, other)| (scheduler_node(one), scheduler_node(other)));
    Some(seen.filter(|(one, other)| one != other).map(|(_, node)| node).collect())
}

/// Since when a job waits, as far as that is known: of one that was tried already, since now.
pub(crate) fn waits_since(row: &database::jobs::JobRow) -> Timestamp {
    if row.attempt.is_none() { row.submitted_at } else { now() }
}

/// Why a held job waits.
pub(crate) fn held(hold: &Hold) -> WaitReason {
    WaitReason::Hold { by: Some(hold.by.clone()), administrator: hold.administrator }
}
