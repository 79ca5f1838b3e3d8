//! Where the portal is, and what follows for tasks on its machine: browsers send what they keep for a
//! host to all of its ports, so that what tasks serve must not be at the portal's host.

use std::net::{IpAddr, UdpSocket};

use protocol::cluster::{NodeNetwork, NodeSettings};

/// How people reach the portal.
#[derive(Debug, Clone, Default)]
pub struct Portal {
    /// The addresses it listens at.
    pub listen: Vec<IpAddr>,
    /// The host that people type, where it is known.
    pub host: Option<String>,
    /// It is served by https alone: its cookies are not sent to what tasks serve.
    pub https: bool,
    /// An administrator insists on tasks at its host.
    pub tasks_allowed: bool,
}

impl Portal {
    /// Which network a node's tasks have.
    pub(crate) fn network(&self, node: &NodeSettings) -> NodeNetwork {
        if node.is_simulated() {
            return NodeNetwork::Host;
        }
        // Others may reach an address that is no loopback one, which is worth more than a network
        // apart where the portal need not fear for its cookies.
        let reached_here_alone = !self.https || is_loopback(&node.address);
        let apart = reached_here_alone && self.is_at(node);
        let usual = if apart { NodeNetwork::Bridge } else { NodeNetwork::Host };
        node.network.unwrap_or(usual)
    }

    /// Whether tasks of the node are at the portal's host, with cookies that ports do not keep
    /// apart.
    pub(crate) fn is_exposed_to(&self, node: &NodeSettings) -> bool {
        let on_host = self.network(node) == NodeNetwork::Host && !node.is_simulated();
        on_host && !self.https && self.is_at(node)
    }

    /// Why a node may not be as it is described, and what helps.
    pub(crate) fn refusal(&self, node: &NodeSettings) -> Option<String> {
        let refused = self.is_exposed_to(node) && !self.tasks_allowed;
        refused.then(|| {
            format!(
                "{}: network = \"host\" would put its tasks at the portal's own host, {}, where each \
                 page that a task serves is sent the session of whoever opens it, since browsers \
                 keep cookies by host and not by port. Say network = \"bridge\" (a network of their \
                 own), or serve the portal by https and say so by public_url, or move it to \
                 another machine; allow_tasks_at_portal = true, for who trusts all users",
                node.name, node.address
            )
        })
    }

    /// Whether the node is the machine that the portal is at.
    fn is_at(&self, node: &NodeSettings) -> bool {
        node.endpoint.starts_with("unix://") || self.is_own(&node.address)
    }

    fn is_own(&self, host: &str) -> bool {
        let host = bare(host);
        let is_portals = self.host.as_deref().is_some_and(|own| bare(own) == host);
        is_portals
            || is_loopback(&host)
            || is_this_machines_name(&host)
            || host
                .parse()
                .is_ok_and(|address| self.listen.contains(&address) || is_this_machines(address))
    }
}

/// A host as it can be compared: small letters, without the brackets of an IPv6 address.
fn bare(host: &str) -> String {
    host.trim_end_matches('.').trim_matches(['[', ']']).to_ascii_lowercase()
}

fn is_loopback(host: &str) -> bool {
    let host = bare(host);
    let named = host == "localhost" || host.ends_with(".localhost");
    named || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Only addresses of this machine can be listened at, or be any.
fn is_this_machines(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

fn is_this_machines_name(host: &str) -> bool {
    let own = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    !host.is_empty() && bare(own.trim()) == host
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(address: &str, endpoint: &str, network: Option<NodeNetwork>) -> NodeSettings {
        let text = format!(r#"{{"name": "n", "address": "{address}", "endpoint": "{endpoint}"}}"#);
        let settings: NodeSettings = serde_json::from_str(&text).unwrap();
        NodeSettings { network, ..settings }
    }

    fn portal() -> Portal {
        let host = Some("Berth.example.org".to_owned());
        Portal { listen: vec!["192.0.2.77".parse().unwrap()], host, ..Portal::default() }
    }

    #[test]
    fn nodes_at_the_portals_host_keep_their_tasks_apart() {
        let usual = |address, endpoint| portal().network(&node(address, endpoint, None));
        for (address, endpoint) in [
            ("127.0.0.1", "unix:///var/run/docker.sock"),
            ("127.0.0.3", "tcp://127.0.0.3:2375"),
            ("[::1]", "tcp://127.0.0.3:2375"),
            ("LOCALHOST", "tcp://127.0.0.3:2375"),
            ("192.0.2.77", "tcp://10.0.0.1:2376"),
            ("berth.example.org.", "tcp://10.0.0.1:2376"),
            ("10.0.0.1", "unix:///var/run/docker.sock"),
        ] {
            assert_eq!(usual(address, endpoint), NodeNetwork::Bridge, "{address} {endpoint}");
        }
        for (address, endpoint) in
            [("198.51.100.9", "tcp://198.51.100.9:2376"), ("127.0.0.1", "sim://a")]
        {
            assert_eq!(usual(address, endpoint), NodeNetwork::Host, "{address} {endpoint}");
        }
    }

    #[test]
    fn https_lets_a_node_that_others_reach_be() {
        let portal = Portal { https: true, ..portal() };
        let at = |address| node(address, "unix:///var/run/docker.sock", None);
        assert_eq!(portal.network(&at("192.0.2.77")), NodeNetwork::Host);
        assert_eq!(portal.network(&at("127.0.0.1")), NodeNetwork::Bridge);
        assert_eq!(portal.refusal(&at("192.0.2.77")), None);
    }

    #[test]
    fn tasks_at_the_portals_host_are_refused_unless_somebody_insists() {
        let host = Some(NodeNetwork::Host);
        let local = node("127.0.0.2", "unix:///var/run/docker.sock", host);
        let refusal = portal().refusal(&local).unwrap();
        for word in ["n: network", "127.0.0.2", "\"bridge\"", "https", "allow_tasks_at_portal"] {
            assert!(refusal.contains(word), "{word}: {refusal}");
        }
        let insisting = Portal { tasks_allowed: true, ..portal() };
        assert_eq!(insisting.refusal(&local), None);
        assert!(insisting.is_exposed_to(&local), "and it is said");
        let elsewhere = node("198.51.100.9", "tcp://198.51.100.9:2376", host);
        assert_eq!(portal().refusal(&elsewhere), None);
        assert_eq!(portal().refusal(&node("127.0.0.2", "sim://a", host)), None);
        let apart = Some(NodeNetwork::Bridge);
        assert_eq!(portal().refusal(&node("127.0.0.2", "unix:///x", apart)), None);
    }
}
