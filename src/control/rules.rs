//! What an installation decides about accounts and jobs.

use std::time::Duration;

pub use crate::ops::users::tokens::TokenRules;

/// What an installation decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rules {
    /// How long tokens may live.
    pub tokens: TokenRules,
    /// Whether job files, commands and what happened to jobs are for their owners and
    /// administrators only.
    pub private_jobs: bool,
}

/// What tasks may write into their containers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContainerDisk {
    /// The most bytes that one may write, unless it asks for more disk.
    pub most: u64,
    /// How often that is measured: an engine looks at every file for it.
    pub measured_every: Duration,
}

impl Default for ContainerDisk {
    fn default() -> Self {
        Self { most: 200_000_000_000, measured_every: Duration::from_secs(60) }
    }
}
