//! Who and what there is: nodes, virtual clusters, storages, users and their groups.

use std::collections::BTreeMap;

use protocol::cluster::{GpuCount, GpuRuntime, NodeSettings, Share, VirtualClusterSettings};
use protocol::ids::{GpuType, GroupName, NodeName, StorageName, UserName, VirtualClusterName};
use protocol::resources::PortRange;
use protocol::storages::{NfsExport, StorageSettings, StorageSource};

/// Nodes of one kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rack {
    pub(crate) prefix: &'static str,
    pub(crate) nodes: u32,
    pub(crate) gpu_type: &'static str,
    pub(crate) gpus: u32,
    pub(crate) cpus: u32,
    pub(crate) memory_gb: u64,
    pub(crate) gpu_runtime: GpuRuntime,
}

/// All nodes: GPUs of three makers, and some that are parted. Those that came last stand last.
pub(crate) static RACKS: [Rack; 7] = [
    rack("sim-a100", 10, ("A100", 8), (128, 1024)),
    rack("sim-v100", 14, ("V100", 8), (64, 512)),
    rack("sim-titanx", 16, ("TITANX", 4), (32, 128)),
    rack("sim-h100", 8, ("H100", 8), (128, 1024)),
    Rack { gpu_runtime: GpuRuntime::Amd, ..rack("sim-mi300x", 6, ("MI300X", 8), (128, 1024)) },
    Rack {
        gpu_runtime: GpuRuntime::Ascend,
        ..rack("sim-ascend", 6, ("Ascend910B", 8), (128, 1024))
    },
    rack("sim-mig", 4, ("A100-3g.40gb", 8), (64, 512)),
];

/// So many of them were there in the months before.
pub(crate) const OLD_RACKS: usize = 3;

const fn rack(
    prefix: &'static str,
    nodes: u32,
    (gpu_type, gpus): (&'static str, u32),
    (cpus, memory_gb): (u32, u64),
) -> Rack {
    Rack { prefix, nodes, gpu_type, gpus, cpus, memory_gb, gpu_runtime: GpuRuntime::None }
}

/// The type of the GPUs that are shared.
pub(crate) const SHARED: &str = "TITANX";
/// The node that an administrator wants empty.
pub(crate) const DRAINED: &str = "sim-titanx-16";
/// The node that does not answer.
pub(crate) const CUT_OFF: &str = "sim-v100-14";

/// Whose jobs there are.
pub(crate) const PEOPLE: [&str; 12] = [
    "demo-ada",
    "demo-bo",
    "demo-chen",
    "demo-dana",
    "demo-eli",
    "demo-fang",
    "demo-gus",
    "demo-hana",
    "demo-ivan",
    "demo-jun",
    "demo-kim",
    "demo-lin",
];

/// Groups and their members.
pub(crate) const GROUPS: [(&str, &[&str]); 3] = [
    ("language", &["demo-bo", "demo-chen", "demo-dana", "demo-hana"]),
    ("perception", &["demo-ada", "demo-eli", "demo-fang", "demo-gus", "demo-ivan"]),
    ("speech", &["demo-jun", "demo-kim", "demo-lin"]),
];

/// A virtual cluster: its name, its parent, the GPUs it is guaranteed, whether it borrows, its group.
type Plan =
    (&'static str, Option<&'static str>, &'static [(&'static str, u64)], bool, Option<usize>);

const CLUSTERS: [Plan; 6] = [
    ("default", None, &[], true, None),
    ("vision", None, &[("A100", 24), ("V100", 32), ("MI300X", 24)], true, None),
    ("nlp", None, &[("A100", 40), ("V100", 24), ("H100", 32)], true, Some(0)),
    ("nlp-pretraining", Some("nlp"), &[("A100", 24)], true, Some(0)),
    ("speech", None, &[("V100", 24), ("TITANX", 16), ("Ascend910B", 24)], true, Some(2)),
    ("detection", None, &[("V100", 16), ("TITANX", 24)], false, Some(1)),
];

/// How long a simulated container runs whose command does not say.
const SECONDS: u32 = 900;

pub(crate) fn user(name: &str) -> UserName {
    UserName::new(name).expect("letters and hyphens are a valid user name")
}

pub(crate) fn group(name: &str) -> GroupName {
    name.parse().expect("a word is a valid group name")
}

pub(crate) fn gpu_type(name: &str) -> GpuType {
    GpuType::new(name).expect("a word is a valid GPU type")
}

pub(crate) fn node(name: &str) -> NodeName {
    NodeName::new(name).expect("letters, digits and hyphens are a valid node name")
}

pub(crate) fn cluster(name: &str) -> VirtualClusterName {
    VirtualClusterName::new(name).expect("letters and hyphens are a valid virtual cluster name")
}

/// The nodes, rack by rack.
pub(crate) fn nodes() -> Vec<NodeSettings> {
    let racks = RACKS.iter().zip(1..);
    racks
        .flat_map(|(rack, number)| (1..=rack.nodes).map(move |at| of_rack(rack, number, at)))
        .collect()
}

fn of_rack(rack: &Rack, number: u32, at: u32) -> NodeSettings {
    let name = format!("{}-{at:02}", rack.prefix);
    NodeSettings {
        address: format!("10.{number}.0.{at}"),
        endpoint: format!("sim://{name}?gpus={}x{}&duration={SECONDS}", rack.gpus, rack.gpu_type),
        name: node(&name),
        cpus: Some(rack.cpus),
        memory_mb: Some(rack.memory_gb * 1024),
        disk_gb: Some(2000),
        gpus: Some(vec![GpuCount { gpu_type: gpu_type(rack.gpu_type), count: rack.gpus }]),
        gpu_runtime: rack.gpu_runtime,
        ports: PortRange::default(),
        labels: BTreeMap::from([("simulated".to_owned(), "true".to_owned())]),
        links: Vec::new(),
        shares_gpus: rack.gpu_type == SHARED,
        network: None,
        metrics: None,
    }
}

/// The virtual clusters, parents before their parts.
pub(crate) fn virtual_clusters() -> Vec<VirtualClusterSettings> {
    let settings = |(name, parent, gpus, borrows, members): Plan| {
        let gpus = gpus.iter().map(|(kind, count)| (gpu_type(kind), *count)).collect();
        VirtualClusterSettings {
            share: Share { gpus, ..Share::default() },
            parent: parent.map(cluster),
            borrows,
            groups: members.iter().map(|at| group(GROUPS[*at].0)).collect(),
            ..VirtualClusterSettings::new(cluster(name))
        }
    };
    CLUSTERS.into_iter().map(settings).collect()
}

/// Whether somebody may use a virtual cluster.
pub(crate) fn admits(name: &str, person: &str) -> bool {
    let found = CLUSTERS.iter().find(|(other, ..)| *other == name);
    let members = found.and_then(|(.., members)| members.map(|at| GROUPS[at].1));
    members.is_none_or(|members| members.contains(&person))
}

/// The storages: data for everybody, and a group's own folders on a file server.
pub(crate) fn storages() -> Vec<StorageSettings> {
    let name = |name: &str| StorageName::new(name).expect("a word is a valid storage name");
    let data = StorageSource::Path("/mnt/ceph/datasets".to_owned());
    let scratch = StorageSource::Nfs(NfsExport {
        server: "10.9.0.1".to_owned(),
        path: "/export/vision".to_owned(),
        options: None,
    });
    vec![
        StorageSettings {
            read_only: true,
            default: true,
            ..StorageSettings::new(name("datasets"), data)
        },
        StorageSettings {
            own_folders: true,
            groups: vec![group(GROUPS[1].0)],
            ..StorageSettings::new(name("scratch"), scratch)
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_64_simulated_nodes_of_three_makers() {
        let nodes = nodes();
        assert_eq!(nodes.len(), 64);
        let counts = nodes.iter().flat_map(|node| node.gpus.iter().flatten());
        let mut types: Vec<_> = counts.map(|gpus| gpus.gpu_type.as_str()).collect();
        types.dedup();
        let expected = ["A100", "V100", "TITANX", "H100", "MI300X", "Ascend910B", "A100-3g.40gb"];
        assert_eq!(types, expected);
        let runtimes = |runtime| nodes.iter().filter(|node| node.gpu_runtime == runtime).count();
        assert_eq!([runtimes(GpuRuntime::Amd), runtimes(GpuRuntime::Ascend)], [6, 6]);
        assert!(nodes.iter().all(NodeSettings::is_simulated));
        for name in [DRAINED, CUT_OFF] {
            assert!(nodes.iter().any(|node| node.name.as_str() == name), "{name}");
        }
    }

    #[test]
    fn the_virtual_clusters_go_together() {
        let clusters = virtual_clusters();
        assert_eq!(protocol::shares::mistakes(&clusters), []);
        assert_eq!(protocol::storages::mistakes(&storages()), []);
        assert!(nodes().iter().all(|node| node.mistakes().is_empty()));
        assert!(clusters.iter().any(|cluster| cluster.share == Share::default()));
        assert!(clusters.iter().any(|cluster| cluster.parent.is_some()));
        assert!(clusters.iter().any(|cluster| !cluster.borrows));
        assert!(
            admits("nlp", "demo-bo") && !admits("nlp", "demo-lin") && admits("vision", "demo-lin")
        );
    }
}
