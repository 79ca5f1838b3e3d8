//! A network that the containers of this cluster share, apart from the node's own: what they listen
//! on is theirs alone, and is reached at the node's address in that network, where their ports are
//! published.

use std::collections::HashMap;
use std::net::IpAddr;

use bollard::models::{NetworkCreateRequest, NetworkInspect, PortBinding, PortMap};
use bollard::query_parameters::InspectNetworkOptions;
use tokio::sync::Mutex;

use super::connection::{Connection, HEARTBEAT};
use super::failure::{classify, status_of};
use crate::filling::CLUSTER_LABEL;
use crate::model::{EngineError, OwnNetwork, Result};

/// Engines choose addresses that the machine does not have yet: of those that share a machine only
/// one may choose at a time.
static CHOOSING: Mutex<()> = Mutex::const_new(());

/// The node's address in the network, which is made if it is not there.
pub(super) async fn ensure(connection: &Connection, network: &OwnNetwork) -> Result<IpAddr> {
    if let Some(found) = inspect(connection, &network.name).await? {
        return address(&found, network);
    }
    let alone = CHOOSING.lock().await;
    // Engines before version 25 would make a second one of the same name.
    if inspect(connection, &network.name).await?.is_none() {
        create(connection, network).await?;
    }
    drop(alone);
    match inspect(connection, &network.name).await? {
        Some(found) => address(&found, network),
        None => Err(EngineError::Failed(format!("the network {} is gone again", network.name))),
    }
}

async fn inspect(connection: &Connection, name: &str) -> Result<Option<NetworkInspect>> {
    let call = connection.call(HEARTBEAT, |docker| async move {
        docker.inspect_network(name, None::<InspectNetworkOptions>).await
    });
    match call.await {
        Ok(found) => Ok(Some(found)),
        Err(error) if status_of(&error) == Some(404) => Ok(None),
        Err(error) => Err(classify(error, name)),
    }
}

async fn create(connection: &Connection, network: &OwnNetwork) -> Result<()> {
    let wanted = NetworkCreateRequest {
        name: network.name.clone(),
        driver: Some("bridge".to_owned()),
        labels: Some(HashMap::from([(CLUSTER_LABEL.to_owned(), network.cluster.clone())])),
        ..Default::default()
    };
    // Others wait for it. One that takes longer has made it when it is asked the next time.
    let call =
        connection.call(2 * HEARTBEAT, |docker| async move { docker.create_network(wanted).await });
    match call.await {
        Ok(_made) => Ok(()),
        // Somebody else has just made it.
        Err(error) if status_of(&error) == Some(409) => Ok(()),
        Err(error) => {
            let error = classify(error, &network.name);
            Err(EngineError::Failed(format!(
                "the network {} of this node's tasks cannot be made: {error}",
                network.name
            )))
        }
    }
}

/// The address that the engine gave the node in its network.
fn address(found: &NetworkInspect, network: &OwnNetwork) -> Result<IpAddr> {
    let labels = found.labels.as_ref();
    if labels.and_then(|labels| labels.get(CLUSTER_LABEL)) != Some(&network.cluster) {
        return Err(EngineError::Failed(format!(
            "somebody else's network has the name {} on this node: remove or rename it",
            network.name
        )));
    }
    let ranges = found.ipam.iter().flat_map(|ipam| ipam.config.iter().flatten());
    // An address may come with the length of its network's prefix.
    let gateways = ranges.filter_map(|range| range.gateway.as_deref()?.split('/').next());
    let mut addresses = gateways.filter_map(|gateway| gateway.parse::<IpAddr>().ok());
    addresses.find(IpAddr::is_ipv4).ok_or_else(|| {
        EngineError::Failed(format!("the network {} gives this node no address", network.name))
    })
}

/// A container's ports at that address, by the same numbers, in both forms that Docker asks for.
pub(super) fn published(address: IpAddr, ports: &[u16]) -> (Vec<String>, PortMap) {
    let named = |port: &u16| format!("{port}/tcp");
    let binding = |port: &u16| {
        let there =
            PortBinding { host_ip: Some(address.to_string()), host_port: Some(port.to_string()) };
        (named(port), Some(vec![there]))
    };
    (ports.iter().map(named).collect(), ports.iter().map(binding).collect())
}

#[cfg(test)]
mod tests {
    use bollard::models::{Ipam, IpamConfig};

    use super::*;

    fn network(cluster: &str, gateway: Option<&str>) -> NetworkInspect {
        let range = IpamConfig { gateway: gateway.map(str::to_owned), ..Default::default() };
        NetworkInspect {
            labels: Some(HashMap::from([(CLUSTER_LABEL.to_owned(), cluster.to_owned())])),
            ipam: Some(Ipam { config: Some(vec![range]), ..Default::default() }),
            ..Default::default()
        }
    }

    #[test]
    fn only_a_network_of_ours_has_an_address() {
        let own = OwnNetwork { name: "berth-1".into(), cluster: "1".into() };
        let at = |cluster, gateway| address(&network(cluster, gateway), &own);
        assert_eq!(at("1", Some("172.20.0.1")).unwrap().to_string(), "172.20.0.1");
        assert_eq!(at("1", Some("172.20.0.1/16")).unwrap().to_string(), "172.20.0.1");
        assert!(at("1", None).unwrap_err().to_string().contains("no address"));
        assert!(at("2", Some("172.20.0.1")).unwrap_err().to_string().contains("somebody else's"));
    }
}
