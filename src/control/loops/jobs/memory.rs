//! What is remembered of tasks besides the records: the actions on them, and what came of those.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use protocol::exit::Exit;
use protocol::ids::TaskKey;
use protocol::time::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::container::launch::backoff::pause_after;
use crate::lock::lock;

/// What is remembered of tasks.
#[derive(Debug, Default)]
pub(super) struct Memory(Mutex<HashMap<TaskKey, Known>>);

/// What is known of a task besides the records. Very many may run of which nothing of this is ever known.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Set while an action is under way; cancelling gives a launch up.
    pub(super) under_way: Option<CancellationToken>,
    /// The moment the last action ended: a look before it shows nothing.
    pub(super) acted: u64,
    /// Actions failed so often in a row.
    pub(super) failures: u32,
    /// Its engine or registry failed to launch it so often.
    pub(super) refusals: u32,
    /// An action failed: nothing is tried before.
    pub(super) not_before: Option<Instant>,
    /// A launch was given up.
    pub(super) launch_failed: Option<Box<(Timestamp, Exit)>>,
    /// An exit was explained.
    pub(super) explained: Option<Box<Explained>>,
    /// It was told to finish, and has until then.
    pub(super) finish_until: Option<Instant>,
}

/// How a container has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Explained {
    pub(super) exit: Exit,
    /// Whether nobody looked when it ended: what is said of it as if somebody had counts for nothing then.
    pub(super) unseen: bool,
}

/// Why what is seen of a task says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pending {
    /// An action is under way.
    UnderWay,
    /// An action has ended since the last look at its node: the next look shows what came of it.
    Look,
    /// An action failed: nothing is tried for so long.
    Pause(Duration),
}

impl Known {
    /// Nothing is tried for a while, longer after each failure in a row.
    pub(super) fn failed(&mut self, key: TaskKey, message: &str) {
        self.failures += 1;
        self.not_before = Some(Instant::now() + pause_after(self.failures));
        tracing::warn!(?key, %message, failures = self.failures, "an action failed");
    }

    fn pending(&self, looked: u64, now: Instant) -> Option<Pending> {
        if self.under_way.is_some() {
            return Some(Pending::UnderWay);
        }
        if self.acted > looked {
            return Some(Pending::Look);
        }
        self.not_before.filter(|at| *at > now).map(|at| Pending::Pause(at - now))
    }
}

impl Memory {
    /// Why a look at moment `looked` says nothing about the task, if it does not.
    pub(super) fn pending(&self, key: &TaskKey, looked: u64, now: Instant) -> Option<Pending> {
        lock(&self.0).get(key).and_then(|known| known.pending(looked, now))
    }

    pub(super) fn launch_failed(&self, key: &TaskKey) -> Option<(Timestamp, Exit)> {
        lock(&self.0).get(key).and_then(|known| known.launch_failed.as_deref().cloned())
    }

    /// How often its engine or registry failed to launch it.
    pub(super) fn refusals(&self, key: &TaskKey) -> u32 {
        lock(&self.0).get(key).map_or(0, |known| known.refusals)
    }

    pub(super) fn explained(&self, key: &TaskKey, unseen: bool) -> Option<Exit> {
        let all = lock(&self.0);
        let explained = all.get(key)?.explained.as_deref();
        explained.filter(|known| known.unseen == unseen).map(|known| known.exit.clone())
    }

    /// What gives the action up that is under way, if one is.
    pub(super) fn under_way(&self, key: &TaskKey) -> Option<CancellationToken> {
        lock(&self.0).get(key).and_then(|known| known.under_way.clone())
    }

    /// Until when a task may go on that is told to finish: whatever it was told first stays.
    pub(super) fn finish_until(&self, key: &TaskKey, until: Instant) -> Instant {
        *lock(&self.0).entry(*key).or_default().finish_until.get_or_insert(until)
    }

    /// Whether a task is being waited for that was told to finish.
    pub(super) fn is_finishing(&self, key: &TaskKey) -> bool {
        let all = lock(&self.0);
        all.get(key).is_some_and(|known| known.finish_until.is_some() && known.under_way.is_some())
    }

    /// An action begins; `false`: another one is under way.
    pub(super) fn begin(&self, key: TaskKey, cancel: CancellationToken) -> bool {
        let mut all = lock(&self.0);
        let known = all.entry(key).or_default();
        if known.under_way.is_some() {
            return false;
        }
        known.under_way = Some(cancel);
        true
    }

    /// An action has ended at that moment, and this came of it.
    pub(super) fn ended(&self, key: TaskKey, moment: u64, note: impl FnOnce(&mut Known)) {
        let mut all = lock(&self.0);
        let known = all.entry(key).or_default();
        known.under_way = None;
        known.acted = moment;
        known.not_before = None;
        note(known);
    }

    /// Forgets a task, unless an action on it is under way.
    pub(super) fn forget(&self, key: &TaskKey) {
        let mut all = lock(&self.0);
        if all.get(key).is_some_and(|known| known.under_way.is_none()) {
            all.remove(key);
        }
    }

    /// Forgets all but these and those on which actions are under way.
    pub(super) fn forget_all_but(&self, concerns: impl Fn(&TaskKey) -> bool) {
        lock(&self.0).retain(|key, known| known.under_way.is_some() || concerns(key));
    }
}
