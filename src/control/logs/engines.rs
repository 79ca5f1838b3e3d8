//! The engines that have the logs of tasks that run.

use std::sync::Arc;

use engine::{Engine, EngineError};
use protocol::ids::NodeName;

use crate::known::cluster::Observation;
use crate::known::nodes::KnownNodes;

/// The engine of a node, if it answers.
pub(crate) fn engine_of(nodes: &KnownNodes, node: &NodeName) -> engine::Result<Arc<dyn Engine>> {
    match nodes.observations().get(node) {
        Some(Observation::Answers { engine, .. }) => Ok(Arc::clone(engine)),
        Some(Observation::Silent) | None => {
            Err(EngineError::Unreachable(format!("{node} is out of contact")))
        }
    }
}
