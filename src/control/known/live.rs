//! Who is told of what changes: the pages, and the loops, which are woken.

use std::sync::Mutex;

use api::changes::Change;
use protocol::ids::{JobId, JobKey, TaskKey};
use protocol::state::State;
use tokio::sync::broadcast;

use super::dirty::{Dirty, Touched};
use crate::lock::lock;
use crate::wake::{LogicalClock, Wakeups};

/// How many changes a slow listener may lag behind before it is told that it missed some.
const CHANGES_KEPT: usize = 4_096;

/// What operations and loops tell each other and the pages.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) wakeups: Wakeups,
    pub(crate) clock: LogicalClock,
    changes: broadcast::Sender<Change>,
    /// Jobs that have changed since the scheduler took them in.
    touched: Mutex<Touched>,
    /// What the jobs' loop has not taken in yet.
    dirty: Mutex<Dirty>,
}

impl Default for Live {
    fn default() -> Self {
        Self {
            wakeups: Wakeups::default(),
            clock: LogicalClock::default(),
            changes: broadcast::channel(CHANGES_KEPT).0,
            touched: Mutex::default(),
            dirty: Mutex::default(),
        }
    }
}

impl Live {
    /// Tells the pages and, of a job of which something was stored, the loops.
    pub(crate) fn tell(&self, change: Change) {
        if let Change::Job { id, .. } = change {
            self.note_stored([id]);
        }
        self.tell_queue(change);
    }

    /// Tells the pages and, of a job, the scheduler's loop: the one over the jobs knows it already, or
    /// has nothing to do with it.
    pub(crate) fn tell_queue(&self, change: Change) {
        if let Change::Job { id, state, .. } = change {
            lock(&self.touched).note(id, state);
        }
        self.tell_pages(change);
    }

    /// Tells the pages of what is not stored. Nobody listening is no error.
    pub(crate) fn tell_pages(&self, change: Change) {
        let _nobody_listens = self.changes.send(change);
    }

    /// Tells of a job's change, once it is stored.
    pub(crate) fn tell_job(&self, id: JobId, key: &JobKey, state: State) {
        self.tell(Change::Job { id, key: key.clone(), state });
    }

    /// Tells the loop over the jobs alone that something was stored of these.
    pub(crate) fn note_stored(&self, jobs: impl IntoIterator<Item = JobId>) {
        lock(&self.dirty).stored.extend(jobs);
    }

    /// Tells it to look at a task again, though nothing was stored of it.
    pub(crate) fn look_at(&self, task: TaskKey) {
        lock(&self.dirty).look.insert(task);
    }

    /// Tells it that something may have been stored of which nobody has told.
    pub(crate) fn doubt_jobs(&self) {
        lock(&self.dirty).doubt = true;
    }

    /// What it was told since this was asked last.
    pub(crate) fn take_dirty(&self) -> Dirty {
        std::mem::take(&mut lock(&self.dirty))
    }

    /// The jobs that have changed since this was asked last.
    pub(crate) fn touched(&self) -> Touched {
        std::mem::take(&mut lock(&self.touched))
    }

    pub(crate) fn listen(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }
}
