//! How much was forgotten, since it was older than it is kept for.

use std::sync::atomic::{AtomicU64, Ordering};

/// What is forgotten in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Old {
    /// Jobs that ended.
    Jobs,
    /// Their logs, a file each.
    Logs,
    /// Events of jobs and of the cluster.
    Events,
    /// Entries of the audit log.
    Audit,
}

/// Counts it.
#[derive(Debug, Default)]
pub(crate) struct Swept {
    jobs: AtomicU64,
    logs: AtomicU64,
    events: AtomicU64,
    audit: AtomicU64,
}

/// How much was forgotten since the server was started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SweptCounts {
    /// Jobs that ended.
    pub jobs: u64,
    /// Their logs.
    pub logs: u64,
    /// Events of jobs and of the cluster.
    pub events: u64,
    /// Entries of the audit log.
    pub audit: u64,
}

impl Swept {
    /// So many more.
    pub(crate) fn note(&self, old: Old, more: u64) {
        let count = match old {
            Old::Jobs => &self.jobs,
            Old::Logs => &self.logs,
            Old::Events => &self.events,
            Old::Audit => &self.audit,
        };
        count.fetch_add(more, Ordering::Relaxed);
    }

    /// All of it so far.
    pub(crate) fn counts(&self) -> SweptCounts {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        SweptCounts {
            jobs: read(&self.jobs),
            logs: read(&self.logs),
            events: read(&self.events),
            audit: read(&self.audit),
        }
    }
}

impl SweptCounts {
    /// What has come since these.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            jobs: self.jobs - before.jobs,
            logs: self.logs - before.logs,
            events: self.events - before.events,
            audit: self.audit - before.audit,
        }
    }
}
