//! Logs of containers on this machine, as far as they were read from the engines: any place of them
//! is found at once, while their tasks run and until they are kept. They begin with the first who
//! asks for one; the next server reads them anew.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use api::{Error, ErrorCode, Result};
use engine::{Engine, EngineError, LogRequest};
use protocol::ids::{NodeName, TaskKey};
use storage::{LogLimits, LogReader, LogSpool};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::shared::{Shared, lock};

mod follow;
mod take;

use take::Place;

/// So many logs are held at the same time.
const MOST: usize = 256;
/// One that nobody has asked for in so long gives way to another.
const AT_LEAST: Duration = Duration::from_secs(30);
/// One that nobody has asked for in so long is given up.
const IDLE: Duration = Duration::from_secs(15 * 60);
/// Whoever follows a log has it whole so soon after its container has ended, or it is read anew.
const PATIENCE: Duration = Duration::from_secs(120);

/// All logs that are held.
#[derive(Debug)]
pub(crate) struct Spools {
    folder: PathBuf,
    held: Mutex<HashMap<TaskKey, Arc<Spool>>>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

/// One log.
#[derive(Debug)]
pub(crate) struct Spool {
    log: Mutex<LogSpool>,
    path: PathBuf,
    reached: watch::Sender<Reached>,
    used: Mutex<Instant>,
    stop: CancellationToken,
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
        Self { folder, held: Mutex::default(), tasks, stop }
    }

    /// A task's log, if it is held.
    pub(crate) fn held(&self, key: &TaskKey) -> Option<Arc<Spool>> {
        let spool = lock(&self.held).get(key).filter(|spool| !spool.is_gone()).cloned()?;
        *lock(&spool.used) = Instant::now();
        Some(spool)
    }

    /// A task's log, which is followed from now on.
    pub(crate) fn open(
        &self,
        shared: &Arc<Shared>,
        key: TaskKey,
        node: &NodeName,
    ) -> Result<Arc<Spool>> {
        if let Some(spool) = self.held(&key) {
            return Ok(spool);
        }
        let mut held = lock(&self.held);
        if !make_room(&mut held) {
            let message = "too many logs are being read: ask again in a moment";
            return Err(Error::new(ErrorCode::UnavailableError, message));
        }
        let spool = self.begin(&mut held, shared, key);
        let follower = follow::run(Arc::clone(shared), Arc::clone(&spool), (key, node.clone()));
        self.tasks.spawn(follower);
        Ok(spool)
    }

    /// Waits until whoever follows the log of a container that has ended has it whole, for a while.
    pub(crate) async fn settled(&self, key: &TaskKey) {
        let held = lock(&self.held).get(key).cloned();
        if let Some(spool) = held {
            let ended = spool.until(|reached| reached.end.is_some());
            let _or_not_yet = tokio::time::timeout(PATIENCE, ended).await;
        }
    }

    /// The whole log of a container that has ended: as it was followed, or read anew.
    pub(crate) async fn whole(
        &self,
        shared: &Shared,
        engine: &dyn Engine,
        key: &TaskKey,
    ) -> engine::Result<LogReader> {
        let held = lock(&self.held).get(key).cloned();
        if let Some(spool) = held.filter(|spool| spool.reached().end == Some(End::Whole)) {
            return Ok(spool.reader());
        }
        let spool = self.begin(&mut lock(&self.held), shared, *key);
        let name = key.container_name(&shared.installation);
        let request = LogRequest { stamped: true, ..LogRequest::default() };
        let read = async {
            let chunks = engine.logs(&name, request).await?;
            take::take(&spool, chunks, &mut Place::default()).await
        };
        match read.await {
            Ok(()) => spool.reach(|reached| reached.end = Some(End::Whole)),
            Err(error) => {
                spool.reach(|reached| reached.end = Some(End::Gone));
                return Err(error);
            }
        }
        Ok(spool.reader())
    }

    /// Lets a log go: it is kept, or lost.
    pub(crate) fn forget(&self, key: &TaskKey) {
        if let Some(spool) = lock(&self.held).remove(key) {
            spool.stop.cancel();
        }
    }

    fn begin(
        &self,
        held: &mut HashMap<TaskKey, Arc<Spool>>,
        shared: &Shared,
        key: TaskKey,
    ) -> Arc<Spool> {
        let path = self.folder.join(key.container_name(&shared.installation));
        let spool = Arc::new(Spool {
            log: Mutex::new(LogSpool::new(LogLimits::default(), Some(path.clone()))),
            path,
            reached: watch::Sender::default(),
            used: Mutex::new(Instant::now()),
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

    fn reach(&self, change: impl FnOnce(&mut Reached)) {
        self.reached.send_modify(change);
    }

    fn idle(&self) -> Duration {
        lock(&self.used).elapsed()
    }

    /// Begins again from nothing.
    fn restart(&self) {
        *lock(&self.log) = LogSpool::new(LogLimits::default(), Some(self.path.clone()));
    }
}

/// Lets the log go that nobody has asked for the longest, where there are too many.
fn make_room(held: &mut HashMap<TaskKey, Arc<Spool>>) -> bool {
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

/// The engine of a node, if it answers.
pub(crate) fn engine_of(shared: &Shared, node: &NodeName) -> engine::Result<Arc<dyn Engine>> {
    use crate::known::cluster::Observation;
    match shared.observations().get(node) {
        Some(Observation::Answers { engine, .. }) => Ok(Arc::clone(engine)),
        Some(Observation::Silent) | None => {
            Err(EngineError::Unreachable(format!("{node} is out of contact")))
        }
    }
}
