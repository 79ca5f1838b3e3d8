//! What is configured of several servers of one PostgreSQL.

use std::net::SocketAddr;

use protocol::cluster::NodeSettings;
use serde::Deserialize;

/// Several servers of one PostgreSQL, of which one leads.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServersConfig {
    /// Where the other servers reach this one, to pass on to it what they are asked while it leads; none:
    /// they answer nothing while this one leads.
    pub listen: Option<SocketAddr>,
}

impl ServersConfig {
    pub(super) fn mistakes(self, nodes: &[NodeSettings]) -> Vec<String> {
        let Some(address) = self.listen else { return Vec::new() };
        let mut lines = Vec::new();
        if address.ip().is_unspecified() {
            lines.push(format!(
                "servers.listen = {address}: allowed is the address by which the other servers reach \
                 this machine"
            ));
        }
        let own = nodes.iter().enumerate().filter(|(_, node)| node.endpoint.starts_with("unix:"));
        lines.extend(own.map(|(index, node)| {
            format!(
                "nodes[{index}].endpoint = {:?}: allowed beside servers.listen is tcp:// or ssh://, \
                 since each server would take the engine of its own machine for this node",
                node.endpoint
            )
        }));
        lines
    }
}
