//! Engines that a server reaches on its own machine alone. Where several servers may lead, each would take
//! another one for the node, and with it the containers of another machine for the node's.

use protocol::cluster::NodeSettings;

/// Why a node may not be as it is described beside other servers, and what helps.
pub(crate) fn refusal(node: &NodeSettings) -> Option<String> {
    node.endpoint.starts_with("unix:").then(|| {
        format!(
            "{}: endpoint {:?} is another engine for each server of this cluster (servers.listen): \
             give it a tcp:// or ssh:// address that all of them reach",
            node.name, node.endpoint
        )
    })
}
