//! How a node's engine is reached.

use engine::{EndpointOptions, OwnNetwork};
use protocol::cluster::{NodeNetwork, NodeSettings};

use crate::shared::Shared;

/// What the network of this installation's tasks is called on nodes where they have one.
pub(crate) fn network(installation: &str) -> String {
    format!("berth-{installation}")
}

/// How a node's engine is reached.
pub(crate) fn endpoint(shared: &Shared, settings: &NodeSettings) -> EndpointOptions {
    EndpointOptions {
        endpoint: settings.endpoint.clone(),
        gpu_runtime: settings.gpu_runtime,
        tls: shared.settings.of_nodes.certificates.as_ref().map(|folder| {
            let own = folder.join(settings.name.as_str());
            if own.is_dir() { own } else { folder.clone() }
        }),
        network: match shared.settings.of_nodes.portal.network(settings) {
            NodeNetwork::Host => None,
            NodeNetwork::Bridge => Some(OwnNetwork {
                name: network(&shared.identity.installation),
                cluster: shared.identity.installation.clone(),
            }),
        },
    }
}
