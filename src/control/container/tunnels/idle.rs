//! Sessions that wait for the next connection to their task.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use protocol::ids::TaskKey;
use russh::client::Handle;

use crate::container::entry::host_check::HostCheck;
use crate::lock::lock;

/// Sessions of one task that wait for its next connection.
const IDLE_EACH: usize = 8;
/// And of all tasks.
const IDLE: usize = 256;
/// So long they wait.
pub(super) const REST: Duration = Duration::from_secs(60);

/// The sessions that wait.
#[derive(Debug, Default)]
pub(crate) struct Tunnels {
    idle: Mutex<HashMap<TaskKey, Vec<Idle>>>,
}

struct Idle {
    session: Handle<HostCheck>,
    since: Instant,
}

impl std::fmt::Debug for Idle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Idle").field("since", &self.since).finish_non_exhaustive()
    }
}

impl Idle {
    fn is_good(&self) -> bool {
        !self.session.is_closed() && self.since.elapsed() < REST
    }
}

impl Tunnels {
    /// The session that was used last.
    pub(super) fn take(&self, task: &TaskKey) -> Option<Handle<HostCheck>> {
        let mut idle = lock(&self.idle);
        let sessions = idle.get_mut(task)?;
        std::iter::from_fn(|| sessions.pop()).find(Idle::is_good).map(|idle| idle.session)
    }

    pub(super) fn give(&self, task: TaskKey, session: Handle<HostCheck>) {
        let mut idle = lock(&self.idle);
        let all: usize = idle.values().map(Vec::len).sum();
        let of_task = idle.get(&task).map_or(0, Vec::len);
        if all < IDLE && of_task < IDLE_EACH && !session.is_closed() {
            idle.entry(task).or_default().push(Idle { session, since: Instant::now() });
        }
    }

    /// Lets go of those that have waited long enough or whose task has ended.
    pub(super) fn tidy(&self) {
        lock(&self.idle).retain(|_, sessions| {
            sessions.retain(Idle::is_good);
            !sessions.is_empty()
        });
    }

    /// Lets go of all.
    pub(super) fn clear(&self) {
        lock(&self.idle).clear();
    }
}
