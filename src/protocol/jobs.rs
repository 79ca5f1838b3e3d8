//! Which jobs are asked for, and what is said of each in few words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{GpuType, NodeName, Tag, UserName, VirtualClusterName};
use crate::spec::Priority;
use crate::state::State;
use crate::time::{Moment, Timestamp};

/// Which jobs, in which order, which page. All of it is in a page's URL.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct JobQuery {
    /// Owners; empty: all.
    pub users: Vec<UserName>,
    /// States; empty: all.
    pub states: Vec<State>,
    /// Virtual clusters; empty: all.
    pub virtual_clusters: Vec<VirtualClusterName>,
    /// Part of the name, the owner or the virtual cluster, in any case; empty: all.
    pub keyword: String,
    /// Parts of the name, in any case, any of which will do; empty: all.
    pub names: Vec<String>,
    /// So many thousandths of a GPU in all, or more.
    pub least_gpus: Option<u64>,
    /// So many thousandths of a GPU in all, or fewer.
    pub most_gpus: Option<u64>,
    /// GPU types asked for, any of which will do; empty: all.
    pub gpu_types: Vec<GpuType>,
    /// Nodes that a task is or was on; empty: all.
    pub nodes: Vec<NodeName>,
    /// Priorities; empty: all.
    pub priorities: Vec<Priority>,
    /// Priorities from the first to the second, either of which will do; empty: all.
    pub priority_ranges: Vec<(Priority, Priority)>,
    /// Tags, any of which will do; empty: all.
    pub tags: Vec<Tag>,
    /// Tags, none of which it has.
    pub without_tags: Vec<Tag>,
    /// Submitted then or later.
    pub since: Option<Moment>,
    /// Submitted then or earlier.
    pub until: Option<Moment>,
    /// Ended then or later.
    pub ended_since: Option<Moment>,
    /// Order.
    pub order: JobOrder,
    /// Ascending instead of descending.
    pub ascending: bool,
    /// How many jobs to leave out.
    pub offset: u64,
    /// How many jobs at most. People who say 0 get the default of 50; they may ask for 50 000.
    pub limit: u64,
}

/// Columns a list can be ordered by. Jobs that are equal in it follow the time of submission (of
/// users, virtual clusters and states) and then their ids, in the same direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobOrder {
    /// When it was submitted.
    #[default]
    Submitted,
    /// When it ended; jobs that have not come last ascending, first descending.
    Completed,
    /// Name.
    Name,
    /// Owner.
    User,
    /// Virtual cluster.
    VirtualCluster,
    /// State, by its word.
    State,
    /// GPUs.
    Gpus,
    /// Tasks.
    Tasks,
    /// Further attempts of both kinds.
    Retries,
    /// Priority.
    Priority,
}

impl JobOrder {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Submitted,
        Self::Completed,
        Self::Name,
        Self::User,
        Self::VirtualCluster,
        Self::State,
        Self::Gpus,
        Self::Tasks,
        Self::Retries,
        Self::Priority,
    ];
}

/// Further attempts by what made them necessary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Retries {
    /// After failures that are the user's: they count against `retryCount`.
    pub user: u32,
    /// After failures of the platform: never counted.
    pub platform: u32,
}

/// Somebody wants a job not to start for now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hold {
    /// Who.
    pub by: UserName,
    /// Since when.
    pub at: Timestamp,
    /// Whether as an administrator: then its owner cannot release it.
    pub administrator: bool,
}
