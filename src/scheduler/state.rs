//! The scheduler's memory between passes: changes go in, and a pass costs what changed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use protocol::ids::JobId;
use protocol::placement::{TaskPlacement, TaskPorts};
use protocol::time::Timestamp;

use crate::cluster::Cluster;
use crate::cluster::allocation::{Right, TaskAllocation};
use crate::cluster::owners::Owners;
use crate::cluster::placed::PlacedJob;
use crate::cluster::workload::Workload;
use crate::model::{
    Demand, Node, PastUse, Plan, QosClass, Request, Reservation, Running, Snapshot, VirtualCluster,
};
use crate::numbers::indices::AccountIndex;
use crate::numbers::request::Class;
use crate::pass::reserve::{Reserved, release};
use crate::queue::{Queue, Waiter};

pub(crate) mod nodes;
pub(crate) mod settle;
pub(crate) mod updates;

/// The cluster and the queue. Every change is told to it; [`State::pass`] decides.
#[derive(Debug)]
pub struct State {
    pub(crate) cluster: Cluster,
    pub(crate) queue: Queue,
    /// By account: what is kept for the first of its jobs that finds no room.
    pub(crate) reserved: BTreeMap<AccountIndex, Reserved>,
    /// Reservations of an earlier state.
    pub(crate) last: Vec<Reservation>,
    /// Jobs that have their places as soon as others have left them.
    pub(crate) pending: BTreeMap<JobId, Pending>,
    /// Jobs told to give way that have not ended yet. What they have is given already.
    pub(crate) leaving: BTreeMap<JobId, PlacedJob>,
    /// How often something became free.
    pub(crate) gains: u64,
    /// Accounts whose cells got room.
    pub(crate) gained: BTreeSet<AccountIndex>,
    virtual_clusters: Vec<VirtualCluster>,
}

/// A job whose places are taken, but not left yet by all who were there.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) waiter: Waiter,
    pub(crate) class: Arc<Class>,
    pub(crate) placed: PlacedJob,
    pub(crate) awaits: BTreeSet<JobId>,
}

impl State {
    /// A cluster in which nothing runs and nobody waits.
    #[must_use]
    pub fn new(nodes: &[Node], virtual_clusters: Vec<VirtualCluster>) -> Self {
        Self {
            cluster: Cluster::new(nodes, &virtual_clusters, Workload::default()),
            queue: Queue::default(),
            reserved: BTreeMap::new(),
            last: Vec::new(),
            pending: BTreeMap::new(),
            leaving: BTreeMap::new(),
            gains: 0,
            gained: BTreeSet::new(),
            virtual_clusters,
        }
    }

    /// The state of a snapshot.
    #[must_use]
    pub fn of(snapshot: &Snapshot) -> Self {
        let mut state = Self::new(&snapshot.nodes, snapshot.virtual_clusters.clone());
        state.remember(snapshot.past_use.clone());
        state.last.clone_from(&snapshot.reserved);
        state.settle_all(&snapshot.running);
        snapshot.running.iter().for_each(|running| state.cluster.saw_running(running));
        // In whatever order they are told: all of them are counted before anything is learned.
        for request in &snapshot.waiting {
            state.wait(request, true);
        }
        state.cluster.learn_whole();
        for reservation in &snapshot.reserved {
            state.queue.put_first(reservation.job);
        }
        state
    }

    /// What users had before. It has to be told before anything that runs.
    pub fn remember(&mut self, past_use: PastUse) {
        debug_assert!(self.cluster.placed_jobs.is_empty(), "what runs is counted by its half-life");
        self.cluster.owners =
            Owners::after(past_use, &self.cluster.names.types, &self.virtual_clusters);
    }

    /// A job comes (again): it waits.
    pub fn submit(&mut self, request: &Request) {
        let Request { job, gave_way, not_before, .. } = request;
        let waits = self.queue.jobs.contains_key(job) || self.pending.contains_key(job);
        let came_before = waits || gave_way.times > 0 || not_before.is_some();
        self.wait(request, !came_before);
        self.cluster.learn_if_due();
    }

    /// A job waits; `first`: nobody has counted yet what it wishes for.
    fn wait(&mut self, request: &Request, first: bool) {
        self.cancel(request.job);
        let cluster = &mut self.cluster;
        let away = self.pending.values().map(|pending| pending.waiter.line);
        self.queue.add(request, || cluster.class(request), away);
        let class = self.queue.class(self.queue.jobs[&request.job].line);
        self.cluster.count(&class, first);
    }

    /// A waiting job is wanted no more, or is about to come back changed.
    pub fn cancel(&mut self, job: JobId) {
        self.queue.remove(job);
        self.let_go(job);
        self.give_up_places(job);
    }

    /// The places of a job that have not been left yet are given back.
    pub(crate) fn give_up_places(&mut self, job: JobId) -> Option<Waiter> {
        let pending = self.pending.remove(&job)?;
        self.cluster.count_coming(&pending.placed, -1);
        for allocation in &pending.placed.allocations {
            self.cluster.give(allocation);
        }
        self.gains += 1;
        self.come_back(&pending.awaits);
        Some(pending.waiter)
    }

    /// Those who were to leave for nothing are there until they end.
    fn come_back(&mut self, jobs: &BTreeSet<JobId>) {
        for job in jobs {
            let wanted = self.pending.values().any(|pending| pending.awaits.contains(job));
            let fits = |placed: &PlacedJob| {
                placed.allocations.iter().all(|allocation| self.cluster.has_back(allocation))
            };
            if wanted || !self.leaving.get(job).is_some_and(fits) {
                continue;
            }
            if let Some(placed) = self.leaving.remove(job) {
                self.cluster.count_leaving(&placed, -1);
                placed.allocations.iter().for_each(|allocation| self.cluster.take(allocation));
                self.cluster.settle(*job, PlacedJob { stopping: true, ..placed });
            }
        }
    }

    /// A running job has ended, whatever the reason.
    pub fn ended(&mut self, job: JobId) {
        let left = self.leaving.remove(&job);
        if let Some(placed) = &left {
            self.cluster.count_leaving(placed, -1);
            let milli = self.cluster.owners.weigh(&placed.allocations);
            self.cluster.owners.ended(placed, milli);
        }
        for pending in self.pending.values_mut() {
            pending.awaits.remove(&job);
        }
        let Some(placed) = self.cluster.leave(job) else {
            self.gains += u64::from(left.is_some());
            return;
        };
        let milli = self.cluster.owners.weigh(&placed.allocations);
        self.cluster.owners.ended(&placed, milli);
        self.gains += 1;
        let accounts = placed.allocations.iter().filter_map(|allocation| match allocation.right {
            Right::Of(account) => Some(self.cluster.cells.owner(account)),
            Right::Borrowed => None,
        });
        self.gained.extend(accounts);
    }

    /// The reservation of a job is dropped.
    pub(crate) fn let_go(&mut self, job: JobId) {
        let of = |(account, reserved): (&AccountIndex, &Reserved)| {
            (reserved.reservation.job == job).then_some(*account)
        };
        if let Some(account) = self.reserved.iter().find_map(of)
            && let Some(reserved) = self.reserved.remove(&account)
        {
            release(&mut self.cluster, &reserved);
            self.gains += 1;
        }
    }

    /// Virtual clusters came, went or changed.
    pub fn set_virtual_clusters(&mut self, virtual_clusters: Vec<VirtualCluster>) {
        self.virtual_clusters = virtual_clusters;
        let nodes = self.nodes();
        self.rebuild(&nodes);
    }

    /// Everything anew, from the same jobs.
    pub(crate) fn rebuild(&mut self, nodes: &[Node]) {
        let held: Vec<AccountIndex> = self.reserved.keys().copied().collect();
        held.into_iter().for_each(|account| self.drop_hold(account));
        for (_, pending) in std::mem::take(&mut self.pending) {
            self.queue.insert(pending.waiter);
        }
        let leaving = std::mem::take(&mut self.leaving);
        let stopping = leaving.iter().map(|(job, placed)| Running {
            stopping: true,
            ..running(&self.cluster, *job, placed)
        });
        let running: Vec<_> = self
            .cluster
            .placed_jobs
            .iter()
            .map(|(job, placed)| running(&self.cluster, *job, placed))
            .chain(stopping)
            .collect();
        let workload = std::mem::take(&mut self.cluster.workload);
        let past_use = std::mem::take(&mut self.cluster.owners.past);
        self.cluster = Cluster::new(nodes, &self.virtual_clusters, workload);
        let types = &self.cluster.names.types;
        self.cluster.owners = Owners::after(past_use, types, &self.virtual_clusters);
        let cluster = &mut self.cluster;
        self.queue.renumber(|request| cluster.class(request));
        self.queue.forget_urgency();
        self.all_gain();
        self.settle_all(&running);
    }

    /// Anybody may find room now.
    pub(crate) fn all_gain(&mut self) {
        self.gains += 1;
        self.gained.extend((0..=self.virtual_clusters.len()).map(AccountIndex::from));
    }

    /// What runs takes its places; guaranteed work first, of that the highest class, and of a class the
    /// oldest, as far as the cells go.
    pub(crate) fn settle_all(&mut self, running: &[Running]) {
        let mut order: Vec<_> = running.iter().collect();
        let borrows = |running: &Running| running.qos_class == QosClass::Borrowed;
        order.sort_by_key(|running| {
            let class = Reverse(running.turn.priority.0.class());
            (borrows(running), class, running.started_at, running.job)
        });
        self.cluster.lodge(&order);
        for running in order {
            let placed = self.cluster.placed(running);
            let guaranteed = running.qos_class == QosClass::Guaranteed;
            let settled = guaranteed
                && (self.cluster.settle_guaranteed(running.job, &placed)
                    || self.cluster.settle_beside_cells(running.job, &placed));
            if !settled {
                for allocation in &placed.allocations {
                    self.cluster.take(allocation);
                }
                let placed = PlacedJob { qos_class: QosClass::Borrowed, ..placed };
                self.cluster.settle(running.job, placed);
            }
        }
    }

    /// The reservations, to be told to a later state.
    #[must_use]
    pub fn reservations(&self) -> Vec<Reservation> {
        self.reserved.values().map(|reserved| reserved.reservation.clone()).collect()
    }

    /// A pass, and what it has to say of all that still wait.
    pub fn plan(&mut self, now: Timestamp) -> Plan {
        let pass = self.pass(now);
        Plan {
            placements: pass.placements,
            preemptions: pass.preemptions,
            waiting: self.waiting(now),
            reserved: self.reservations(),
        }
    }
}

/// A placed job as it would be told by a snapshot.
fn running(cluster: &Cluster, job: JobId, placed: &PlacedJob) -> Running {
    let task = |allocation: &TaskAllocation| {
        let node = &cluster.fixed[allocation.node?];
        let place = TaskPlacement {
            role: 0,
            index: 0,
            node: node.node.name.clone(),
            address: node.node.address.clone(),
            gpus: node.gpu_indices(allocation.gpus),
            ports: ports(&allocation.ports),
        };
        let amount = |amount: i64| u64::try_from(amount).unwrap_or(0);
        let demand = Demand {
            cpu_milli: amount(allocation.amounts.cpus),
            memory_mb: amount(allocation.amounts.memory),
            disk_gb: amount(allocation.amounts.disk),
            gpus: allocation.gpus.count_ones(),
            gpu_milli: allocation.milli,
        };
        Some((place, demand))
    };
    Running {
        job,
        user: placed.user.clone(),
        virtual_cluster: placed.name.clone(),
        tasks: placed.allocations.iter().filter_map(task).collect(),
        qos_class: placed.qos_class,
        started_at: placed.remaining.started_at,
        limit_ms: placed.remaining.limit_ms,
        expected_ms: placed.remaining.expected_ms,
        gave_way: placed.gave_way,
        stopping: placed.stopping,
        turn: placed.turn,
        // They were counted when they came.
        gpu_types: BTreeMap::new(),
    }
}

/// Ports without their labels, which nobody asks for any more.
fn ports(ports: &[u16]) -> TaskPorts {
    let label = protocol::ids::PortLabel::new("all").expect("a fixed name is valid");
    TaskPorts::from([(label, ports.to_vec())])
}
