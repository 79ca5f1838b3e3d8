//! Jobs that have not ended, with how many of them wait: counted as they come and go.

use std::collections::{BTreeSet, HashMap};
use std::ops::Index;
use std::sync::Arc;

use database::jobs::{JobRow, JobUpdate};
use protocol::ids::{JobId, VirtualClusterName};
use protocol::state::State;
use protocol::time::Timestamp;

use crate::known::active::Active;

/// How many jobs of a virtual cluster wait.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Waits {
    /// All of them.
    pub(super) jobs: u64,
    /// Those that nobody holds. One that somebody holds waits for him alone.
    pub(super) for_room: u64,
}

/// How many wait in each virtual cluster in which any do.
pub(super) type InClusters = Arc<HashMap<VirtualClusterName, Waits>>;

#[derive(Debug, Default)]
pub(super) struct Jobs {
    by_id: HashMap<JobId, Active>,
    counts: Counts,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    waits: InClusters,
    /// Those that wait for their first start and that nobody holds, by when they were submitted.
    first: BTreeSet<(Timestamp, JobId)>,
}

impl Jobs {
    pub(super) fn get(&self, id: &JobId) -> Option<&Active> {
        self.by_id.get(id)
    }

    pub(super) fn contains_key(&self, id: &JobId) -> bool {
        self.by_id.contains_key(id)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &JobId> {
        self.by_id.keys()
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Active> {
        self.by_id.values()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (&JobId, &Active)> {
        self.by_id.iter()
    }

    /// Gives what was known of it before.
    pub(super) fn insert(&mut self, id: JobId, job: Active) -> Option<Active> {
        let before = self.by_id.insert(id, job);
        let after = &self.by_id[&id].row;
        let counted = before.as_ref().and_then(|before| waits(&before.row));
        if counted != waits(after) {
            before.iter().for_each(|before| self.counts.goes(&before.row));
            self.counts.comes(after);
        }
        before
    }

    pub(super) fn remove(&mut self, id: &JobId) {
        if let Some(job) = self.by_id.remove(id) {
            self.counts.goes(&job.row);
        }
    }

    /// This was stored of a job.
    pub(super) fn apply(&mut self, id: JobId, stored: &JobUpdate) {
        let Some(job) = self.by_id.get_mut(&id) else { return };
        self.counts.goes(&job.row);
        stored.apply(job.row_mut());
        self.counts.comes(&job.row);
    }

    /// How many wait in each virtual cluster.
    pub(super) fn waits(&self) -> &InClusters {
        &self.counts.waits
    }

    /// Since when the job waits that waits longest for its first start. Those that somebody holds are not
    /// expected to start.
    pub(super) fn oldest_waiting(&self) -> Option<Timestamp> {
        self.counts.first.first().map(|(submitted_at, _)| *submitted_at)
    }

    pub(super) fn sanity_check(&self) {
        let mut anew = Counts::default();
        self.by_id.values().for_each(|job| anew.comes(&job.row));
        assert_eq!(self.counts, anew, "jobs are counted as they are");
    }
}

impl Index<&JobId> for Jobs {
    type Output = Active;

    fn index(&self, id: &JobId) -> &Active {
        &self.by_id[id]
    }
}

impl Counts {
    fn comes(&mut self, row: &JobRow) {
        let Some((cluster, for_room, first)) = waits(row) else { return };
        let of = Arc::make_mut(&mut self.waits).entry(cluster.clone()).or_default();
        of.jobs += 1;
        of.for_room += u64::from(for_room);
        if first {
            self.first.insert((row.submitted_at, row.id));
        }
    }

    fn goes(&mut self, row: &JobRow) {
        let Some((cluster, for_room, first)) = waits(row) else { return };
        let of_clusters = Arc::make_mut(&mut self.waits);
        if let Some(of) = of_clusters.get_mut(cluster) {
            of.jobs -= 1;
            of.for_room -= u64::from(for_room);
            if of.jobs == 0 {
                of_clusters.remove(cluster);
            }
        }
        if first {
            self.first.remove(&(row.submitted_at, row.id));
        }
    }
}

/// Where a job waits, whether nobody holds it, and whether it waits for its first start and nobody holds
/// it; `None`: it does not wait.
fn waits(row: &JobRow) -> Option<(&VirtualClusterName, bool, bool)> {
    let for_room = row.held.is_none();
    let counted = (&row.virtual_cluster, for_room, for_room && row.attempt.is_none());
    (row.state == State::Waiting).then_some(counted)
}
