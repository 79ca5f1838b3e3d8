//! Failures of what is this server's own. They are nobody's fault: what they keep from going on is
//! put off and tried again, and they are counted, so that they show.

use std::sync::atomic::{AtomicU64, Ordering};

/// What of this server's own may fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ours {
    /// The database, or what it holds.
    Records,
    /// Users' files.
    Storage,
    /// The key that seals secrets: it is not the one that they were sealed with.
    Key,
}

impl Ours {
    /// What is said of a task that waits for it. Catalogues of other languages know it by these words.
    pub(crate) fn said(self) -> &'static str {
        match self {
            Self::Records => {
                "waiting, since this server's database does not answer; it is tried again by itself"
            }
            Self::Storage => {
                "waiting, since the storage does not answer; it is tried again by itself"
            }
            Self::Key => {
                "waiting, since this server's key does not open the job's secrets: tell an administrator"
            }
        }
    }
}

/// Counts them.
#[derive(Debug, Default)]
pub(crate) struct OwnFailures {
    records: AtomicU64,
    storage: AtomicU64,
    key: AtomicU64,
    panics: AtomicU64,
}

/// How often what is this server's own has kept jobs from going on since it was started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OwnFailureCounts {
    /// The database, or what it holds.
    pub records: u64,
    /// Users' files.
    pub storage: u64,
    /// The key that seals secrets.
    pub key: u64,
    /// A loop, or what it had begun, was not written for what it met.
    pub panics: u64,
}

impl OwnFailures {
    /// One more.
    pub(crate) fn note(&self, ours: Ours) {
        let count = match ours {
            Ours::Records => &self.records,
            Ours::Storage => &self.storage,
            Ours::Key => &self.key,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// A loop, or what it had begun, has panicked.
    pub(crate) fn note_panic(&self) {
        self.panics.fetch_add(1, Ordering::Relaxed);
    }

    /// All of them so far.
    pub(crate) fn counts(&self) -> OwnFailureCounts {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        OwnFailureCounts {
            records: read(&self.records),
            storage: read(&self.storage),
            key: read(&self.key),
            panics: read(&self.panics),
        }
    }
}
