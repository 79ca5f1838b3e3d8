//! The logs that are held, each as far as it was read.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use protocol::ids::TaskKey;
use storage::{LogLimits, LogReader, LogSpool};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::lock::lock;

/// So many logs are held at the same time.
const MOST: usize = 256;
/// Of so many torn logs it is remembered that it was said.
const MOST_TOLD: usize = 4_096;
/// One that nobody has asked for in so long gives way to another.
const AT_LEAST: Duration = Duration::from_secs(30);
/// Whoever follows a log has it whole so soon after its container has ended, or it is read anew.
const PATIENCE: Duration = Duration::from_secs(120);

/// All logs that are held.
#[derive(Debug)]
pub(crate) struct Spools {
    folder: PathBuf,
    pub(super) held: Mutex<HashMap<TaskKey, Arc<Spool>>>,
    /// Tasks of whose kept logs it was said that their ends are lost.
    told: Mutex<HashSet<TaskKey>>,
    pub(super) tasks: TaskTracker,
    stop: CancellationToken,
}

/// One log.
#[derive(Debug)]
pub(crate) struct Spool {
    pub(super) log: Mutex<LogSpool>,
    path: PathBuf,
    reached: watch::Sender<Reached>,
    used: Mutex<Instant>,
    /// Its container is known to have ended: nobody needs to wait for what else comes.
    pub(super) ended: CancellationToken,
    pub(super) stop: CancellationToken,
}

/// How far a log was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Reached {
    /// So many bytes.
    pub(crate) bytes: u64,
    /// Whether everything is there that was written before somebody asked.
    pub(crate) present: bool,
    /// Whether nothing more will come.
    pub(crate) end: Option<End>,
}

/// Why nothing more will come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The container has ended, and this is its whole log.
    Whole,
    /// There is no container, or nobody asked any more: what was read is not all.
    Gone,
}

impl Spools {
    /// None are held yet; they will be read in `tasks` until `stop`.
    pub(crate) fn new(folder: PathBuf, tasks: TaskTracker, stop: CancellationToken) -> Self {
        // Those of the server before this one: their ends are not known.
        let _there_were_none = std::fs::remove_dir_all(&folder);
        Self { folder, held: Mutex::default(), told: Mutex::default(), tasks, stop }
    }

    /// Whether nobody has said yet that the end of a task's kept log is lost; it is said now. Of very many it
    /// is said again after a while.
    pub(crate) fn is_first_told(&self, key: TaskKey) -> bool {
        let mut told = lock(&self.told);
        if told.len() >= MOST_TOLD {
            told.clear();
        }
        told.insert(key)
    }

    /// A task's log, if it is held.
    pub(crate) fn held(&self, key: &TaskKey) -> Option<Arc<Spool>> {
        let spool = lock(&self.held).get(key).filter(|spool| !spool.is_gone()).cloned()?;
        *lock(&spool.used) = Instant::now();
        Some(spool)
    }

    /// Tells whoever follows the log of a container that it has ended, and waits until he has it whole,
    /// for a while.
    pub(crate) async fn settled(&self, key: &TaskKey) {
        let held = lock(&self.held).get(key).cloned();
        if let Some(spool) = held {
            spool.ended.cancel();
            let ended = spool.until(|reached| reached.end.is_some());
            let _or_not_yet = tokio::time::timeout(PATIENCE, ended).await;
        }
    }

    /// Lets a log go: it is kept, or lost.
    pub(crate) fn forget(&self, key: &TaskKey) {
        if let Some(spool) = lock(&self.held).remove(key) {
            spool.stop.cancel();
        }
    }

    pub(super) fn begin(
        &self,
        held: &mut HashMap<TaskKey, Arc<Spool>>,
        installation: &str,
        key: TaskKey,
    ) -> Arc<Spool> {
        let path = self.folder.join(key.container_name(installation));
        let spool = Arc::new(Spool {
            log: Mutex::new(LogSpool::new(LogLimits::default(), Some(path.clone()))),
            path,
            reached: watch::Sender::default(),
            used: Mutex::new(Instant::now()),
            ended: CancellationToken::new(),
            stop: self.stop.child_token(),
        });
        if let Some(before) = held.insert(key, Arc::clone(&spool)) {
            before.stop.cancel();
        }
        spool
    }
}

impl Spool {
    /// The log as far as it was read.
    pub(crate) fn reader(&self) -> LogReader {
        lock(&self.log).reader()
    }

    /// How far it was read.
    pub(crate) fn reached(&self) -> Reached {
        *self.reached.borrow()
    }

    /// Waits until it was read as far as wanted; forever, unless somebody sets a time.
    pub(crate) async fn until(&self, wanted: impl Fn(&Reached) -> bool) -> Reached {
        let mut reached = self.reached.subscribe();
        // The sender lives in `self`: this cannot fail.
        reached.wait_for(|reached| wanted(reached)).await.map_or_else(|_| self.reached(), |at| *at)
    }

    fn is_gone(&self) -> bool {
        self.reached().end == Some(End::Gone)
    }

    pub(super) fn reach(&self, change: impl FnOnce(&mut Reached)) {
        self.reached.send_modify(change);
    }

    pub(super) fn idle(&self) -> Duration {
        lock(&self.used).elapsed()
    }

    /// Begins again from nothing.
    pub(super) fn restart(&self) {
        *lock(&self.log) = LogSpool::new(LogLimits::default(), Some(self.path.clone()));
    }
}

/// Lets the log go that nobody has asked for the longest, where there are too many.
pub(super) fn make_room(held: &mut HashMap<TaskKey, Arc<Spool>>) -> bool {
    held.retain(|_, spool| !spool.is_gone());
    if held.len() < MOST {
        return true;
    }
    let oldest = held.iter().max_by_key(|(_, spool)| spool.idle());
    let Some(key) = oldest.filter(|(_, spool)| spool.idle() >= AT_LEAST).map(|(key, _)| *key)
    else {
        return false;
    };
    if let Some(spool) = held.remove(&key) {
        spool.stop.cancel();
    }
    true
}

#[cfg(test)]
mod tests {
    use protocol::ids::JobId;

    use super::*;

    #[test]
    fn that_a_log_is_torn_is_said_once() {
        let folder = tempfile::tempdir().unwrap().path().join("logs");
        let spools = Spools::new(folder, TaskTracker::new(), CancellationToken::new());
        let task = |job| TaskKey { job: JobId(job), attempt: 0, role: 0, index: 0, retry: 0 };
        assert!(spools.is_first_told(task(1)) && spools.is_first_told(task(2)));
        assert!(!spools.is_first_told(task(1)));
        let most = i64::try_from(MOST_TOLD).unwrap();
        for job in 0..2 * most {
            let _first = spools.is_first_told(task(job));
        }
        assert!(lock(&spools.told).len() <= MOST_TOLD);
    }
}
