//! What is looked for in the logs of all tasks.

use leptos::prelude::*;
use protocol::ids::JobKey;

/// Which of the lines that were found is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The first, of a search anew.
    First,
    Next,
    Previous,
}

/// What is looked for, in whose logs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AllSearch {
    pub(crate) job: StoredValue<JobKey>,
    pub(crate) attempt: u32,
    pub(crate) text: RwSignal<String>,
    pub(crate) pattern: RwSignal<bool>,
    pub(crate) case: RwSignal<bool>,
    /// What is wanted; `None` until it is looked for anything.
    pub(crate) wanted: RwSignal<Option<Wanted>>,
}

impl AllSearch {
    pub(crate) fn new(job: StoredValue<JobKey>, attempt: u32) -> Self {
        Self {
            job,
            attempt,
            text: RwSignal::new(String::new()),
            pattern: RwSignal::new(false),
            case: RwSignal::new(false),
            wanted: RwSignal::new(None),
        }
    }
}
