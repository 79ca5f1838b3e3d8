//! How people are told what they do not see.

use super::posted::{Notifying, Posted};

/// What leaves the house for people.
#[derive(Debug)]
pub(crate) struct Outbound {
    /// How it leaves.
    pub(crate) notifying: Notifying,
    /// What they want to be told, and what was sent.
    pub(crate) posted: Posted,
}

impl Outbound {
    pub(crate) fn new(notifying: Notifying) -> Self {
        Self { notifying, posted: Posted::default() }
    }
}
