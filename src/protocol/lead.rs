//! The lead: of several servers of one database one alone acts, and another one takes over when that is
//! gone, frozen or cut off.
//!
//! The database gives the lead to one session at a time. It ends a session of which it has heard nothing
//! for [`SILENCE`], as it does one that breaks off, and then the lead is free. Each server that gets it
//! begins another *term*, a number that grows, and whatever is written is refused in the database unless it
//! is of the term that holds there. So nothing that is stored depends on what a server believes of itself.
//!
//! Engines know no terms. There a server acts only while it is sure: for [`HOLD`] from when it last asked the
//! database for something that was answered. The database heard that question later than it was asked, and
//! waits longer, so that a silent leader has ceased before another one begins. A session may also break off
//! without its server knowing, as when the database is restarted. Therefore who takes the lead acts on no
//! engine before [`QUIET`] has passed, unless the one before has said that it is done. Whoever finds, after
//! his session broke off, the lead free and the term still his own goes on as before: nobody has led meanwhile.
//!
//! No clocks are compared. All that is asked of them is that they go on, also while their machine sleeps, and
//! that they differ by less than a twentieth in how fast they go.

use std::time::Duration;

#[cfg(test)]
mod tests;

/// The leader asks the database so often whether it still leads.
pub const BEAT: Duration = Duration::from_secs(1);

/// From when it asked last, and was answered, it acts for so long.
pub const HOLD: Duration = Duration::from_millis(2_500);

/// The database ends the session of a leader of which it has heard nothing for so long.
pub const SILENCE: Duration = Duration::from_secs(4);

/// Who takes the lead acts so long later.
pub const QUIET: Duration = Duration::from_secs(3);

/// Servers that do not lead ask so often whether the lead is free.
pub const LOOK: Duration = Duration::from_millis(500);

/// How the leader before has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// There was none, or it has said that it acts no more.
    Done,
    /// It may still act for a moment.
    Unknown,
}

/// What a server knows of its own lead. Moments are those of its own clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeadLease {
    from: Duration,
    until: Duration,
    over: bool,
}

impl LeadLease {
    /// The lead was asked for at one moment, and known to be given at another one.
    #[must_use]
    pub fn begun(asked: Duration, now: Duration, before: Before) -> Self {
        let quiet = match before {
            Before::Done => Duration::ZERO,
            Before::Unknown => QUIET,
        };
        Self { from: now + quiet, until: asked + HOLD, over: false }
    }

    /// What was asked at that moment was answered: it still leads.
    pub fn confirmed(&mut self, asked: Duration) {
        self.until = self.until.max(asked + HOLD);
    }

    /// Acts no more. Says what the next one is to be told: who gives up before it was let act does not know
    /// whether the one before him still does.
    pub fn end(&mut self, now: Duration) -> Before {
        self.over = true;
        if self.waits(now).is_zero() { Before::Done } else { Before::Unknown }
    }

    /// Whether it may act on engines.
    #[must_use]
    pub fn acts(&self, now: Duration) -> bool {
        !self.over && self.from <= now && now < self.until
    }

    /// Whether it acts no more, whatever comes.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// How long it waits until it may act, if it is confirmed until then; 0: it need not.
    #[must_use]
    pub fn waits(&self, now: Duration) -> Duration {
        self.from.saturating_sub(now)
    }
}
