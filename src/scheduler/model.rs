//! What the scheduler is told and what it answers.

use std::collections::{BTreeMap, BTreeSet};

use protocol::cluster::{NodeCondition, VirtualClusterSettings};
use protocol::ids::{GpuType, JobId, NodeName, UserName, VirtualClusterName};
use protocol::placement::TaskPlacement;
use protocol::resources::{Capacity, PortRange, Resources};
use protocol::spec::{PortRequest, Priority};
use protocol::time::Timestamp;
use protocol::wait::{WaitReason, Waiting};

/// The cluster and the queue at one moment.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// All nodes, whatever their condition.
    pub nodes: Vec<Node>,
    /// All virtual clusters.
    pub virtual_clusters: Vec<VirtualClusterSettings>,
    /// Jobs that hold something: preparing, running, stopping, out of contact.
    pub running: Vec<Running>,
    /// Jobs that wait, in any order.
    pub waiting: Vec<Request>,
    /// The reservation of the last plan: it is kept, so that nothing that was let past its job
    /// comes to stand in its way.
    pub reserved: Option<Reservation>,
}

/// The first job that finds no room, and what it waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    /// The job.
    pub job: JobId,
    /// It starts when these have ended, or earlier.
    pub awaits: BTreeSet<JobId>,
}

/// A node.
#[derive(Debug, Clone)]
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
}

/// A job that holds something.
#[derive(Debug, Clone)]
pub struct Running {
    /// The job.
    pub job: JobId,
    /// Where it counts.
    pub virtual_cluster: VirtualClusterName,
    /// Its tasks and what each holds.
    pub tasks: Vec<(TaskPlacement, Resources)>,
}

/// A job that wants to start.
#[derive(Debug, Clone)]
pub struct Request {
    /// The job.
    pub job: JobId,
    /// Its owner.
    pub user: UserName,
    /// Where it counts.
    pub virtual_cluster: VirtualClusterName,
    /// Place in the queue.
    pub priority: Priority,
    /// When it was submitted: first come, first served.
    pub submitted_at: Timestamp,
    /// An attempt that failed through the platform waits until then.
    pub not_before: Option<Timestamp>,
    /// Nodes to avoid where others will do: the job just failed there through the platform.
    pub avoid: Vec<NodeName>,
    /// Its roles, in the job's order.
    pub roles: Vec<RoleRequest>,
}

/// The tasks of one role.
#[derive(Debug, Clone)]
pub struct RoleRequest {
    /// How many tasks.
    pub count: u32,
    /// What each needs.
    pub resources: Resources,
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
    /// Jobs that wait, each with why.
    pub waiting: BTreeMap<JobId, Waiting>,
    /// To be told to the next pass.
    pub reserved: Option<Reservation>,
}

/// A job that starts.
#[derive(Debug, Clone, PartialEq)]
pub struct Placement {
    /// The job.
    pub job: JobId,
    /// Its tasks, by role and index.
    pub tasks: Vec<TaskPlacement>,
}

/// The answer for a job that is not submitted.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// It would start at once, there.
    Fits(Vec<TaskPlacement>),
    /// It would wait.
    Waits(Waiting),
    /// It could never start.
    Never(WaitReason),
}
