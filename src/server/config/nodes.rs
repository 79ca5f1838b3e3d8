use std::collections::BTreeMap;

use protocol::cluster::{GpuCount, GpuRuntime, NodeNetwork, NodeSettings};
use protocol::ids::NodeName;
use protocol::resources::PortRange;
use serde::{Deserialize, Deserializer};

/// A node as an administrator writes it: `ports` is a text such as `10000-31999`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeEntry {
    /// Its name.
    pub name: NodeName,
    /// What containers and users reach.
    pub address: String,
    /// `unix://…`, `tcp://…`, `ssh://…` or `sim://`.
    pub endpoint: String,
    /// CPU cores; none: as the engine says.
    #[serde(default)]
    pub cpus: Option<u32>,
    /// Memory in MiB; none: as the engine says.
    #[serde(default)]
    pub memory_mb: Option<u64>,
    /// Disk in GiB; none: as the engine says.
    #[serde(default)]
    pub disk_gb: Option<u64>,
    /// GPUs by type, in the order of their indices; none: as the NVIDIA runtime says.
    #[serde(default)]
    pub gpus: Option<Vec<GpuCount>>,
    /// How containers get GPUs.
    #[serde(default)]
    pub gpu_runtime: GpuRuntime,
    /// Ports given to tasks.
    #[serde(default, deserialize_with = "ports")]
    pub ports: PortRange,
    /// Labels.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Groups of GPU indices that are linked closely; none: neighbours by index.
    #[serde(default)]
    pub links: Vec<Vec<u32>>,
    /// Whether several tasks may share one of its GPUs, each with a part of it.
    #[serde(default)]
    pub shares_gpus: bool,
    /// Which network its tasks have; none: one of their own where the node is this machine.
    #[serde(default)]
    pub network: Option<NodeNetwork>,
}

impl NodeEntry {
    /// The Docker engine of this machine.
    pub(crate) fn local_docker() -> Self {
        Self {
            name: NodeName::new("local").expect("the word is a valid node name"),
            address: "127.0.0.1".to_owned(),
            endpoint: "unix:///var/run/docker.sock".to_owned(),
            cpus: None,
            memory_mb: None,
            disk_gb: None,
            gpus: None,
            gpu_runtime: GpuRuntime::default(),
            ports: PortRange::default(),
            labels: BTreeMap::new(),
            links: Vec::new(),
            shares_gpus: false,
            network: None,
        }
    }

    /// What is wrong with it, one line a key.
    pub(crate) fn mistakes(&self) -> impl Iterator<Item = String> {
        let known = ["unix://", "tcp://", "ssh://", "sim://"];
        let endpoint = &self.endpoint;
        let endpoint = (!known.iter().any(|kind| endpoint.starts_with(kind))).then(|| {
            format!("endpoint = {endpoint:?}: allowed are unix://…, tcp://…, ssh://… and sim://")
        });
        let plain = self.address.chars().all(|c| c.is_ascii_alphanumeric() || ".:-_".contains(c));
        let address = (self.address.is_empty() || !plain).then(|| {
            format!("address = {:?}: allowed is a host name or an IP address", self.address)
        });
        let cpus = (self.cpus == Some(0)).then(|| "cpus = 0: allowed is 1 or more".to_owned());
        let links = NodeSettings::from(self.clone()).link_mistakes();
        endpoint.into_iter().chain(address).chain(cpus).chain(links)
    }
}

impl From<NodeEntry> for NodeSettings {
    fn from(entry: NodeEntry) -> Self {
        let NodeEntry {
            name,
            address,
            endpoint,
            cpus,
            memory_mb,
            disk_gb,
            gpus,
            gpu_runtime,
            ports,
            labels,
            links,
            shares_gpus,
            network,
        } = entry;
        Self {
            name,
            address,
            endpoint,
            cpus,
            memory_mb,
            disk_gb,
            gpus,
            gpu_runtime,
            ports,
            labels,
            links,
            shares_gpus,
            network,
        }
    }
}

fn ports<'de, D: Deserializer<'de>>(text: D) -> Result<PortRange, D::Error> {
    let text = String::deserialize(text)?;
    parse_ports(&text).ok_or_else(|| {
        let allowed = "FIRST-LAST with 1024 ≤ FIRST ≤ LAST ≤ 65535, as 10000-31999";
        serde::de::Error::custom(format!("{text:?} is not a range of ports: allowed is {allowed}"))
    })
}

fn parse_ports(text: &str) -> Option<PortRange> {
    let (first, last) = text.split_once('-')?;
    let range = PortRange { first: first.trim().parse().ok()?, last: last.trim().parse().ok()? };
    (range.first >= 1024 && range.first <= range.last).then_some(range)
}
