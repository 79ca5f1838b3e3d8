//! What users and groups have had of GPUs. The scheduler's state counts it; what is here sees to it that one state
//! goes on with what the last one knew.

use std::collections::BTreeMap;

use api::cluster::{GroupUse, UserUse};
use protocol::amount::Amount;
use protocol::ids::{GpuType, JobId, VirtualClusterName};
use protocol::time::Timestamp;
use scheduler::model::{PastUse, Request};

use super::state::Queue;
use crate::known::runs::Past;

impl Queue {
    /// Knows nothing but how long others took, and what users have had.
    pub(super) fn after(past: Past, past_use: PastUse) -> Self {
        let mut queue = Self { past, ..Self::default() };
        queue.state.remember(past_use);
        queue
    }

    /// A job has ended.
    pub(super) fn forget(&mut self, id: JobId) {
        self.jobs.remove(&id);
        self.stopping.remove(&id);
        self.past.note_gave_way(id, None);
        match self.lets_go(id) {
            true => self.gave_back(id),
            false => self.tell(|state| state.cancel(id)),
        }
    }

    /// A job holds nothing any more. That is told to a state, too, that will be built anew: what users
    /// have had goes over to the next one.
    pub(super) fn gave_back(&mut self, id: JobId) {
        self.state.ended(id);
    }

    /// What the users of a virtual cluster have and have had of its GPUs, who most at the head; none
    /// where that does not count.
    pub(crate) fn uses(&self, within: &VirtualClusterName, now: Timestamp) -> Vec<UserUse> {
        let mut uses = self.state.uses(within, now);
        let all: f64 = uses.iter().map(|of| of.mean_milli).sum();
        if !self.state.past_use().counts() || all <= 0.0 {
            return Vec::new();
        }
        uses.sort_by(|one, other| other.mean_milli.total_cmp(&one.mean_milli));
        let shown = uses.into_iter().map(|of| UserUse {
            user: of.user,
            mean: mean(of.mean_milli),
            percent: percent(of.mean_milli, all),
        });
        shown.collect()
    }

    /// The same of the groups that share it.
    pub(crate) fn uses_of_groups(
        &self,
        within: &VirtualClusterName,
        now: Timestamp,
    ) -> Vec<GroupUse> {
        let mut uses = self.state.uses_of_groups(within, now);
        let all: f64 = uses.iter().map(|of| of.mean_milli).sum();
        if !self.state.past_use().counts() || all <= 0.0 {
            return Vec::new();
        }
        uses.sort_by(|one, other| other.mean_milli.total_cmp(&one.mean_milli));
        let weights: f64 = uses.iter().map(|of| f64::from(of.weight)).sum();
        let shown = uses.into_iter().map(|of| GroupUse {
            group: of.group,
            mean: mean(of.mean_milli),
            percent: percent(of.mean_milli, all),
            share: percent(of.weight.into(), weights),
        });
        shown.collect()
    }

    /// What the group of a job's owner has and has had; `None`: he counts to none, or no group has had anything
    /// that counts.
    pub(crate) fn group_use_of(&self, request: &Request, now: Timestamp) -> Option<GroupUse> {
        let group = self.state.group_of(&request.virtual_cluster, &request.user)?;
        let uses = self.uses_of_groups(&request.virtual_cluster, now);
        uses.into_iter().find(|of| of.group == *group)
    }

    /// As how many GPUs one counts in that, of those types of which it is not one.
    pub(crate) fn weights(&self) -> BTreeMap<GpuType, Amount> {
        self.state.weights()
    }

    /// What the owner of a job has and has had; `None`: nobody has had anything that counts.
    pub(crate) fn use_of(&self, request: &Request, now: Timestamp) -> Option<UserUse> {
        let uses = self.uses(&request.virtual_cluster, now);
        if uses.is_empty() {
            return None;
        }
        let user = &request.user;
        let nothing = || UserUse { user: user.clone(), mean: Amount::default(), percent: 0 };
        Some(uses.into_iter().find(|of| of.user == *user).unwrap_or_else(nothing))
    }
}

/// Hundredths of GPUs are enough for people.
fn mean(milli: f64) -> Amount {
    Amount::from_milli((milli / 10.0).round() as u64 * 10)
}

fn percent(part: f64, all: f64) -> u32 {
    (part / all * 100.0).round() as u32
}
