//! What the scheduler is told and what it answers.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

pub use protocol::cluster::Shape;
use protocol::cluster::{NodeCondition, Places, Preempts, Share, VirtualClusterSettings};
use protocol::ids::{GpuType, JobId, NodeName, StorageName, UserName, VirtualClusterName};
use protocol::placement::TaskPlacement;
use protocol::resources::{Capacity, Gpu, PortRange, Resources};
use protocol::spec::{NodeSelector, PortRequest, Priority};
use protocol::time::Timestamp;
pub use protocol::wait::{Expected, Ground, Scarce};
use protocol::wait::{WaitReason, Waiting};

pub use crate::model::deadline::Urgency;
use crate::model::groups::GroupShares;
use crate::model::limits::RunLimits;
pub use crate::model::past_use::{GroupUse, PastUse, UserUse};
use crate::model::remaining::Remaining;

pub(crate) mod deadline;
pub mod groups;
pub mod limits;
pub(crate) mod past_use;
pub(crate) mod remaining;

/// Thousandths of one GPU.
pub const WHOLE_GPU: u32 = 1000;

/// The cluster and the queue at one moment.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// All nodes, whatever their condition.
    pub nodes: Vec<Node>,
    /// All virtual clusters.
    pub virtual_clusters: Vec<VirtualCluster>,
    /// Jobs that hold something: preparing, running, stopping, out of contact.
    pub running: Vec<Running>,
    /// Jobs that wait, in any order.
    pub waiting: Vec<Request>,
    /// The reservations of the last plan: they are kept, so that nothing that was let past its job
    /// comes to stand in its way.
    pub reserved: Vec<Reservation>,
    /// What users had that have it no more.
    pub past_use: PastUse,
}

/// A virtual cluster and what it is guaranteed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VirtualCluster {
    /// Its name.
    pub name: VirtualClusterName,
    /// The virtual cluster out of whose share this one's is cut.
    pub parent: Option<VirtualClusterName>,
    /// What it is guaranteed. GPUs are given as whole nodes as far as the number goes, the rest as
    /// aligned groups. When no type is named it has its parent's, else, together with all others
    /// of this kind, what is guaranteed to nobody.
    pub share: Share,
    /// Shapes it is guaranteed beyond `share`.
    pub shapes: Vec<Shape>,
    /// Nodes on which what it is guaranteed of GPUs lies, as far as they have so many.
    pub nodes: Vec<NodeName>,
    /// Places on whose nodes it lies as well, where those are nobody's who names them more narrowly.
    pub within: Places,
    /// Whether its jobs may run on what others do not use, until those want it back.
    pub borrows: bool,
    /// Of which classes its jobs take the places of those of lower ones.
    pub preempts: Preempts,
    /// Whether its jobs that have to start soon to meet their deadlines go before others' of their priority.
    pub deadlines: bool,
    /// Who may have what running in it.
    pub limits: RunLimits,
    /// Groups between which it is shared fairly.
    pub groups: GroupShares,
}

/// As settings say it, where nobody is in a group.
impl From<&VirtualClusterSettings> for VirtualCluster {
    fn from(settings: &VirtualClusterSettings) -> Self {
        Self {
            name: settings.name.clone(),
            parent: settings.parent.clone(),
            share: settings.share.clone(),
            shapes: settings.shapes.clone(),
            nodes: settings.nodes.clone(),
            within: settings.within.clone(),
            borrows: settings.borrows,
            preempts: settings.preempts,
            deadlines: settings.deadlines,
            limits: RunLimits::new(settings, &BTreeMap::new()),
            groups: GroupShares::new(settings, &BTreeMap::new()),
        }
    }
}

/// The first job of a virtual cluster that finds no room, and what it waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    /// The job.
    pub job: JobId,
    /// It starts when these have ended, or earlier.
    pub awaits: BTreeSet<JobId>,
    /// When that is expected.
    pub start: Timestamp,
}

/// A node.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Name.
    pub name: NodeName,
    /// Address; ports are unique per address, which several nodes may share.
    pub address: String,
    /// Whether it takes tasks.
    pub condition: NodeCondition,
    /// What it has in all.
    pub capacity: Capacity,
    /// Ports it gives.
    pub ports: PortRange,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// GPU indices that are linked closely (NVLink, NUMA); none known: neighbours by index.
    pub links: Vec<Vec<u32>>,
    /// Whether tasks that ask for part of a GPU may run there.
    pub shares_gpus: bool,
    /// Whether something is wrong with it: it is the last choice.
    pub doubtful: bool,
    /// Whether what it has is known: else it may have anything.
    pub known: bool,
}

impl Node {
    /// Whether the two differ at most in what comes and goes: whether they take tasks, how well they
    /// are, and which of their GPUs are healthy.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        let Self {
            name,
            address,
            condition: _,
            capacity,
            ports,
            labels,
            links,
            shares_gpus,
            doubtful: _,
            known,
        } = self;
        let Capacity { cpus, memory_mb, disk_gb, gpus, architecture: _ } = capacity;
        let amounts = |of: &Capacity| (of.cpus, of.memory_mb, of.disk_gb, of.gpus.len());
        let same =
            |(one, other): (&Gpu, &Gpu)| one.index == other.index && one.gpu_type == other.gpu_type;
        amounts(&other.capacity) == (*cpus, *memory_mb, *disk_gb, gpus.len())
            && gpus.iter().zip(&other.capacity.gpus).all(same)
            && (name, address, ports) == (&other.name, &other.address, &other.ports)
            && (labels, links) == (&other.labels, &other.links)
            && (shares_gpus, known) == (&other.shares_gpus, &other.known)
    }
}

/// What one task needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Demand {
    /// Thousandths of a CPU core.
    pub cpu_milli: u64,
    /// Memory in MiB.
    pub memory_mb: u64,
    /// Disk in GiB.
    pub disk_gb: u64,
    /// GPUs.
    pub gpus: u32,
    /// Thousandths of each GPU; less than [`WHOLE_GPU`] only when it asks for one.
    pub gpu_milli: u32,
}

impl From<Resources> for Demand {
    fn from(resources: Resources) -> Self {
        let Resources { cpus, memory_mb, gpus: _, disk_gb } = resources;
        let cpu_milli = u64::from(cpus) * 1000;
        let part = resources.gpu_part().and_then(|part| u32::try_from(part.milli()).ok());
        let (gpus, gpu_milli) = (resources.gpu_devices(), part.unwrap_or(WHOLE_GPU));
        Self { cpu_milli, memory_mb, disk_gb, gpus, gpu_milli }
    }
}

impl Demand {
    /// Thousandths of GPUs that a task takes in all.
    #[must_use]
    pub fn all_gpu_milli(&self) -> u64 {
        u64::from(self.gpus) * u64::from(self.each_gpu_milli())
    }

    /// Thousandths of each of its GPUs that a task takes: of several it takes all.
    #[must_use]
    pub fn each_gpu_milli(&self) -> u32 {
        if self.gpus == 1 { self.gpu_milli.clamp(1, WHOLE_GPU) } else { WHOLE_GPU }
    }
}

/// By what right a job runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QosClass {
    /// Within its virtual cluster's share: only a job of that virtual cluster and of a higher class
    /// takes its right, or its place.
    Guaranteed,
    /// On what nobody used: whoever it belongs to may take it back.
    Borrowed,
}

/// A job that gave way twice borrows nothing for one part in so many of the time that it is expected to
/// run, and after each further time for twice as long: the longer it runs the likelier it is told to leave
/// again before it ends, and the better is its own line.
const REST: i64 = 24;
/// It rests so long at least.
const SHORTEST_REST_MS: i64 = 60_000;
/// And so long at most.
const LONGEST_REST_MS: i64 = 86_400_000;

/// How often a job gave way to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GaveWay {
    /// So often.
    pub times: u32,
    /// The last time it was then.
    pub last: Timestamp,
}

impl GaveWay {
    /// Once more.
    #[must_use]
    pub fn again(self, at: Timestamp) -> Self {
        Self { times: self.times.saturating_add(1), last: at.max(self.last) }
    }

    /// Until when a job that is expected to run so long only starts on its virtual cluster's share;
    /// `None`: it may borrow. A moment that a clock has been set back before holds nobody up.
    #[must_use]
    pub fn rests_until(self, now: Timestamp, runs_ms: Option<i64>) -> Option<Timestamp> {
        let doubled = self.times.checked_sub(2)?.min(16);
        let runs = runs_ms.unwrap_or(LONGEST_MS).clamp(0, LONGEST_MS);
        let first = (runs / REST).max(SHORTEST_REST_MS);
        let until = self.last.plus_millis((first << doubled).min(LONGEST_REST_MS));
        (self.last <= now && now < until).then_some(until)
    }
}

/// A job lets go first what is submitted later by less than one part in so many of the time that it
/// is expected to run. What is expected to be short so waits little, and nobody is overtaken for
/// longer than a half of his own run.
const PATIENCE: i64 = 2;
/// Nothing is expected to run longer than this, and that of which nothing is known is: who says how
/// long his job may run never comes behind where he had come without.
pub(crate) const LONGEST_MS: i64 = 86_400_000;

/// A place in the queue: the smaller goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Turn {
    /// Higher ones go first; below 0: it only ever borrows.
    pub priority: Reverse<Priority>,
    /// The moment of submission, put back the further the longer the job is expected to run.
    pub rank: i64,
}

impl Turn {
    /// Of a job of this priority that was submitted then, was moved by so many milliseconds, and is
    /// expected to run, or may run, so long.
    #[must_use]
    pub fn new(
        priority: Priority,
        submitted_at: Timestamp,
        moved_ms: i64,
        expected_ms: Option<i64>,
    ) -> Self {
        let expected = expected_ms.unwrap_or(LONGEST_MS).clamp(0, LONGEST_MS);
        let rank = submitted_at.0.saturating_add(moved_ms).saturating_add(expected / PATIENCE);
        Self { priority: Reverse(priority), rank }
    }

    /// Whether it is of a higher class than another.
    pub(crate) fn outranks(&self, other: &Self) -> bool {
        self.priority.0.class() > other.priority.0.class()
    }
}

/// A job that holds something.
#[derive(Debug, Clone, PartialEq)]
pub struct Running {
    /// The job.
    pub job: JobId,
    /// Its owner.
    pub user: UserName,
    /// Where it counts.
    pub virtual_cluster: VirtualClusterName,
    /// Its tasks and what each holds.
    pub tasks: Vec<(TaskPlacement, Demand)>,
    /// By role, of those that name any: GPU types that would have done.
    pub gpu_types: BTreeMap<u32, Vec<GpuType>>,
    /// As its placement said.
    pub qos_class: QosClass,
    /// Its place in the queue when it waited.
    pub turn: Turn,
    /// When it was placed.
    pub started_at: Timestamp,
    /// How long it may run, in milliseconds.
    pub limit_ms: Option<i64>,
    /// How long its like have run, in milliseconds ([`crate::PastRuns`]).
    pub expected_ms: Option<i64>,
    /// How often it gave way before it was placed.
    pub gave_way: GaveWay,
    /// It is being stopped already.
    pub stopping: bool,
}

/// A job that wants to start.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The job.
    pub job: JobId,
    /// Its owner.
    pub user: UserName,
    /// Where it counts.
    pub virtual_cluster: VirtualClusterName,
    /// Place in the queue; below 0: it only ever borrows.
    pub priority: Priority,
    /// When it was submitted: first come, first served.
    pub submitted_at: Timestamp,
    /// Milliseconds by which somebody moved it back (or, below 0, forward) in the queue.
    pub moved_ms: i64,
    /// Somebody holds it.
    pub held: bool,
    /// An attempt that failed through the platform waits until then.
    pub not_before: Option<Timestamp>,
    /// It is to have ended by then.
    pub deadline: Option<Timestamp>,
    /// How often it gave way.
    pub gave_way: GaveWay,
    /// How long it may run, in milliseconds.
    pub limit_ms: Option<i64>,
    /// How long its like have run, in milliseconds ([`crate::PastRuns`]).
    pub expected_ms: Option<i64>,
    /// Nodes to avoid where others will do: the job just failed there through the platform.
    pub avoid: Vec<NodeName>,
    /// Nodes that will not do, each with the storage that it lacks.
    pub lacks: BTreeMap<NodeName, StorageName>,
    /// Which nodes will do.
    pub nodes: NodeSelector,
    /// Its roles, in the job's order.
    pub roles: Vec<RoleRequest>,
}

impl Request {
    /// Its place in the queue.
    #[must_use]
    pub fn turn(&self) -> Turn {
        let expected = self.expected_ms.or(self.limit_ms);
        Turn::new(self.priority, self.submitted_at, self.moved_ms, expected)
    }

    /// The longest that it is expected to run.
    pub(crate) fn runs_ms(&self) -> Option<i64> {
        self.expected_ms.into_iter().chain(self.limit_ms).min()
    }

    /// When it has to start soon to have ended in time; `None`: it has no deadline.
    #[must_use]
    pub fn urgency(&self) -> Option<Urgency> {
        Some(Urgency::of(self.deadline?, self.runs_ms().unwrap_or(LONGEST_MS)))
    }
}

impl Running {
    /// How long it is there still.
    pub(crate) fn remaining(&self) -> Remaining {
        let Self { started_at, limit_ms, expected_ms, .. } = *self;
        Remaining { started_at, limit_ms, expected_ms }
    }
}

/// The tasks of one role.
#[derive(Debug, Clone, PartialEq)]
pub struct RoleRequest {
    /// How many tasks.
    pub count: u32,
    /// What each needs.
    pub demand: Demand,
    /// GPU types that will do; empty: any. A task's GPUs are all of one type.
    pub gpu_types: Vec<GpuType>,
    /// Ports each needs, `http` and `ssh` among them.
    pub ports: Vec<PortRequest>,
}

/// What to do and what to say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// Jobs that start, each with all its tasks.
    pub placements: Vec<Placement>,
    /// Jobs to be stopped and put back to their place in the queue.
    pub preemptions: Vec<Preemption>,
    /// Jobs that wait, each with why.
    pub waiting: BTreeMap<JobId, Waiting>,
    /// To be told to the next pass.
    pub reserved: Vec<Reservation>,
}

/// A job that starts.
#[derive(Debug, Clone, PartialEq)]
pub struct Placement {
    /// The job.
    pub job: JobId,
    /// By what right.
    pub qos_class: QosClass,
    /// Its tasks, by role and index.
    pub tasks: Vec<TaskPlacement>,
    /// Thousandths of GPUs as which counts what it has; those of one where it has none.
    pub weighed_milli: i64,
}

/// A job that gives way. Its attempt does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preemption {
    /// The job; always one that runs on borrowed resources, or has to give up its right to its own.
    pub job: JobId,
    /// The job that takes its place once it has ended.
    pub taken_by: JobId,
    /// Whose guaranteed share it runs on.
    pub virtual_cluster: VirtualClusterName,
    /// It is of that virtual cluster, but of a lower class than the job that takes its place.
    pub outranked: bool,
    /// What it loses: its GPUs (one where it has none) × the milliseconds it ran.
    pub lost_ms: i64,
}

/// The answer for a job that is not submitted.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// It would start at once, there and by this right.
    Fits(Vec<TaskPlacement>, QosClass),
    /// It would start as soon as these, which run on borrowed resources, have given way.
    Preempts(Vec<JobId>),
    /// It would wait.
    Waits(Explanation),
    /// It could never start.
    Never(WaitReason),
}

/// How a job would start at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtOnce {
    /// By what right.
    pub qos_class: QosClass,
    /// On what is kept for this job, before whose start it ends.
    pub before: Option<JobId>,
}

/// The free GPUs of a type, as a job that is submitted now would find them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FreeGpus {
    /// A job of so many tasks with one GPU each starts at once, and one of one task more does not.
    pub gpus: u32,
    /// The same of one task with so many GPUs.
    pub on_one_node: u32,
    /// How many of `gpus` are beyond what a job would be guaranteed.
    pub borrowed: u32,
}

/// All that can be said of a waiting job.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// Why, and its place.
    pub waiting: Waiting,
    /// For the scarcest resource: what one task needs, what is free on all nodes that could take
    /// it, and on the best of them.
    pub scarce: Option<Scarce>,
    /// Jobs that hold what it waits for: at the head some that are expected to end first, in that
    /// order, then all others.
    pub holders: Vec<JobId>,
    /// The first of those that go before it in its virtual cluster, by their places.
    pub ahead: Vec<JobId>,
    /// When it may start.
    pub expected: Option<Expected>,
}

impl Explanation {
    /// Of a job that waits for no room.
    pub(crate) fn of(waiting: Waiting) -> Self {
        let (holders, ahead) = (Vec::new(), Vec::new());
        Self { waiting, scarce: None, holders, ahead, expected: None }
    }
}
