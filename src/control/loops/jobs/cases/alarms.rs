//! What wakes a job of which nothing is told.

use std::collections::{BTreeSet, HashMap, HashSet};

use protocol::ids::{JobId, NodeName};
use protocol::time::Timestamp;

use super::super::observe::Until;

/// What wakes jobs of which nothing is told.
#[derive(Debug, Default)]
pub(super) struct Alarms {
    /// Moments, the next one first.
    next: BTreeSet<(Timestamp, JobId)>,
    /// The moment of each job that has one.
    moments: HashMap<JobId, Timestamp>,
    /// The jobs that wait for the next look at a node.
    looks: HashMap<NodeName, HashSet<JobId>>,
    /// Those that depend on what is known of nodes which do not answer.
    of_cluster: HashSet<JobId>,
}

impl Alarms {
    /// A job sleeps until then.
    pub(super) fn set(&mut self, job: JobId, until: Until) {
        self.forget(job);
        let Until { moment, looks, cluster } = until;
        if let Some(moment) = moment {
            self.next.insert((moment, job));
            self.moments.insert(job, moment);
        }
        for node in looks {
            self.looks.entry(node).or_default().insert(job);
        }
        if cluster {
            self.of_cluster.insert(job);
        }
    }

    /// Forgets a job; where it waits for a look, that passes by itself.
    pub(super) fn forget(&mut self, job: JobId) {
        if let Some(moment) = self.moments.remove(&job) {
            self.next.remove(&(moment, job));
        }
        self.of_cluster.remove(&job);
    }

    /// The jobs whose moment has come.
    pub(super) fn due(&mut self, now: Timestamp) -> Vec<JobId> {
        let mut due = Vec::new();
        while let Some((moment, job)) = self.next.first().copied().filter(|(at, _)| *at <= now) {
            self.next.remove(&(moment, job));
            self.moments.remove(&job);
            due.push(job);
        }
        due
    }

    /// The jobs that have waited for a look at that node.
    pub(super) fn looked(&mut self, node: &NodeName) -> HashSet<JobId> {
        self.looks.remove(node).unwrap_or_default()
    }

    /// The jobs that depend on what is known of nodes which do not answer.
    pub(super) fn cluster_changed(&mut self) -> HashSet<JobId> {
        std::mem::take(&mut self.of_cluster)
    }
}
