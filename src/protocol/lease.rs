//! A lease: for how long a task runs on without a word from its server. When it is over the task is
//! ended by its own guest, and then its job may begin elsewhere, though nobody reaches the node.
//!
//! That the two never run at the same time follows without comparing clocks. The guest asks a question
//! that nobody can foresee, and the answer lets its task run for the lease *from the moment of the
//! question*, on the guest's own clock. Whatever is late, frozen, sent twice or answered by a server that
//! is not there any more, no answer is good for longer than that. The server knows when it answered last,
//! which was after the question, and waits longer than the lease, on its own clock. Before it says that
//! the lease is over it ceases to answer, for ever. A task's command does not begin before its guest has
//! been answered once, so that a container that comes late is harmless, too. A server that has just begun
//! takes it that the one before answered until this moment, and where that may have been another one for
//! as long after it as that acts ([`crate::lead`]). All that is asked of the two clocks is that
//! nobody sets them, that they go on while their machine sleeps, and that they differ by less than a
//! tenth in how fast they go. What remains is a blink: a machine that stood still finds its lease over once
//! its guest is let run, and the kernel may let others run before it.

use std::time::Duration;

#[cfg(test)]
mod tests;

/// What the server begins a conversation with. An SSH client begins with another letter.
pub const GREETING: &[u8; 14] = b"BERTH-LEASE-1\n";

/// Bytes of what each side makes up for one conversation.
pub const NONCE_BYTES: usize = 32;

/// Bytes of a proof that somebody knows the task's key: HMAC-SHA256.
pub const PROOF_BYTES: usize = 32;

/// What the guest says when the answer has come.
pub const HEARD: u8 = b'1';

/// The guest's exit code when its task was ended since the lease was over, or never began. Hardly a program
/// ends so by itself.
pub const LEASE_OVER_CODE: u8 = 113;

/// The most minutes of a lease: a week.
pub const MOST: u32 = 10_080;

/// What one side made up.
pub type Nonce = [u8; NONCE_BYTES];

/// What the guest proves its key by when it asks.
#[must_use]
pub fn question(server: &Nonce, guest: &Nonce) -> Vec<u8> {
    [b"berth asks".as_slice(), server, guest].concat()
}

/// What the server proves its key by when it answers.
#[must_use]
pub fn answer(server: &Nonce, guest: &Nonce) -> Vec<u8> {
    [b"berth answers".as_slice(), guest, server].concat()
}

/// What a guest knows. Moments are those of its machine's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holding {
    lease: Duration,
    /// The task may run until then; `None`: it was never answered.
    until: Option<Duration>,
}

/// What follows for the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nothing was answered yet: its command does not begin. → `Runs`
    Unheard,
    /// It runs, for so long without another answer. → `Ends`
    Runs(Duration),
    /// It is asked to end, and has so long for it. → `Runs`, `Over`
    Ends(Duration),
    /// Nothing of it may run any more, whatever is answered.
    Over,
}

impl Holding {
    /// Of a task that was not answered yet.
    #[must_use]
    pub fn new(lease: Duration) -> Self {
        Self { lease, until: None }
    }

    /// What was asked at that moment is answered. Says whether that is of any use.
    pub fn answered(&mut self, asked: Duration, now: Duration) -> bool {
        let until = asked.saturating_add(self.lease);
        if until <= now || self.standing(now) == Standing::Over {
            return false;
        }
        self.until = self.until.max(Some(until));
        true
    }

    /// How the task stands.
    #[must_use]
    pub fn standing(&self, now: Duration) -> Standing {
        let Some(until) = self.until else { return Standing::Unheard };
        let left = until.saturating_sub(now);
        match left.checked_sub(self.farewell()) {
            _ if left.is_zero() => Standing::Over,
            Some(runs) if !runs.is_zero() => Standing::Runs(runs),
            Some(_) | None => Standing::Ends(left),
        }
    }

    /// So long before the end it is asked to end by itself.
    fn farewell(&self) -> Duration {
        self.lease / 8
    }
}

/// What a server knows. Moments are those of its own clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Granting {
    lease: Duration,
    /// Nothing was answered later.
    last: Duration,
    over: bool,
}

impl Granting {
    /// Of a task that somebody may have answered until now.
    #[must_use]
    pub fn new(lease: Duration, now: Duration) -> Self {
        Self { lease, last: now, over: false }
    }

    /// Its guest has asked: whether it is answered. To be asked before the answer is sent, and after the
    /// question has come.
    pub fn answers(&mut self, now: Duration) -> bool {
        if !self.over {
            self.last = self.last.max(now);
        }
        !self.over
    }

    /// How long it must be waited until surely nothing of the task runs; 0: nothing does. From then on
    /// nothing is answered.
    pub fn wait(&mut self, now: Duration) -> Duration {
        let left = self.last.saturating_add(self.lease + self.margin()).saturating_sub(now);
        self.over |= left.is_zero();
        if self.over { Duration::ZERO } else { left }
    }

    /// What is waited beyond the lease: for clocks that go a little faster or slower, and for a guest that
    /// is slow to act.
    fn margin(&self) -> Duration {
        self.lease / 4
    }
}
