//! What the loop over the jobs is told between its passes.

use std::collections::HashSet;

use protocol::ids::{JobId, TaskKey};

/// What the loop over the jobs is told between its passes.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// Something may have been stored of which nobody told: everything is read anew.
    pub(crate) doubt: bool,
    /// Jobs of which something else is stored than before: these are read anew.
    pub(crate) stored: HashSet<JobId>,
    /// Tasks that are to be looked at again, though nothing else is stored of them.
    pub(crate) look: HashSet<TaskKey>,
}
