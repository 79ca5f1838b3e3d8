//! What the owner of the queue knew after it was asked last: who only looks at it stands in no line, however
//! long the owner thinks.

use std::collections::HashMap;

use protocol::ids::VirtualClusterName;
use protocol::time::Timestamp;

use super::counted::InClusters;
use super::holdings::Holdings;
use super::state::Queue;

/// It is put together after each question, and all that is large in it is shared with the queue until it changes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Published {
    /// The jobs were read at least once.
    is_known: bool,
    /// What is held.
    pub(crate) holdings: Holdings,
    waits: InClusters,
    oldest_waiting: Option<Timestamp>,
    /// After how many changes this was so.
    pub(super) as_of: u64,
}

impl Published {
    /// How many jobs wait, by virtual cluster.
    pub(crate) fn waiting_jobs(&self) -> HashMap<VirtualClusterName, u64> {
        self.waits.iter().map(|(cluster, waits)| (cluster.clone(), waits.jobs)).collect()
    }

    /// How many jobs wait in a virtual cluster. Those that somebody holds wait for him alone.
    pub(crate) fn waiting_in(&self, cluster: &VirtualClusterName) -> u64 {
        self.waits.get(cluster).map_or(0, |waits| waits.for_room)
    }

    /// Since when the job waits that waits longest for its first start, if any does; `None`: nobody has
    /// looked yet.
    pub(crate) fn oldest_waiting(&self) -> Option<Option<Timestamp>> {
        self.is_known.then_some(self.oldest_waiting)
    }
}

impl Queue {
    /// What is to be seen of it; `None`: it is read anew, and what was seen before is better than what is
    /// known now.
    pub(super) fn published(&self) -> Option<Published> {
        (!self.is_doubtful()).then(|| Published {
            is_known: true,
            holdings: self.holdings.clone(),
            waits: self.jobs.waits().clone(),
            oldest_waiting: self.jobs.oldest_waiting(),
            as_of: self.changes,
        })
    }
}
