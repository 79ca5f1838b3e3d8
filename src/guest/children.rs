//! The processes that we started, and those that fall to us when their parents die.
//!
//! All of them are reaped in one place, so that nobody takes another's exit status.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::guest::GuestExit;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, kill_process_group,
    set_child_subreaper, wait,
};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

/// How often the last processes are looked for, as each may have started another meanwhile.
const ROUNDS: usize = 100;

/// All of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Children {
    waiting: Arc<Mutex<HashMap<Pid, oneshot::Sender<GuestExit>>>>,
}

/// One that we started, the first of its own process group.
#[derive(Debug)]
pub(crate) struct Child {
    group: Group,
    exit: oneshot::Receiver<GuestExit>,
}

/// The processes that a child of ours started, itself among them.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    leader: Pid,
    children: Children,
}

impl Children {
    /// Begins to reap, also what is orphaned below us. Must be called within the runtime.
    pub(crate) fn listen() -> io::Result<Self> {
        let children = Self::default();
        // The first process of a container has all orphans anyway.
        let _ = set_child_subreaper(Some(getpid()));
        let mut ended = signal(SignalKind::child())?;
        let reaper = children.clone();
        tokio::spawn(async move {
            while ended.recv().await.is_some() {
                reaper.reap();
            }
        });
        Ok(children)
    }

    /// Starts a process in a group of its own.
    pub(crate) fn start(&self, command: &mut Command) -> io::Result<Child> {
        self.start_leader(command.process_group(0))
    }

    /// Starts a process that makes a session, and so a group, for itself.
    pub(crate) fn start_leader(&self, command: &mut Command) -> io::Result<Child> {
        // While the map is ours nobody reaps, so no child ends before it is in the map.
        let mut waiting = self.lock();
        let started = command.spawn()?;
        let leader = Pid::from_child(&started);
        let (sender, exit) = oneshot::channel();
        waiting.insert(leader, sender);
        Ok(Child { group: Group { leader, children: self.clone() }, exit })
    }

    fn reap(&self) {
        let mut waiting = self.lock();
        while let Ok(Some((process, status))) = wait(WaitOptions::NOHANG) {
            if let Some(sender) = waiting.remove(&process) {
                // Whoever does not wait any more does not want to know.
                let _ = sender.send(exit_of(status));
            }
        }
    }

    /// Ends every process below us. The kernel does so by itself when a container's first process
    /// ends, wherefore it is not done there.
    pub(crate) fn end_all(&self) {
        if getpid().is_init() {
            return;
        }
        for _ in 0..ROUNDS {
            let left = below();
            if left.is_empty() {
                return;
            }
            for process in left {
                let _ = kill_process(process, Signal::KILL);
            }
            let _ = wait(WaitOptions::empty());
        }
    }

    /// Ends every process beside us, at once and whatever the rest of this program is stuck in.
    pub(crate) fn end_all_at_once(&self) {
        if getpid().is_init() {
            // All that are seen from here, but for the first process, which we are.
            let _ = kill_process_group(Pid::INIT, Signal::KILL);
        } else {
            self.end_all();
        }
    }

    /// Ends every process beside us and waits until each of them is gone: none says anything any more.
    pub(crate) fn silence(&self) {
        self.end_all_at_once();
        if getpid().is_init() {
            while let Ok(Some(_)) = wait(WaitOptions::empty()) {}
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Pid, oneshot::Sender<GuestExit>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Child {
    /// Waits for the end.
    pub(crate) async fn exit(&mut self) -> GuestExit {
        // The sender goes away only by sending.
        (&mut self.exit).await.unwrap_or(GuestExit { code: 255, signal: None })
    }

    /// It and what it started.
    pub(crate) fn group(&self) -> Group {
        self.group.clone()
    }
}

impl Group {
    /// Signals all of them, as long as the first one lives: later its number may be another's.
    pub(crate) fn signal(&self, signal: Signal) {
        if self.children.lock().contains_key(&self.leader) {
            let _ = kill_process_group(self.leader, signal);
        }
    }
}

fn exit_of(status: WaitStatus) -> GuestExit {
    match status.terminating_signal() {
        Some(signal) => GuestExit { code: 128 + signal, signal: Some(signal) },
        None => GuestExit { code: status.exit_status().unwrap_or_default(), signal: None },
    }
}

/// Our own children, be they started by us or fallen to us.
fn below() -> Vec<Pid> {
    let own = getpid().as_raw_nonzero();
    let text = fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
    let numbers = text.split_whitespace().filter_map(|word| word.parse().ok());
    numbers.filter_map(Pid::from_raw).collect()
}
