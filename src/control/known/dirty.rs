//! What the loops are told between their passes.

use std::collections::HashSet;

use protocol::ids::{JobId, TaskKey};
use protocol::state::State;

/// What the loop over the jobs is told between its passes.
#[derive(Debug, Default)]
pub(crate) struct Dirty {
    /// Something may have been stored of which nobody told: everything is read anew.
    pub(crate) doubt: bool,
    /// Jobs of which something else is stored than before: these are read anew.
    pub(crate) stored: HashSet<JobId>,
    /// Tasks that are to be looked at again, though nothing else is stored of them.
    pub(crate) look: HashSet<TaskKey>,
}

/// What the scheduler's loop is told between its passes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Touched {
    /// Jobs that are other than before: these are read anew.
    pub(crate) changed: HashSet<JobId>,
    /// Jobs that have ended, of which there is nothing to be read.
    pub(crate) ended: HashSet<JobId>,
}

impl Touched {
    /// This is stored of a job. What has ended has ended, whatever else is told of it.
    pub(crate) fn note(&mut self, job: JobId, state: State) {
        if state.is_final() {
            self.changed.remove(&job);
            self.ended.insert(job);
        } else if !self.ended.contains(&job) {
            self.changed.insert(job);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_has_ended_is_not_read() {
        let mut touched = Touched::default();
        let stored = [(1, State::Running), (1, State::Succeeded), (2, State::Waiting)];
        for (job, state) in stored.into_iter().chain([(1, State::Stopping)]) {
            touched.note(JobId(job), state);
        }
        let expected = Touched { changed: [JobId(2)].into(), ended: [JobId(1)].into() };
        assert_eq!(touched, expected, "also where somebody is late to tell of it");
    }
}
