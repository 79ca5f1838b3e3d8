//! What an installation decides about accounts and jobs.

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
