//! What users and groups may have running in a virtual cluster at once.

use std::collections::{BTreeMap, BTreeSet};

use protocol::cluster::VirtualClusterSettings;
use protocol::ids::{GroupName, UserName};
use protocol::limits::Limit;

/// What somebody may have running; what is not said is not limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunLimit {
    /// GPUs.
    pub gpus: Option<u32>,
    /// Jobs.
    pub jobs: Option<u32>,
}

impl From<Limit> for RunLimit {
    fn from(limit: Limit) -> Self {
        Self { gpus: limit.running_gpus, jobs: limit.running_jobs }
    }
}

/// What the members of a group may have running together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupLimit {
    /// The group.
    pub group: GroupName,
    /// Who is in it.
    pub members: BTreeSet<UserName>,
    /// What they may have.
    pub limit: RunLimit,
}

/// Who may have what running in a virtual cluster.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunLimits {
    /// Each user.
    pub user: RunLimit,
    /// Users who have limits of their own instead.
    pub users: BTreeMap<UserName, RunLimit>,
    /// Groups that are limited.
    pub groups: Vec<GroupLimit>,
}

impl RunLimits {
    /// As settings say it, with the members of groups.
    #[must_use]
    pub fn new(
        settings: &VirtualClusterSettings,
        groups: &BTreeMap<GroupName, BTreeSet<UserName>>,
    ) -> Self {
        let users = settings.limits.users.iter();
        let limited = groups.iter().filter_map(|(group, members)| {
            let limit = RunLimit::from(settings.limit_of_group(group));
            let (group, members) = (group.clone(), members.clone());
            (limit != RunLimit::default()).then_some(GroupLimit { group, members, limit })
        });
        Self {
            user: settings.limits.user.into(),
            users: users.map(|(user, limit)| (user.clone(), (*limit).into())).collect(),
            groups: limited.collect(),
        }
    }

    /// Whether nobody is limited.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let none = RunLimit::default();
        let nobody = self.users.values().all(|limit| *limit == none);
        self.user == none && nobody && self.groups.is_empty()
    }

    /// What a user may have running.
    #[must_use]
    pub fn of_user(&self, user: &UserName) -> RunLimit {
        self.users.get(user).copied().unwrap_or(self.user)
    }
}
