//! What is counted for those who watch over this server.

use std::sync::Arc;

use super::engine_calls::EngineCalls;
use super::own_failures::OwnFailures;
use super::swept::Swept;

/// What this server counts of itself.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// How often what is this server's own has failed.
    pub(crate) own_failures: Arc<OwnFailures>,
    /// How nodes' engines answer.
    pub(crate) engine_calls: Arc<EngineCalls>,
    /// How much was forgotten, since it was older than it is kept for.
    pub(crate) swept: Swept,
}
