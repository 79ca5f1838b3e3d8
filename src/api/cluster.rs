//! Nodes and virtual clusters.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;

use async_trait::async_trait;
use protocol::amount::Amount;
use protocol::cluster::{Closed, NodeCondition, NodeSettings, VirtualClusterSettings};
use protocol::gpus::GpuReport;
use protocol::health::Health;
use protocol::ids::{GpuType, GroupName, JobKey, JobName, NodeName, UserName, VirtualClusterName};
use protocol::resources::{Capacity, Gpu, PortRange};
use protocol::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::error::Result;
use crate::metrics::GpuNow;
use crate::node_map::{NodeMap, NodeQuery};
use crate::queue::Effect;

/// What people do with nodes. Everybody sees them; only administrators change them.
#[async_trait]
pub trait Nodes: Send + Sync {
    /// All nodes by name.
    async fn list(&self, actor: &Actor) -> Result<Vec<NodeView>>;
    /// A part of them, as a map or a table of very many shows them.
    async fn map(&self, actor: &Actor, query: &NodeQuery) -> Result<NodeMap>;
    /// One node.
    async fn get(&self, actor: &Actor, name: &NodeName) -> Result<NodeView>;
    /// Those that do not answer, and those that were closed by themselves.
    async fn silent(&self, actor: &Actor) -> Result<Silent>;
    /// What an administrator wrote of it.
    async fn settings(&self, actor: &Actor, name: &NodeName) -> Result<NodeSettings>;
    /// What saving it would do.
    async fn save_effect(&self, actor: &Actor, node: NodeSettings) -> Result<Effect>;
    /// What removing it would do.
    async fn remove_effect(&self, actor: &Actor, name: &NodeName) -> Result<Effect>;
    /// Adds a node, or changes one of that name.
    async fn save(&self, actor: &Actor, node: NodeSettings) -> Result<()>;
    /// Takes nothing new any more, or does again, also where it was closed by itself or has failed: who
    /// says so says that it is well.
    async fn drain(&self, actor: &Actor, name: &NodeName, drain: Drain) -> Result<()>;
    /// What `drain` would do to jobs. It is refused where `drain` would be; nothing is changed.
    async fn drain_effect(&self, actor: &Actor, name: &NodeName, drain: Drain) -> Result<Effect>;
    /// Has its GPUs looked for now (administrators). What is found is told as all else is that is seen
    /// of it; a GPU that is gone by then is forgotten.
    async fn probe(&self, actor: &Actor, name: &NodeName) -> Result<()>;
    /// Has its engine pull an image, also one that it has already, to see whether it can (administrators).
    /// It is well when that has ended, or goes on after some seconds: no more is waited for.
    async fn try_pull(&self, actor: &Actor, name: &NodeName, image: &str) -> Result<()>;
    /// Says that a job of the actor's will try it, which is submitted next (administrators): it is ended and
    /// deleted once its time is over, whatever has become of whoever waits for it.
    async fn try_with(&self, actor: &Actor, name: &NodeName, trial: &Trial) -> Result<()>;
    /// Forgets a node that runs nothing.
    async fn remove(&self, actor: &Actor, name: &NodeName) -> Result<()>;
}

/// A job that tries a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// Its name; there is no job of that name yet.
    pub job: JobName,
    /// Within so many seconds it is gone; [`Self::LONGEST`] at most.
    pub seconds: u32,
}

impl Trial {
    /// A day.
    pub const LONGEST: u32 = 86_400;
}

/// What people do with virtual clusters.
#[async_trait]
pub trait VirtualClusters: Send + Sync {
    /// All of them by name; each says whether the actor may use it.
    async fn list(&self, actor: &Actor) -> Result<Vec<VirtualClusterView>>;
    /// One of them.
    async fn get(&self, actor: &Actor, name: &VirtualClusterName) -> Result<VirtualClusterView>;
    /// Adds one, or changes one of that name (administrators).
    async fn save(&self, actor: &Actor, settings: VirtualClusterSettings) -> Result<()>;
    /// What `save` would do to jobs. It is refused where `save` would be; nothing is changed.
    async fn save_effect(&self, actor: &Actor, settings: VirtualClusterSettings) -> Result<Effect>;
    /// What is guaranteed of what there is: as things stand, or once one is saved like this
    /// (administrators). More than there is can be promised, for what is still to come.
    async fn promises(
        &self,
        actor: &Actor,
        settings: Option<VirtualClusterSettings>,
    ) -> Result<Vec<Promise>>;
    /// Lets it take new jobs, or no more (administrators; never `default`). What waits and runs goes on.
    async fn set_stopped(
        &self,
        actor: &Actor,
        name: &VirtualClusterName,
        stopped: bool,
    ) -> Result<()>;
    /// Removes one that no active job uses (administrators). `default` stays.
    async fn remove(&self, actor: &Actor, name: &VirtualClusterName) -> Result<()>;
}

/// How much of a resource all virtual clusters are guaranteed together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Promise {
    /// Of what.
    pub resource: Promised,
    /// What is guaranteed.
    pub promised: u64,
    /// What all nodes have, whether or not they answer at the moment.
    pub there: u64,
}

/// What virtual clusters are guaranteed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Promised {
    /// GPUs of a type.
    Gpus(GpuType),
    /// CPU cores.
    Cpus,
    /// Memory in MiB.
    MemoryMb,
}

impl Promise {
    /// Whether not all who are promised it can have it.
    #[must_use]
    pub fn is_too_much(&self) -> bool {
        self.promised > self.there
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { resource, promised, there } = self;
        match resource {
            Promised::Gpus(gpu_type) => write!(f, "{gpu_type}: promised {promised} of {there}"),
            Promised::Cpus => write!(f, "CPU cores: promised {promised} of {there}"),
            Promised::MemoryMb => write!(f, "memory in MiB: promised {promised} of {there}"),
        }
    }
}

/// What is to become of a node and of what runs on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Drain {
    /// It takes tasks.
    Off,
    /// It takes nothing new; what runs there may end by itself.
    Quietly,
    /// What runs there starts anew elsewhere, and it does not count as a retry. What was on a node
    /// that does not answer is taken for dead: only who knows that it is may say so.
    Now,
}

/// Nodes that do not answer, and nodes that were closed since they fail to start tasks or are not well: how
/// many, and the first of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Silent {
    /// How many.
    pub count: u64,
    /// Names of some of them, [`Silent::NAMED`] at most.
    pub names: Vec<NodeName>,
    /// How many answer and are closed.
    #[serde(default)]
    pub closed: u64,
    /// Names of some of these, so many at most.
    #[serde(default)]
    pub closed_names: Vec<NodeName>,
}

impl Silent {
    /// The most that are named.
    pub const NAMED: usize = 5;
}

/// Everything the pages show of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeView {
    /// Name.
    pub name: NodeName,
    /// Address.
    pub address: String,
    /// The address of its tasks, where they have a network of their own.
    #[serde(default)]
    pub tasks_address: Option<IpAddr>,
    /// Its tasks are at the portal's host, with cookies that ports do not keep apart.
    #[serde(default)]
    pub at_portal: bool,
    /// Endpoint, without anything secret.
    pub endpoint: String,
    /// Whether it is simulated.
    pub simulated: bool,
    /// Whether it takes tasks.
    pub condition: NodeCondition,
    /// What runs there is to go at once.
    pub emptied: bool,
    /// Why it takes nothing new by itself, when it does not. What it failed to start is told to
    /// administrators only.
    #[serde(default)]
    pub closed: Option<Closed>,
    /// How well it is; what was wrong before is told of one node, not of all together.
    #[serde(default)]
    pub health: Health,
    /// Why it does not answer, when it does not, or is of no use although it does.
    pub problem: Option<String>,
    /// When it last answered.
    pub last_seen: Option<Timestamp>,
    /// The engine's kind and version.
    pub engine: Option<String>,
    /// What it has.
    pub capacity: Capacity,
    /// What is given away.
    pub used: Usage,
    /// Each GPU and who holds it.
    pub gpus: Vec<GpuView>,
    /// What its drivers said when its GPUs were looked for; told of one node, not of all together.
    #[serde(default)]
    pub gpu_report: Option<GpuReport>,
    /// Whether several tasks may share one of its GPUs.
    #[serde(default)]
    pub shares_gpus: bool,
    /// Ports given to tasks.
    pub ports: PortRange,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Tasks on it.
    pub tasks: Vec<NodeTask>,
}

/// A GPU and who holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GpuView {
    /// The GPU.
    pub gpu: Gpu,
    /// The job that holds it; where several share it, the first of them.
    pub job: Option<JobKey>,
    /// How much of it is held.
    #[serde(default)]
    pub used: Amount,
    /// Who holds how much of it.
    #[serde(default)]
    pub holders: Vec<GpuHolder>,
    /// What it does at the moment, where that is measured.
    #[serde(default)]
    pub now: Option<GpuNow>,
}

/// A task that holds a GPU or a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GpuHolder {
    /// Its job.
    pub job: JobKey,
    /// `role-index`.
    pub task: String,
    /// How much of the GPU.
    pub part: Amount,
}

/// A task on a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeTask {
    /// Its job.
    pub job: JobKey,
    /// `role-index`.
    pub task: String,
    /// GPU indices it holds.
    pub gpus: Vec<u32>,
    /// The part of its one GPU that it has; none: they are its own.
    #[serde(default)]
    pub gpu_part: Option<Amount>,
}

impl NodeTask {
    /// How much it has of each of its GPUs.
    #[must_use]
    pub fn of_each_gpu(&self) -> Amount {
        self.gpu_part.unwrap_or(Amount::whole(1))
    }
}

/// Amounts of what nodes have.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// CPU cores.
    pub cpus: u64,
    /// Memory in MiB.
    pub memory_mb: u64,
    /// Disk in GiB.
    pub disk_gb: u64,
    /// GPUs by type.
    pub gpus: BTreeMap<GpuType, Amount>,
}

/// The free GPUs of a type in a virtual cluster, as the dry run of a job finds them that asks for
/// nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct FreeGpus {
    /// A job of so many tasks with one GPU each would start at once, and one of one task more would
    /// not.
    pub gpus: u32,
    /// The same of one task with so many GPUs.
    pub on_one_node: u32,
    /// How many of `gpus` are beyond the share: lent until others want them back.
    pub borrowed: u32,
}

/// What a user has and has had of a virtual cluster's GPUs, each counting by its type; a job without GPU
/// counts as one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UserUse {
    /// Who.
    pub user: UserName,
    /// A mean in GPUs, in which the past counts the less the longer ago it was.
    pub mean: Amount,
    /// So many percent of what all its users have and have had.
    pub percent: u32,
}

/// What the members of a group that shares a virtual cluster have and have had together of its GPUs, each
/// counting as of a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GroupUse {
    /// Which.
    pub group: GroupName,
    /// A mean in GPUs, in which the past counts the less the longer ago it was.
    pub mean: Amount,
    /// So many percent of what all groups that share it have and have had.
    pub percent: u32,
    /// So many percent would be its by the weights of all these.
    pub share: u32,
}

impl GroupUse {
    /// Whether it has had more than its share.
    #[must_use]
    pub fn is_beyond(&self) -> bool {
        self.percent > self.share
    }
}

/// Everything the pages show of a virtual cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VirtualClusterView {
    /// Share and users as set.
    pub settings: VirtualClusterSettings,
    /// Whether the actor may use it.
    pub usable: bool,
    /// Whether it takes no new jobs.
    #[serde(default)]
    pub stopped: bool,
    /// What its jobs hold, and of its share those of its parts.
    pub used: Usage,
    /// What of that is others', lent until they want it back.
    pub borrowed: Usage,
    /// What its jobs could hold: the share where it is bounded, else what the ready nodes have.
    pub total: Usage,
    /// What a job of the actor could start on now, by GPU type; types of which it could never have
    /// any are left out, and all are where the actor may not use it.
    #[serde(default)]
    pub free: BTreeMap<GpuType, FreeGpus>,
    /// What its users have and have had, who most at the head; none where that does not count, or the
    /// actor may not use it.
    #[serde(default)]
    pub users: Vec<UserUse>,
    /// The same of the groups that share it.
    #[serde(default)]
    pub groups: Vec<GroupUse>,
    /// As how many GPUs one counts in that, of those types of which it is not one.
    #[serde(default)]
    pub weights: BTreeMap<GpuType, Amount>,
    /// Jobs that are preparing or running.
    pub running_jobs: u64,
    /// Jobs that wait.
    pub waiting_jobs: u64,
}
